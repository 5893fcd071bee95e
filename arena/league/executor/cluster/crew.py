"""The workers of a cluster as the arena has them: who is there, prepared, silent, refused, gone; and the gate to them.

What becomes of games is not decided here: an `Owner` is told which batches are lost and what workers answer.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import trio

from arena.bots.build_checks import BuildLimits
from arena.errors import ArenaError, UsageError
from arena.game.time_control import TimeControl
from arena.league.executor.cluster.calibration import Calibration, measure, unfit, unfit_scaled
from arena.league.executor.cluster.carrying import Cargo
from arena.league.executor.cluster.messages import (
    Answer,
    Ask,
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
from arena.league.executor.wire import WireError
from arena.play.played_on import ms_text, percent_of, reference_text
from arena.printable import printable

GATE = "arena.league.executor.cluster.gate"
AGAIN_SECONDS = 1.0
"""After this time a worker is asked again that could not be reached."""
SETTLE_SECONDS = 0.5
"""How long the first worker that is ready waits for others that are coming."""
LOOK_SECONDS = 0.2
"""How often it is looked whether there is a worker."""
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
    time: TimeControl
    """What most bots have, before it is scaled."""
    is_calibrated: bool = False
    """Whether clocks are scaled to each machine."""
    reference_us: int | None = None
    """What they are scaled by (`arena.play.played_on.percent_of`); None until that is known, and where they are not."""

    @property
    def name(self) -> str:
        """The cluster in words."""
        return f"local:{self.local}" if self.local else self.address


class Owner(Protocol):
    """Who has the games."""

    def said(self, line: str) -> None:
        """There is something to tell the user."""

    def failed(self, error: ArenaError) -> None:
        """No game can be played any more."""

    def changed(self) -> None:
        """Something has changed with the workers."""

    def lost(self, batches: Iterable[SentBatch], why: str, *, counts: bool) -> None:
        """Nothing comes of these batches any more. `counts`: their games may be what brought that about."""

    def answered(self, seat: Seat, number: int, reply: Reply) -> None:
        """A worker has answered a batch of this number."""


class Crew:
    """The workers of one run, from `start` to `stop`."""

    def __init__(self, cargo: Cargo, plan: ClusterPlan, owner: Owner) -> None:
        self._cargo = cargo
        self._plan = plan
        self._owner = owner
        self._gate: WorkerProcess | None = None
        self.is_connected = False
        self._own: Calibration | None = None
        """What was measured on the arena's own machine."""
        self.seats: dict[str, Seat] = {}
        """The workers that are there, by address."""
        self._refusals: dict[str, str] = {}
        """Why workers are not used, by the names that their host gives them."""
        self._number = 0
        self._asked: dict[int, Seat] = {}
        """What workers do beside playing, by the numbers of the requests."""
        self._answers: dict[int, Reply] = {}
        self._preparing: dict[str, trio.Lock] = {}
        """By machine: its workers are prepared one after another, so that bots are sent to it once."""
        self._changed = trio.Event()
        self._nursery: trio.Nursery | None = None
        self._is_stopped = False
        self.is_gone = False
        """Whether the gate has ended."""

    async def start(self, nursery: trio.Nursery) -> None:
        """Start the gate, and what looks after the workers. Raises `HostError`."""
        self._nursery = nursery
        if not self._plan.local and self._plan.reference_us is None:
            self._own = await trio.to_thread.run_sync(measure)
        self._gate, _ = WorkerProcess.start_module(GATE, from_gate)
        plan = self._plan
        farewell = encode(End(self._cargo.run.id))
        self._gate.connection.send(Connect(plan.address, plan.local, plan.tls, plan.patience, farewell))
        nursery.start_soon(self._keep_gate)
        nursery.start_soon(self._keep_time)

    async def until_ready(self) -> list[Seat]:
        """Wait until a worker is ready, and a moment for others; returns those that are: none, if it was stopped."""
        while not self._is_stopped and not self._with(Standing.READY):
            await self._changed.wait()
        with trio.move_on_after(SETTLE_SECONDS):
            while self._with(Standing.COMING):
                await self._changed.wait()
        return self._with(Standing.READY)

    def _with(self, standing: Standing) -> list[Seat]:
        return [seat for seat in self.seats.values() if seat.standing is standing]

    # --- what is asked of it ------------------------------------------------------------------------------------------

    def send(self, seat: Seat, batch: SentBatch, data: bytes) -> None:
        """Send a worker a batch; its answer goes to the owner."""
        number = self._next_number()
        seat.sent[number] = batch
        self._to_gate(Submit(number, seat.address, data))

    def close(self) -> None:
        """Have the workers begin no game any more."""
        for seat in self.seats.values():
            if seat.sent:
                self._ask(seat, encode(Close(self._cargo.run.id)))

    def stop(self) -> None:
        """Leave the cluster, whatever is under way there."""
        if not self._is_stopped:
            self._is_stopped = True
            if self._gate:
                self._gate.connection.finish()
                self._gate.stop()
        self._note()

    def refuse(self, seat: Seat, why: str) -> None:
        """Use a worker no more; what it has is lost."""
        if seat.standing is Standing.REFUSED:
            return
        seat.standing = Standing.REFUSED
        why = printable(why, LONGEST_WHY, lines=True)
        if seat.played:
            why += f" (it has played {seat.played} games of this run before, which are stored)"
        self._refusals[seat.name] = why
        self._owner.said(f"worker {seat.name} is not used: {why}")
        self._owner.lost(list(seat.sent.values()), f"worker {seat.name} is not used any more", counts=True)
        self._note()

    def prepare_again(self, seat: Seat) -> None:
        """A worker knows nothing of this run any more."""
        if seat.standing is Standing.READY:
            seat.standing = Standing.COMING
            self._start_preparing(seat)

    def _start_preparing(self, seat: Seat) -> None:
        assert self._nursery is not None
        self._nursery.start_soon(self._prepare, seat)

    def _note(self) -> None:
        """Something has changed: whoever waits for anything looks again."""
        self._changed.set()
        self._changed = trio.Event()
        self._owner.changed()

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
            self.is_gone = True
            if not self._is_stopped:
                last = said.splitlines()[-1:] or ["it said nothing"]
                self._owner.failed(ArenaError(f"the process that speaks with the cluster {how}: {printable(last[0])}"))
            self._note()

    def _hear(self, messages: Iterable[FromGate]) -> None:
        for message in messages:
            match message:
                case Connected():
                    self.is_connected = True
                case Disconnected():
                    self.is_connected = False
                    if not self._is_stopped:
                        patience = f"{self._plan.patience:g} s"
                        self._owner.said(f"the scheduler at {self._plan.name} is lost: it is tried for {patience}")
                case Unconnected(why, is_usage):
                    self._owner.failed((UsageError if is_usage else ArenaError)(printable(why)[:LONGEST_WHY]))
                case WorkerCame(address, name, host):
                    seat = Seat(address, printable(name, 80), printable(host, 80))
                    self.seats[address] = seat
                    self._start_preparing(seat)
                case WorkerSilent(address, is_back):
                    self._note_silent(address, is_back=is_back)
                case WorkerGone(address):
                    self._note_gone(address)
                case Reply(number):
                    self._note_reply(number, message)
        self._note()

    def _note_silent(self, address: str, *, is_back: bool) -> None:
        seat = self.seats.get(address)
        if seat is None or seat.standing is Standing.REFUSED:
            return
        seat.is_silent = not is_back
        if is_back:
            self._owner.said(f"worker {seat.name} is heard of again")
            return
        why = f"worker {seat.name} has not been heard of for {self._plan.patience:g} s"
        self._owner.lost(list(seat.sent.values()), why, counts=True)

    def _note_gone(self, address: str) -> None:
        seat = self.seats.pop(address, None)
        if seat is None:
            return
        for number in [number for number, asked in self._asked.items() if asked is seat]:
            del self._asked[number]
            self._answers[number] = Reply(number, lost="the worker is gone")
        self._owner.lost(list(seat.sent.values()), f"worker {seat.name} is gone", counts=self.is_connected)
        seat.sent.clear()
        seat.standing = Standing.REFUSED

    async def _keep_time(self) -> None:
        """Give up if for too long there has been no worker that can play."""
        since: float | None = None
        with trio.CancelScope(shield=True):
            while not self._is_stopped:
                has_one = any(seat.standing is not Standing.REFUSED for seat in self.seats.values())
                if has_one or not self.is_connected:
                    since = None
                elif since is None:
                    since = trio.current_time()
                is_late = since is not None and trio.current_time() > since + self._plan.patience
                if is_late or 0 < self._plan.local == len(self._refusals):  # of our own no others will come
                    self._owner.failed(self._no_worker())
                with trio.move_on_after(LOOK_SECONDS):
                    await self._changed.wait()

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
        """What a worker answers; None if it is gone, or the run is stopped. Raises `WireError`."""
        number = self._ask(seat, data)
        while number not in self._answers:
            if self._is_stopped:
                return None
            await self._changed.wait()
        reply = self._answers.pop(number)
        if seat.address not in self.seats:
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
                    self._take_on(seat, calibration)
                case Refused(why):
                    self.refuse(seat, why)
                case _:
                    self.refuse(seat, "it does not answer what it was asked")
            self._note()

    def _take_on(self, seat: Seat, calibration: Calibration) -> None:
        """A worker has said that it can play."""
        if why := self._unfit(calibration):
            self.refuse(seat, why)
            return
        seat.standing = Standing.READY
        reference = self._plan.reference_us
        if reference is not None:
            seat.time_percent = percent_of(calibration.work_us, reference)
            self._owner.said(
                f"worker {seat.name}: clocks at {seat.time_percent}% (calibration {ms_text(calibration.work_us)}, "
                f"{reference_text(reference)})"
            )

    def _unfit(self, calibration: Calibration) -> str:
        """Why a machine cannot play in this league; empty if it can. The arena's own is as it is without a cluster."""
        plan = self._plan
        if plan.reference_us is not None:
            return unfit_scaled(plan.reference_us, calibration, plan.time)
        return "" if plan.local or self._own is None else unfit(self._own, calibration, plan.time)

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

    def _note_reply(self, number: int, reply: Reply) -> None:
        if self._asked.pop(number, None):
            self._answers[number] = reply
            return
        for seat in self.seats.values():
            if number in seat.sent:
                self._owner.answered(seat, number, reply)
