"""What the parent knows of one worker, whichever process is in its place just now."""

from collections.abc import Collection

from arena.league.executor.process import WorkerProcess
from arena.league.executor.task import GameTask
from arena.league.executor.wire import GiveBack, Play


class WorkerState:
    """The place of one worker: its share of the slots, its CPUs, and the games that it has been sent."""

    def __init__(self, slots: int, cpus: tuple[int, ...]) -> None:
        self.slots = slots
        self.cpus = cpus
        self.process: WorkerProcess | None = None
        self.is_ready = False
        self.is_asked = False
        """Whether it has been asked to give games back, and has not answered yet."""
        self.queued: dict[str, GameTask] = {}
        self.begun: dict[str, GameTask] = {}
        self.deaths = 0
        """How many have died in this place since a game was over here."""

    @property
    def room(self) -> int:
        """How many more games it could begin at once; below zero if it has some in hand."""
        return self.slots - len(self.queued) - len(self.begun)

    def ended(self, game: str) -> None:
        """A game is over; if there is a second one to it, the worker begins that next."""
        self.deaths = 0
        self.queued.pop(game, None)
        task = self.begun.pop(game, None)
        if task and task.then:
            self.queued[task.then.id] = GameTask(task.then)

    def give_up_second(self, games: Collection[str]) -> None:
        """The second games of some that are under way will not be played."""
        for id, task in self.begun.items():
            if task.then and task.then.id in games:
                self.begun[id] = task.alone

    def send(self, task: GameTask) -> None:
        assert self.process is not None
        self.queued[task.id] = task
        self.process.connection.send(Play(task))

    def ask_back(self, *, is_last: bool = False) -> None:
        """Ask for the games in its hand; if it `is_last`, for second games of those under way as well."""
        if self.process and (is_last or (self.queued and not self.is_asked)):
            self.is_asked = True
            self.process.connection.send(GiveBack(is_last))

    def died(self) -> tuple[list[GameTask], list[GameTask]]:
        """Its process has died; returns the games that it had not begun, and those under way. Now it has none."""
        queued, begun = list(self.queued.values()), list(self.begun.values())
        self.queued.clear()
        self.begun.clear()
        self.is_ready = self.is_asked = False
        self.deaths += 1
        return queued, begun
