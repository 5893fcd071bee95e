"""Games counted as they come in: all that a table is made from, in the same room however many games there are."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

from arena.game.verdict import GameResult
from arena.league.ratings import Results, Score
from arena.league.store import GameRow, Groups, SideTimes
from arena.report.roster import ShownNames
from protocol.notation import Color, Reason

_SCORES = {
    GameResult.RED: Score.FIRST,
    GameResult.BLUE: Score.SECOND,
    GameResult.DRAW: Score.DRAW,
    GameResult.NEITHER: Score.NEITHER,
}
_COLORS = tuple(Color)


@dataclass(slots=True)
class Totals:
    """One bot's games: how they ended, and its moves with their time in microseconds.

    `measured_moves` are those whose processor time, `cpu_us`, was measured.
    """

    games: int = 0
    wins: int = 0
    draws: int = 0
    forfeits: int = 0
    moves: int = 0
    total_us: int = 0
    slowest_us: int = 0
    cpu_us: int = 0
    measured_moves: int = 0

    @property
    def points(self) -> float:
        return self.wins + self.draws / 2

    @property
    def score(self) -> float | None:
        """The points per game; None before any."""
        return self.points / self.games if self.games else None

    @property
    def mean_ms(self) -> float | None:
        return self.total_us / self.moves / 1000 if self.moves else None

    @property
    def slowest_ms(self) -> float | None:
        return self.slowest_us / 1000 if self.moves else None

    @property
    def cpu_ms(self) -> float | None:
        return self.cpu_us / self.measured_moves / 1000 if self.measured_moves else None


class Tally:
    """The games between some players; games of others are left out. `names` are those that the table shows.

    A game of a player against itself says nothing of its strength, and which of its sides would have the point? The
    arena plays none, but stores may come from anywhere: those are counted in `against_itself` and nowhere else.
    """

    def __init__(self, names: ShownNames, rows: Iterable[GameRow] | Groups = ()) -> None:
        self._names = names
        self.results = Results(sorted(set(names.values())))
        """Who won how often against whom; in one order, so that ratings are the same to the last digit."""
        self._numbers = {name: number for number, name in enumerate(self.results.names)}
        self.games = 0
        self.against_itself = 0
        self.totals = {name: Totals() for name in names.values()}
        self.endings = Counter[Reason]()
        self.losers: dict[Reason, Counter[str]] = {}
        """By the reason for which they lost."""
        if isinstance(rows, Groups):
            self._add_groups(rows)
            return
        for row in rows:
            self.add(row)

    def add(self, row: GameRow) -> None:
        """Count a game."""
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
        """Count all games of some that were counted together. There may be a million pairs."""
        names = [self._names.get(player) for player in groups.numbered]
        numbers = [-1 if name is None else self._numbers[name] for name in names]
        scores = [_SCORES[result] for result, _ in groups.endings]
        as_red, as_blue = ([[0] * len(scores) for _ in names] for _ in range(2))
        add = self.results.add
        for red, blue, ending, games in groups.ended():
            first, second = numbers[red], numbers[blue]
            if first >= 0 and first == second:
                self.against_itself += games
            elif first >= 0 and second >= 0:
                add(first, second, scores[ending], games)
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
        """Count how games of one side ended; those of Red's are all games."""
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
        totals = self.totals[name]
        totals.moves += times.moves
        totals.total_us += times.total_us
        totals.slowest_us = max(totals.slowest_us, times.slowest_us)
        totals.cpu_us += times.cpu_us
        totals.measured_moves += times.measured_moves

    def copy(self) -> Self:
        """The same counts, which games that are added to this one do not change."""
        copy = type(self)(self._names)
        copy.results = self.results.copy()
        copy.games, copy.against_itself = self.games, self.against_itself
        copy.totals = {name: replace(totals) for name, totals in self.totals.items()}
        copy.endings = self.endings.copy()
        copy.losers = {reason: losers.copy() for reason, losers in self.losers.items()}
        return copy
