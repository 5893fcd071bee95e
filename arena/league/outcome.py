"""The outcome of playing, during the games and at their end."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Protocol

from arena.errors import ArenaError
from arena.game.record import GameRecord
from arena.league.play_missing import RunProgress, Watch
from arena.league.store import GameRow
from arena.league.versions import Versions
from arena.play.machine import worker_of
from arena.system.printable import counted


class Watcher(Protocol):
    """Receives events in the task that plays the games, so its methods must not wait."""

    def finished(self, row: GameRow, record: GameRecord) -> None:
        pass

    def remark(self, text: str) -> None:
        pass

    def closing(self, under_way: int) -> None:
        """Report that no further game is begun; `under_way` games are played to their end."""


@dataclass(frozen=True)
class Forfeits:
    """The games that one bot has lost for one reason that is its own fault: their number, and the first of them.

    `words` describe the first loss. Where both bots had a fault, they describe only this one's.
    """

    name: str
    reason: str
    count: int
    first: GameRow
    words: str
    stderr: str
    """The end of the bot's standard error in the first one."""
    worker: str = ""
    """The worker of a cluster that has played the first one."""

    @property
    def text(self) -> str:
        where = f" on worker {self.worker}" if self.worker else ""
        lost = f"{self.name} forfeited {counted(self.count, 'game')} ({self.reason})"
        return f"{lost}; the first, game {self.first.number}{where}: {self.words}"


@dataclass(frozen=True)
class LeagueOutcome:
    error: ArenaError | None
    is_complete: bool
    """Whether all games are played and stored."""
    changed: tuple[str, ...]
    """A line for each bot that has changed during the league, and was played no more."""
    remarks: tuple[str, ...]
    """A line for each bot with new files in its folder."""
    forfeits: tuple[Forfeits, ...]
    dropped: int
    """Games under way that were stopped, or could not be judged."""
    repeated: tuple[str, int] | None = None
    """A bot that alone took part in all games that had to be played again, and the number of these games."""
    unstored: int = 0
    """Finished games that could not be stored."""


class PlayState:
    """The state of a league that plays; forfeits are counted for each bot and reason.

    `numbers` are those of the league's stored games, which are added to it.
    """

    def __init__(self, watcher: Watcher, watch: Watch | None, numbers: set[int]) -> None:
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
