"""The games of a run on a cluster: which have been asked for and not come out, and which of those wait to be sent.

A game comes out once. It may have been sent more than once, as the worker that had it first was silent: what comes of
it second is of a game that is not open any more.
"""

from collections import Counter, deque
from collections.abc import Collection, Iterable

from msgspec.structs import replace as changed

from arena.game.spec import GameSpec
from arena.league.executor.cluster.seat import SentBatch
from arena.league.executor.task import GameTask

MOST_LOST = 5
"""So often a game may be lost with its worker."""


class Ledger:
    """Which games are open; those that are `waiting` are in the order in which they are to be sent."""

    def __init__(self, waiting: "deque[GameTask]") -> None:
        self.waiting = waiting
        self.put_off: deque[GameTask] = deque()
        """Games that are to be sent when no other waits."""
        self.open: dict[str, GameSpec] = {}
        """The games that were asked for and have not come out, by their ids."""
        self._lost: Counter[str] = Counter()

    def add(self, task: GameTask) -> None:
        """There is a further game to play, or a pair."""
        self.open.update({game.id: game for game in task.games})
        self.waiting.append(task)

    def take_batch(self, most: int, percent: int | None = None) -> SentBatch:
        """Games that wait, to be sent together: as many, where a pair is one task and counts as two games. Their clocks
        are scaled by so many `percent` (`GameSpec.time_percent`)."""
        tasks: list[GameTask] = []
        count = 0
        while self.waiting and count < most:
            task = self.waiting.popleft()
            tasks.append(scaled(task, percent))
            count += len(task.games)
        batch = SentBatch(tuple(tasks))
        batch.open = {game.id: GameTask(game) for game in batch.specs.values()}
        return batch

    def drop(self, tasks: Iterable[GameTask]) -> None:
        """These games will not be played."""
        for task in tasks:
            for game in task.games:
                self.open.pop(game.id, None)

    def drop_waiting(self) -> None:
        """What has not been sent will not be played."""
        self.take_up()
        self.drop(self.waiting)
        self.waiting.clear()

    def drop_paused(self, game: str) -> GameTask | None:
        """The task of a game that waits and can be paused, which is open no more; None if there is no such one."""
        for task in self.waiting:
            if task.id == game and task.can_pause:
                self.waiting.remove(task)
                del self.open[game]
                return task
        return None

    def come_out(self, game: str) -> bool:
        """A game is over. Returns whether it was open: if not, this is a second one of it."""
        if self.open.pop(game, None) is None:
            return False
        for tasks in (self.waiting, self.put_off):
            left = [task for waiting in tasks for task in without(waiting, game)]
            tasks.clear()
            tasks.extend(left)
        self._lost.pop(game, None)
        return True

    def still_open(self, batch: SentBatch) -> list[GameTask]:
        """What nothing has come of, of a batch that is lost: its tasks, as they were sent as far as they can be."""
        games = [game for game in batch.open if game in self.open]
        return paired(batch.tasks, [GameTask(self.open[game]) for game in games])

    def put_back(self, tasks: list[GameTask], *, counts: bool) -> GameSpec | None:
        """Tasks that are lost are the next ones to be sent. Returns the game that has been lost too often: then none
        of them is. `counts`: it may be a game that brought that about."""
        for spec in (spec for task in tasks for spec in task.games):
            self._lost[spec.id] += counts
            if self._lost[spec.id] >= MOST_LOST:
                return spec
        self.waiting.extendleft(reversed(tasks))
        return None

    def take_up(self) -> None:
        """What was put off is to be sent now."""
        self.waiting.extend(self.put_off)
        self.put_off.clear()

    def leave_out(self, tasks: Iterable[GameTask], names: Collection[str]) -> tuple[list[GameTask], list[GameTask]]:
        """Share tasks out: those that are played, and those of bots of these names."""
        kept: list[GameTask] = []
        left_out: list[GameTask] = []
        for task in tasks:
            (kept if {player.name for player in task.players}.isdisjoint(names) else left_out).append(task)
        return kept, left_out

    def leave_out_waiting(self, names: Collection[str]) -> list[GameTask]:
        """Of the tasks that wait, take those out that are of bots of these names."""
        found: list[GameTask] = []
        for tasks in (self.waiting, self.put_off):
            kept, left_out = self.leave_out(tuple(tasks), names)
            tasks.clear()
            tasks.extend(kept)
            found += left_out
        return found


def scaled(task: GameTask, percent: int | None) -> GameTask:
    """The same games with clocks that are scaled so."""
    if percent is None:
        return task
    first, *second = (changed(game, time_percent=percent) for game in task.games)
    return changed(task, spec=first, then=second[0] if second else None)


def without(task: GameTask, game: str) -> list[GameTask]:
    """What is left of a task when one of its games has come out."""
    if task.id == game:
        return [GameTask(task.then)] if task.then else []
    return [task.alone if task.then and task.then.id == game else task]


def paired(tasks: Iterable[GameTask], back: Iterable[GameTask]) -> list[GameTask]:
    """Games that come back, as tasks: pairs that were one task are one again, if neither has come out."""
    left = {task.id: task for task in back}
    found = []
    for task in tasks:
        first = left.pop(task.id, None)
        second = left.pop(task.then.id, None) if task.then else None
        if first and second:
            found.append(GameTask(first.spec, then=second.spec))
        else:
            found += [one for one in (first, second) if one]
    return found
