"""The table of a league as a value, made from the stored games, for terminal, JSON and pages."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import add
from typing import Any, Self

import msgspec

from arena.errors import UsageError, suggest
from arena.game.faults import GameResult
from arena.game.game_spec import Player
from arena.game.record import GameRecord
from arena.league.ratings.league_table import Anchor, RatedLeague, Standing
from arena.league.ratings.pair import PairDifference, difference
from arena.league.ratings.score_counts import Results, Row, Score
from arena.league.store import GameRow, Groups, SideTimes, Store
from arena.league.store.document import Setting, own_times_in
from arena.report.game_list import NAMES_ALONE, Roster, ShownNames
from arena.system.printable import printable
from protocol.seats import Color, Reason


class HeadToHead(msgspec.Struct, frozen=True):
    name: str
    opponent: str
    points: float
    games: int


@dataclass(frozen=True)
class Crosstable:
    """The results of each pair that has met, in the order of rank, computed on demand.

    `order` are `names` by rank; `rows` has the games of each in the order of `names`.
    """

    order: Sequence[str]
    names: Sequence[str]
    rows: Sequence[Row]

    @cached_property
    def _rank(self) -> dict[str, int]:
        return {name: rank for rank, name in enumerate(self.order)}

    def row(self, name: str) -> dict[str, HeadToHead]:
        row = self.rows[self.names.index(name)]
        columns = zip(row.opponents, row.half_points, row.games, strict=True)
        met = [HeadToHead(name, self.names[opponent], points / 2, games) for opponent, points, games in columns]
        return {each.opponent: each for each in sorted(met, key=lambda each: self._rank[each.opponent])}

    def meetings(self) -> Iterator[HeadToHead]:
        """Yield the results of each pair twice, row by row."""
        for name in self.order:
            yield from self.row(name).values()

    @property
    def most_games(self) -> int:
        return max((max(row.games, default=0) for row in self.rows), default=0)


_SCORES = {
    GameResult.RED: Score.FIRST,
    GameResult.BLUE: Score.SECOND,
    GameResult.DRAW: Score.DRAW,
    GameResult.NEITHER: Score.NEITHER,
}
_COLORS = tuple(Color)
_NO_TIMES = SideTimes(0, 0, 0, 0, 0)


@dataclass(slots=True)
class Totals:
    """The results and times of one bot."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    forfeits: int = 0
    times: SideTimes = _NO_TIMES

    def line_fields(self) -> dict[str, Any]:
        points, times = self.wins + self.draws / 2, self.times
        return {
            "points": points,
            "games": self.games,
            "score": points / self.games if self.games else None,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.games - self.wins - self.draws,
            "forfeits": self.forfeits,
            "mean_ms": times.total_us / times.moves / 1000 if times.moves else None,
            "slowest_ms": times.slowest_us / 1000 if times.moves else None,
            "cpu_ms": times.cpu_us / times.measured_moves / 1000 if times.measured_moves else None,
        }


class Tally:
    """The counts of the games between players of a table. Games of a player against itself count nowhere else."""

    def __init__(self, names: ShownNames, rows: Iterable[GameRow] | Groups = ()) -> None:
        self._names = names
        self.results = Results(
            sorted(set(names.values()))
        )  # in one order, so that ratings are the same to the last digit
        self._numbers = {name: number for number, name in enumerate(self.results.names)}
        self.games = 0
        self.against_itself = 0
        self.totals = {name: Totals() for name in names.values()}
        self.endings = Counter[Reason]()
        self.losers: dict[Reason, Counter[str]] = {}
        if isinstance(rows, Groups):
            self._add_groups(rows)
        else:
            for row in rows:
                self.add(row)

    def add(self, row: GameRow) -> None:
        red, blue = (self._names.get(player) for player in row.players)
        if red is None or blue is None:
            return
        if red == blue:
            self.against_itself += 1
            return
        self.results.add(self._numbers[red], self._numbers[blue], _SCORES[row.result])
        for color, name, time in zip(_COLORS, (red, blue), row.times, strict=True):
            self._end(color, name, row.result, row.reason, 1)
            measured = 0 if time.cpu_us is None else time.moves
            self._spend(name, SideTimes(*time[:3], time.cpu_us or 0, measured))

    def _add_groups(self, groups: Groups) -> None:
        names = [self._names.get(player) for player in groups.numbered]
        numbers = [-1 if name is None else self._numbers[name] for name in names]
        scores = [_SCORES[result] for result, _ in groups.endings]
        as_red, as_blue = ([[0] * len(scores) for _ in names] for _ in range(2))
        for red, blue, ending, games in groups.ended():
            first, second = numbers[red], numbers[blue]
            if first >= 0 and first == second:
                self.against_itself += games
            elif first >= 0 and second >= 0:
                self.results.add(first, second, scores[ending], games)
                as_red[red][ending] += games
                as_blue[blue][ending] += games
        for color, ended in zip(_COLORS, (as_red, as_blue), strict=True):
            for name, by_ending in zip(names, ended, strict=True):
                for (result, reason), games in zip(groups.endings, by_ending, strict=True):
                    if name is not None and games:
                        self._end(color, name, result, reason, games)
        for number, times in groups.times([number for number, name in enumerate(names) if name is not None]).items():
            self._spend(names[number] or "", times)

    def _end(self, color: Color, name: str, result: GameResult, reason: Reason, games: int) -> None:
        if color is Color.RED:
            self.games += games
            self.endings[reason] += games
        totals = self.totals[name]
        totals.games += games
        if result is GameResult.DRAW:
            totals.draws += games
        elif result.winner is color:
            totals.wins += games
        else:
            totals.forfeits += reason.is_forfeit * games
            self.losers.setdefault(reason, Counter())[name] += games

    def _spend(self, name: str, times: SideTimes) -> None:
        before = self.totals[name].times
        slowest = max(before.slowest_us, times.slowest_us)
        self.totals[name].times = SideTimes(*map(add, before, times))._replace(slowest_us=slowest)

    def copy(self) -> Self:
        copy = type(self)(self._names)
        copy.results = self.results.copy()
        copy.games, copy.against_itself = self.games, self.against_itself
        copy.totals = {name: replace(totals) for name, totals in self.totals.items()}
        copy.endings = self.endings.copy()
        copy.losers = {reason: losers.copy() for reason, losers in self.losers.items()}
        return copy


LARGEST_ELO = 100_000


class Line(msgspec.Struct, frozen=True):
    """One bot's line. Bots that are equal in all criteria share a place; `score` is the points per game.

    Elo is relative to the mean, or to the anchor, with the ends of its 95% interval. It is None before any game, and an
    end is None if the games do not bound it. `forfeits` counts the games lost by a fault. Times are per move, in
    milliseconds; `cpu_ms` is the mean over the games with measured processor time.

    Ties in the score are broken by `head_to_head`, the points per game among the bots of that score (None without a
    tie), then by `sonneborn_berger_per_game`, then by wins per game. `sonneborn_berger` is the usual sum: the points
    taken from each opponent, times all points of that opponent.

    `declared` and `author` are what the bot declared in its last game, if that is known.
    """

    place: int
    name: str
    digest: str
    points: float
    games: int
    score: float | None
    wins: int
    draws: int
    losses: int
    forfeits: int
    elo: float | None
    elo_low: float | None
    elo_high: float | None
    mean_ms: float | None
    slowest_ms: float | None
    cpu_ms: float | None
    head_to_head: float | None
    sonneborn_berger: float
    sonneborn_berger_per_game: float
    declared: str | None = None
    author: str | None = None


class Difference(msgspec.Struct, frozen=True):
    """The Elo that `first` is above `second`, with its 95% interval; a value that the games do not bound is None."""

    first: str
    second: str
    elo: float | None
    low: float | None
    high: float | None
    stronger: float


class Advantage(msgspec.Struct, frozen=True):
    elo: float
    low: float | None
    high: float | None


class Superiority(msgspec.Struct, frozen=True):
    """The likelihood, from 0 to 1, that a bot is stronger than an opponent, by all games of the league."""

    name: str
    opponent: str
    stronger: float


class ReasonCount(msgspec.Struct, frozen=True):
    reason: Reason
    games: int
    losers: dict[str, int]


class Table(msgspec.Struct, frozen=True):
    """The whole table, lines in order of rank.

    `planned` is the number of games of the league, or a lower bound if `is_planned_known` is false; None if no league
    of these players was planned. `difference` is that of the two bots of a match. `draw_share` is the fitted share of
    games that equal bots draw. `pairs` has the likelihood of superiority of each pair, if requested. Games
    `against_itself` count nowhere else. `names` are the names of players in the table.
    """

    lines: tuple[Line, ...]
    crosstable: Crosstable
    endings: tuple[ReasonCount, ...]
    games: int
    planned: int | None
    is_planned_known: bool
    difference: Difference | None
    advantage: Advantage | None = None
    draw_share: float | None = None
    anchor: Anchor | None = None
    pairs: tuple[Superiority, ...] | None = None
    against_itself: int = 0
    names: ShownNames = NAMES_ALONE

    @property
    def meetings(self) -> tuple[HeadToHead, ...]:
        return tuple(self.crosstable.meetings())

    @property
    def is_complete(self) -> bool | None:
        return None if self.planned is None else self.games >= self.planned


def make_table(
    players: Sequence[Player],
    rows: Collection[GameRow] | Groups,
    planned: int | None = None,
    *,
    meets_all: bool | None = True,
    anchor: str | None = None,
    pairs: bool = False,
) -> Table:
    """Make the table of the games between these players; other games are left out.

    `planned` is the number of games, if known. If all bots are to meet equally often (`meets_all`), it is at least the
    number implied by the games so far; if not, at least one more game than there are; with None only `planned` counts.
    """
    roster = Roster(players, rows)
    tally = Tally(roster.names, rows)
    digests = roster.digests
    league = RatedLeague(tally.results, anchor_of(anchor, list(digests)) if anchor else None)
    lines, found = _rated(league, digests, tally)
    if league.anchor and tally.games and league.draw_share is not None and all(line.elo is None for line in lines):
        raise UsageError(
            f"--anchor: expected a bot that has played, got {league.anchor.name!r}, which has no rated game"
        )
    order = [line.name for line in lines]
    cross = Crosstable(order, league.names, league.rows)
    least = 0
    if meets_all:
        most, bots = cross.most_games, len(digests)
        least = most if bots == 2 else (most + 1) // 2 * bots * (bots - 1)
    elif meets_all is False and planned is None:
        least = tally.games + 1
    endings = (
        (reason, games, sorted(tally.losers.get(reason, {}).items(), key=lambda item: (-item[1], item[0])))
        for reason, games in sorted(tally.endings.items(), key=lambda item: (-item[1], item[0].value))
    )
    red = league.advantage
    return Table(
        lines=lines,
        crosstable=cross,
        endings=tuple(ReasonCount(reason, games, dict(losers)) for reason, games, losers in endings),
        games=tally.games,
        planned=None if planned is None and meets_all is None else max(planned or 0, least),
        is_planned_known=planned is not None and planned >= least,
        difference=found,
        advantage=Advantage(red.elo, _finite(red.low), _finite(red.high)) if red else None,
        draw_share=league.draw_share,
        anchor=league.anchor,
        pairs=tuple(Superiority(*each) for each in league.superiorities(order)) if pairs else None,
        against_itself=tally.against_itself,
        names=roster.names,
    )


def anchor_of(text: str, names: Sequence[str]) -> Anchor:
    if text in names:
        return Anchor(text)
    name, equals, number = text.rpartition("=")
    if not equals:
        raise UsageError(f"--anchor: no bot {text!r} in this table; {suggest(text, names)}")
    if name not in names:
        raise UsageError(f"--anchor: no bot {name!r} in this table; {suggest(name, names)}")
    try:
        elo = float(number)
    except ValueError:
        elo = math.nan
    if not abs(elo) <= LARGEST_ELO:
        raise UsageError(
            f"--anchor: expected NAME or NAME=ELO with a number from -{LARGEST_ELO} to {LARGEST_ELO}, got {text!r}"
        )
    return Anchor(name, elo)


def rated_lines(digests: Mapping[str, str], tally: Tally) -> tuple[tuple[Line, ...], Difference | None]:
    """Return the lines of a table in order of rank, and the difference of a match. `digests` are by shown name."""
    return _rated(RatedLeague(tally.results), digests, tally)


def _rated(league: RatedLeague, digests: Mapping[str, str], tally: Tally) -> tuple[tuple[Line, ...], Difference | None]:
    ranked, found = league.standings(), None
    if len(digests) == 2:
        names = list(digests)
        first, second = sorted(ranked, key=lambda standing: names.index(standing.name))
        if first.rating:  # a double forfeit is a loss of both and does not count
            found = named_difference((first.name, second.name), difference(first.wins, first.draws, second.wins))
    return tuple(_line(each, digests[each.name], tally.totals[each.name]) for each in ranked), found


def _line(standing: Standing, digest: str, totals: Totals) -> Line:
    rating = standing.rating
    return Line(
        place=standing.place,
        name=standing.name,
        digest=digest,
        elo=rating.elo if rating else None,
        elo_low=_finite(rating.low) if rating else None,
        elo_high=_finite(rating.high) if rating else None,
        head_to_head=standing.merits.head_to_head,
        sonneborn_berger=standing.merits.neustadtl,
        sonneborn_berger_per_game=standing.merits.sonneborn_berger,
        **totals.line_fields(),
    )


def _finite(end: float) -> float | None:
    return end if math.isfinite(end) else None


def named_difference(names: tuple[str, str], found: PairDifference) -> Difference:
    elo, low, high = map(_finite, (found.elo, found.low, found.high))
    return Difference(*names, elo, low, high, found.stronger)


NAMED = 6
"""The most bots that are named with their clocks; of more, only the number is shown."""


def own_times_of(lines: Iterable[Line], settings: Mapping[str, str]) -> dict[str, str]:
    own = own_times_in(settings)
    return {line.name: own[line.digest] for line in lines if line.digest in own}


def handicap_text(usual: str, own: Mapping[str, str], names: Iterable[str]) -> str:
    """Return the note on clocks: the bots with their own, then that of the others; empty without a handicap."""
    others = [name for name in names if name not in own]
    if not own:
        return ""
    clocks = [f"{name} {text}" for name, text in list(own.items())[:NAMED]]
    if len(own) > NAMED:
        clocks.append(f"{len(own) - NAMED} more with their own")
    if others:
        clocks.append(f"{others[0] if len(others) == 1 else 'all others'} {usual}")
    return f"handicap: {', '.join(clocks)}"


def table_note(lines: Iterable[Line], settings: Mapping[str, str]) -> str:
    lines = list(lines)
    return handicap_text(
        printable(settings.get(Setting.TIME, "")), own_times_of(lines, settings), [one.name for one in lines]
    )


def declared_in(record: GameRecord | None, digest: str) -> tuple[str | None, str | None]:
    """Return the name and the author that a bot declared in a game; None if it did not."""
    for side, player in enumerate(record.players if record else ()):
        if record and player.digest == digest:
            return record.declared[side] or None, (record.authors or ("", ""))[side] or None
    return None, None


def with_declared(table: Table, rows: Iterable[GameRow], store: Store) -> Table:
    """Add to the lines what each bot declared in the last of these games that it played."""
    last = {player.digest: row.number for row in rows for player in row.players}
    lines = []
    for line in table.lines:
        if (number := last.get(line.digest)) is not None:
            name, author = declared_in(store.stored(number).sound, line.digest)
            line = msgspec.structs.replace(line, declared=name, author=author)  # noqa: PLW2901
        lines.append(line)
    return msgspec.structs.replace(table, lines=tuple(lines))
