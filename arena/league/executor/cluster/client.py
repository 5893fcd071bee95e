"""The arena's side of a cluster: an `Executor` that sends batches of games to the workers that a gate tells of.

What comes back is believed only so far: each record is decoded strictly, is of a game that this worker was sent, and is
judged again (in a thread) before it goes on to be stored. A worker that sends a wrong one, cannot play, or runs another
arena is not used again in this run, and its games are played elsewhere. So are those of a worker that is gone or has
been silent for too long; what it still sends of them is passed over, so that a game comes out once.
"""

from collections import Counter, deque
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import msgspec
import trio

from arena.bots.build_checks import BuildLimits
from arena.errors import ArenaError, UsageError
from arena.game.record import GameRecord, RecordError
from arena.game.spec import GameSpec
from arena.league.executor.cluster.calibration import Calibration, measure, unfit
from arena.league.executor.cluster.carrying import Cargo
from arena.league.executor.cluster.expected import checked_record
from arena.league.executor.cluster.messages import (
    Answer,
    Ask,
    Batch,
    BatchPlayed,
    Close,
    Connect,
    Connected,
    Disconnected,
    Done,
    End,
    FromGate,
    Missing,
    Prepare,
    Prepared,
    PutBot,
    Refused,
    Reply,
    Submit,
    Tls,
    Unconnected,
    Unprepared,
    WorkerCame,
    WorkerGone,
    WorkerSilent,
    decode_answer,
    encode,
    from_gate,
)
from arena.league.executor.cluster.seat import Seat, SentBatch, Standing
from arena.league.executor.process import WorkerProcess
from arena.league.executor.task import (
    Begun,
    Failed,
    GameTask,
    Lost,
    NotPlayed,
    Outcome,
    Paused,
    Played,
    Said,
)
from arena.league.executor.wire import WireError
from arena.nursery import open_nursery
from arena.play.played_on import played_on
from arena.printable import printable

GATE = "arena.league.executor.cluster.gate"
AGAIN_SECONDS = 1.0
"""After this time a worker is asked again that could not be reached."""
SETTLE_SECONDS = 0.5
"""How long the first worker that is ready waits for others that are coming."""
LINGER_SECONDS = 0.02
"""How long a batch that is not full waits for further games."""
MOST_LOST = 5
"""So often a game may be lost with its worker."""
OWN_FAULTS = frozenset({"HOST", "SANDBOX", "REFUSED_BOTS"})
"""Errors that are the machine's, by the names of `ErrorKind`: another one may play the game."""
LONGEST_WHY = 2000


@dataclass(frozen=True)
class ClusterPlan:
    """Where the games are to be played: at the scheduler of this address, or with `local` workers of our own.

    `jobs` is how many games each worker plays at a time (0: as many as it has CPUs), `build` what builds may use, and
    `patience` the seconds for which a scheduler may be out of reach, and a worker silent.
    """

    address: str
    local: int
    tls: Tls | None
    jobs: int
    build: BuildLimits
    patience: float
    move_ms: int | None = None
    """The shortest time in milliseconds, with the margin, that a bot has for a move; None: moves are not bounded."""

    @property
    def name(self) -> str:
        """The cluster in words."""
        return f"local:{self.local}" if self.local else self.address


@asynccontextmanager
async def cluster_executor(cargo: Cargo, plan: ClusterPlan) -> AsyncGenerator["ClusterExecutor", None]:
    """A cluster that plays games. At the end none of this run is played any more.

    Raises `ArenaError` if there is no scheduler, or no worker that can play comes within the plan's patience.
    """
    executor = ClusterExecutor(cargo, plan)
    async with open_nursery() as nursery:
        try:
            await executor.begin(nursery)
            yield executor
        finally:
            executor.stop()


class ClusterExecutor:
    """An `Executor`; made by `cluster_executor`. It plays one stream of tasks at a time, and pauses none."""

    def __init__(self, cargo: Cargo, plan: ClusterPlan) -> None:
        self._cargo = cargo
        self._plan = plan
        self._gate: WorkerProcess | None = None
        self._is_connected = False
        self._own: Calibration | None = None
        """What was measured on the arena's own machine."""
        self._seats: dict[str, Seat] = {}
        self._refusals: dict[str, str] = {}
        """Why workers are not used, by the names that their host gives them."""
        self._number = 0
        self._asked: dict[int, Seat] = {}
        """What workers do beside playing, by the numbers of the requests."""
        self._answers: dict[int, Reply] = {}
        self._preparing: dict[str, trio.Lock] = {}
        """By machine: its workers are prepared one after another, so that bots are sent to it once."""
        self._waiting: deque[GameTask] = deque()
        self._open: dict[str, GameSpec] = {}
        """The games that were asked for and have not come out, by their ids."""
        self._lost: Counter[str] = Counter()
        self._outcomes: deque[Outcome] = deque()
        self._changed = trio.Event()
        self._error: ArenaError | None = None
        self._nursery: trio.Nursery | None = None
        self._feeding: trio.CancelScope | None = None
        self._checking = 0
        """Batches whose records are just being judged."""
        self._workless_since: float | None = None
        self._is_closed = self._is_stopped = self._is_over_with_gate = False

    async def begin(self, nursery: trio.Nursery) -> None:
        """Connect, and wait until a worker is ready. Raises `ArenaError`."""
        self._nursery = nursery
        if not self._plan.local:
            self._own = await trio.to_thread.run_sync(measure)
        self._gate, _ = WorkerProcess.start_module(GATE, from_gate)
        plan = self._plan
        farewell = encode(End(self._cargo.run.id))
        self._gate.connection.send(Connect(plan.address, plan.local, plan.tls, plan.patience, farewell))
        nursery.start_soon(self._keep_gate)
        nursery.start_soon(self._keep_time)
        nursery.start_soon(self._dispatch)
        while not any(seat.standing is Standing.READY for seat in self._seats.values()):
            if self._error:
                raise self._error
            await self._wait()
        with trio.move_on_after(SETTLE_SECONDS):
            while any(seat.standing is Standing.COMING for seat in self._seats.values()):
                await self._wait()
        ready = [seat for seat in self._seats.values() if seat.standing is Standing.READY]
        self._tell(Said(f"cluster {plan.name}: {_workers_text(ready)}; others may come"))

    # --- what is asked of it ------------------------------------------------------------------------------------------

    def play(self, tasks: AsyncIterable[GameTask]) -> AsyncIterator[Outcome]:
        """See `Executor.play`."""
        assert self._nursery is not None
        assert self._feeding is None, "one stream of tasks at a time"
        self._feeding = trio.CancelScope()
        self._nursery.start_soon(self._feed, tasks, self._feeding)
        return _Outcomes(self)

    def close(self) -> None:
        """See `Executor.close`."""
        if self._is_closed:
            return
        self._is_closed = True
        self._drop(self._waiting)
        self._waiting.clear()
        if self._feeding:
            self._feeding.cancel()
        for seat in self._seats.values():
            if seat.sent:
                self._ask(seat, encode(Close(self._cargo.run.id)))
        self._note()

    def stop(self) -> None:
        """See `Executor.stop`."""
        self.close()
        if not self._is_stopped:
            self._is_stopped = True
            if self._gate:
                self._gate.connection.finish()
                self._gate.stop()
        self._note()

    def interrupt(self, game: str) -> None:
        """See `Executor.interrupt`. A game that has been sent to a worker is played to its end."""
        for task in [task for task in self._waiting if task.id == game and task.can_pause]:
            self._waiting.remove(task)
            del self._open[game]
            self._tell(Paused(game, task.history))

    # --- the outcomes -------------------------------------------------------------------------------------------------

    def _tell(self, outcome: Outcome) -> None:
        self._outcomes.append(outcome)
        self._note()

    def _note(self) -> None:
        """Something has changed: whoever waits for anything looks again."""
        self._changed.set()
        self._changed = trio.Event()

    async def _wait(self) -> None:
        await self._changed.wait()

    @property
    def _is_over(self) -> bool:
        """Whether no outcome will come any more."""
        if self._is_stopped:
            return self._is_over_with_gate and not self._checking
        return self._feeding is None and not self._open

    async def next_outcome(self) -> Outcome | None:
        """The next outcome; None if there are no more. Raises what keeps all games from being played."""
        await trio.lowlevel.checkpoint()
        while not self._outcomes:
            if self._is_over:
                if self._error:
                    raise self._error
                return None
            await self._wait()
        return self._outcomes.popleft()

    def _fail(self, error: ArenaError) -> None:
        self._error = self._error or error
        self.stop()

    # --- sending ------------------------------------------------------------------------------------------------------

    async def _feed(self, tasks: AsyncIterable[GameTask], scope: trio.CancelScope) -> None:
        """Ask for games as there is room for them."""
        source = aiter(tasks)
        try:
            with scope:
                while not self._is_closed:
                    await self._until_there_is_room()
                    task = await anext(source)
                    if not self._is_closed:
                        self._open.update({game.id: game for game in (task.spec, task.then) if game})
                        self._waiting.append(task)
                        self._note()
        except StopAsyncIteration:
            pass
        except ArenaError as error:
            self._fail(error)
        finally:
            if isinstance(source, AsyncGenerator):
                with trio.CancelScope(shield=True):
                    await source.aclose()
            self._feeding = None
            self._note()

    async def _until_there_is_room(self) -> None:
        await trio.lowlevel.checkpoint()
        while (seat := self._roomiest()) is None or len(self._waiting) >= seat.size:
            await self._wait()

    def _roomiest(self) -> Seat | None:
        """The worker that is to get the next batch; None if all have enough."""
        free = [seat for seat in self._seats.values() if seat.has_room]
        return min(free, key=lambda seat: (len(seat.sent), seat.games / seat.slots), default=None)

    async def _dispatch(self) -> None:
        """Send batches while there are games and room: full ones, and what there is when no further game comes."""
        while not self._is_stopped:
            seat = self._roomiest()
            if seat is None or not self._waiting or self._is_closed:
                await self._wait()
            elif len(self._waiting) >= seat.size or self._feeding is None:
                self._send(seat, seat.size)
            else:
                count = len(self._waiting)
                with trio.move_on_after(LINGER_SECONDS):
                    await self._wait()
                    continue
                if len(self._waiting) == count and seat.has_room:
                    self._send(seat, count)

    def _send(self, seat: Seat, most: int) -> None:
        """Send a worker games that wait; a pair is one task, and counts as two games."""
        tasks: list[GameTask] = []
        count = 0
        while self._waiting and count < most:
            task = self._waiting.popleft()
            tasks.append(task)
            count += 1 if task.then is None else 2
        batch = SentBatch(tuple(tasks))
        batch.open = {game.id: GameTask(game) for game in batch.specs.values()}
        seat.sent[self._next_number()] = batch
        self._tell_begun(seat)
        data = encode(Batch(self._cargo.run.id, batch.tasks))
        self._to_gate(Submit(self._number, seat.address, data))

    def _tell_begun(self, seat: Seat) -> None:
        """Tell that games are under way: of those that a worker has, as many as it can play at a time."""
        under_way = sum(len(batch.begun) for batch in seat.sent.values())
        for batch in seat.sent.values():
            for game in batch.open.keys() - batch.begun:
                if under_way >= seat.slots:
                    return
                batch.begun.add(game)
                under_way += 1
                self._tell(Begun(game))

    def _next_number(self) -> int:
        self._number += 1
        return self._number

    def _to_gate(self, message: Ask | Submit) -> None:
        assert self._gate is not None
        self._gate.connection.send(message)

    # --- the gate -----------------------------------------------------------------------------------------------------

    async def _keep_gate(self) -> None:
        """Hear what the gate says, to its end."""
        assert self._gate is not None
        with trio.CancelScope(shield=True):  # `stop` ends it
            how = await self._gate.attend(self._hear)
            said = self._gate.stderr_tail
            self._is_over_with_gate = True
            if not self._is_stopped:
                last = said.splitlines()[-1:] or ["it said nothing"]
                self._fail(ArenaError(f"the process that speaks with the cluster {how}: {printable(last[0])}"))
            self._note()

    def _hear(self, messages: Iterable[FromGate]) -> None:
        for message in messages:
            match message:
                case Connected():
                    self._is_connected = True
                case Disconnected():
                    self._is_connected = False
                    if not self._is_stopped:
                        patience = f"{self._plan.patience:g} s"
                        self._tell(Said(f"the scheduler at {self._plan.name} is lost: it is tried for {patience}"))
                case Unconnected(why, is_usage):
                    self._fail((UsageError if is_usage else ArenaError)(printable(why)[:LONGEST_WHY]))
                case WorkerCame(address, name, host):
                    seat = Seat(address, printable(name, 80), printable(host, 80))
                    self._seats[address] = seat
                    assert self._nursery is not None
                    self._nursery.start_soon(self._prepare, seat)
                case WorkerSilent(address, is_back):
                    self._note_silent(address, is_back=is_back)
                case WorkerGone(address):
                    self._note_gone(address)
                case Reply(number):
                    self._note_reply(number, message)
        self._note()

    def _note_silent(self, address: str, *, is_back: bool) -> None:
        seat = self._seats.get(address)
        if seat is None or seat.standing is Standing.REFUSED:
            return
        seat.is_silent = not is_back
        if is_back:
            self._tell(Said(f"worker {seat.name} is heard of again"))
            return
        why = f"worker {seat.name} has not been heard of for {self._plan.patience:g} s"
        self._play_elsewhere(list(seat.sent.values()), why)

    def _note_gone(self, address: str) -> None:
        seat = self._seats.pop(address, None)
        if seat is None:
            return
        for number in [number for number, asked in self._asked.items() if asked is seat]:
            del self._asked[number]
            self._answers[number] = Reply(number, lost="the worker is gone")
        self._play_elsewhere(list(seat.sent.values()), f"worker {seat.name} is gone", counts=self._is_connected)
        seat.sent.clear()
        seat.standing = Standing.REFUSED

    def _play_elsewhere(self, batches: Iterable[SentBatch], why: str, *, counts: bool = True) -> None:
        """The games of batches that nothing has come of are played by another worker. `counts`: they may be what
        brought that about."""
        back: list[GameTask] = []
        for batch in batches:
            games = [game for game in batch.open if game in self._open]
            for game in batch.begun.intersection(games):
                self._tell(Lost(game))
            batch.open.clear()
            batch.begun.clear()
            back += _paired(batch.tasks, [GameTask(self._open[game]) for game in games])
        if self._is_closed:
            self._drop(back)
            return
        for spec in (spec for task in back for spec in (task.spec, task.then) if spec):
            self._lost[spec.id] += counts
            if self._lost[spec.id] >= MOST_LOST:
                words = f"game {spec.id} ({spec.names}) was not played: {MOST_LOST} times {why}"
                self._fail(ArenaError(words))
                return
        self._waiting.extendleft(reversed(back))
        if back and self._is_connected:
            count = sum(1 if task.then is None else 2 for task in back)
            self._tell(Said(f"{why}: {'1 game is' if count == 1 else f'{count} games are'} played elsewhere"))

    def _drop(self, tasks: Iterable[GameTask]) -> None:
        """What was not begun, or is lost with its worker, will not be played."""
        for task in tasks:
            for game in (task.spec, task.then):
                if game:
                    self._open.pop(game.id, None)

    async def _keep_time(self) -> None:
        """Give up if for too long there has been no worker that can play."""
        with trio.CancelScope(shield=True):
            while not self._is_stopped:
                has_one = any(seat.standing is not Standing.REFUSED for seat in self._seats.values())
                if has_one or not self._is_connected:
                    self._workless_since = None
                elif self._workless_since is None:
                    self._workless_since = trio.current_time()
                elif trio.current_time() > self._workless_since + self._plan.patience:
                    self._fail(self._no_worker())
                with trio.move_on_after(0.2):
                    await self._wait()

    def _no_worker(self) -> ArenaError:
        reasons = "".join(f"\n    {name}: {why}" for name, why in self._refusals.items())
        cluster, patience = self._plan.name, f"{self._plan.patience:g} s"
        if reasons:
            return ArenaError(f"cluster {cluster}: no worker can play:{reasons}")
        return ArenaError(
            f"cluster {cluster}: no worker came within {patience}; start some: dask worker {self._plan.address} "
            "--nthreads 1 --preload arena.league.executor.cluster.preload"
        )

    # --- the workers --------------------------------------------------------------------------------------------------

    def _ask(self, seat: Seat, data: bytes) -> int:
        number = self._next_number()
        self._asked[number] = seat
        self._to_gate(Ask(number, seat.address, data))
        return number

    async def _answer(self, seat: Seat, data: bytes) -> Answer | None:
        """What a worker answers, as it is no longer than that there; None if it is gone. Raises `WireError`."""
        number = self._ask(seat, data)
        while number not in self._answers:
            if self._is_stopped:
                return None
            await self._wait()
        reply = self._answers.pop(number)
        if seat.address not in self._seats:
            return None
        if reply.is_fault:
            return Refused(reply.lost)
        return Unprepared() if reply.lost else decode_answer(reply.data)

    async def _prepare(self, seat: Seat) -> None:
        """Have a worker ready to play: send it the bots that its machine has not got yet."""
        with trio.CancelScope(shield=True):
            try:
                async with self._preparing.setdefault(seat.host, trio.Lock()):
                    answer = await self._prepared(seat)
                    while isinstance(answer, Unprepared) and not self._is_stopped:
                        await trio.sleep(AGAIN_SECONDS)  # the way there is not free just now
                        answer = await self._prepared(seat)
            except WireError as error:
                answer = Refused(f"it sends what is no message: {error}")
            match answer:
                case None:
                    pass
                case Prepared(slots, machine, calibration) if slots > 0 and calibration.work_us > 0:
                    seat.slots, seat.machine, seat.calibration = slots, printable(machine, 300), calibration
                    if why := self._unfit(calibration):
                        self._refuse(seat, why)
                    else:
                        seat.standing = Standing.READY
                case Refused(why):
                    self._refuse(seat, why)
                case _:
                    self._refuse(seat, "it does not answer what it was asked")
            self._note()

    def _unfit(self, calibration: Calibration) -> str:
        """Why a machine cannot play in this league; empty if it can. The arena's own is as it is without a cluster."""
        if self._plan.local or self._own is None:
            return ""
        return unfit(self._own, calibration, self._plan.move_ms)

    async def _prepared(self, seat: Seat) -> Answer | None:
        request = encode(Prepare(self._cargo.run))
        answer = await self._answer(seat, request)
        if not isinstance(answer, Missing):
            return answer
        for key in answer.keys:
            pack = self._cargo.packs.get(key)
            if pack is None:
                return Refused("it asks for a bot that does not take part")
            put = await self._answer(seat, encode(PutBot(key, pack)))
            if not isinstance(put, Done):
                return put
        return await self._answer(seat, request)

    def _refuse(self, seat: Seat, why: str) -> None:
        """Use a worker no more; what it has is played elsewhere."""
        if seat.standing is Standing.REFUSED:
            return
        seat.standing = Standing.REFUSED
        why = printable(why, LONGEST_WHY, lines=True)
        if seat.played:
            why += f" (it has played {seat.played} games of this run before, which are stored)"
        self._refusals[seat.name] = why
        self._tell(Said(f"worker {seat.name} is not used: {why}"))
        self._play_elsewhere(list(seat.sent.values()), f"worker {seat.name} is not used any more")
        self._note()

    # --- what comes back ----------------------------------------------------------------------------------------------

    def _note_reply(self, number: int, reply: Reply) -> None:
        if self._asked.pop(number, None):
            self._answers[number] = reply
            return
        for seat in self._seats.values():
            if number in seat.sent:
                self._checking += 1
                assert self._nursery is not None
                self._nursery.start_soon(self._take, seat, number, reply)

    async def _take(self, seat: Seat, number: int, reply: Reply) -> None:
        """Judge what a worker sends of a batch, and tell it."""
        with trio.CancelScope(shield=True):
            try:
                await self._take_answer(seat, number, reply)
            finally:
                self._checking -= 1
                self._note()

    async def _take_answer(self, seat: Seat, number: int, reply: Reply) -> None:
        batch = seat.sent[number]
        if seat.standing is Standing.REFUSED:  # its games are played elsewhere
            del seat.sent[number]
            return
        answer: Answer = Unprepared()
        records: list[GameRecord] = []
        fault = ""
        if not reply.lost:
            try:
                answer = decode_answer(reply.data)
                if isinstance(answer, BatchPlayed):
                    records = await trio.to_thread.run_sync(_judged, answer.records, batch.specs)
            except WireError as error:
                fault = f"it sends what is no message: {error}"
            except RecordError as error:
                fault = f"it sent a wrong record: {error}"
        seat.sent.pop(number, None)
        if fault:
            self._refuse(seat, fault)
        elif isinstance(answer, Refused):
            self._refuse(seat, answer.why)
        elif isinstance(answer, BatchPlayed):
            seat.note_speed(len(records), answer.seconds)
            for record in records:
                self._come_out(batch, record.id, Played(_on(record, seat, answer.load)))
            seat.played += len(records)
            self._take_others(seat, batch, answer)
        self._play_elsewhere([batch], self._why_again(seat, reply, answer), counts=not reply.lost or reply.is_fault)
        if isinstance(answer, Unprepared) and seat.standing is Standing.READY and not self._is_closed:
            seat.standing = Standing.COMING
            assert self._nursery is not None
            self._nursery.start_soon(self._prepare, seat)
        self._tell_begun(seat)

    def _why_again(self, seat: Seat, reply: Reply, answer: Answer) -> str:
        if reply.lost:
            return f"worker {seat.name} has not played what it was sent ({printable(reply.lost, 300)})"
        if isinstance(answer, Unprepared):
            return f"what plays on worker {seat.name} has been started again"
        return f"worker {seat.name} has not played all that it was sent"

    def _come_out(self, batch: SentBatch, game: str, outcome: Played | NotPlayed | Failed) -> None:
        """A game is over, unless it came out before: then this is a second one of it, and passed over."""
        was_begun = game in batch.begun
        batch.open.pop(game, None)
        batch.begun.discard(game)
        if self._open.pop(game, None) is None:
            return
        self._waiting = deque(task for waiting in self._waiting for task in _without(waiting, game))
        self._lost.pop(game, None)
        if not was_begun:
            self._tell(Begun(game))
        self._tell(outcome)

    def _take_others(self, seat: Seat, batch: SentBatch, answer: BatchPlayed) -> None:
        """What else has come of a batch. What is the machine's fault refuses the worker."""
        for other in answer.others:
            match other:
                case Said(line):
                    self._tell(Said(f"worker {seat.name}: {printable(line, LONGEST_WHY)}"))
                case Failed(id, kind, text) if id in batch.open:
                    if kind in OWN_FAULTS:
                        self._refuse(seat, text)
                    else:
                        words = f"worker {seat.name}: {printable(text, LONGEST_WHY, lines=True)}"
                        self._come_out(batch, id, Failed(id, "ARENA", words, 1))
                case NotPlayed(id, why) if id in batch.open:
                    words = f"worker {seat.name}: {printable(why, LONGEST_WHY, lines=True)}"
                    self._come_out(batch, id, NotPlayed(id, words))
                case _:
                    self._refuse(seat, "it tells of games that it was not sent")


def _judged(records: Iterable[bytes], wanted: dict[str, GameSpec]) -> list[GameRecord]:
    """The records of a batch. Raises `RecordError` for the first that is wrong: then none of them counts."""
    right: list[GameRecord] = []
    for data in records:
        record = checked_record(data, wanted)
        del wanted[record.id]
        right.append(record)
    return right


def _on(record: GameRecord, seat: Seat, load: float) -> GameRecord:
    """The record with the worker that it has come from: its name is the arena's to say, and not the worker's."""
    assert seat.calibration is not None
    machine = played_on(record.machine or "", seat.name, load, seat.calibration.work_us)
    return msgspec.structs.replace(record, machine=machine)


def _without(task: GameTask, game: str) -> list[GameTask]:
    """What is left of a task when one of its games has come out."""
    if task.id == game:
        return [GameTask(task.then)] if task.then else []
    return [task.alone if task.then and task.then.id == game else task]


def _paired(tasks: Iterable[GameTask], back: Iterable[GameTask]) -> list[GameTask]:
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


def _workers_text(seats: list[Seat]) -> str:
    games = sum(seat.slots for seat in seats)
    workers = "1 worker" if len(seats) == 1 else f"{len(seats)} workers"
    return f"{workers}, {games} game{'' if games == 1 else 's'} at a time so far"


class _Outcomes:
    """The outcomes of one stream of tasks. Whoever waits for one may be cancelled, and go on with the next."""

    def __init__(self, executor: ClusterExecutor) -> None:
        self._executor = executor

    def __aiter__(self) -> "_Outcomes":
        return self

    async def __anext__(self) -> Outcome:
        outcome = await self._executor.next_outcome()
        if outcome is None:
            raise StopAsyncIteration
        return outcome
