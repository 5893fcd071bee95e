"""Connect Four: two players drop discs into columns; four in a line win. README.md has the rules and the protocol."""

from collections.abc import Iterator, Sequence

from arena.errors import IllegalAnswerError
from arena.game import Ending, Game, State, Told, Variant, moved, to_both
from protocol.seats import Color, Outcome, Reason

LINE = 4
SIZES = {"connect4": (7, 6), "small": (5, 4), "large": (9, 7)}
"""Columns and rows of each variant."""
FOUR, FULL = "four", "full-board"
LETTERS = {None: ".", Color.RED: "r", Color.BLUE: "b"}
CELL, RADIUS, MARGIN = 44, 17, 8
"""Sizes in the drawing."""
STYLE = """
.frame { fill: #2f5fa8; } .empty { fill: #eef1f5; } .red { fill: #d8402f; } .blue { fill: #f2c230; }
.disc { stroke: #0006; stroke-width: 2; } .last { fill: none; stroke: #fff; stroke-width: 3; }
.number { fill: #555; font: 14px system-ui, sans-serif; text-anchor: middle; }
@media (prefers-color-scheme: dark) {
  .frame { fill: #274b82; } .empty { fill: #14181f; } .number { fill: #bbb; }
}
"""


class Position(State):
    """The discs in each column, the lowest first."""

    def __init__(self, columns: int, rows: int) -> None:
        self._rows = rows
        self._columns: list[list[Color]] = [[] for _ in range(columns)]
        self._last: tuple[int, int] | None = None
        """The column and row of the last disc."""

    def legal_actions(self) -> Sequence[str]:
        return [str(number) for number, column in enumerate(self._columns, start=1) if len(column) < self._rows]

    def act(self, action: str) -> Told:
        legal = self.legal_actions()
        if action not in legal:
            raise IllegalAnswerError(f"{action}: expected a column with room: {', '.join(legal)}")
        mover, number = self.to_move, int(action) - 1
        self._columns[number].append(mover)
        self._last = number, len(self._columns[number]) - 1
        if self._has_line(*self._last):
            self.outcome = Outcome(mover, Reason(FOUR))
        elif not self.legal_actions():
            self.outcome = Outcome(None, Reason(FULL))
        self.to_move = mover.opponent
        return to_both(moved(mover, action))

    def _at(self, column: int, row: int) -> Color | None:
        inside = 0 <= column < len(self._columns) and 0 <= row < len(self._columns[column])
        return self._columns[column][row] if inside else None

    def _has_line(self, column: int, row: int) -> bool:
        """Whether the disc there is part of four in a line."""
        for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
            ahead = self._run(column, row, right, up)
            behind = self._run(column, row, -right, -up)
            if ahead + behind - 1 >= LINE:
                return True
        return False

    def _run(self, column: int, row: int, right: int, up: int) -> int:
        """Count the discs of one colour in one direction, with the first."""
        color, count = self._at(column, row), 0
        while self._at(column + count * right, row + count * up) is color:
            count += 1
        return count

    def board_line(self, color: Color) -> str:
        return f"board {'/'.join(self._text_rows())}"

    def _text_rows(self) -> Iterator[str]:
        """Yield the rows from above."""
        for row in reversed(range(self._rows)):
            yield "".join(LETTERS[self._at(column, row)] for column in range(len(self._columns)))

    def text(self, seat: Color | None) -> str:
        numbers = [str(number) for number in range(1, len(self._columns) + 1)]
        return "\n".join(" ".join(row) for row in (*self._text_rows(), numbers))

    def svg(self, seat: Color | None) -> str:
        width = 2 * MARGIN + CELL * len(self._columns)
        height = 2 * MARGIN + CELL * self._rows
        parts = [f'<rect class="frame" width="{width}" height="{height}" rx="10"/>']
        for column in range(len(self._columns)):
            x = MARGIN + CELL * column + CELL // 2
            for row in range(self._rows):
                y = height - MARGIN - CELL * row - CELL // 2
                color = self._at(column, row)
                kind = "empty" if color is None else f"{color.word} disc"
                parts.append(f'<circle class="{kind}" cx="{x}" cy="{y}" r="{RADIUS}"/>')
                if (column, row) == self._last:
                    parts.append(f'<circle class="last" cx="{x}" cy="{y}" r="{RADIUS // 3}"/>')
            parts.append(f'<text class="number" x="{x}" y="{height + 18}">{column + 1}</text>')
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height + 26}" role="img" '
            f'aria-label="Connect Four"><style>{STYLE}</style>{"".join(parts)}</svg>'
        )


class ConnectFour(Game):
    """See README.md."""

    name = "connect4"
    seat_names = ("Red", "Yellow")
    endings = {
        FOUR: Ending("let the other side make four in a line"),
        FULL: Ending("the board is full", is_draw=True),
    }

    def variant_names(self) -> Sequence[str]:
        return tuple(SIZES)

    def rules_of(self, name: str) -> Sequence[tuple[str, str]]:
        columns, rows = SIZES[name]
        return ("columns", str(columns)), ("rows", str(rows))

    def start(self, variant: Variant, seed: int, setups: tuple[str, str]) -> Position:
        rules = dict(variant.rules)
        return Position(int(rules["columns"]), int(rules["rows"]))

    def rules_in_words(self, variant: Variant) -> str:
        rules = dict(variant.rules)
        return (
            f"Connect Four on {rules['columns']} columns of {rules['rows']} rows. The players take turns, Red first. A "
            "player drops a disc into a column that is not full; it falls onto the highest disc there. Four discs of "
            "one colour next to each other in a row, a column or a diagonal win at once. A full board without such a "
            "line is a draw."
        )


GAME = ConnectFour
