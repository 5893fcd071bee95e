"""Ratings of all players, their standings with places, and the crosstable."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arena.league.ratings.advantage import Advantage, advantage_of, is_bounded
from arena.league.ratings.bounds import bounds_of
from arena.league.ratings.davidson import scale_of
from arena.league.ratings.directions import Directions
from arena.league.ratings.intervals import intervals
from arena.league.ratings.pair import ELO_PER_LOGIT, difference
from arena.league.ratings.places import Merits, places_of
from arena.league.ratings.results import Games, Results, Row, Score, rated_rows, results_of
from arena.league.ratings.strengths import USUAL_PRIORS, Fit, fit
from arena.league.ratings.superiorities import Superiorities


@dataclass(frozen=True, slots=True)
class Rating:
    """A rating in Elo, finite, and the ends of its 95% interval.

    An end that the games do not bound is infinite.
    """

    elo: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Anchor:
    """The player whose rating is set, and to what."""

    name: str
    elo: float = 0.0


@dataclass(frozen=True, slots=True)
class Standing:
    """One line of the table. Points are wins + draws / 2; a double forfeit is a loss here. Equals share a place."""

    place: int
    name: str
    games: int
    wins: int
    draws: int
    losses: int
    points: float
    merits: Merits
    rating: Rating | None


@dataclass(frozen=True, slots=True)
class Cell:
    """The points that a row's player took in its games against a column's player."""

    points: float
    games: int


class League:
    """All that the games between some players say; what is not asked for is not computed."""

    def __init__(self, names: Sequence[str], games: Games, anchor: Anchor | None = None) -> None:
        """Raises ValueError where a game names a player that is not in `names`, or one player twice, where `names` has
        a repeat, or where the anchor is not among them."""
        self.names = tuple(names)
        self._results: Results = results_of(names, games)
        self.rows: list[Row] = self._results.rows()
        self.anchor = anchor
        if anchor and anchor.name not in self.names:
            raise ValueError(f"the anchor {anchor.name!r} is not in the list of players")
        self._rated, self._rated_rows = rated_rows(self.rows)
        self._fit: Fit | None = None
        self._directions: Directions | None = None

    def _fitted(self) -> tuple[Fit, Directions]:
        if self._fit is None or self._directions is None:
            self._fit = fit(self._rated_rows, self._results.won_first)
            self._directions = Directions(self._fit)
        return self._fit, self._directions

    def ratings(self) -> dict[str, Rating | None]:
        """Elo ratings of all players with 95% intervals; the mean of the rated players is 0, or the anchor is where it
        is set.

        Double forfeits are left out, as they say nothing about who is stronger; a player with no other game has None,
        and so has everybody where the anchor is such a player.
        """
        result: dict[str, Rating | None] = dict.fromkeys(self.names)
        anchor = self.names.index(self.anchor.name) if self.anchor else None
        if not self._rated or (anchor is not None and anchor not in self._rated):
            return result
        at = self._rated.index(anchor) if anchor is not None else None
        zero = self.anchor.elo if self.anchor else 0.0
        found = self._of_two(at) if len(self._rated) == 2 else self._of_many(at)
        for player, rating in zip(self._rated, found, strict=True):
            result[self.names[player]] = Rating(zero + rating.elo, zero + rating.low, zero + rating.high)
        return result

    def _of_many(self, anchor: int | None) -> list[Rating]:
        fitted, directions = self._fitted()
        logits = fitted.point.logits
        unit = ELO_PER_LOGIT * scale_of(fitted.point.tie)
        zero = sum(logits) / len(logits) if anchor is None else logits[anchor]
        ends = intervals(fitted, bounds_of(self._rated_rows, anchor), directions, is_anchored=anchor is not None)
        return [
            Rating(unit * (logit - zero), unit * low, unit * high)
            for logit, (low, high) in zip(logits, ends, strict=True)
        ]

    def _of_two(self, anchor: int | None) -> list[Rating]:
        """Those of two go by their score alone, as their difference does; only the prior keeps them finite."""
        row = self._rated_rows[0]
        wins, draws, losses = row.wins[0], row.draws[0], row.losses[0]
        found = difference(wins, draws, losses)
        half = ELO_PER_LOGIT * _half_difference(wins + draws / 2, losses + draws / 2)
        shares = (0.5, -0.5) if anchor is None else (0.0, -1.0) if anchor == 0 else (1.0, 0.0)
        ratings = []
        for share in shares:
            ends = sorted((share * found.low, share * found.high)) if share else [0.0, 0.0]
            ratings.append(Rating(2 * share * half, *ends))
        return ratings

    @property
    def advantage(self) -> Advantage | None:
        """What the side of the first player is worth; None before any game that says something of it."""
        if not self._rated:
            return None
        low, high = self._results.both_ways(Score.FIRST), self._results.both_ways(Score.SECOND)
        if not (low and high):  # no simple circle: look for a longer one
            first, second = self._results.scored()
            low = low or is_bounded(
                len(self.names), [(other, one) for one, other in first], {(other, one) for one, other in second}
            )
            high = high or is_bounded(len(self.names), list(second), first)
        return advantage_of(*self._fitted(), low, high)

    @property
    def draw_share(self) -> float | None:
        """The share of their games that equals draw, as fitted; None before any game."""
        return 1 - scale_of(self._fitted()[0].point.tie) if self._rated else None

    def superiorities(self, order: Sequence[str]) -> Iterator[tuple[str, str, float]]:
        """Of each two rated players, the earlier of `order` first: how likely it is that that one is the stronger."""
        number = {self.names[player]: place for place, player in enumerate(self._rated)}
        listed = [name for name in order if name in number]
        if len(self._rated) == 2:
            row = self._rated_rows[number[listed[0]]]
            yield (*listed, difference(row.wins[0], row.draws[0], row.losses[0]).stronger)  # type: ignore[misc]
            return
        if not listed:
            return
        likelihoods = Superiorities(*self._fitted())
        for place, one in enumerate(listed):
            for other in listed[place + 1 :]:
                yield one, other, likelihoods.of(number[one], number[other])

    def standings(self) -> list[Standing]:
        """The table of all players, best first.

        The order is that of the points per game, which is that of the points where all have played equally often. Among
        equals it is that of, one after the other: the points per game among themselves; the Sonneborn-Berger score per
        game (what was scored against each opponent, times that opponent's points per game); the wins per game. Who is
        equal in all of that shares a place, and is listed by name. Players without a game come last.

        A double forfeit is a game and a loss for both.
        """
        rating_of = self.ratings()
        groups, merits = places_of(self.rows)
        table: list[Standing] = []
        for group in groups:
            place = len(table) + 1
            for player in sorted(group, key=self.names.__getitem__):
                row, name = self.rows[player], self.names[player]
                wins, draws, played = sum(row.wins), sum(row.draws), sum(row.games)
                table.append(
                    Standing(
                        place,
                        name,
                        played,
                        wins,
                        draws,
                        played - wins - draws,
                        wins + draws / 2,
                        merits[player],
                        rating_of[name],
                    )
                )
        return table


def _half_difference(points: float, missed: float) -> float:
    """Half the difference in log strength of two players, with the prior; draws are half points."""
    prior, half = USUAL_PRIORS.strength, 0.0
    low, high = -60.0, 60.0
    while high - low > 1e-13 * max(1.0, abs(half)):
        half = (low + high) / 2
        size = math.exp(-abs(2 * half))
        expected = 1 / (1 + size) if half >= 0 else size / (1 + size)
        if points - (points + missed) * expected - prior * half > 0:
            low = half
        else:
            high = half
        if half in (low, high) and (low + high) / 2 == half:
            break
    return half


def ratings(names: Sequence[str], games: Games, anchor: Anchor | None = None) -> dict[str, Rating | None]:
    """As `League.ratings`; raises ValueError as `League` does."""
    return League(names, games, anchor).ratings()


def standings(names: Sequence[str], games: Games, anchor: Anchor | None = None) -> list[Standing]:
    """As `League.standings`; raises ValueError as `League` does."""
    return League(names, games, anchor).standings()


def crosstable(names: Sequence[str], games: Games) -> dict[str, dict[str, Cell]]:
    """For each player (row), the points and games against each player it met (column), in the order of `names`.

    Players that did not meet have no cell. Raises ValueError as `League` does.
    """
    rows = results_of(names, games).rows()
    return {
        name: {
            names[opponent]: Cell(points / 2, played)
            for opponent, points, played in zip(row.opponents, row.half_points, row.games, strict=True)
        }
        for name, row in zip(names, rows, strict=True)
    }
