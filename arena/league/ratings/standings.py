"""Ratings of all players, their standings with places, and the crosstable."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from arena.league.ratings.intervals import intervals
from arena.league.ratings.pair import ELO_PER_LOGIT, difference
from arena.league.ratings.results import Games, Meeting, Meetings, meetings_of
from arena.league.ratings.strengths import fit


@dataclass(frozen=True, slots=True)
class Rating:
    """A rating in Elo relative to the mean of all rated players, finite, and the ends of its 95% interval.

    An end that the games do not bound is infinite.
    """

    elo: float
    low: float
    high: float


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
    rating: Rating | None


@dataclass(frozen=True, slots=True)
class Cell:
    """The points that a row's player took in its games against a column's player."""

    points: float
    games: int


def ratings(names: Sequence[str], games: Games) -> dict[str, Rating | None]:
    """Elo ratings of all players with 95% intervals; the mean of the rated players is 0.

    Double forfeits are left out, as they say nothing about who is stronger; a player with no other game has None.
    Raises ValueError where a game names a player that is not in `names`, or one player twice, or `names` has a repeat.
    """
    return _ratings(names, meetings_of(names, games))


def _ratings(names: Sequence[str], meetings: Meetings) -> dict[str, Rating | None]:
    rated = sorted({viewer for (viewer, _), meeting in meetings.items() if meeting.rated})
    result: dict[str, Rating | None] = dict.fromkeys(names)
    if not rated:
        return result
    row = {player: number for number, player in enumerate(rated)}
    once = {(row[a], row[b]): meeting for (a, b), meeting in meetings.items() if a < b and meeting.rated}
    logits, factor = fit(len(rated), once)
    mean = sum(logits) / len(logits)  # 0 up to rounding already: the prior pulls it there and the games leave it free
    elos = [ELO_PER_LOGIT * (logit - mean) for logit in logits]
    if len(rated) == 2:
        exact = difference(once[0, 1].wins, once[0, 1].draws, once[0, 1].losses)
        ends = [(exact.low / 2, exact.high / 2), (-exact.high / 2, -exact.low / 2)]
    else:
        ends = [
            (ELO_PER_LOGIT * (low - mean), ELO_PER_LOGIT * (high - mean))
            for low, high in intervals(logits, factor, once)
        ]
    for player, elo, (low, high) in zip(rated, elos, ends, strict=True):
        result[names[player]] = Rating(elo, low, high)
    return result


def standings(names: Sequence[str], games: Games) -> list[Standing]:
    """The table of all players, best first.

    The order is that of the points per game, which is that of the points where all have played equally often. Among
    equals it is that of, one after the other: the points per game among themselves; the Sonneborn-Berger score per game
    (what was scored against each opponent, times that opponent's points per game); the wins per game. Who is equal in
    all of that shares a place, and is listed by name. Players without a game come last.

    A double forfeit is a game and a loss for both. Raises ValueError as `ratings` does.
    """
    meetings = meetings_of(names, games)
    seen: list[Meetings] = [{} for _ in names]
    for (viewer, opponent), meeting in meetings.items():
        seen[viewer][viewer, opponent] = meeting
    rating_of = _ratings(names, meetings)
    table = []
    place = 1
    for group in _places(seen):
        for player in sorted(group, key=names.__getitem__):
            met = seen[player].values()
            wins, draws = sum(meeting.wins for meeting in met), sum(meeting.draws for meeting in met)
            played, points, name = sum(meeting.games for meeting in met), wins + draws / 2, names[player]
            losses = played - wins - draws
            table.append(Standing(place, name, played, wins, draws, losses, points, rating_of[name]))
        place += len(group)
    return table


def _places(seen: Sequence[Meetings]) -> list[list[int]]:
    """The players in groups of equals, best first; `seen` has each player's own meetings.

    In fractions, so that equals are equal.
    """
    games = [sum(meeting.games for meeting in met.values()) for met in seen]
    points = [_score(met.values()) for met in seen]
    sonneborn_berger = [
        sum((meeting.half_points * points[opponent] for (_, opponent), meeting in met.items()), Fraction(0))
        for met in seen
    ]
    wins = [sum(meeting.wins for meeting in met.values()) for met in seen]

    def among_equals(player: int, equals: Sequence[int]) -> Fraction:
        between = [meeting for (_, opponent), meeting in seen[player].items() if opponent in equals]
        return _score(between) if between else Fraction(1, 2)  # who did not meet is neither ahead nor behind

    rules: tuple[Callable[[int, Sequence[int]], Fraction | int], ...] = (
        lambda player, _: bool(games[player]),
        lambda player, _: points[player],
        among_equals,
        lambda player, _: sonneborn_berger[player] / (games[player] or 1),
        lambda player, _: Fraction(wins[player], games[player] or 1),
    )
    groups = [list(range(len(seen)))] if seen else []
    for rule in rules:
        groups = [part for group in groups for part in _separated(group, rule)]
    return groups


def _separated(group: Sequence[int], rule: Callable[[int, Sequence[int]], Fraction | int]) -> list[list[int]]:
    """The groups of equals that a rule leaves of one, best first."""
    values = {player: rule(player, group) for player in group}
    ordered = sorted(group, key=values.__getitem__, reverse=True)
    return [list(equals) for _, equals in groupby(ordered, key=values.__getitem__)]


def _score(meetings: Collection[Meeting]) -> Fraction:
    """The points per game; 0 without a game."""
    games = sum(meeting.games for meeting in meetings)
    return Fraction(sum(meeting.half_points for meeting in meetings), 2 * games) if games else Fraction(0)


def crosstable(names: Sequence[str], games: Games) -> dict[str, dict[str, Cell]]:
    """For each player (row), the points and games against each player it met (column), in the order of `names`.

    Players that did not meet have no cell. Raises ValueError as `ratings` does.
    """
    table: dict[str, dict[str, Cell]] = {name: {} for name in names}
    for (row, column), meeting in meetings_of(names, games).items():
        table[names[row]][names[column]] = Cell(meeting.points, meeting.games)
    return table
