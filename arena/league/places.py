"""The places of a league by its format's own rules, while it is played and afterwards.

The format of a store's last league makes a new pairing, which receives the stored games, as when the league is resumed.
So the places follow from the format and the games, and are never only a claim.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

import msgspec

from arena.errors import ArenaError, UsageError
from arena.game.game_spec import Opening, Player
from arena.league.game_ids import contents_of, pair_seed_of, place_of_opening, rounds_tried
from arena.league.game_specs import Games
from arena.league.league_options import PLACING
from arena.league.pairing.pairing import Pairing
from arena.league.pairing.placing import Placed, Placing
from arena.league.settings import Settings, openings_in, settings_in
from arena.league.store import NO_OPENINGS, OPENINGS, Contents, GameRow, Groups, Store
from arena.league.stored_league import GamesBetween, KeptFormat, format_in, games_between, tell_stored

MOST_OPENINGS = 100_000
"""More than a file of openings can have."""


def placing_of(pairing: Pairing, stored: GamesBetween) -> Placing | None:
    """Return the places of a new pairing by the stored games; None where the table shows all."""
    if not isinstance(pairing, Placed):
        return None
    tell_stored(pairing, stored)
    placing = pairing.placing()
    return placing if placing != Placing() else None


def stored_places(store: Store, contents: Contents[list[GameRow]] | Contents[Groups]) -> Placing | None:
    """Return the places of a store's last league by its undamaged games.

    None without a league, or if its places are those of the table. If the places cannot be worked out, they have a
    `problem`.
    """
    text = contents.kept.format
    if not text:
        return None
    try:
        kept = format_in(text)
        digests = [*kept.players, *chain.from_iterable(kept.former.values())]
        called = {player.digest: player for player in contents.entrants}
        if kept.options.name not in PLACING or {*digests} != called.keys():
            return None  # another command has stored games of other players since
        if len(set(digests)) != len(digests):
            raise UsageError("expected each bot of the format once")
        players = [called[digest] for digest in kept.players]
        pairing = _pairing(store, contents, kept, players)
        return placing_of(pairing, GamesBetween(store, contents.entrants))
    except ArenaError as error:  # of a store that somebody has changed
        return Placing(problem=str(error))


def _pairing(
    store: Store,
    contents: Contents[list[GameRow]] | Contents[Groups],
    kept: KeptFormat,
    players: Sequence[Player],
) -> Pairing:
    def rows() -> Iterator[GameRow]:
        return games_between(contents.entrants, store.each_row())

    described = contents.settings
    settings = settings_in(described)
    if described.get(OPENINGS, NO_OPENINGS) != NO_OPENINGS:
        openings = _openings(store, settings, openings_in(described[OPENINGS]), list(rows()))
        settings = msgspec.structs.replace(settings, openings=openings)
    games = Games(settings, store, kept.versions(players))
    start = contents.kept.ladder
    since = start.since if start and start.players == kept.players else None
    return kept.pairing(games, players, rows(), since)  # only a ladder reads them


def _openings(store: Store, settings: Settings, count: int, rows: Sequence[GameRow]) -> tuple[Opening, ...]:
    """Return the openings of a league that records contain; the others are in no game.

    Raises `UsageError` for a number of openings that no file has.
    """
    if not 1 <= count <= MOST_OPENINGS:
        raise UsageError(f"expected from 1 to {MOST_OPENINGS} openings, got {count}")
    found: dict[int, Opening] = {}
    met = Counter(contents_of(row.players) for row in rows)
    for row in rows:
        if len(found) == count:
            break
        record = store.stored(row.number).sound
        if record is None or not record.opening:
            continue
        common = settings.digest(row.players)
        for number in rounds_tried(met[contents_of(row.players)]):
            if pair_seed_of(common, row.players, number, opening=record.opening) == record.pair_seed:
                found.setdefault(place_of_opening(common, row.players, number, count), record.opening)
                break
    return tuple(found.get(place, ("", "")) for place in range(count))
