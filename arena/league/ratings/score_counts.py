"""Counts of game results: how often each pair of players with given colors won, drew or lost.

A league of 1,000 players has a million pairs of a player with Red and a player with Blue: so there is one number for
each such pair and each result, and columns of all opponents of a player.
"""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Self


class Score(enum.Enum):
    FIRST = "first"
    DRAW = "draw"
    SECOND = "second"
    NEITHER = "neither"  # a double forfeit: both lost


@dataclass(frozen=True, slots=True)
class Row:
    """The games of one player by opponent: each list has an entry for each opponent, in the order of their numbers.

    `as_first` counts the wins, draws and losses of games in which the player was the first one.
    """

    opponents: list[int]
    wins: list[int]
    draws: list[int]
    losses: list[int]
    double_forfeits: list[int]
    as_first: list[int]

    @property
    def rated(self) -> list[int]:
        return list(map(sum, zip(self.wins, self.draws, self.losses, strict=True)))

    @property
    def games(self) -> list[int]:
        return list(map(sum, zip(self.wins, self.draws, self.losses, self.double_forfeits, strict=True)))

    @property
    def half_points(self) -> list[int]:
        return [2 * wins + draws for wins, draws in zip(self.wins, self.draws, strict=True)]


FIELD_BITS = 40
_FIELD = (1 << FIELD_BITS) - 1
_WIN, _DRAW, _LOSS, _NEITHER, _FIRST = (1 << FIELD_BITS * number for number in range(5))
_SCORES = (Score.FIRST, Score.DRAW, Score.SECOND, Score.NEITHER)
_SEEN_BY_FIRST = (_WIN + _FIRST, _DRAW + _FIRST, _LOSS + _FIRST, _NEITHER)
_SEEN_BY_SECOND = (_LOSS, _DRAW, _WIN, _NEITHER)
_NUMBERS = {score: number for number, score in enumerate(_SCORES)}


class Results:
    """How often each result occurred between players, who are numbered by their places in `names`."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._counts: dict[int, int] = {}
        if len(set(self.names)) != len(self.names):
            raise ValueError("a name occurs twice in the list of players")

    def add(self, first: int, second: int, score: Score, count: int = 1) -> None:
        """Count games. Raises ValueError for a number without a player, or the same number twice."""
        players = len(self.names)
        if not (0 <= first < players and 0 <= second < players and first != second):
            raise ValueError(f"expected two different numbers below {players}, got {first} and {second}")
        key = (first * players + second) * 4 + _NUMBERS[score]
        self._counts[key] = self._counts.get(key, 0) + count

    def copy(self) -> Self:
        copy = type(self)(self.names)
        copy._counts = self._counts.copy()
        return copy

    @property
    def won_first(self) -> float:
        points = (1.0, 0.5, 0.0, 0.0)
        return sum(points[key % 4] * count for key, count in self._counts.items())

    def both_ways(self, score: Score) -> bool:
        """Return whether both of some pair were the first player in games with this result or drawn."""
        players, numbers = len(self.names), (_NUMBERS[score], _NUMBERS[Score.DRAW])
        for key in self._counts:
            pair, number = divmod(key, 4)
            if number in numbers:
                first, second = divmod(pair, players)
                turned = (second * players + first) * 4
                if any(turned + other in self._counts for other in numbers):
                    return True
        return False

    def rows(self) -> list[Row]:
        players = len(self.names)
        seen: list[dict[int, int]] = [{} for _ in self.names]
        for key, count in self._counts.items():
            pair, score = divmod(key, 4)
            first, second = divmod(pair, players)
            met = seen[first]
            met[second] = met.get(second, 0) + count * _SEEN_BY_FIRST[score]
            met = seen[second]
            met[first] = met.get(first, 0) + count * _SEEN_BY_SECOND[score]
        rows = []
        for player, met in enumerate(seen):
            seen[player] = {}  # frees its memory
            rows.append(_row(met))
        return rows


def _row(met: Mapping[int, int]) -> Row:
    # Sorted, so that sums of floats are the same to the last bit for every order of the games.
    opponents = sorted(met)
    packed = list(map(met.__getitem__, opponents))
    columns = ([number >> FIELD_BITS * field & _FIELD for number in packed] for field in range(5))
    return Row(opponents, *columns)


def rated_rows(rows: Sequence[Row]) -> tuple[list[int], list[Row]]:
    """Return the players with games that are no double forfeits, and their rows, renumbered from 0."""
    if all(row.opponents and all(row.rated) for row in rows):
        return list(range(len(rows))), list(rows)
    rated = [player for player, row in enumerate(rows) if any(row.rated)]
    number = {player: place for place, player in enumerate(rated)}
    found = []
    for row in (rows[player] for player in rated):
        games, columns = row.rated, (row.wins, row.draws, row.losses, row.double_forfeits, row.as_first)
        opponents = [number[opponent] for opponent in compress(row.opponents, games)]
        found.append(Row(opponents, *(list(compress(column, games)) for column in columns)))
    return rated, found
