"""Lines at the end of a terminal that are drawn over and over, and wiped in the end.

The cursor stays behind the last of them, so that they are erased row by row upwards. How many rows they take is worked
out for the width of now: a terminal that has become narrower has folded what was drawn in it.
"""

from types import TracebackType
from typing import Self

from rich.console import Console, RenderableType
from rich.segment import Segment, Segments
from rich.text import Text

HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
ERASE_ROW, UP, ERASE_BELOW = "\x1b[2K", "\x1b[1A", "\x1b[J"


def erasing(widths: list[int], columns: int) -> str:
    """What erases lines of these widths from a terminal of so many columns whose cursor is in the last of them."""
    if not widths:
        return ""
    rows = sum(max(1, -(-width // columns)) for width in widths)
    return f"\r{ERASE_ROW}{f'{UP}{ERASE_ROW}' * (rows - 1)}{ERASE_BELOW}"


class Frame:
    """What is drawn. Use it in a `with` statement; nothing else may be written to the terminal within."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._widths: list[int] = []
        """Those of the lines that are there."""
        self._lines: list[list[Segment]] = []
        self._drawn_for: tuple[int, int] = (0, 0)

    def __enter__(self) -> Self:
        self._write(HIDE_CURSOR)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._write(self._erased() + SHOW_CURSOR)

    @property
    def is_misfit(self) -> bool:
        """Whether what was drawn was meant for a terminal of another size."""
        return self._drawn_for not in ((0, 0), self._console.size)

    def draw(self, content: RenderableType) -> None:
        """Show this in place of what is there; of more lines than the terminal has, the first ones."""
        self._drawn_for = width, height = self._console.size
        options = self._console.options.update(width=width, height=None)
        self._lines = self._console.render_lines(content, options, pad=False)[:height]
        self._write(self._erased() + self._frame())

    def print_above(self, text: Text) -> None:
        """Print a text that stays, however long it is, above what is drawn."""
        self._write(f"{self._erased()}{text.plain}\n{self._frame()}")

    def _frame(self) -> str:
        """What draws the lines."""
        self._widths = [Segment.get_line_length(line) for line in self._lines]
        parts = [part for line in self._lines for part in (Segment.line(), *line)][1:]
        with self._console.capture() as drawn:
            self._console.print(Segments(parts), end="", soft_wrap=True)
        return drawn.get()

    def _erased(self) -> str:
        widths, self._widths = self._widths, []
        return erasing(widths, self._console.width)

    def _write(self, text: str) -> None:
        self._console.file.write(text)
        self._console.file.flush()
