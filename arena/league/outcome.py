"""What comes of playing, while games are played and when they are over."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Protocol

from arena.errors import ArenaError
from arena.game.record import GameRecord
from arena.league.play_missing import RunProgress, Watch
from arena.league.store import GameRow, NumberSet
from arena.league.versions import Versions
from arena.play.machine import worker_of
from arena.system.printable import counted


class Watcher(Protocol):
    """Told what happens while games are played, in the task that plays them: it must not wait for anything."""

    def finished(self, row: GameRow, record: GameRecord) -> None:
        """A game is over and stored."""

    def remark(self, text: str) -> None:
        """There is something that people should know."""

    def closing(self, under_way: int) -> None:
        """No further game is begun; so many are played to their end."""


@dataclass(frozen=True)
class Forfeits:
    """The games that one bot has lost for one reason that is its own fault: how many, and the first of them.

    `words` are how it lost that one. Where both bots had a fault they are of this one's alone.
    """

    name: str
    reason: str
    count: int
    first: GameRow
    words: str
    stderr: str
    """The end of what the bot had written to standard error in the first one."""
    worker: str = ""
    """The worker of a cluster that has played the first one."""

    @property
    def text(self) -> str:
        """One line, with how the first of these games was lost."""
        where = f" on worker {self.worker}" if self.worker else ""
        lost = f"{self.name} forfeited {counted(self.count, 'game')} ({self.reason})"
        return f"{lost}; the first, game {self.first.number}{where}: {self.words}"


@dataclass(frozen=True)
class LeagueOutcome:
    """The outcome of playing; the games are in the store."""

    error: ArenaError | None
    """What stopped it, if something failed."""
    is_complete: bool
    """Whether all games are played and stored."""
    changed: tuple[str, ...]
    """A line for each bot that has changed while it was played, and was played no more."""
    remarks: tuple[str, ...]
    """A line for each bot into whose folder files have come."""
    forfeits: tuple[Forfeits, ...]
    dropped: int
    """Games under way that were stopped, or could not be judged."""
    repeated: tuple[str, int] | None = None
    """The one bot that took part in all games that had to be played again, and how many these were."""
    unstored: int = 0
    """Games that were over, and could not be stored."""


class PlayState:
    """The state of a league that plays; forfeits are counted for each bot and reason.

    `numbers` are those of the league's stored games, to which each that is stored now is added.
    """

    def __init__(self, watcher: Watcher, watch: Watch | None, numbers: NumberSet) -> None:
        self._numbers = numbers
        self.watcher = watcher
        self.watch = watch
        self.versions = Versions()
        self.session = RunProgress()
        self._first: dict[tuple[str, str], Forfeits] = {}
        self._counts: Counter[tuple[str, str]] = Counter()

    def finished(self, row: GameRow, record: GameRecord) -> None:
        self._numbers.add(row.number)
        self.watcher.finished(row, record)
        if not row.reason.is_forfeit:
            return
        from arena.game.faults import lost_by  # a league without forfeits loads no referee
        from arena.game.recorded import faults_of

        for color, fault in faults_of(record).items():
            reason = fault.reason if fault else row.reason
            words = f"{lost_by(row.players, color, reason)}: {fault.text}" if fault else row.detail
            key = name, _ = row.players[color].name, reason.value
            worker = worker_of(record.machine or "")
            self._first.setdefault(key, Forfeits(name, reason.value, 1, row, words, record.stderr[color], worker))
            self._counts[key] += 1

    def forfeits(self) -> tuple[Forfeits, ...]:
        return tuple(replace(first, count=self._counts[key]) for key, first in self._first.items())
