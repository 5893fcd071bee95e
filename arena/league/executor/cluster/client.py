"""An `Executor` that sends batches of games to the workers of a dask cluster.

A new worker is prepared first: it gets the bots, and measures its speed. Batches go to the workers that are ready; dask
assigns them. A worker that sends a wrong record is not used any more.
"""

import enum
import hashlib
import math
import secrets
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace

import msgspec
import trio

from arena.errors import ArenaError
from arena.game.game_spec import GameSpec
from arena.game.recheck import check_record
from arena.game.record import GameRecord, RecordError, decode_record
from arena.game.recorded import spec_of
from arena.league.executor.cluster.bridge import (
    LONGEST_WHY,
    Bridge,
    BridgeEnded,
    BridgeEvent,
    Connected,
    Done,
    Unreachable,
    Workers,
    seconds_text,
)
from arena.league.executor.cluster.cluster_protocol import (
    BatchPlayed,
    Calibration,
    ClusterPlan,
    Prepared,
    Refused,
    RunInfo,
    SentBot,
    Unprepared,
    WorkerAnswer,
    measure,
    scaled_task,
    unfit,
    unfit_scaled,
)
from arena.league.executor.cluster.packing import not_sent, pack_bot
from arena.league.executor.task import (
    Begun,
    ErrorKind,
    Failed,
    GameTask,
    Lost,
    Notice,
    NotPlayed,
    OutcomeStream,
    Played,
    without_files,
)
from arena.play.machine import ms_text, percent_of, played_on, reference_text
from arena.processes.runnable import PlaySettings
from arena.system.printable import counted, printable
from arena.version import __version__

TARGET_SECONDS = 1.0
"""The target duration of a batch. Shorter batches cost the scheduler more, longer ones lose more with their worker."""
MOST_IN_BATCH = 50
TOLD_SECONDS = 0.5
MACHINE_FAULTS = frozenset({ErrorKind.HOST.name, ErrorKind.SANDBOX.name, ErrorKind.REFUSED_BOTS.name})


class WorkerStatus(enum.Enum):
    PREPARING = enum.auto()
    READY = enum.auto()
    REFUSED = enum.auto()


@dataclass
class ClusterWorker:
    address: str
    name: str
    threads: int
    status: WorkerStatus = WorkerStatus.PREPARING
    calibration: Calibration | None = None
    percent: int | None = None
    why: str = ""


@dataclass
class SentBatch:
    tasks: tuple[GameTask, ...]
    workers: frozenset[str]

    @property
    def games(self) -> list[GameSpec]:
        return [game for task in self.tasks for game in task.games]


def cluster_executor(settings: PlaySettings, plan: ClusterPlan) -> AbstractAsyncContextManager["ClusterExecutor"]:
    """An executor that plays on a cluster; at its end none of its games is under way there."""
    return ClusterExecutor(settings, plan).running()


class ClusterExecutor(OutcomeStream):
    def __init__(self, settings: PlaySettings, plan: ClusterPlan) -> None:
        super().__init__()
        self._settings, self._plan = settings, plan
        self._bridge: Bridge | None = None
        self._workers: dict[str, ClusterWorker] = {}
        self._preparing: dict[int, ClusterWorker] = {}
        self._sent: dict[int, SentBatch] = {}
        self._open: dict[str, GameSpec] = {}
        self._alone: set[str] = set()
        """Games that are sent alone, because workers ended while a batch with them was played."""
        self._number = 0
        self._judging = 0
        self._seconds: float | None = None
        self._is_connected = self._is_gone = False
        self._own: Calibration | None = None
        """The arena's own machine; None where clocks are scaled, and for a local cluster."""

    async def _begin(self) -> None:
        if not self._plan.local and self._plan.reference_us is None:
            self._own = await trio.to_thread.run_sync(measure)
        info, packs = await trio.to_thread.run_sync(self._pack)
        self._bridge = Bridge(self._plan, info, packs, self._note)
        self._bridge.start()
        self._nursery.start_soon(self._dispatch)
        self._nursery.start_soon(self._keep_time)

    def _pack(self) -> tuple[RunInfo, dict[str, bytes]]:
        packs, bots = dict[str, bytes](), list[SentBot]()
        for bot in self._settings.bots:
            sent = replace(without_files(bot), asked=bot.asked)
            if bot.fault is not None:
                bots.append(SentBot(sent))
                continue
            pack = pack_bot(bot)
            key = hashlib.sha256(pack).hexdigest()
            packs[key] = pack
            assert bot.look is not None
            file = bot.look.covered.only or bot.look.covered.folder.name
            bots.append(SentBot(replace(sent, not_sent=not_sent(bot)), key, file))
        plan, settings = self._plan, replace(self._settings, bots=())
        info = RunInfo(secrets.token_hex(8), settings, tuple(bots), plan.jobs, plan.build, plan.reference_us)
        return info, packs

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._drop(self._waiting)
        self._waiting.clear()
        if self._feeding:
            self._feeding.cancel()
        self._drop_unreachable()
        self.changed()

    def stop(self) -> None:
        self.close()
        self._is_stopped = True
        if self._bridge:
            self._bridge.stop()
        self.changed()

    def interrupt(self, game: str) -> None:
        """Ignored, because no game of a league can be paused."""

    async def _until_gone(self) -> None:
        while self._bridge and not self._is_gone:
            await self._wait()

    @property
    def _is_over(self) -> bool:
        if self._is_stopped:
            return self._is_gone and not self._judging
        return self._feeding is None and not self._open

    def _take_task(self, task: GameTask) -> None:
        self._open.update({game.id: game for game in task.games})
        self._waiting.append(task)
        self.changed()

    def _drop(self, tasks: Iterable[GameTask]) -> None:
        for task in tasks:
            for game in task.games:
                self._open.pop(game.id, None)

    def _say(self, line: str) -> None:
        self._tell(Notice(line))

    def _with(self, status: WorkerStatus) -> list[ClusterWorker]:
        return [worker for worker in self._workers.values() if worker.status is status]

    @property
    def _threads(self) -> int:
        return sum(worker.threads for worker in self._with(WorkerStatus.READY))

    async def _until_there_is_room(self) -> None:
        await trio.lowlevel.checkpoint()
        while len(self._waiting) >= self._size() * self._threads:
            await self._wait()

    def _size(self) -> int:
        return 1 if self._seconds is None else max(1, min(MOST_IN_BATCH, math.ceil(TARGET_SECONDS / self._seconds)))

    async def _dispatch(self) -> None:
        while not self._is_stopped:
            if self._waiting and len(self._sent) < self._threads:
                self._send()
            else:
                await self._wait()

    def _send(self) -> None:
        assert self._bridge is not None
        size = min(self._size(), math.ceil(len(self._waiting) / self._threads))
        tasks = [self._waiting.popleft()]
        while self._waiting and len(tasks) < size and not self._alone & {tasks[0].id, self._waiting[0].id}:
            tasks.append(self._waiting.popleft())
        self._number += 1
        ready = frozenset(worker.address for worker in self._with(WorkerStatus.READY))
        batch = self._sent[self._number] = SentBatch(tuple(tasks), ready)
        self._bridge.submit(self._number, sorted(batch.workers), batch.tasks)
        for game in batch.games:
            if game.id in self._open:
                self._tell(Begun(game.id))

    def _take_back(self, batch: SentBatch) -> None:
        """Requeue the games of a batch without an outcome, or drop them if the executor is closed."""
        tasks = []
        for task in batch.tasks:
            games = [game for game in task.games if game.id in self._open]
            for game in games:
                self._tell(Lost(game.id))
            if len(games) == len(task.games):
                tasks.append(task)
            elif games:
                tasks.append(GameTask(games[0]))
        if self._is_closed:
            self._drop(tasks)
        else:
            self._waiting.extendleft(reversed(tasks))
        self.changed()

    def _take_back_stranded(self) -> None:
        assert self._bridge is not None
        usable = {worker.address for worker in self._workers.values() if worker.status is not WorkerStatus.REFUSED}
        for number, batch in list(self._sent.items()):
            if not batch.workers & usable:
                self._bridge.cancel(number)
                self._take_back(self._sent.pop(number))

    def _note(self, event: BridgeEvent) -> None:
        match event:
            case Connected():
                if not self._is_connected and self._workers:
                    self._say(f"cluster {self._plan.name}: the scheduler answers again")
                self._is_connected = True
            case Unreachable(seconds, is_lost):
                what = "the connection to the scheduler is lost" if is_lost else "the scheduler does not answer"
                self._say(f"cluster {self._plan.name}: {what}; waiting for it for {seconds_text(seconds)}")
                self._is_connected = False
                self._drop_unreachable()
            case Workers():
                self._note_workers(event)
            case Done(number):
                if number in self._preparing:
                    self._note_prepared(self._preparing.pop(number), event)
                elif number in self._sent:
                    self._judging += 1
                    self._nursery.start_soon(self._take, self._sent.pop(number), event)
            case BridgeEnded(error):
                self._is_gone = True
                if error or not self._is_stopped:
                    self._fail(error or ArenaError("the connection to the cluster has ended"))
        self.changed()

    def _drop_unreachable(self) -> None:
        if self._is_closed and not self._is_connected and not self._judging:
            self._open.clear()

    def _note_workers(self, event: Workers) -> None:
        for address in self._workers.keys() - event.listed.keys():
            worker = self._workers.pop(address)
            if worker.status is not WorkerStatus.REFUSED and not self._is_stopped:
                self._say(f"worker {worker.name} is gone; its games are played elsewhere")
        for address in event.listed.keys() - self._workers.keys():
            listed = event.listed[address]
            names = {worker.name for worker in self._workers.values()}
            name = base = listed.name or printable(listed.host, 80)
            number = 1
            while name in names:
                number += 1
                name = f"{base}-{number}"
            threads = min(listed.threads, self._plan.jobs or listed.threads)
            worker = self._workers[address] = ClusterWorker(address, name, threads)
            self._prepare(worker)
        self._take_back_stranded()

    def _prepare(self, worker: ClusterWorker) -> None:
        assert self._bridge is not None
        worker.status = WorkerStatus.PREPARING
        self._number += 1
        self._preparing[self._number] = worker
        self._bridge.prepare(self._number, worker.address)

    def _note_prepared(self, worker: ClusterWorker, done: Done) -> None:
        if self._workers.get(worker.address) is not worker:
            return
        if done.why and not done.is_failed:  # lost with the connection: the worker appears again
            del self._workers[worker.address]
            return
        match done.answer.body if done.answer else Refused(done.why):
            case Prepared(calibration):
                plan, why = self._plan, ""
                if plan.reference_us is not None:
                    why = unfit_scaled(plan.reference_us, calibration, plan.time)
                elif self._own is not None:
                    why = unfit(self._own, calibration, plan.time)
                if why:
                    self._refuse(worker, why)
                else:
                    self._take_on(worker, calibration)
            case Refused(why):
                self._refuse(worker, why)

    def _take_on(self, worker: ClusterWorker, calibration: Calibration) -> None:
        worker.status, worker.calibration = WorkerStatus.READY, calibration
        said = f"worker {worker.name} plays {counted(worker.threads, 'game')} at once"
        if reference := self._plan.reference_us:
            worker.percent = percent_of(calibration.work_us, reference)
            measured = f"calibration {ms_text(calibration.work_us)}, {reference_text(reference)}"
            said += f", with clocks at {worker.percent}% ({measured})"
        self._say(said)

    def _refuse(self, worker: ClusterWorker, why: str) -> None:
        if worker.status is WorkerStatus.REFUSED:
            return
        assert self._bridge is not None
        worker.status, worker.why = WorkerStatus.REFUSED, printable(why, LONGEST_WHY, lines=True)
        self._say(f"worker {worker.name} is not used: {worker.why}")
        self._bridge.release(worker.address)
        self._take_back_stranded()
        self.changed()

    async def _keep_time(self) -> None:
        since: float | None = None
        is_told = False
        while not self._is_stopped:
            hopeful = self._with(WorkerStatus.READY) or self._with(WorkerStatus.PREPARING)
            if hopeful or not self._is_connected:
                since, is_told = None, False
            elif since is None:
                since = trio.current_time()
            waited = 0.0 if since is None else trio.current_time() - since
            if waited > self._plan.patience or 0 < self._plan.local == len(self._with(WorkerStatus.REFUSED)):
                self._fail(self._no_worker())
            elif waited > TOLD_SECONDS and not is_told:
                is_told = True
                self._say(
                    f"cluster {self._plan.name}: no worker can play; waiting for one for "
                    f"{seconds_text(self._plan.patience)}. To start one:\n    {self._plan.worker_command}"
                )
            with trio.move_on_after(TOLD_SECONDS / 4):
                await self._wait()

    def _no_worker(self) -> ArenaError:
        refused = self._with(WorkerStatus.REFUSED)
        reasons = "".join(f"\n    {worker.name}: {worker.why}" for worker in refused)
        if reasons:
            return ArenaError(f"cluster {self._plan.name}: no worker can play:{reasons}")
        return ArenaError(
            f"cluster {self._plan.name}: no worker came within {seconds_text(self._plan.patience)}; to start one:\n"
            f"    {self._plan.worker_command}"
        )

    async def _take(self, batch: SentBatch, done: Done) -> None:
        """Verify the records of a batch and report the outcomes; games without one are played again."""
        try:
            with trio.CancelScope(shield=True):
                if done.answer:
                    await self._take_answer(batch, done.answer)
                else:
                    self._note_lost(batch, done)
                self._take_back(batch)
        finally:
            self._judging -= 1
            self._drop_unreachable()
            self.changed()

    def _note_lost(self, batch: SentBatch, done: Done) -> None:
        games = batch.games
        if done.has_killed and len(batch.tasks) == 1:
            self._fail(
                ArenaError(f"game {games[0].id} ({games[0].names}) was not finished: {done.why} during the game")
            )
        elif done.has_killed:
            self._alone |= {task.id for task in batch.tasks}
        elif done.is_failed:
            self._fail(ArenaError(f"cluster {self._plan.name}: a worker has failed: {done.why}"))

    async def _take_answer(self, batch: SentBatch, answer: WorkerAnswer) -> None:
        worker = self._workers.get(answer.worker)
        if worker is None or worker.status is WorkerStatus.REFUSED:
            return
        match answer.body:
            case Refused(why):
                self._refuse(worker, why)
            case Unprepared() if worker.status is WorkerStatus.READY and not self._is_closed:
                self._prepare(worker)
            case BatchPlayed() if worker.calibration:
                wanted = {game.id: game for task in batch.tasks for game in scaled_task(task, worker.percent).games}
                try:
                    records = await trio.to_thread.run_sync(checked_records, answer.body.records, wanted)
                except RecordError as error:
                    self._refuse(worker, f"it sent a wrong record: {error}")
                    return
                for record in records:
                    words = played_on(record.machine or "", worker.name, answer.body.load, worker.calibration.work_us)
                    self._come_out(Played(msgspec.structs.replace(record, machine=words)), record.id)
                self._take_others(worker, answer.body)

    def _take_others(self, worker: ClusterWorker, played: BatchPlayed) -> None:
        if played.seconds > 0:
            self._seconds = played.seconds if self._seconds is None else (self._seconds + played.seconds) / 2
        for other in played.others:
            match other:
                case Notice(line):
                    self._say(f"worker {worker.name}: {printable(line, LONGEST_WHY)}")
                case Failed(_, kind, text) if kind in MACHINE_FAULTS:
                    self._refuse(worker, text)
                case Failed(id, _, text):
                    words = f"worker {worker.name}: {printable(text, LONGEST_WHY, lines=True)}"
                    self._come_out(Failed(id, ErrorKind.ARENA.name, words, 1), id)
                case NotPlayed(id, why):
                    words = f"worker {worker.name}: {printable(why, LONGEST_WHY, lines=True)}"
                    self._come_out(NotPlayed(id, words), id)

    def _come_out(self, outcome: Played | NotPlayed | Failed, game: str | None) -> None:
        if game and self._open.pop(game, None):
            self._alone.discard(game)
            self._tell(outcome)


def checked_records(records: Iterable[bytes], wanted: dict[str, GameSpec]) -> list[GameRecord]:
    """Decode records strictly and verify them; each must be of another `wanted` game. Raises `RecordError`."""
    wanted, right = dict(wanted), []
    for data in records:
        record = decode_record(data)
        spec = wanted.pop(record.id, None)
        if spec is None:
            raise RecordError(f"game {record.id}: it was not requested")
        check_is_of(record, spec)
        check_record(record)
        right.append(record)
    return right


def check_is_of(record: GameRecord, spec: GameSpec) -> None:
    played = spec_of(record)
    wrong = [] if record.arena == __version__ else ["version"]
    wrong += [name for name in GameSpec.__struct_fields__ if getattr(played, name) != getattr(spec, name)]
    if wrong:
        raise RecordError(f"game {record.id}: expected the {wrong[0]} that was asked for, got another")
