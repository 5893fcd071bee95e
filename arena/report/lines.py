"""Games as lines of JSON while they are played: what is over is written at once, by a thread of its own.

It holds up no game if nobody reads: lines wait in memory then. They are results, so the end waits until they are
written, and what writing them raises comes out there.
"""

import queue
import threading
from collections.abc import Callable

from arena.game.record import GameRecord
from arena.league.store import GameRow
from arena.report.json import game_entry, to_line
from arena.report.progress import FINISH_SECONDS, Progress
from arena.report.roster import ShownNames


class GameLines:
    """What is shown of games, and besides a line of JSON for each. Use `close` after `finish`."""

    def __init__(self, progress: Progress, write: Callable[[str], None], names: ShownNames) -> None:
        """`write` writes out a line, without its line feed, at once; `names` are those that the table shows."""
        self._progress = progress
        self._write_line = write
        self._names = names
        self._rows: queue.SimpleQueue[GameRow | None] = queue.SimpleQueue()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def finished(self, row: GameRow, record: GameRecord) -> None:
        self._progress.finished(row, record)
        self._rows.put(row)

    def remark(self, text: str) -> None:
        self._progress.remark(text)

    def finish(self) -> None:
        """The games are over. Waits a moment for the lines: after an error nobody calls `close`."""
        self._progress.finish()
        self._rows.put(None)
        self._thread.join(FINISH_SECONDS)

    def close(self) -> None:
        """Wait until all lines are written. Raises what writing them has raised."""
        self._thread.join()
        if self._error:
            raise self._error

    def _write(self) -> None:
        try:
            while (row := self._rows.get()) is not None:
                self._write_line(to_line(game_entry(row, self._names)))
        except BaseException as error:  # it is raised where the results are printed
            self._error = error
