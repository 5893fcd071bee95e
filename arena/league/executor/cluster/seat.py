"""A worker as the arena sees it: what it can do, and what it has been sent."""

import enum
from dataclasses import dataclass, field

from arena.game.spec import GameSpec
from arena.league.executor.cluster.batches import WINDOW, batch_size, smoothed
from arena.league.executor.cluster.calibration import Calibration
from arena.league.executor.task import GameTask


class Standing(enum.Enum):
    """Whether a worker gets games."""

    COMING = "being prepared"
    READY = "ready"
    REFUSED = "refused"


@dataclass(eq=False)
class SentBatch:
    """Games that a worker has been sent together, by their ids; `open` are those that nothing has come of yet."""

    tasks: tuple[GameTask, ...]
    open: dict[str, GameTask] = field(default_factory=dict)
    begun: set[str] = field(default_factory=set)
    """Those that have been told to be under way."""
    work_us: int = 0
    """How fast the machine was when they were sent there, by its calibration."""

    @property
    def specs(self) -> dict[str, GameSpec]:
        """Its games by their ids, second ones included."""
        return {game.id: game for task in self.tasks for game in task.games}


@dataclass(eq=False)
class Seat:
    """One worker. `name` is what its host calls it, `host` the machine's address."""

    address: str
    name: str
    host: str
    standing: Standing = Standing.COMING
    slots: int = 0
    machine: str = ""
    calibration: Calibration | None = None
    time_percent: int | None = None
    """By how much clocks are scaled there; None: they are not."""
    seconds: float | None = None
    """How long a game takes here, by the batches so far; None: not known yet."""
    is_silent: bool = False
    played: int = 0
    """How many games of this run have come from it."""
    sent: dict[int, SentBatch] = field(default_factory=dict)
    """What it has been sent, by the numbers of the requests."""

    @property
    def has_room(self) -> bool:
        """Whether it may be sent a batch. One that has been silent first has to give back what it has."""
        overdue = any(not batch.open for batch in self.sent.values())
        return self.standing is Standing.READY and not self.is_silent and not overdue and len(self.sent) < WINDOW

    @property
    def size(self) -> int:
        """How many games are worth sending."""
        return batch_size(self.slots, self.seconds)

    @property
    def games(self) -> int:
        """How many games it has that nothing has come of."""
        return sum(len(batch.open) for batch in self.sent.values())

    def note_speed(self, games: int, seconds: float) -> None:
        """So many games have taken so long together, while as many were played at a time as there are slots."""
        if games and seconds > 0:
            self.seconds = smoothed(self.seconds, seconds * min(self.slots, games) / games)
