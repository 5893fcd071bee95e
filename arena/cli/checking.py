"""How far `arena check` is, for whoever waits for it at a terminal."""

import contextlib
import sys
from collections.abc import Iterator

from rich.text import Text

from arena.check.service import Begins
from arena.check.situations import Situation
from arena.report.consoles import progress_console
from arena.report.frame import Frame


@contextlib.contextmanager
def progress() -> Iterator[Begins]:
    """Within, a line of a terminal shows what is tried; nothing is shown where standard error is none."""
    console = progress_console()
    if not sys.stderr.isatty() or console.is_dumb_terminal:
        yield lambda number, total, situation: None
        return
    with Frame(console) as frame:

        def begins(number: int, total: int, situation: Situation) -> None:
            frame.draw(Text(f"{number + 1} of {total}: {situation.title}", no_wrap=True, overflow="ellipsis"))

        yield begins
