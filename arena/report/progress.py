"""What is seen on standard error while a league is played: a live table in a terminal, plain lines anywhere else."""

import time
from collections.abc import Sequence
from typing import Protocol

import msgspec
import trio
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from arena.model import GameRecord, Player
from arena.report.standings import make_table
from arena.report.text import difference_text, game_line, standings_grid
from arena.store import GameRow

REFRESH_SECONDS = 1.0


class Progress(Protocol):
    """Told of every game that is over; `run` is a task that lives as long as the league."""

    def finished(self, row: GameRow, record: GameRecord) -> None: ...
    def say(self, line: str) -> None: ...
    async def run(self) -> None: ...


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

    def finished(self, row: GameRow, record: GameRecord) -> None:
        del record
        self._count.add()
        self._console.print(f"[{self._count.text}{self._count.eta}] {game_line(row)}", markup=False, soft_wrap=True)

    def say(self, line: str) -> None:
        """Print a line about something else."""
        self._console.print(line, markup=False, soft_wrap=True)

    async def run(self) -> None:
        """Nothing to do between games."""


class LiveProgress:
    """The standings, redrawn once a second, with the last games below.

    Drawing happens in a thread, so that it does not hold up the games.
    """

    def __init__(self, console: Console, players: Sequence[Player], rows: Sequence[GameRow], total: int) -> None:
        self._console = console
        self._players = players
        self._rows = list(rows)
        self._count = _Count(len(rows), total)
        self._changed = True

    def finished(self, row: GameRow, record: GameRecord) -> None:
        del record
        self._count.add()
        self._rows.append(row)
        self._changed = True

    def say(self, line: str) -> None:
        """Print a line about something else, above the table."""
        self._console.print(line, markup=False, soft_wrap=True)

    async def run(self) -> None:
        """Draw until cancelled, then wipe what was drawn: the final table goes to standard output."""
        with Live(console=self._console, auto_refresh=False, transient=True) as live:
            while True:
                if self._changed:
                    self._changed = False
                    await trio.to_thread.run_sync(self._draw, live)
                await trio.sleep(REFRESH_SECONDS)

    def _draw(self, live: Live) -> None:
        rows = list(self._rows)
        table = make_table(self._players, rows)
        room = max(3, self._console.height - 6)
        shown = msgspec.structs.replace(table, lines=table.lines[:room])
        last = [Text(game_line(row), style="dim", no_wrap=True, overflow="ellipsis") for row in rows[-2:]]
        head = Text(f"{self._count.text} games{self._count.eta}", style="bold")
        difference = [Text(difference_text(table.difference))] if table.difference else []
        live.update(Group(head, standings_grid(shown, self._console.width), *difference, *last), refresh=True)
