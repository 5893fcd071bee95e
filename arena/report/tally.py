"""Games counted as they come in: all that a table is made from, in the same room however many games there are."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Self

from arena.game.spec import Player
from arena.game.verdict import GameResult
from arena.league.ratings import Results, Score
from arena.league.store import GameRow, Group
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
    """The games between some players; games of others are left out. `names` are those that the table shows."""

    def __init__(self, names: Mapping[Player, str], rows: Iterable[GameRow | Group] = ()) -> None:
        self._names = names
        self.results = Results(sorted(set(names.values())))
        """Who won how often against whom; in one order, so that ratings are the same to the last digit."""
        self._numbers = {name: number for number, name in enumerate(self.results.names)}
        self.games = 0
        self.totals = {name: Totals() for name in names.values()}
        self.endings = Counter[Reason]()
        self.losers: dict[Reason, Counter[str]] = {}
        """By the reason for which they lost."""
        for row in rows:
            self.add(row)

    def add(self, row: GameRow | Group) -> None:
        """Count a game, or as many as were counted together."""
        (red_player, blue_player), games, result, reason = row.players, row.games, row.result, row.reason
        red, blue = self._names.get(red_player), self._names.get(blue_player)
        if red is None or blue is None:
            return
        self.games += games
        self.results.add(self._numbers[red], self._numbers[blue], _SCORES[result], games)
        self.endings[reason] += games
        winner = result.winner
        for color, name, time in zip(_COLORS, (red, blue), row.times, strict=True):
            totals = self.totals[name]
            totals.games += games
            totals.moves += time.moves
            totals.total_us += time.total_us
            totals.slowest_us = max(totals.slowest_us, time.slowest_us)
            if time.cpu_us is not None:
                totals.cpu_us += time.cpu_us
                totals.measured_moves += time.moves
            if result is GameResult.DRAW:
                totals.draws += games
            elif winner is color:
                totals.wins += games
            else:
                if reason not in self.losers:
                    self.losers[reason] = Counter()
                totals.forfeits += reason.is_forfeit * games
                self.losers[reason][name] += games

    def copy(self) -> Self:
        """The same counts, which games that are added to this one do not change."""
        copy = type(self)(self._names)
        copy.results = self.results.copy()
        copy.games = self.games
        copy.totals = {name: replace(totals) for name, totals in self.totals.items()}
        copy.endings = self.endings.copy()
        copy.losers = {reason: losers.copy() for reason, losers in self.losers.items()}
        return copy
