"""The table of a league: places by stated rules, ratings with intervals, the advantage of the first player.

Places go by points per game; then, among equals, by the points per game among themselves; then by the Sonneborn-Berger
score per game (what was scored against each opponent, times that opponent's points per game); then by the wins per
game. All are exact fractions, so that equals are equal.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, groupby
from operator import mul
from typing import NamedTuple

from arena.league.ratings.bounds import bounds_of
from arena.league.ratings.intervals import advantage_interval, intervals, superiority_in
from arena.league.ratings.pair import ELO_PER_LOGIT, difference
from arena.league.ratings.score_counts import Results, Row, Score, rated_rows
from arena.league.ratings.strengths import USUAL_PRIORS, Fit, fit, moments, scale_of


class Merits(NamedTuple):
    """The values per game that a player's place depends on, and `neustadtl`, the usual Sonneborn-Berger score.

    `head_to_head` is None where the points alone decide.
    """

    points: float
    head_to_head: float | None
    sonneborn_berger: float
    wins: float
    neustadtl: float


@dataclass(frozen=True, slots=True)
class Rating:
    """An Elo number with the ends of its 95% interval; an end that the games do not bound is infinite."""

    elo: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Anchor:
    name: str
    elo: float = 0.0


@dataclass(frozen=True, slots=True)
class Standing:
    """One line of the table. Points are wins + draws / 2; a double forfeit is a loss. Equals share a place."""

    place: int
    name: str
    games: int
    wins: int
    draws: int
    losses: int
    points: float
    merits: Merits
    rating: Rating | None


class RatedLeague:
    def __init__(self, results: Results, anchor: Anchor | None = None) -> None:
        self.names = results.names
        self.anchor = anchor
        if anchor and anchor.name not in self.names:
            raise ValueError(f"the anchor {anchor.name!r} is not in the list of players")
        self._results = results
        self.rows: list[Row] = results.rows()
        self._rated, self._rated_rows = rated_rows(self.rows)

    @cached_property
    def _fit(self) -> Fit:
        return fit(self._rated_rows, self._results.won_first)

    def ratings(self) -> dict[str, Rating | None]:
        """Return the Elo of all players; the mean of the rated ones is 0, or the anchor has its given Elo.

        A player with no game but double forfeits has None; if that is the anchor, all have None.
        """
        found: dict[str, Rating | None] = dict.fromkeys(self.names)
        anchor = self.names.index(self.anchor.name) if self.anchor else None
        if not self._rated or (anchor is not None and anchor not in self._rated):
            return found
        place = self._rated.index(anchor) if anchor is not None else None
        zero = self.anchor.elo if self.anchor else 0.0
        rated = self._of_two(place) if len(self._rated) == 2 else self._of_many(place)
        for player, (elo, low, high) in zip(self._rated, rated, strict=True):
            found[self.names[player]] = Rating(zero + elo, zero + low, zero + high)
        return found

    def _of_many(self, anchor: int | None) -> Iterator[tuple[float, float, float]]:
        logits = self._fit.point.logits
        zero = sum(logits) / len(logits) if anchor is None else logits[anchor]
        ends = intervals(self._fit, bounds_of(self._rated_rows, anchor), is_anchored=anchor is not None)
        for logit, (low, high) in zip(logits, ends, strict=True):
            yield self._unit * (logit - zero), self._unit * low, self._unit * high

    def _of_two(self, anchor: int | None) -> Iterator[tuple[float, float, float]]:
        """Yield the ratings of two by their score alone, like their difference; only the prior keeps them finite."""
        (wins,), (draws,), (losses,) = (self._rated_rows[0].wins, self._rated_rows[0].draws, self._rated_rows[0].losses)
        found = difference(wins, draws, losses)
        elo = 2 * ELO_PER_LOGIT * _half_difference(wins + draws / 2, losses + draws / 2)
        for share in (0.5, -0.5) if anchor is None else (0.0, -1.0) if anchor == 0 else (1.0, 0.0):
            low, high = sorted((share * found.low, share * found.high)) if share else (0.0, 0.0)
            yield share * elo, low, high

    @property
    def _unit(self) -> float:
        return ELO_PER_LOGIT * scale_of(self._fit.point.tie)

    @property
    def advantage(self) -> Rating | None:
        """The Elo that the first move is worth; None before any rated game.

        It has a lower bound if both of some pair have scored as the first player, whatever their strengths are, and an
        upper bound if both have scored as the second one. In all but tiny leagues there is such a pair.
        """
        if not self._rated:
            return None
        bounded = [self._results.both_ways(score) for score in (Score.FIRST, Score.SECOND)]
        low, high = advantage_interval(self._fit, *bounded)
        return Rating(self._unit * self._fit.point.advantage, self._unit * low, self._unit * high)

    @property
    def draw_share(self) -> float | None:
        """The fitted share of draws between equals; None before any rated game."""
        return 1 - scale_of(self._fit.point.tie) if self._rated else None

    def superiorities(self, order: Sequence[str]) -> Iterator[tuple[str, str, float]]:
        """Yield all pairs of rated players, each in `order`, with the likelihood that the first is stronger."""
        number = {self.names[player]: place for place, player in enumerate(self._rated)}
        pairs = combinations([name for name in order if name in number], 2)
        if len(self._rated) == 2:
            for one, other in pairs:
                row = self._rated_rows[number[one]]
                yield one, other, difference(row.wins[0], row.draws[0], row.losses[0]).stronger
        elif self._rated:
            for one, other in pairs:
                yield one, other, superiority_in(self._fit, number[one], number[other])

    def standings(self) -> list[Standing]:
        """Return the table of all players, best first; equals by name, and players without a game last."""
        rating_of = self.ratings()
        groups, merits = _places(self.rows)
        table: list[Standing] = []
        for group in groups:
            place = len(table) + 1
            for player in sorted(group, key=self.names.__getitem__):
                row, name = self.rows[player], self.names[player]
                wins, draws, played = sum(row.wins), sum(row.draws), sum(row.games)
                counts = (played, wins, draws, played - wins - draws)
                table.append(Standing(place, name, *counts, wins + draws / 2, merits[player], rating_of[name]))
        return table


def _half_difference(points: float, missed: float) -> float:
    """Return half the difference in log strength of two players, with the prior; draws are half points."""
    low, high = -60.0, 60.0
    for _ in range(100):
        half = (low + high) / 2
        if points - (points + missed) * moments(2 * half, 0.0).score > USUAL_PRIORS.strength * half:
            low = half
        else:
            high = half
    return low


_Rule = Callable[[int, Sequence[int]], Fraction | int]


def _places(rows: Sequence[Row]) -> tuple[list[list[int]], list[Merits]]:
    games = [sum(row.games) for row in rows]
    halves = [row.half_points for row in rows]
    half_points = list(map(sum, halves))
    points = [_share(taken, 2 * played) for taken, played in zip(half_points, games, strict=True)]
    # On one denominator, so that the sums are of whole numbers.
    common = math.lcm(*{played for played in games if played})
    rates = [taken * (common // played) if played else 0 for taken, played in zip(half_points, games, strict=True)]
    sonneborn_berger = [
        Fraction(sum(map(mul, taken, map(rates.__getitem__, row.opponents))), 4 * common * (played or 1))
        for row, taken, played in zip(rows, halves, games, strict=True)
    ]
    wins = [_share(sum(row.wins), played) for row, played in zip(rows, games, strict=True)]
    head_to_head: dict[int, Fraction] = {}

    def among_equals(player: int, equals: Sequence[int]) -> Fraction:
        others, met = set(equals), zip(rows[player].opponents, halves[player], rows[player].games, strict=True)
        taken = [(halves, played) for opponent, halves, played in met if opponent in others]
        played = sum(played for _, played in taken)
        # players who did not meet are neither ahead nor behind
        share = _share(sum(halves for halves, _ in taken), 2 * played) if played else Fraction(1, 2)
        head_to_head[player] = share
        return share

    rules: tuple[_Rule, ...] = (
        lambda player, _: bool(games[player]),
        lambda player, _: points[player],
        among_equals,
        lambda player, _: sonneborn_berger[player],
        lambda player, _: wins[player],
    )
    groups = [list(range(len(rows)))] if rows else []
    for rule in rules:
        groups = [part for group in groups for part in (_separated(group, rule) if len(group) > 1 else [group])]
    merits = [
        Merits(
            float(points[player]),
            float(head_to_head[player]) if player in head_to_head and games[player] else None,
            float(sonneborn_berger[player]),
            float(wins[player]),
            sum(map(mul, halves[player], map(half_points.__getitem__, row.opponents))) / 4,
        )
        for player, row in enumerate(rows)
    ]
    return groups, merits


def _separated(group: Sequence[int], rule: _Rule) -> list[list[int]]:
    values = {player: rule(player, group) for player in group}
    ordered = sorted(group, key=values.__getitem__, reverse=True)
    return [list(equals) for _, equals in groupby(ordered, key=values.__getitem__)]


def _share(part: int, whole: int) -> Fraction:
    return Fraction(part, whole) if whole else Fraction(0)
