"""What is seen on standard error while a league is played: a live table in a terminal, or plain lines.

All of it is written by a thread of its own: it does not hold up the games, not even when nobody reads it and the write
blocks (Ctrl-S, a pipe whose reader has stopped). What the live table costs is bounded by `arena.report.live`.
"""

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from rich.cells import cell_len
from rich.console import Console, Group
from rich.text import Text

from arena.counted import counted
from arena.game.record import GameRecord
from arena.game.spec import Player
from arena.league.store import GameRow
from arena.report.consoles import fitted, folded
from arena.report.frame import Frame
from arena.report.live import DRAWING_SHARE, RATING_SHARE, LiveTable, Pace, expected_rating_seconds
from arena.report.result_words import difference_text, game_line
from arena.report.shorten import NAME_WIDTH, short_names
from arena.report.terminal import standings_grid

REFRESH_SECONDS = 1.0
FINISH_SECONDS = 2.0
"""How long the end waits for what is still to be written; it is dropped if nobody reads it."""
GAMES_SHOWN = 2
"""The last games, below the table."""
LINES_BESIDE = 7
"""Lines of a terminal that are not the table's own."""


class Progress(Protocol):
    """Told of every game that is over, and of what else there is to say. `finish` ends it; nothing may follow."""

    def finished(self, row: GameRow, record: GameRecord) -> None: ...
    def remark(self, text: str) -> None: ...
    def finish(self) -> None: ...


def duration_text(seconds: float) -> str:
    """A time span in the largest two units that it has."""
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"


class _Count:
    """How far the league is, and when it will be over at the pace so far."""

    def __init__(self, stored: int, total: int | None) -> None:
        """`total` is None where it depends on results how many games there are."""
        self._stored = stored
        self._total = total
        self._played = 0
        self._begun = time.monotonic()

    def add(self) -> None:
        self._played += 1

    @property
    def text(self) -> str:
        done = self._stored + self._played
        return str(done) if self._total is None else f"{done}/{self._total}"

    @property
    def eta(self) -> str:
        left = 0 if self._total is None else self._total - self._stored - self._played
        if not self._played or not left:
            return ""
        return f", {duration_text((time.monotonic() - self._begun) / self._played * left)} left"


class Silence:
    """Progress that is not shown."""

    def finished(self, row: GameRow, record: GameRecord) -> None:
        pass

    def remark(self, text: str) -> None:
        pass

    def finish(self) -> None:
        pass


class PlainProgress:
    """Remarks, and a line for each game if it `tells_games`."""

    def __init__(
        self,
        console: Console,
        stored: int,
        total: int | None,
        note: Callable[[], str] = lambda: "",
        *,
        tells_games: bool = True,
    ) -> None:
        """`note` says what else belongs to the count; it is called as a game is over."""
        self._note, self._tells_games = note, tells_games
        self._console = console
        self._count = _Count(stored, total)
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def finished(self, row: GameRow, record: GameRecord) -> None:
        del record
        self._count.add()
        if self._tells_games:
            self.remark(f"[{self._count.text}{self._count.eta}{self._note()}] {game_line(row)}")

    def remark(self, text: str) -> None:
        self._lines.put(text)

    def finish(self) -> None:
        self._lines.put(None)
        self._thread.join(FINISH_SECONDS)

    def _write(self) -> None:
        while (line := self._lines.get()) is not None:
            self._console.print(Text(fitted(line, self._console.file)), soft_wrap=True)


class LiveProgress:
    """The standings, redrawn once a second, with the last games below. The end wipes what was drawn: the final table
    goes to standard output. A terminal that gets another size is drawn anew within a second, too.

    Ratings are computed in a second thread: what is drawn, and the end, never wait for those of a large league.
    """

    def __init__(
        self,
        console: Console,
        players: Sequence[Player],
        rows: Sequence[GameRow],
        total: int | None,
        note: Callable[[], str] | None = None,
        *,
        broken: Collection[str] = (),
    ) -> None:
        """`note` says what stands below the table in place of the difference; the drawing thread calls it. `broken` are
        names of bots that could not be started."""
        self._note = note
        self._broken = broken
        self._console = console
        self._table = LiveTable(players, rows)
        self._names = [player.name for player in players]
        self._count = _Count(len(rows), total)
        self._finished: queue.SimpleQueue[GameRow] = queue.SimpleQueue()
        self._last = deque(rows[-GAMES_SHOWN:], GAMES_SHOWN)
        self._remarks: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._wake, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._draw_until_over, daemon=True)
        self._thread.start()
        threading.Thread(target=self._rate_until_over, args=(len(players),), daemon=True).start()

    def finished(self, row: GameRow, record: GameRecord) -> None:
        del record
        self._finished.put(row)

    def remark(self, text: str) -> None:
        self._remarks.put(text)
        self._wake.set()

    def finish(self) -> None:
        self._over.set()
        self._wake.set()
        self._thread.join(FINISH_SECONDS)

    def _rate_until_over(self, players: int) -> None:
        expected = expected_rating_seconds(players)
        pace = Pace(RATING_SHARE, time.monotonic(), least=REFRESH_SECONDS, expected=expected)
        while not self._over.wait(max(0.0, pace.due - time.monotonic())):
            begun = time.thread_time()
            self._table.rate()
            pace.done(time.monotonic(), time.thread_time() - begun)

    def _draw_until_over(self) -> None:
        pace = Pace(DRAWING_SHARE, time.monotonic(), least=REFRESH_SECONDS)
        with Frame(self._console) as frame:
            while not self._over.is_set():
                self._print_remarks(frame)
                if time.monotonic() >= pace.due:
                    begun = time.thread_time()
                    self._register_finished()
                    if self._table.take_changed() or frame.is_misfit:
                        self._draw(frame)
                    pace.done(time.monotonic(), time.thread_time() - begun)
                self._wake.wait(max(0.0, pace.due - time.monotonic()))
                self._wake.clear()
            self._print_remarks(frame)

    def _print_remarks(self, frame: Frame) -> None:
        while not self._remarks.empty():
            frame.print_above(Text(folded(self._remarks.get(), self._console.width)))

    def _register_finished(self) -> None:
        while not self._finished.empty():
            row = self._finished.get()
            self._count.add()
            self._table.add(row)
            self._last.append(row)

    def _draw(self, frame: Frame) -> None:
        width, height = self._console.size
        shown = self._table.shown(max(3, height - LINES_BESIDE))
        last = [
            Text(self._short_line(row, width), style="dim", no_wrap=True, overflow="ellipsis") for row in self._last
        ]
        head = Text(f"{self._count.text} games{self._count.eta}", style="bold")
        below = []
        if self._note:
            below = [Text(self._note())]
        elif shown.difference:
            after = f"After {counted(shown.rated_games, 'game')}: " if shown.rated_games else ""
            below = [Text(after + difference_text(shown.difference))]
        elif shown.rated_games:
            head.append(f"; Elo after {counted(shown.rated_games, 'game')}")
        frame.draw(Group(head, standings_grid(shown.lines, width, self._broken), *below, *last))

    def _short_line(self, row: GameRow, width: int) -> str:
        """A game in one line in which both names can be seen, if anything of the rest is to be."""
        line = game_line(row)
        if cell_len(line) <= width:
            return line
        short = short_names(self._names, min(NAME_WIDTH, width // 4))
        return game_line(row, {player: short.get(player.name, player.name) for player in row.players})
