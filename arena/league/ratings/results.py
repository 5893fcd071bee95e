"""Results of games as counts: who met whom, with which colours, and how often each of the two won, drew or lost.

A league of 1,000 bots has a million pairs of a bot with Red and a bot with Blue. So results are kept as one count for
each of them and each way to end, whatever the number of games, and `rows` gives them out in columns: a list of all
opponents of a player, and beside it lists of numbers in the same order.
"""

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self


class Score(enum.Enum):
    """How one game ended for the two players it names."""

    FIRST = "first"
    DRAW = "draw"
    SECOND = "second"
    NEITHER = "neither"  # a double forfeit: both lost


@dataclass(frozen=True, slots=True)
class GameScore:
    """One finished game between two different players; the first one had Red."""

    first: str
    second: str
    score: Score


@dataclass(frozen=True, slots=True)
class Row:
    """All the games of one player by opponent: the lists have an entry for each opponent, ordered by its number.

    `as_first` counts those of the wins, draws and losses in which the player was the first one.
    """

    opponents: list[int]
    wins: list[int]
    draws: list[int]
    losses: list[int]
    double_forfeits: list[int]
    as_first: list[int]

    @property
    def games(self) -> list[int]:
        """All games with each opponent."""
        return list(map(sum, zip(self.wins, self.draws, self.losses, self.double_forfeits, strict=True)))

    @property
    def half_points(self) -> list[int]:
        """Twice the points taken from each opponent."""
        return [2 * wins + draws for wins, draws in zip(self.wins, self.draws, strict=True)]


FIELD_BITS = 40
"""The counts of a pair are added up side by side in one number, each in so many bits: a trillion games have room."""
_FIELD = (1 << FIELD_BITS) - 1
_WIN, _DRAW, _LOSS, _NEITHER, _FIRST = (1 << FIELD_BITS * number for number in range(5))
_SCORES = (Score.FIRST, Score.DRAW, Score.SECOND, Score.NEITHER)
_SEEN_BY_FIRST = (_WIN + _FIRST, _DRAW + _FIRST, _LOSS + _FIRST, _NEITHER)
_SEEN_BY_SECOND = (_LOSS, _DRAW, _WIN, _NEITHER)
_NUMBERS = {score: number for number, score in enumerate(_SCORES)}


class Results:
    """How often each result came about between players who are known by numbers, the places of their `names`."""

    def __init__(self, names: Sequence[str]) -> None:
        """Raises ValueError where a name occurs twice."""
        self.names = tuple(names)
        self._counts: dict[int, int] = {}
        if len(set(self.names)) != len(self.names):
            raise ValueError("a name occurs twice in the list of players")

    def add(self, first: int, second: int, score: Score, count: int = 1) -> None:
        """Count games. Raises ValueError where a number is nobody's, or both are the same."""
        players = len(self.names)
        if not (0 <= first < players and 0 <= second < players and first != second):
            raise ValueError(f"expected two different numbers below {players}, got {first} and {second}")
        key = (first * players + second) * 4 + _NUMBERS[score]
        self._counts[key] = self._counts.get(key, 0) + count

    def copy(self) -> Self:
        """The same counts, which games that are added to this one do not change."""
        copy = type(self)(self.names)
        copy._counts = self._counts.copy()
        return copy

    @property
    def won_first(self) -> float:
        """The points of the first players."""
        points = (1.0, 0.5, 0.0, 0.0)
        return sum(points[key % 4] * count for key, count in self._counts.items())

    def both_ways(self, score: Score) -> bool:
        """Whether in some pair each of the two has been the first player in a game of this result, or drawn."""
        players, numbers = len(self.names), (_NUMBERS[score], _NUMBERS[Score.DRAW])
        for key in self._counts:
            pair, number = divmod(key, 4)
            if number in numbers:
                first, second = divmod(pair, players)
                turned = (second * players + first) * 4
                if any(turned + other in self._counts for other in numbers):
                    return True
        return False

    def scored(self) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
        """The (first, second) whose first player has scored in a game, and those whose second player has."""
        found: tuple[set[tuple[int, int]], set[tuple[int, int]]] = (set(), set())
        for key in self._counts:
            pair, score = divmod(key, 4)
            if score <= _NUMBERS[Score.DRAW]:
                found[0].add(divmod(pair, len(self.names)))
            if _NUMBERS[Score.DRAW] <= score <= _NUMBERS[Score.SECOND]:
                found[1].add(divmod(pair, len(self.names)))
        return found

    def rows(self) -> list[Row]:
        """The games of each player, in the order of the names. Equal whatever the order in which they were added."""
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
            seen[player] = {}  # gives its memory back
            rows.append(_row(met))
        return rows


def _row(met: Mapping[int, int]) -> Row:
    # Sorted, so that sums of floats come out the same to the last bit in whatever order the games came.
    opponents = sorted(met)
    packed = list(map(met.__getitem__, opponents))
    columns = ([number >> FIELD_BITS * field & _FIELD for number in packed] for field in range(5))
    return Row(opponents, *columns)


def rated_rows(rows: Sequence[Row]) -> tuple[list[int], list[Row]]:
    """The players who have a game that says who is stronger, and those games; they get new numbers, in their order."""
    whole = all(row.opponents and all(map(sum, zip(row.wins, row.draws, row.losses, strict=True))) for row in rows)
    if whole:
        return list(range(len(rows))), list(rows)
    kept = [[at for at in range(len(row.opponents)) if row.wins[at] or row.draws[at] or row.losses[at]] for row in rows]
    rated = [player for player, places in enumerate(kept) if places]
    number = {player: place for place, player in enumerate(rated)}
    return rated, [_part(rows[player], kept[player], number) for player in rated]


def _part(row: Row, places: Sequence[int], number: Mapping[int, int]) -> Row:
    columns = (row.wins, row.draws, row.losses, row.double_forfeits, row.as_first)
    return Row([number[row.opponents[at]] for at in places], *([column[at] for at in places] for column in columns))


Games = Iterable[GameScore] | Mapping[GameScore, int] | Results
"""Finished games, or how many of them came to each result."""


def results_of(names: Sequence[str], games: Games) -> Results:
    """The games as counts.

    Raises ValueError where a game names a player that is not in `names`, or one player twice, or `names` has a repeat,
    or where counts are those of other names.
    """
    if isinstance(games, Results):
        if games.names != tuple(names):
            raise ValueError("expected the results of the players that are named")
        return games
    results = Results(names)
    place = {name: number for number, name in enumerate(names)}
    counted = games.items() if isinstance(games, Mapping) else ((game, 1) for game in games)
    for game, count in counted:
        for name in (game.first, game.second):
            if name not in place:
                raise ValueError(f"a game names {name!r}, which is not in the list of players")
        if game.first == game.second:
            raise ValueError(f"a game names {game.first!r} as both players")
        results.add(place[game.first], place[game.second], game.score, count)
    return results
