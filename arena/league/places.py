"""The places of a league by its format's own rules: one home for whoever shows them, as it is played and afterwards.

A store keeps its last league's format (`kept_format`); the format's pairing is made anew and told the games that are
there, as where the league is taken up again. So the places follow from the format and the games, and are never a claim.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import chain

import msgspec

from arena.errors import ArenaError, UsageError
from arena.game.spec import Opening, Player
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
    """Return how a new pairing places its players by the stored games; None where the table says all."""
    if not isinstance(pairing, Placed):
        return None
    tell_stored(pairing, stored)
    placing = pairing.placing()
    return placing if placing != Placing() else None


def stored_places(store: Store, contents: Contents[list[GameRow]] | Contents[Groups]) -> Placing | None:
    """How the format of the last league of a store places those who took part, by the games that are whole.

    None where no league was played, or one whose places are those of the table. Where there are places and they cannot
    be worked out, they have a `problem`.
    """
    text = contents.kept.format
    if not text:
        return None
    try:
        kept = format_in(text)
        digests = [*kept.players, *chain.from_iterable(kept.former.values())]
        called = {player.digest: player for player in contents.entrants}
        if kept.options.name not in PLACING or {*digests} != called.keys():
            return None  # of those who take part now, another command has stored games since
        if len(set(digests)) != len(digests):
            raise UsageError("expected each bot of the format once")
        players = [called[digest] for digest in kept.players]
        rows = list(games_between(contents.entrants, store.each_row()))
        pairing = _pairing(store, contents, kept, players, rows)
        return placing_of(pairing, GamesBetween(store, contents.entrants))
    except ArenaError as error:  # of a store that somebody has changed
        return Placing(problem=str(error))


def _pairing(
    store: Store,
    contents: Contents[list[GameRow]] | Contents[Groups],
    kept: KeptFormat,
    players: Sequence[Player],
    rows: Sequence[GameRow],
) -> Pairing:
    """The league's pairing, which nobody has asked for games. Raises `ArenaError`."""
    described = contents.settings
    settings = settings_in(described)
    if described.get(OPENINGS, NO_OPENINGS) != NO_OPENINGS:
        openings = _openings(store, settings, openings_in(described[OPENINGS]), rows)
        settings = msgspec.structs.replace(settings, openings=openings)
    games = Games(settings, store, kept.versions(players))
    start = contents.kept.ladder
    since = start.since if start and start.players == kept.players else None
    return kept.pairing(games, players, rows, since)


def _openings(store: Store, settings: Settings, count: int, rows: Sequence[GameRow]) -> tuple[Opening, ...]:
    """The openings of a league, whose file nobody has, as far as records have them: the others are in no game.

    Raises `UsageError` for a number of them that no file has.
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
