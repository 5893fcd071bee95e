"""A worker as the arena sees it: what it can do, and what it has been sent."""

import enum
import itertools
import socket
from collections.abc import Collection
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from arena.game.spec import GameSpec
from arena.league.executor.cluster.batches import batch_size, smoothed
from arena.league.executor.cluster.calibration import Calibration
from arena.league.executor.task import GameTask

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class Standing(enum.Enum):
    """Whether a worker gets games."""

    COMING = "being prepared"
    READY = "ready"
    REFUSED = "refused"


@dataclass(eq=False)
class SentBatch:
    """Games that a worker has been sent together, by their ids; `open` are those that nothing has come of yet."""

    tasks: tuple[GameTask, ...]
    sent_at: float = 0.0
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
    unable: dict[str, str] = field(default_factory=dict)
    """Bots that it cannot play, and why, by their names; it is refused for these."""
    is_silent: bool = False
    is_busy: bool = False
    """Whether it plays for another arena just now."""
    played: int = 0
    """How many games of this run have come from it."""
    sent: dict[int, SentBatch] = field(default_factory=dict)
    """What it has been sent, by the numbers of the requests."""
    is_collecting: bool = False
    """Whether it is being asked what has come of that so far."""
    asked_at: float = 0.0
    """When it was asked that last, or sent anything."""
    attempt: int = 0
    """How often it was begun to prepare it."""

    @property
    def is_hopeful(self) -> bool:
        """Whether games may come from it: it is neither refused nor silent."""
        return self.standing is not Standing.REFUSED and not self.is_silent

    @property
    def has_room(self) -> bool:
        """Whether it may be sent a batch: it has at most as many games as it plays, or as one batch has. One that has
        been silent first has to give back what it has."""
        overdue = any(not batch.open for batch in self.sent.values())
        is_usable = self.standing is Standing.READY and not self.is_silent and not overdue
        return is_usable and self.games <= max(self.slots, self.size)

    @property
    def size(self) -> int:
        """How many games are worth sending."""
        return batch_size(self.slots, self.seconds)

    @property
    def games(self) -> int:
        """How many games it has that nothing has come of."""
        return sum(len(batch.open) for batch in self.sent.values())

    def note_speed(self, games: int, seconds: float) -> None:
        """So many games were under way for so long, together."""
        if games and seconds > 0:
            self.seconds = smoothed(self.seconds, seconds / games)


def distinct_name(given: str, host: str, address: str, taken: Collection[str]) -> str:
    """How a worker is called that its host calls so: if that is no more than its `address`, by its machine (`host`),
    with a number where the name is `taken`. So workers without names have the same ones in each run."""
    name = host if given in ("", address) else given
    numbered = (f"{name}-{number}" for number in itertools.count(2))
    return name if name not in taken else next(other for other in numbered if other not in taken)


def machine_name(host: str, scheduler: str) -> str:
    """What the machine of a worker is called: its address, but for one that is this machine itself, by the scheduler's
    address: that has a name."""
    return socket.gethostname() if host in LOOPBACK and urlsplit(scheduler).hostname in LOOPBACK else host
