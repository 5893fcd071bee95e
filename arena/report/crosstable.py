"""Who scored what against whom, as a value: of a large league, only what is asked for is made."""

from collections.abc import Iterator, Sequence

import msgspec

from arena.league.ratings import Row


class Meeting(msgspec.Struct, frozen=True):
    """What one bot scored against another."""

    name: str
    opponent: str
    points: float
    games: int


class Crosstable:
    """Who scored what against whom, in the order of rank; what is not asked for is not made."""

    def __init__(self, order: Sequence[str], names: Sequence[str], rows: Sequence[Row]) -> None:
        """`order` has the names of `names` as they are shown; `rows` has the games of each in the order of `names`."""
        self.order = tuple(order)
        self._names = tuple(names)
        self._rows = rows
        self._number = {name: number for number, name in enumerate(names)}
        self._rank = {name: rank for rank, name in enumerate(order)}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Crosstable):
            return NotImplemented
        return self.order == other.order and all(self.row(name) == other.row(name) for name in self.order)

    def __hash__(self) -> int:
        return hash(self.order)

    def row(self, name: str) -> dict[str, Meeting]:
        """A bot's meetings by the names of its opponents, in the order of rank."""
        row = self._rows[self._number[name]]
        columns = zip(row.opponents, row.half_points, row.games, strict=True)
        met = [Meeting(name, self._names[opponent], points / 2, games) for opponent, points, games in columns]
        return {each.opponent: each for each in sorted(met, key=lambda each: self._rank[each.opponent])}

    def meetings(self) -> Iterator[Meeting]:
        """All of them, row by row."""
        for name in self.order:
            yield from self.row(name).values()

    @property
    def most_games(self) -> int:
        """The games of the pair that has met most often."""
        return max((max(row.games, default=0) for row in self._rows), default=0)
