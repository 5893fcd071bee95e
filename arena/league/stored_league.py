"""The last league of a store: its format, its games among the stored ones, its line-up when it is resumed, its places.

The games of a league are found by asking its pairing again; so its places are never only a claim. When it is resumed, a
new version of a bot, of the same name, takes the place of the old one in all games that have not been played. A bot
that cannot be started is not paired until it can.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain

import msgspec

from arena.errors import ArenaError, UsageError
from arena.game.game_spec import GameSpec, Opening, Player
from arena.league.game_ids import Games, contents_of, pair_seed_of, place_of_opening, rounds_tried
from arena.league.league_options import PLACING, FormatName, FormatOptions, check_format
from arena.league.pairing.chosen import ChosenFormat
from arena.league.pairing.pairing import Format, Pairing, Placed, Placing
from arena.league.settings import Settings, openings_in, settings_in
from arena.league.store import Contents, GameRow, Groups, Store
from arena.league.store.document import NO_OPENINGS, Setting

MOST_BOTS = 5000
"""The most bots, as a store lists them even without games, and a Swiss pairs them before any game."""
MOST_PAIRS = 200_000
"""The most games that a knockout may give out before any is played: bots times the pairs of a match."""


class KeptFormat(msgspec.Struct, frozen=True, omit_defaults=True):
    """A format with all that its games follow from; `players` are digests, from the first seed on."""

    options: FormatOptions
    players: tuple[str, ...]
    former: dict[str, tuple[str, ...]] = {}
    idle: tuple[str, ...] = ()
    away: dict[str, tuple[int, ...]] = {}

    def pairing(self, settings: Settings, store: Store, players: Sequence[Player]) -> Pairing:
        count = len(players)
        if not 2 <= count <= MOST_BOTS:
            raise UsageError(f"expected from 2 to {MOST_BOTS} bots in a format, got {count}")
        if count * (self.options.best_of or 1) > MOST_PAIRS:
            raise UsageError(f"expected at most {MOST_PAIRS // count} pairs in a match of {count} bots")
        older, known = self.versions(players), list[GameRow]()
        if self.options.name is FormatName.LADDER:
            since = store.ladder_since(self.players)
            if since is None:
                raise UsageError("the games that the ladder began with are missing")
            known = known_to_ladder(store, (*players, *chain.from_iterable(older.values())), since)
        chosen = ChosenFormat(self.options, known, self.idle, self.away)
        return chosen(Games(settings, store, older), players, 1, None)

    def versions(self, players: Iterable[Player]) -> dict[str, tuple[Player, ...]]:
        return versions(self.former, players)


def versions(former: Mapping[str, Sequence[str]], players: Iterable[Player]) -> dict[str, tuple[Player, ...]]:
    return {
        player.digest: tuple(Player(player.name, digest) for digest in former[player.digest])
        for player in players
        if player.digest in former
    }


def format_text(lineup: "LineUp", players: Sequence[Player], rounds: int) -> str:
    """Encode the format of these players for the store; empty for a pairing that is no format of leagues."""
    format_, former = lineup.chosen, lineup.former
    if format_ is None:
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
        raise UsageError("expected a format with its options and players, as this version writes them")
    return kept


class GamesBetween:
    """The stored games between some players, of any league, looked up by their ids."""

    def __init__(self, store: Store, players: Iterable[Player]) -> None:
        self._store = store
        self.left = store.count_between({player.digest for player in players})

    def take(self, games: Sequence[GameSpec]) -> list[GameRow]:
        """Return the rows of the stored ones of these games. A game is taken once."""
        rows = self._store.rows_of_ids([game.id for game in games]) if self.left else []
        self.left -= len(rows)
        return rows


class StoredWalk:
    """A new pairing that has received its stored games; `numbers` are theirs, in the order of play."""

    def __init__(self, pairing: Pairing, stored: GamesBetween) -> None:
        self.pairing = pairing
        self.stored = stored
        self.numbers: list[int] = []
        self.missing: list[GameSpec] = []
        self.is_complete = False
        """Whether the store has all games of the pairing."""
        results: list[GameRow] = []
        while batch := pairing.next(results):
            results = stored.take(batch)
            found = {row.id for row in results}
            self.missing += (game for game in batch if game.id not in found)
            self.numbers += (row.number for row in results)
            if not (stored.left or results):
                return
        self.is_complete = batch is None and not self.missing


def known_to_ladder(store: Store, players: Iterable[Player], since: int) -> list[GameRow]:
    """Return the games between these players, of any league, up to number `since`: a ladder begins with them."""
    return [row for row in games_between(players, store.each_row()) if row.number <= since]


def games_between(players: Iterable[Player], rows: Iterable[GameRow]) -> Iterator[GameRow]:
    digests = {player.digest for player in players}
    return (row for row in rows if digests.issuperset(player.digest for player in row.players))


@dataclass(frozen=True)
class LineUp:
    """The `format` of a league with the bots that are not paired, and the older versions of players, by digest.

    `counted` are the numbers of the games that the league has counted so far, `late` the players after the draw.
    """

    format: Format
    former: Mapping[str, tuple[Player, ...]] = field(default_factory=dict)
    counted: Sequence[int] = ()
    late: tuple[Player, ...] = ()

    @property
    def chosen(self) -> ChosenFormat | None:
        return self.format if isinstance(self.format, ChosenFormat) else None

    def everybody(self, players: Iterable[Player]) -> tuple[Player, ...]:
        return (*players, *(old for older in self.former.values() for old in older))


@dataclass(frozen=True)
class LeagueBefore:
    """A stored league: the names of its players by digest, the numbers of its stored games, and the rounds begun."""

    kept: KeptFormat
    names: Mapping[str, str]
    counted: Sequence[int]
    rounds: int


def line_up(
    format_: ChosenFormat,
    players: Sequence[Player],
    broken: Collection[str],
    played: Collection[str],
    before: LeagueBefore | None = None,
) -> LineUp:
    """Return the line-up of these players, of whom those in `broken` cannot be started; `played` are in the store."""
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
    return LineUp(chosen, versions(former, players), before.counted if before else (), late)


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


def league_before(store: Store, format_: ChosenFormat, settings: Settings) -> LeagueBefore | None:
    """Return the last league of a store, if it is of this format, places bots, and can be worked out."""
    if format_.options.name not in PLACING:
        return None
    with suppress(ArenaError):
        of_store = store.kept()
        kept = format_in(of_store.format)
        if kept.options.name is format_.options.name:
            names = {player.digest: player.name for player in of_store.entrants}
            players = [Player(names.get(digest, ""), digest) for digest in kept.players]
            everybody = LineUp(format_, kept.versions(players)).everybody(players)
            pairing = kept.pairing(settings, store, players)
            walk = StoredWalk(pairing, GamesBetween(store, everybody))
            rounds = pairing.placing().rounds if isinstance(pairing, Placed) else ()
            return LeagueBefore(kept, names, walk.numbers, sum(bool(one.played) for one in rounds))
    return None


MOST_OPENINGS = 100_000


def placing_of(pairing: Pairing, stored: GamesBetween) -> Placing | None:
    """Return the places of a new pairing by the stored games; None where the table shows all."""
    if not isinstance(pairing, Placed):
        return None
    StoredWalk(pairing, stored)
    placing = pairing.placing()
    return placing if placing != Placing() else None


def stored_places(store: Store, contents: Contents[list[GameRow]] | Contents[Groups]) -> Placing | None:
    """Return the places of a store's last league, or the `problem` with them; None if they are those of the table."""
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
        settings = settings_in(contents.settings)
        openings = contents.settings.get(Setting.OPENINGS, NO_OPENINGS)
        if openings != NO_OPENINGS:
            rows = list(games_between(contents.entrants, store.each_row()))
            found = _openings(store, settings, openings_in(openings), rows)
            settings = msgspec.structs.replace(settings, openings=found)
        return placing_of(kept.pairing(settings, store, players), GamesBetween(store, contents.entrants))
    except ArenaError as error:  # of a store that somebody has changed
        return Placing(problem=str(error))


def _openings(store: Store, settings: Settings, count: int, rows: Sequence[GameRow]) -> tuple[Opening, ...]:
    """Return the openings of a league that records contain. Raises `UsageError` for a number that no file has."""
    if not 1 <= count <= MOST_OPENINGS:
        raise UsageError(f"expected from 1 to {MOST_OPENINGS} openings, got {count}")
    found: dict[int, Opening] = {}
    met = Counter(contents_of(row.players) for row in rows)
    games = Games(settings)
    for row in rows:
        if len(found) == count:
            break
        record = store.stored(row.number).sound
        if record is None or not record.opening:
            continue
        common = games.common(row.players)
        for number in rounds_tried(met[contents_of(row.players)]):
            if pair_seed_of(common, row.players, number, opening=record.opening) == record.pair_seed:
                found.setdefault(place_of_opening(common, row.players, number, count), record.opening)
                break
    return tuple(found.get(place, ("", "")) for place in range(count))
