"""What is seen on standard error while a league is played: a live table in a terminal, plain lines anywhere else.

All of it is written by a thread of its own: it does not hold up the games, not even when nobody reads it and the write
blocks (Ctrl-S, a pipe whose reader has stopped).
"""

import queue
import threading
import time
from collections.abc import Sequence
from typing import Protocol

import msgspec
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from arena.game.record import GameRecord
from arena.game.spec import Player
from arena.league.store import GameRow
from arena.report.standings import make_table
from arena.report.terminal import difference_text, game_line, standings_grid

REFRESH_SECONDS = 1.0
PAUSE_FACTOR = 20
"""Between two drawings as much longer than what one costs: at most a twentieth of the time is taken from the games."""
FINISH_SECONDS = 2.0
"""How long the end waits for what is still to be written; it is dropped if nobody reads it."""


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

    def __init__(self, stored: int, total: int) -> None:
        self._stored = stored
        self._total = total
        self._played = 0
        self._begun = time.monotonic()

    def add(self) -> None:
        self._played += 1

    @property
    def text(self) -> str:
        return f"{self._stored + self._played}/{self._total}"

    @property
    def eta(self) -> str:
        left = self._total - self._stored - self._played
        if not self._played or not left:
            return ""
        return f", {duration_text((time.monotonic() - self._begun) / self._played * left)} left"


class PlainProgress:
    """A line for each game."""

    def __init__(self, console: Console, stored: int, total: int) -> None:
        self._console = console
        self._count = _Count(stored, total)
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def finished(self, row: GameRow, record: GameRecord) -> None:
        del record
        self._count.add()
        self.remark(f"[{self._count.text}{self._count.eta}] {game_line(row)}")

    def remark(self, text: str) -> None:
        self._lines.put(text)

    def finish(self) -> None:
        self._lines.put(None)
        self._thread.join(FINISH_SECONDS)

    def _write(self) -> None:
        while (line := self._lines.get()) is not None:
            self._console.print(Text(line), soft_wrap=True)


class LiveProgress:
    """The standings, redrawn once a second, with the last games below. The end wipes what was drawn: the final table
    goes to standard output."""

    def __init__(self, console: Console, players: Sequence[Player], rows: Sequence[GameRow], total: int) -> None:
        self._console = console
        self._players = players
        self._rows = list(rows)
        self._count = _Count(len(rows), total)
        self._remarks: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._changed = True
        self._wake, self._over = threading.Event(), False
        self._thread = threading.Thread(target=self._draw_until_over, daemon=True)
        self._thread.start()

    def finished(self, row: GameRow, record: GameRecord) -> None:
        del record
        self._count.add()
        self._rows.append(row)
        self._changed = True

    def remark(self, text: str) -> None:
        self._remarks.put(text)
        self._wake.set()

    def finish(self) -> None:
        self._over = True
        self._wake.set()
        self._thread.join(FINISH_SECONDS)

    def _draw_until_over(self) -> None:
        # Nothing else is written to the terminal meanwhile, and a thread that is left behind must not hold the streams.
        live = Live(
            console=self._console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
        )
        with live:
            while not self._over:
                while not self._remarks.empty():
                    live.console.print(Text(self._remarks.get()), soft_wrap=True)
                begun = time.thread_time()
                if self._changed:
                    self._changed = False
                    self._draw(live)
                # The table of a large league takes long, and while it is made no game gets on.
                self._wake.wait(max(REFRESH_SECONDS, PAUSE_FACTOR * (time.thread_time() - begun)))
                self._wake.clear()

    def _draw(self, live: Live) -> None:
        rows = list(self._rows)
        table = make_table(self._players, rows)
        room = max(3, self._console.height - 7)
        shown = msgspec.structs.replace(table, lines=table.lines[:room])
        last = [Text(game_line(row), style="dim", no_wrap=True, overflow="ellipsis") for row in rows[-2:]]
        head = Text(f"{self._count.text} games{self._count.eta}", style="bold")
        difference = [Text(difference_text(table.difference))] if table.difference else []
        grid = standings_grid(shown, self._console.width)
        live.update(Group(head, grid, *difference, *last), refresh=True)
