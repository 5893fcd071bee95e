"""The arena's side of a cluster: an `Executor` that sends batches of games to the workers of a dask cluster.

A worker that appears is prepared first: it gets the bots, and says how fast it is. Batches go to the workers that are
ready; which of them gets which is dask's to say. There are as many batches under way as the workers play games at a
time, so that none waits on a worker while another is idle.

What comes back is checked (`expected`): each record is decoded strictly, has to be of a game that was asked for, and is
judged again before it goes on to be stored. A worker that sends a wrong one is not used any more. No game comes out
twice.
"""

import enum
import hashlib
import math
import os
import secrets
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial

import msgspec
import trio

from arena.errors import ArenaError, UsageError
from arena.game.record import GameRecord, RecordError
from arena.game.spec import GameSpec
from arena.league.executor.cluster.bridge import (
    LONGEST_WHY,
    Bridge,
    Connected,
    Done,
    Ended,
    Event,
    Unreachable,
    Workers,
    seconds_text,
)
from arena.league.executor.cluster.calibration import Calibration, measure, scaled_task, unfit, unfit_scaled
from arena.league.executor.cluster.expected import checked_record
from arena.league.executor.cluster.messages import (
    Answer,
    BatchPlayed,
    CarriedBot,
    Prepared,
    Refused,
    RunInfo,
    Unable,
    Unprepared,
    decode_answer,
    encode,
    this_arena,
)
from arena.league.executor.cluster.packing import not_sent, pack_bot
from arena.league.executor.cluster.plan import ClusterPlan
from arena.league.executor.outcomes import OutcomeStream
from arena.league.executor.pipes import WireError
from arena.league.executor.task import (
    Begun,
    ErrorKind,
    Failed,
    GameTask,
    Lost,
    NotPlayed,
    Paused,
    Played,
    PlaySettings,
    Said,
)
from arena.league.executor.wire import WireBot, packed
from arena.play.machine import ms_text, percent_of, played_on, reference_text
from arena.system.concurrency import open_nursery
from arena.system.printable import counted, printable

TARGET_SECONDS = 1.0
"""How long a batch should take. Shorter batches cost the scheduler more, longer ones lose more with their worker."""
MOST_IN_BATCH = 50
TOLD_SECONDS = 0.5
"""After so long without a worker the user is told that one is waited for."""
SETTLE_SECONDS = 1.0
"""How long the first game waits for workers that are being prepared, after the first one is ready."""
MACHINE_FAULTS = frozenset({ErrorKind.HOST.name, ErrorKind.SANDBOX.name, ErrorKind.REFUSED_BOTS.name})


class Standing(enum.Enum):
    """What a worker can be used for."""

    COMING = enum.auto()
    """It is being prepared."""
    READY = enum.auto()
    REFUSED = enum.auto()


@dataclass
class Worker:
    """One worker of the cluster."""

    name: str
    threads: int
    standing: Standing = Standing.COMING
    calibration: Calibration | None = None
    percent: int | None = None
    """What clocks are scaled to there."""
    why: str = ""
    """Why it is refused."""
    unable: dict[str, str] = field(default_factory=dict)
    """The bots that it cannot play, with the reasons, by name."""


@dataclass
class SentBatch:
    """Games that have been sent together, and the addresses of the workers that may play them."""

    tasks: tuple[GameTask, ...]
    workers: frozenset[str]


@asynccontextmanager
async def cluster_executor(settings: PlaySettings, plan: ClusterPlan) -> AsyncGenerator["ClusterExecutor", None]:
    """An executor that plays on a cluster. At its end none of its games is under way there.

    Its outcomes end with an `ArenaError` if no scheduler answers, or no worker can play, within the plan's patience.
    """
    executor = ClusterExecutor(settings, plan)
    async with open_nursery() as nursery:
        try:
            await executor.begin(nursery)
            yield executor
        finally:
            executor.stop()
            with trio.CancelScope(shield=True):
                await executor.until_gone()


class ClusterExecutor(OutcomeStream):
    """An `Executor`; made by `cluster_executor`. It interrupts no game that has been sent."""

    def __init__(self, settings: PlaySettings, plan: ClusterPlan) -> None:
        super().__init__()
        self._settings, self._plan = settings, plan
        self._run = secrets.token_hex(8)
        self._workers: dict[str, Worker] = {}
        """By address."""
        self._preparing: dict[int, str] = {}
        """The worker that is asked to prepare, by the number of the request."""
        self._sent: dict[int, SentBatch] = {}
        self._open: dict[str, GameSpec] = {}
        """The games that have been asked for and have not come out, by id."""
        self._alone: set[str] = set()
        """Games that are sent alone, because workers ended while one of several was played."""
        self._left_out: dict[str, str] = {}
        """The bots that are not played any more, with the reasons, by name."""
        self._number = 0
        self._judging = 0
        self._seconds: float | None = None
        """How long a game takes."""
        self._is_connected = self._is_begun = self._is_gone = False
        self._own: Calibration | None = None
        """The arena's own machine."""

    async def begin(self, nursery: trio.Nursery) -> None:
        """Pack the bots and connect. As soon as a worker is ready, games are asked for."""
        self._nursery = nursery
        plan = self._plan
        if not plan.local and plan.reference_us is None:
            self._own = await trio.to_thread.run_sync(measure)
        info, packs = await trio.to_thread.run_sync(self._pack)
        self._info = encode(info)
        self._bridge = Bridge(plan, packs, self._run, self._note)
        self._bridge.start()
        nursery.start_soon(self._dispatch)
        nursery.start_soon(self._keep_time)

    def _pack(self) -> tuple[RunInfo, dict[str, bytes]]:
        """The settings and the files of the bots, as they are sent."""
        settings, packs, bots = self._settings, dict[str, bytes](), list[CarriedBot]()
        for bot in settings.bots:
            key = file = words = ""
            if bot.fault is None:
                try:
                    pack, words = pack_bot(bot), not_sent(bot)
                except UsageError as error:  # its files have changed since they were looked at
                    self._leave_out(bot.name, str(error))
                    continue
                key = hashlib.sha256(pack).hexdigest()
                packs[key] = pack
                assert bot.look is not None
                file = bot.look.covered.only or bot.look.covered.folder.name
            wire, arguments = WireBot.of(replace(bot, not_sent=words)), tuple(map(packed, bot.arguments))
            bots.append(CarriedBot(wire, key, os.fsencode(file), arguments, bot.asked.prefix if bot.asked else ""))
        info = RunInfo(
            self._run,
            this_arena(),
            tuple(bots),
            settings.level,
            settings.usual,
            {packed(name): limits for name, limits in settings.limits.items()},
            tuple(map(packed, settings.interpreters)),
            settings.pondering,
            settings.is_pinned,
            self._plan.jobs,
            self._plan.build,
            self._plan.reference_us,
        )
        return info, packs

    # --- what is asked of it ------------------------------------------------------------------------------------------

    def close(self) -> None:
        """See `Executor.close`."""
        if self._is_closed:
            return
        self._is_closed = True
        self._drop(self._waiting)
        self._waiting.clear()
        if self._feeding:
            self._feeding.cancel()
        self._bridge.close()
        self._drop_unreachable()
        self.changed()

    def stop(self) -> None:
        """See `Executor.stop`."""
        self.close()
        self._is_stopped = True
        self._bridge.stop()
        self.changed()

    def interrupt(self, game: str) -> None:
        """See `Executor.interrupt`."""
        for task in [task for task in self._waiting if task.id == game and task.can_pause]:
            self._waiting.remove(task)
            del self._open[game]
            self._tell(Paused(game, task.history))

    async def until_gone(self) -> None:
        """Wait until the connection to the cluster has ended."""
        while not self._is_gone:
            await self._wait()

    @property
    def _is_over(self) -> bool:
        if self._is_stopped:
            return self._is_gone and not self._judging
        return self._feeding is None and not self._open

    def _take_task(self, task: GameTask) -> None:
        self._open.update({game.id: game for game in task.games})
        self._waiting.append(task)
        self._drop_left_out()
        self.changed()

    def _drop(self, tasks: Iterable[GameTask]) -> None:
        for task in tasks:
            for game in task.games:
                self._open.pop(game.id, None)

    def _say(self, line: str) -> None:
        self._tell(Said(line))

    # --- sending ------------------------------------------------------------------------------------------------------

    def _with(self, standing: Standing) -> dict[str, Worker]:
        return {address: worker for address, worker in self._workers.items() if worker.standing is standing}

    @property
    def _threads(self) -> int:
        """How many games the workers that are ready play at a time."""
        return sum(worker.threads for worker in self._with(Standing.READY).values()) if self._is_begun else 0

    async def _until_there_is_room(self) -> None:
        await trio.lowlevel.checkpoint()
        while len(self._waiting) >= self._size() * self._threads:
            await self._wait()

    def _size(self) -> int:
        """How many games make a batch."""
        return 1 if self._seconds is None else max(1, min(MOST_IN_BATCH, math.ceil(TARGET_SECONDS / self._seconds)))

    async def _dispatch(self) -> None:
        """Send batches while there are games and room."""
        while not self._with(Standing.READY) and not self._is_stopped:
            await self._wait()
        with trio.move_on_after(SETTLE_SECONDS):
            while self._with(Standing.COMING) and not self._is_stopped:
                await self._wait()
        if self._is_stopped:
            return
        ready = self._with(Standing.READY)
        games = counted(sum(worker.threads for worker in ready.values()), "game")
        self._say(f"cluster {self._plan.name}: {counted(len(ready), 'worker')}, {games} at a time; others may come")
        self._is_begun = True
        while not self._is_stopped:
            if self._waiting and len(self._sent) < self._threads:
                self._send()
            else:
                await self._wait()

    def _send(self) -> None:
        size = min(self._size(), math.ceil(len(self._waiting) / self._threads))
        tasks = [self._waiting.popleft()]
        while self._waiting and len(tasks) < size and not self._alone & {tasks[0].id, self._waiting[0].id}:
            tasks.append(self._waiting.popleft())
        self._number += 1
        batch = self._sent[self._number] = SentBatch(tuple(tasks), frozenset(self._with(Standing.READY)))
        self._bridge.submit(self._number, sorted(batch.workers), encode(batch.tasks))
        for task in tasks:
            for game in task.games:
                if game.id in self._open:
                    self._tell(Begun(game.id))

    def _take_back(self, batch: SentBatch) -> None:
        """What has not come out of a batch is played elsewhere, or not at all if the executor is closed."""
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
        self._drop_left_out()
        self.changed()

    def _take_back_stranded(self) -> None:
        """Take back the batches of which no worker is left that may play them."""
        usable = self._workers.keys() - self._with(Standing.REFUSED).keys()
        for number, batch in list(self._sent.items()):
            if not batch.workers & usable:
                self._bridge.cancel(number)
                self._take_back(self._sent.pop(number))

    # --- events of the bridge -----------------------------------------------------------------------------------------

    def _note(self, event: Event) -> None:
        match event:
            case Connected():
                if not self._is_connected and self._workers:
                    self._say(f"cluster {self._plan.name}: the scheduler answers again")
                self._is_connected = True
            case Unreachable(seconds, is_lost, why):
                what = "the connection to the scheduler is lost" if is_lost else "the scheduler does not answer"
                what += f" ({why})" if why else ""
                self._say(f"cluster {self._plan.name}: {what}; waiting for it for {seconds_text(seconds)}")
                self._is_connected = False
                self._drop_unreachable()
            case Workers():
                self._note_workers(event)
            case Done(number):
                self._note_done(number, event)
            case Ended(error):
                self._is_gone = True
                if error or not self._is_stopped:
                    self._fail(error or ArenaError("the connection to the cluster has ended"))
        self.changed()

    def _note_done(self, number: int, done: Done) -> None:
        assert self._nursery is not None
        if number in self._preparing:
            self._note_prepared(self._preparing.pop(number), done)
        elif number in self._sent:
            self._judging += 1
            self._nursery.start_soon(self._take, self._sent.pop(number), done)

    def _drop_unreachable(self) -> None:
        """Do not wait for games of which nothing can be heard, if no further game is wanted."""
        if self._is_closed and not self._is_connected and not self._judging:
            self._open.clear()

    def _note_workers(self, event: Workers) -> None:
        for address in self._workers.keys() - event.listed.keys():
            worker = self._workers.pop(address)
            if worker.standing is not Standing.REFUSED and not self._is_stopped:
                how = f"silent for {seconds_text(self._plan.patience)}" if address in event.silent else "gone"
                self._say(f"worker {worker.name} is {how}; its games are played elsewhere")
        for address in event.listed.keys() - self._workers.keys():
            listed = event.listed[address]
            names = {worker.name for worker in self._workers.values()}
            name = base = listed.name or printable(listed.host, 80)
            number = 1
            while name in names:
                number += 1
                name = f"{base}-{number}"
            self._workers[address] = Worker(name, min(listed.threads, self._plan.jobs or listed.threads))
            self._prepare(address)
        self._take_back_stranded()

    # --- workers ------------------------------------------------------------------------------------------------------

    def _prepare(self, address: str) -> None:
        self._workers[address].standing = Standing.COMING
        self._number += 1
        self._preparing[self._number] = address
        self._bridge.prepare(self._number, address, self._info)

    def _note_prepared(self, address: str, done: Done) -> None:
        worker = self._workers.get(address)
        if worker is None:
            return
        if done.why and not done.is_failed:  # lost with the connection: the worker appears again
            del self._workers[address]
            return
        match self._body(done):
            case Prepared(calibration) if calibration.work_us > 0:
                if why := self._unfit(calibration):
                    self._refuse(address, why)
                else:
                    self._take_on(worker, calibration)
            case Unable(problems) if problems:
                worker.unable = {name: printable(why, LONGEST_WHY, lines=True) for name, why in problems.items()}
                self._refuse(address, "\n".join(worker.unable.values()))
            case Refused(why):
                self._refuse(address, why)
            case _:
                self._refuse(address, "it does not answer what it was asked")
        self._leave_out_unable()

    def _body(self, done: Done) -> object:
        if done.why:
            return Refused(done.why)
        try:
            return decode_answer(done.data).body
        except WireError as error:
            return Refused(f"it sends what is no message: {error}")

    def _take_on(self, worker: Worker, calibration: Calibration) -> None:
        worker.standing, worker.calibration = Standing.READY, calibration
        if reference := self._plan.reference_us:
            worker.percent = percent_of(calibration.work_us, reference)
            measured = f"calibration {ms_text(calibration.work_us)}, {reference_text(reference)}"
            self._say(f"worker {worker.name}: clocks at {worker.percent}% ({measured})")

    def _unfit(self, calibration: Calibration) -> str:
        """Why a machine cannot play in this league; empty if it can. Workers of this machine always can."""
        plan = self._plan
        if plan.reference_us is not None:
            return unfit_scaled(plan.reference_us, calibration, plan.time)
        return "" if self._own is None else unfit(self._own, calibration, plan.time)

    def _refuse(self, address: str, why: str) -> None:
        """Use a worker no more."""
        worker = self._workers.get(address)
        if worker is None or worker.standing is Standing.REFUSED:
            return
        worker.standing, worker.why = Standing.REFUSED, printable(why, LONGEST_WHY, lines=True)
        self._say(f"worker {worker.name} is not used: {worker.why}")
        self._bridge.release(address)
        self._take_back_stranded()
        self.changed()

    def _leave_out_unable(self) -> None:
        """Play without a bot that no worker can play, where that lets workers play all others."""
        unable = [worker for worker in self._workers.values() if worker.unable]
        if not unable or self._with(Standing.READY) or self._with(Standing.COMING):
            return
        fewest = min(unable, key=lambda worker: len(worker.unable))
        for name, why in fewest.unable.items():
            self._leave_out(name, f"it cannot be played on worker {fewest.name}: {why}")
        for address, worker in self._workers.items():
            if worker.unable and worker.unable.keys() <= self._left_out.keys():
                worker.unable = {}
                self._without_left_out()
                self._prepare(address)

    def _without_left_out(self) -> None:
        """Take the bots that are left out from what workers are sent."""
        names = {packed(name) for name in self._left_out}
        info = msgspec.msgpack.decode(self._info, type=RunInfo)
        bots = tuple(bot for bot in info.bots if bot.bot.name not in names)
        self._info = encode(msgspec.structs.replace(info, bots=bots))

    def _leave_out(self, name: str, why: str) -> None:
        self._left_out[name] = f"{name} is not played any more: {why}"
        self._say(self._left_out[name])
        self._drop_left_out()

    def _drop_left_out(self) -> None:
        """Games that wait and have a bot that is left out are not played, and nobody forfeits."""
        for task in [task for task in self._waiting if any(one.name in self._left_out for one in task.players)]:
            self._waiting.remove(task)
            name = next(player.name for player in task.players if player.name in self._left_out)
            for game in task.games:
                if self._open.pop(game.id, None):
                    self._tell(Begun(game.id))
                    self._tell(NotPlayed(game.id, self._left_out[name], left_out=True))

    async def _keep_time(self) -> None:
        """Say that no worker is there, and give up when patience is over."""
        since: float | None = None
        is_told = False
        while not self._is_stopped:
            hopeful = self._with(Standing.READY) or self._with(Standing.COMING)
            if hopeful or not self._is_connected:
                since, is_told = None, False
            elif since is None:
                since = trio.current_time()
            waited = 0.0 if since is None else trio.current_time() - since
            refused = self._with(Standing.REFUSED)
            if waited > self._plan.patience or 0 < self._plan.local == len(refused):
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
        refused = self._with(Standing.REFUSED)
        reasons = "".join(f"\n    {worker.name}: {worker.why}" for worker in refused.values())
        if reasons:
            return ArenaError(f"cluster {self._plan.name}: no worker can play:{reasons}")
        return ArenaError(
            f"cluster {self._plan.name}: no worker came within {seconds_text(self._plan.patience)}; to start one:\n"
            f"    {self._plan.worker_command}"
        )

    # --- what comes of batches ----------------------------------------------------------------------------------------

    async def _take(self, batch: SentBatch, done: Done) -> None:
        """Judge what has come of a batch and tell it; what nothing has come of is played again."""
        try:
            with trio.CancelScope(shield=True):
                if done.why:
                    self._take_lost(batch, done)
                    return
                try:
                    answer = decode_answer(done.data)
                except WireError as error:
                    self._fail(ArenaError(f"cluster {self._plan.name}: a worker sends what is no message: {error}"))
                    return
                await self._take_answer(batch, answer)
                self._take_back(batch)
        finally:
            self._judging -= 1
            self._drop_unreachable()
            self.changed()

    def _take_lost(self, batch: SentBatch, done: Done) -> None:
        games = [game for task in batch.tasks for game in task.games]
        if done.has_killed and len(batch.tasks) == 1:
            self._fail(ArenaError(f"game {games[0].id} ({games[0].names}) was not played: {done.why} while it was"))
        elif done.has_killed:
            self._alone |= {task.id for task in batch.tasks}
        elif done.is_failed:
            self._fail(ArenaError(f"cluster {self._plan.name}: a worker has failed: {done.why}"))
        self._take_back(batch)

    async def _take_answer(self, batch: SentBatch, answer: Answer) -> None:
        worker = self._workers.get(answer.worker)
        match answer.body:
            case Refused(why):
                self._refuse(answer.worker, why)
            case Unprepared() if worker and worker.standing is Standing.READY and not self._is_closed:
                self._prepare(answer.worker)
            case BatchPlayed() if worker is None or worker.standing is not Standing.REFUSED:
                try:
                    records = await trio.to_thread.run_sync(self._judge, batch, worker, answer.body.records)
                except RecordError as error:
                    self._refuse(answer.worker, f"it sent a wrong record: {error}")
                    return
                self._take_played(batch, worker, answer.body, records, partial(self._refuse, answer.worker))

    def _judge(self, batch: SentBatch, worker: Worker | None, records: Iterable[bytes]) -> list[GameRecord]:
        """Check all records of a batch. Raises `RecordError` for the first that is wrong."""
        percent = worker.percent if worker else None
        wanted = {game.id: game for task in batch.tasks for game in scaled_task(task, percent).games}
        right = []
        for data in records:
            record = checked_record(data, wanted)
            del wanted[record.id]
            right.append(record)
        return right

    def _take_played(
        self,
        batch: SentBatch,
        worker: Worker | None,
        played: BatchPlayed,
        records: list[GameRecord],
        refuse: "partial[None]",
    ) -> None:
        if worker is None or worker.calibration is None:
            return  # it is gone since, and what it was is not known any more: its games are played again
        if played.seconds > 0:
            self._seconds = played.seconds if self._seconds is None else (self._seconds + played.seconds) / 2
        for record in records:
            machine = played_on(record.machine or "", worker.name, played.load, worker.calibration.work_us)
            self._come_out(Played(msgspec.structs.replace(record, machine=machine)), record.id)
        ids = {game.id for task in batch.tasks for game in task.games}
        for other in played.others:
            match other:
                case Said(line):
                    self._say(f"worker {worker.name}: {printable(line, LONGEST_WHY)}")
                case Failed(id, kind, text) if id in ids and kind in MACHINE_FAULTS:
                    refuse(text)
                case Failed(id, kind, text) if id in ids:
                    words = f"worker {worker.name}: {printable(text, LONGEST_WHY, lines=True)}"
                    self._come_out(Failed(id, ErrorKind.ARENA.name, words, 1), id)
                case NotPlayed(id, why) if id in ids:
                    words = f"worker {worker.name}: {printable(why, LONGEST_WHY, lines=True)}"
                    self._come_out(NotPlayed(id, words), id)
                case _:
                    refuse("it tells of games that it was not sent")

    def _come_out(self, outcome: Played | NotPlayed | Failed, game: str | None) -> None:
        """A game is over, unless it came out before."""
        if game and self._open.pop(game, None):
            self._alone.discard(game)
            self._tell(outcome)
