"""The last league of a store: its format, its games among the stored ones, its line-up when it is resumed, its places.

The format is stored with all defaults filled in, as a later version may have other defaults, and with its players by
digest in the order of their seeds, so that a renamed bot keeps its seed. The games of a league are found by asking its
pairing again, until every stored game that may be one of the league's has been met; so its places follow from the
format and the games, and are never only a claim.

When a league is resumed, played games stay. A new version of a bot, of the same name, takes the place of the old one in
all other games. A bot that cannot be started is not paired until it can: in a Swiss from the next round on, in a ladder
from the next batch on; a knockout is drawn once.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain

import msgspec

from arena.errors import ArenaError, UsageError
from arena.game.game_spec import GameSpec, Opening, Player
from arena.league.game_ids import contents_of, pair_seed_of, place_of_opening, rounds_tried
from arena.league.game_specs import Games
from arena.league.league_options import PLACING, FormatName, FormatOptions, check_format
from arena.league.pairing.chosen import ChosenFormat
from arena.league.pairing.pairing import Format, Pairing
from arena.league.pairing.placing import Placed, Placing
from arena.league.settings import Settings, openings_in, settings_in
from arena.league.store import Contents, GameRow, Groups, Store
from arena.league.store.document import NO_OPENINGS, OPENINGS

WORDS = "a format with its options and players, as this version writes them"
MOST_BOTS = 5000
"""The most bots, as a store lists them even without games, and a Swiss pairs them before any game."""
MOST_PAIRS = 200_000
"""The most games that a knockout may give out before any is played: bots times the pairs of a match."""


class KeptFormat(msgspec.Struct, frozen=True, omit_defaults=True):
    """A format with all that its games follow from; `players` are digests, from the first seed on.

    `former` are the older versions of players that have played in this league, the oldest first; `idle` and `away` are
    those of `ChosenFormat`.
    """

    options: FormatOptions
    players: tuple[str, ...]
    former: dict[str, tuple[str, ...]] = {}
    idle: tuple[str, ...] = ()
    away: dict[str, tuple[int, ...]] = {}

    def pairing(
        self, games: Games, players: Sequence[Player], rows: Iterable[GameRow], ladder_since: int | None
    ) -> Pairing:
        """Make a new pairing of the league for these players. Raises `ArenaError`.

        A ladder began with the games among `rows` up to number `ladder_since`.
        """
        count = len(players)
        if not 2 <= count <= MOST_BOTS:
            raise UsageError(f"expected from 2 to {MOST_BOTS} bots in a format, got {count}")
        if count * (self.options.best_of or 1) > MOST_PAIRS:
            raise UsageError(f"expected at most {MOST_PAIRS // count} pairs in a match of {count} bots")
        known: list[GameRow] = []
        if self.options.name is FormatName.LADDER:
            if ladder_since is None:
                raise UsageError("the games that the ladder began with are missing")
            known = [row for row in rows if row.number <= ladder_since]
        return ChosenFormat(self.options, known, self.idle, self.away)(games, players, 1, None)

    def versions(self, players: Iterable[Player]) -> dict[str, tuple[Player, ...]]:
        """Return the older versions of these players, by digest, under their present names."""
        return versions(self.former, players)


def versions(former: Mapping[str, Sequence[str]], players: Iterable[Player]) -> dict[str, tuple[Player, ...]]:
    """Return the `former` digests of these players as players of the same names."""
    return {
        player.digest: tuple(Player(player.name, digest) for digest in former[player.digest])
        for player in players
        if player.digest in former
    }


def format_text(format_: Format, players: Sequence[Player], rounds: int, former: Mapping[str, Sequence[Player]]) -> str:
    """Encode a format of these players for the store; empty for a pairing that is no format of leagues."""
    if not isinstance(format_, ChosenFormat):
        return ""
    seeded, options = format_.settled(players, rounds)
    kept = KeptFormat(
        replace(options, seeds=()),
        tuple(player.digest for player in seeded),
        {digest: tuple(old.digest for old in older) for digest, older in sorted(former.items())},
        tuple(sorted(format_.idle)),
        {digest: tuple(rounds) for digest, rounds in sorted(format_.away.items())},
    )
    return msgspec.json.encode(kept).decode()


def format_in(text: str) -> KeptFormat:
    """Decode a stored format. Raises `UsageError` if this version has not written it."""
    try:
        kept = msgspec.json.decode(text, type=KeptFormat)
        is_whole = msgspec.json.encode(kept).decode() == text  # unknown fields of another version are refused
        check_format(kept.options)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError, UsageError):
        is_whole = False
    if not is_whole:
        raise UsageError(f"expected {WORDS}")
    return kept


class GamesBetween:
    """The stored games between some players, of any league, looked up by their ids."""

    def __init__(self, store: Store, players: Iterable[Player]) -> None:
        self._store = store
        self.left = store.count_between({player.digest for player in players})
        """The number of games not yet taken."""

    def take(self, games: Sequence[GameSpec]) -> list[GameRow]:
        """Return the rows of the stored ones of these games. A game is taken once."""
        rows = self._store.rows_of_ids([game.id for game in games]) if self.left else []
        self.left -= len(rows)
        return rows


def tell_stored(pairing: Pairing, stored: GamesBetween) -> bool:
    """Give a new pairing all its stored games. Returns whether it has no others."""
    results: list[GameRow] = []
    found_all = True
    while batch := pairing.next(results):
        results = stored.take(batch)
        found_all = found_all and len(results) == len(batch)
        if not (stored.left or results or found_all):
            return False
    return found_all and batch is None


def stored_games(pairing: Pairing, stored: GamesBetween) -> Iterator[GameRow]:
    """Yield the stored games of a new pairing in the order in which it gives them out."""
    results: list[GameRow] = []
    while batch := pairing.next(results):
        results = stored.take(batch)
        yield from results
        if not (stored.left or results):
            return


class StoredWalk:
    """A new pairing that has received its stored games.

    `numbers` are those of the games, `missing` the games that it has given out and the store lacks.
    """

    def __init__(self, pairing: Pairing, stored: GamesBetween) -> None:
        self.pairing = pairing
        self.stored = stored
        self.numbers: set[int] = set()
        self.missing: list[GameSpec] = []
        self.is_complete = False
        """Whether the store has all games of the pairing."""
        results: list[GameRow] = []
        while batch := pairing.next(results):
            results = stored.take(batch)
            found = {row.id for row in results}
            self.missing += (game for game in batch if game.id not in found)
            self.numbers.update(row.number for row in results)
            if not (stored.left or results):
                return
        self.is_complete = batch is None and not self.missing


def ladder_start(store: Store, players: Sequence[Player]) -> int:
    """Return the number of the last game that a ladder of these players, in this order, begins with.

    That is the store's last game when such a ladder was first requested, so a resumed ladder continues in the same way.
    """
    since = store.ladder_since([player.digest for player in players])
    return since if since is not None else store.last_number()


def games_between(players: Iterable[Player], rows: Iterable[GameRow]) -> Iterator[GameRow]:
    """Yield the rows that are games between these players, of any league."""
    digests = {player.digest for player in players}
    return (row for row in rows if digests.issuperset(player.digest for player in row.players))


@dataclass(frozen=True)
class LineUp:
    """The participants: `format` with the bots that are not paired, and `former`, older versions of players by digest.

    `counted` are the numbers of the stored games that the league has counted so far, `late` the players that came after
    the draw of a knockout.
    """

    format: Format
    former: Mapping[str, tuple[Player, ...]] = field(default_factory=dict)
    counted: frozenset[int] = frozenset()
    late: tuple[Player, ...] = ()

    def everybody(self, players: Iterable[Player]) -> tuple[Player, ...]:
        """Return these players, followed by their older versions that have played."""
        return (*players, *(old for older in self.former.values() for old in older))


@dataclass(frozen=True)
class LeagueBefore:
    """The stored state of a league to resume.

    `names` are those of its players by digest, `counted` the numbers of its stored games, `rounds` the number of rounds
    begun.
    """

    kept: KeptFormat
    names: Mapping[str, str]
    counted: frozenset[int]
    rounds: int


def line_up(
    format_: Format,
    players: Sequence[Player],
    broken: Collection[str],
    played: Collection[str],
    before: LeagueBefore | None = None,
) -> LineUp:
    """Return the line-up of these players.

    `broken` has the digests of those that cannot be started, `played` of those with games in the store.
    """
    if not isinstance(format_, ChosenFormat):
        return LineUp(format_)
    present = {player.digest for player in players}
    seats, former = dict[str, str](), dict[str, tuple[str, ...]]()
    if before:
        kept = before.kept
        gone = {before.names.get(digest): digest for digest in kept.players if digest not in present}
        for player in players:
            digest = player.digest
            seat = digest if digest in kept.players else gone.get(player.name)
            if seat is not None:
                seats[digest] = seat
                older = (*kept.former.get(seat, ()), seat)
                former[digest] = tuple(one for one in dict.fromkeys(older) if one in played and one not in present)
    former = {digest: older for digest, older in former.items() if older}
    chosen, late = replace(format_, idle=frozenset(broken)), tuple[Player, ...]()
    match format_.options.name:
        case FormatName.SWISS:
            asked = format_.options.rounds or (before.kept.options.rounds if before else None)
            chosen = replace(chosen, options=replace(format_.options, rounds=asked))
            _, options = chosen.settled(players, 1)
            chosen = replace(chosen, away=_away(players, broken, options.rounds or 1, before, seats))
        case FormatName.KNOCKOUT if before and before.counted:
            late = tuple(player for player in players if player.digest not in seats)
            idle = {digest for digest, seat in seats.items() if seat in before.kept.idle}
            chosen = replace(chosen, idle=idle | {player.digest for player in late})
    return LineUp(chosen, versions(former, players), before.counted if before else frozenset(), late)


def _away(
    players: Sequence[Player],
    broken: Collection[str],
    rounds: int,
    before: LeagueBefore | None,
    seats: Mapping[str, str],
) -> dict[str, tuple[int, ...]]:
    """Return the rounds in which players are not paired: missed ones, and for a broken bot all that are to come."""
    begun = before.rounds if before else 0
    away: dict[str, tuple[int, ...]] = {}
    for player in players:
        seat = seats.get(player.digest)
        missed = before.kept.away.get(seat, ()) if before and seat else range(1, begun + 1)
        found = [
            number
            for number in range(1, rounds + 1)
            if (number in missed if number <= begun else player.digest in broken)
        ]
        if found:
            away[player.digest] = tuple(found)
    return away


def league_before(store: Store, format_: Format, settings: Settings) -> LeagueBefore | None:
    """Return the last league of a store, if it is of this format and the format places bots; None otherwise.

    Also None if its games cannot be worked out, as in a store that was changed by hand.
    """
    if not isinstance(format_, ChosenFormat) or format_.options.name not in PLACING:
        return None
    with suppress(ArenaError):
        of_store = store.kept()
        kept = format_in(of_store.format)
        if kept.options.name is format_.options.name:
            names = {player.digest: player.name for player in of_store.entrants}
            players = [Player(names.get(digest, ""), digest) for digest in kept.players]
            older = kept.versions(players)
            everybody = LineUp(format_, older).everybody(players)
            games = Games(settings, store, older)
            since = store.ladder_since(kept.players)
            pairing = kept.pairing(games, players, games_between(everybody, store.each_row()), since)
            counted = frozenset(row.number for row in stored_games(pairing, GamesBetween(store, everybody)))
            rounds = pairing.placing().rounds if isinstance(pairing, Placed) else ()
            return LeagueBefore(kept, names, counted, sum(bool(one.played) for one in rounds))
    return None


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
