"""Progress on standard error, written by threads: a stopped reader never holds up a game.

In a terminal the standings are redrawn in place, with the last games below. Elsewhere remarks are printed, and a line
for each game if requested. Ratings of many players take long (1 s for 300, 8 s for 1,000): they are shown with the
number of games that they are based on.
"""

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from types import TracebackType
from typing import IO, Self

import msgspec

from arena.game.game_spec import Player
from arena.game.record import GameRecord
from arena.league.store import GameRow, Groups
from arena.report.game_list import Roster, ShownNames, game_entry, game_line
from arena.report.standings import Line, Tally, rated_lines
from arena.report.terminal import NAME_WIDTH, difference_text, short_names, standings_grid
from arena.system.printable import counted
from arena.system.terminal_text import (
    Block,
    Styled,
    cell_len,
    drawn,
    fitted,
    for_stream,
    height_of,
    to_line,
    unpainted,
    width_of,
)

HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
ERASE_ROW, UP, ERASE_BELOW = "\x1b[2K", "\x1b[1A", "\x1b[J"


def erasing(widths: list[int], columns: int) -> str:
    if not widths:
        return ""
    rows = sum(max(1, -(-width // columns)) for width in widths)
    return f"\r{ERASE_ROW}{f'{UP}{ERASE_ROW}' * (rows - 1)}{ERASE_BELOW}"


class Frame:
    """Lines that are redrawn in place, in a `with` statement; nothing else may be written to the terminal within."""

    def __init__(self, terminal: IO[str]) -> None:
        self._terminal = terminal
        self._lines: list[str] = []

    def __enter__(self) -> Self:
        self._write(HIDE_CURSOR)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._write(self._erased() + SHOW_CURSOR)

    @property
    def size(self) -> tuple[int, int]:
        return width_of(self._terminal), height_of(self._terminal)

    def draw(self, *blocks: Block) -> None:
        erased, (width, height) = self._erased(), self.size
        self._lines = [for_stream(line, self._terminal) for line in drawn(blocks, width)[:height]]
        self._write(erased + "\n".join(self._lines))

    def print_above(self, text: str) -> None:
        self._write("\n".join([f"{self._erased()}{text}", *self._lines]))

    def _erased(self) -> str:
        return erasing([cell_len(unpainted(line)) for line in self._lines], width_of(self._terminal))

    def _write(self, text: str) -> None:
        self._terminal.write(text)
        self._terminal.flush()


RATING_SHARE, DRAWING_SHARE = 1 / 30, 1 / 60
"""Shares of the run's time, in processor time. Drawing 20 lines takes some 20 ms, and so does rating 20 players."""
SECONDS_A_PLAYER, SECONDS_A_PAIR = 1.5e-3, 6e-6
"""Twice the time of rating players: 30 ms for 20 players, 1 s for 300, 8 s for 1,000."""


class Pace:
    """Limits costly work to a share of all time: after work of c seconds the next is `due` c / share seconds later."""

    def __init__(self, share: float, now: float, *, least: float = 0.0, expected: float = 0.0) -> None:
        self._share = share
        self._least = least
        self.due = now + expected / share

    def done(self, now: float, cost: float) -> None:
        self.due = now + max(self._least, cost / self._share)


class LiveTable:
    """The lines of a table while games come in. `rate` may be called from another thread."""

    def __init__(self, players: Sequence[Player], rows: Sequence[GameRow] | Groups) -> None:
        roster = Roster(players, rows)
        self._digests = roster.digests
        self._tally = Tally(roster.names, rows)
        self._lock = threading.Lock()  # held while the counts change, or are copied
        self._rated, self.difference = rated_lines(self._digests, Tally(roster.names))
        self._rated_games = -1

    def add(self, row: GameRow) -> None:
        with self._lock:
            self._tally.add(row)

    def rate(self) -> None:
        with self._lock:
            if self._tally.games == self._rated_games:
                return
            copy = self._tally.copy()
        rated, difference = rated_lines(self._digests, copy)
        with self._lock:
            self._rated, self.difference, self._rated_games = rated, difference, copy.games

    @property
    def rated_games(self) -> int | None:
        """The number of games of the ratings, if it is not the current one."""
        return self._rated_games if 0 < self._rated_games != self._tally.games else None

    def lines(self, most: int) -> list[Line]:
        """Return the first lines by points per game; equal scores keep the order and places of the last rating."""
        counts = {name: totals.line_fields() for name, totals in self._tally.totals.items()}
        scores = {name: -1.0 if fields["score"] is None else fields["score"] for name, fields in counts.items()}
        lines: list[Line] = []
        before = None
        ordered = sorted(self._rated, key=lambda line: scores[line.name], reverse=True)
        for number, line in enumerate(ordered[:most], 1):
            is_equal = before is not None and (scores[before.name], before.place) == (scores[line.name], line.place)
            before = line
            place = lines[-1].place if is_equal else number
            lines.append(msgspec.structs.replace(line, place=place, **counts[line.name]))
        return lines


REFRESH_SECONDS = 1.0
FINISH_SECONDS = 2.0
"""Time at the end in which the remaining lines are written before they are dropped."""
GAMES_SHOWN = 2
LINES_BESIDE = 7
"""Lines of a terminal that are not for the table."""


def duration_text(seconds: float) -> str:
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"


class GameCount:
    """The number of games that are over, of a total if it is known."""

    def __init__(self, stored: int, total: int | None) -> None:
        self._stored, self._played, self.total = stored, 0, total
        self._begun = time.monotonic()

    def add(self) -> None:
        self._played += 1

    @property
    def done(self) -> int:
        return self._stored + self._played

    @property
    def seconds_left(self) -> float | None:
        if self.total is None or not self._played:
            return None
        return (time.monotonic() - self._begun) / self._played * max(0, self.total - self.done)

    def __str__(self) -> str:
        return str(self.done) if self.total is None else f"{self.done}/{self.total}"

    @property
    def eta(self) -> str:
        return f", {duration_text(left)} left" if (left := self.seconds_left) else ""


class Progress:
    """Receives what happens in a league (`arena.league.play_missing.Watcher`). This class shows nothing."""

    def finished(self, row: GameRow, record: GameRecord) -> None:
        pass

    def remark(self, text: str) -> None:
        pass

    def closing(self, under_way: int) -> None:
        games = "the game" if under_way == 1 else f"{under_way} games"
        self.remark(f"finishing {games} under way; Ctrl-C again to stop at once")

    def finish(self) -> None:
        pass


class _Writing(Progress):
    """Writes lines in a thread."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._write_all, daemon=True)
        self._thread.start()

    def finish(self) -> None:
        self._lines.put(None)
        self._thread.join(FINISH_SECONDS)

    def close(self) -> None:
        """Wait until all lines are written; call it after `finish`. Raises the error of writing them."""
        self._thread.join()
        if self._error:
            raise self._error

    def _write_all(self) -> None:
        try:
            while (line := self._lines.get()) is not None:
                self._write(line)
        except BaseException as error:
            self._error = error


class PlainProgress(_Writing):
    """Prints remarks, and a line for each game if it `tells_games`. `note` returns text to show after the count."""

    def __init__(
        self,
        stream: IO[str],
        stored: int,
        total: int | None,
        note: Callable[[], str] = lambda: "",
        *,
        tells_games: bool = True,
    ) -> None:
        super().__init__(lambda line: print(fitted(line, stream), file=stream, flush=True))
        self._note, self._tells_games = note, tells_games
        self._count = GameCount(stored, total)

    def finished(self, row: GameRow, record: GameRecord) -> None:
        self._count.add()
        if self._tells_games:
            self.remark(f"[{self._count}{self._count.eta}{self._note()}] {game_line(row)}")

    def remark(self, text: str) -> None:
        self._lines.put(text)


class GameLines(_Writing):
    """Progress that also writes a line of JSON for each game."""

    def __init__(self, progress: Progress, write: Callable[[str], None], names: ShownNames) -> None:
        super().__init__(write)
        self._progress, self._names = progress, names

    def finished(self, row: GameRow, record: GameRecord) -> None:
        self._progress.finished(row, record)
        self._lines.put(to_line(game_entry(row, self._names)))

    def remark(self, text: str) -> None:
        self._progress.remark(text)

    def finish(self) -> None:
        self._progress.finish()
        super().finish()


class LiveProgress(Progress):
    """Draws the standings once a second, and erases them at the end. `broken` bots could not be started."""

    def __init__(
        self,
        terminal: IO[str],
        players: Sequence[Player],
        rows: Sequence[GameRow],
        total: int | None,
        note: Callable[[], str] | None = None,
        *,
        broken: Collection[str] = (),
    ) -> None:
        self._note = note
        self._broken = broken
        self._terminal = terminal
        self._table = LiveTable(players, rows)
        self._names = [player.name for player in players]
        self._count = GameCount(len(rows), total)
        self._finished: queue.SimpleQueue[GameRow] = queue.SimpleQueue()
        self._last = deque(rows[-GAMES_SHOWN:], GAMES_SHOWN)
        self._remarks: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._wake, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._draw_until_over, daemon=True)
        self._thread.start()
        threading.Thread(target=self._rate_until_over, args=(len(players),), daemon=True).start()

    def finished(self, row: GameRow, record: GameRecord) -> None:
        self._finished.put(row)

    def remark(self, text: str) -> None:
        self._remarks.put(text)
        self._wake.set()

    def finish(self) -> None:
        self._over.set()
        self._wake.set()
        self._thread.join(FINISH_SECONDS)

    def _rate_until_over(self, players: int) -> None:
        expected = SECONDS_A_PLAYER * players + SECONDS_A_PAIR * players**2
        pace = Pace(RATING_SHARE, time.monotonic(), least=REFRESH_SECONDS, expected=expected)
        while not self._over.wait(max(0.0, pace.due - time.monotonic())):
            begun = time.thread_time()
            self._table.rate()
            pace.done(time.monotonic(), time.thread_time() - begun)

    def _draw_until_over(self) -> None:
        pace = Pace(DRAWING_SHARE, time.monotonic(), least=REFRESH_SECONDS)
        with Frame(self._terminal) as frame:
            while not self._over.is_set():
                self._print_remarks(frame)
                if time.monotonic() >= pace.due:
                    begun = time.thread_time()
                    self._draw(frame)
                    pace.done(time.monotonic(), time.thread_time() - begun)
                self._wake.wait(max(0.0, pace.due - time.monotonic()))
                self._wake.clear()
            self._print_remarks(frame)

    def _print_remarks(self, frame: Frame) -> None:
        while not self._remarks.empty():
            frame.print_above(fitted(self._remarks.get(), self._terminal))

    def _draw(self, frame: Frame) -> None:
        while not self._finished.empty():
            row = self._finished.get()
            self._count.add()
            self._table.add(row)
            self._last.append(row)
        (width, height), table = frame.size, self._table
        head = f"{self._count} games{self._count.eta}"
        below, rated = [], table.rated_games
        if self._note:
            below = [self._note()]
        elif table.difference:
            below = [(f"After {counted(rated, 'game')}: " if rated else "") + difference_text(table.difference)]
        elif rated:
            head += f"; Elo after {counted(rated, 'game')}"
        grid = standings_grid(table.lines(max(3, height - LINES_BESIDE)), width, self._broken)
        last = (Styled(self._short_line(row, width), "dim") for row in self._last)
        frame.draw(Styled(head, "bold"), grid, *below, *last)

    def _short_line(self, row: GameRow, width: int) -> str:
        line = game_line(row)
        if cell_len(line) <= width:
            return line
        short = short_names(self._names, min(NAME_WIDTH, width // 4))
        return game_line(row, {player: short.get(player.name, player.name) for player in row.players})
