"""The workers of a cluster as the arena has them: who is there, prepared, silent, refused, gone; and the gate to them.

What becomes of games is not decided here: an `Owner` is told which batches are lost and what workers answer.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Protocol

import trio

from arena.errors import ArenaError, UsageError
from arena.league.executor.cluster.asking import Requests
from arena.league.executor.cluster.calibration import Calibration, measure, unfit, unfit_scaled
from arena.league.executor.cluster.carrying import Cargo
from arena.league.executor.cluster.gate_process import GATE_NAME, Gate, GateProcess
from arena.league.executor.cluster.left_out import LeftOut, fewest_unable, too_rarely_able, why_unable
from arena.league.executor.cluster.link import Link
from arena.league.executor.cluster.messages import (
    LONGEST_WHY,
    Answer,
    Busy,
    Close,
    Connect,
    Connected,
    Disconnected,
    End,
    FromGate,
    Mute,
    Prepared,
    Refused,
    Reply,
    Speaks,
    Unable,
    Unconnected,
    WorkerCame,
    WorkerGone,
    WorkerSilent,
    encode,
)
from arena.league.executor.cluster.plan import ClusterPlan, seconds_text
from arena.league.executor.cluster.preparing import prepare
from arena.league.executor.cluster.seat import Seat, SentBatch, Standing, distinct_name, machine_name
from arena.league.executor.cluster.waiting import Waiting
from arena.league.executor.pipes import WireError
from arena.league.executor.task import Said
from arena.play.played_on import ms_text, percent_of, reference_text
from arena.printable import printable

SETTLE_SECONDS = 0.5
"""How long the first worker that is ready waits for others that are coming."""
LOOK_SECONDS = 0.2
"""How often it is looked whether there is a worker."""
BUSY_SECONDS = 5.0
"""After this time a worker is asked again that plays for another arena."""


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

    def lost_sight(self) -> None:
        """Nothing can be heard of the workers for now."""

    def answered(self, seat: Seat, number: int, reply: Reply) -> None:
        """A worker has answered a batch of this number."""

    def left_out(self, bot: str, words: str) -> None:
        """A bot of this name is not played any more, and why."""


class Crew:
    """The workers of one run, from `start` to `stop`."""

    def __init__(self, cargo: Cargo, plan: ClusterPlan, owner: Owner, gate: Gate | None = None) -> None:
        self._cargo = cargo
        self.left_out = LeftOut(owner.left_out)
        self._plan = plan
        self._owner = owner
        self._gate = gate or GateProcess()
        self._requests = Requests(self._gate)
        self._link = Link(plan.name)
        self._own: Calibration | None = None
        """What was measured on the arena's own machine."""
        self.seats: dict[str, Seat] = {}
        """The workers that are there, by address."""
        self._refusals: dict[str, str] = {}
        """Why workers are not used, by the names that their host gives them."""
        self._preparing: dict[str, trio.Lock] = {}
        """By machine: its workers are prepared one after another, so that bots are sent to it once."""
        self._changed = trio.Event()
        self._nursery: trio.Nursery | None = None
        self._is_stopped = False

    @property
    def is_gone(self) -> bool:
        """Whether nothing is heard of the cluster any more."""
        return self._gate.is_gone

    @property
    def is_connected(self) -> bool:
        """Whether there is a scheduler; it may be mute."""
        return self._link.is_connected

    @property
    def is_reachable(self) -> bool:
        """Whether workers can be heard of."""
        return self._link.is_reachable

    async def start(self, nursery: trio.Nursery) -> None:
        """Start the gate, and what looks after the workers. Raises `ArenaError`."""
        self._nursery = nursery
        if not self._plan.local and self._plan.reference_us is None:
            self._own = await trio.to_thread.run_sync(measure)
        plan = self._plan
        farewell = encode(End(self._cargo.run.id))
        self._gate.start(Connect(plan.address, plan.local, plan.tls, plan.patience, farewell))
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
        seat.sent[self._requests.submit(seat, data)] = batch

    async def ask(self, seat: Seat, data: bytes) -> Answer | None:
        """What a worker answers beside what it plays; None if it is gone or the run is stopped. What is no answer is
        `Refused`."""
        try:
            return await self._requests.answer(seat, data)
        except WireError as error:
            return Refused(f"it sends what is no message: {error}")

    def close(self) -> None:
        """Have the workers begin no game any more."""
        for seat in self.seats.values():
            if seat.sent:
                self._requests.ask(seat, encode(Close(self._cargo.run.id)))

    def stop(self) -> None:
        """Leave the cluster, whatever is under way there."""
        if not self._is_stopped:
            self._is_stopped = True
            self._requests.stop()
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
        seat.attempt += 1
        self._nursery.start_soon(self._prepare, seat)

    def _note(self) -> None:
        """Something has changed: whoever waits for anything looks again."""
        self._changed.set()
        self._changed = trio.Event()
        self._owner.changed()

    # --- the gate -----------------------------------------------------------------------------------------------------

    async def _keep_gate(self) -> None:
        """Hear what the gate says, to its end."""
        with trio.CancelScope(shield=True):  # `stop` ends it
            how = await self._gate.attend(self._hear)
            if not self._is_stopped:
                self._owner.failed(ArenaError(f"{GATE_NAME} {printable(how)}"))
            self._note()

    def _hear(self, messages: Iterable[FromGate]) -> None:
        for message in messages:
            match message:
                case Connected() | Mute() | Speaks() | Disconnected():
                    self._note_link(message)
                case Unconnected(why, is_usage):
                    self._owner.failed((UsageError if is_usage else ArenaError)(printable(why)[:LONGEST_WHY]))
                case WorkerCame(address, name, host):
                    self._note_came(address, name, host)
                case WorkerSilent(address, is_back):
                    self._note_silent(address, is_back=is_back)
                case WorkerGone(address):
                    self._note_gone(address)
                case Reply(number):
                    self._note_reply(number, message)
                case Said(line):
                    self._owner.said(line)
        self._note()

    def _note_link(self, message: Connected | Mute | Speaks | Disconnected) -> None:
        line = self._link.note(message)
        if line and not self._is_stopped:
            self._owner.said(line)
        if not self.is_reachable:
            self._owner.lost_sight()

    def _note_came(self, address: str, name: str, host: str) -> None:
        taken = {seat.name for seat in self.seats.values()}
        name = distinct_name(printable(name, 80), machine_name(printable(host, 80), self._plan.address), address, taken)
        seat = self.seats[address] = Seat(address, name, printable(host, 80))
        self._start_preparing(seat)

    def _note_silent(self, address: str, *, is_back: bool) -> None:
        seat = self.seats.get(address)
        if seat is None or seat.standing is Standing.REFUSED:
            return
        if is_back:
            self._speak_again(seat)
            return
        if seat.standing is Standing.COMING:  # others of its machine wait for it
            self._requests.forget(seat)
        self._fall_silent(seat, f"worker {seat.name} has not been heard of for {seconds_text(self._plan.patience)}")

    def note_late(self, seat: Seat, seconds: float) -> None:
        """A worker has not answered for so long, though it is heard of: what plays there may be frozen."""
        if seconds > self._plan.patience and not seat.is_silent:
            self._fall_silent(seat, f"worker {seat.name} has not answered for {seconds_text(self._plan.patience)}")
            self._note()

    def note_answer(self, seat: Seat) -> None:
        """A worker has answered that may have been late."""
        if seat.is_silent and seat.standing is not Standing.REFUSED:
            self._speak_again(seat)

    def _fall_silent(self, seat: Seat, why: str) -> None:
        seat.is_silent = True
        if not seat.games:
            self._owner.said(why)
        self._owner.lost(list(seat.sent.values()), why, counts=True)

    def _speak_again(self, seat: Seat) -> None:
        seat.is_silent = False
        self._owner.said(f"worker {seat.name} is heard of again")
        if seat.standing is Standing.COMING:
            self._start_preparing(seat)

    def _note_gone(self, address: str) -> None:
        seat = self.seats.pop(address, None)
        if seat is None:
            return
        self._requests.forget(seat)
        self._owner.lost(list(seat.sent.values()), f"worker {seat.name} is gone", counts=self.is_connected)
        seat.sent.clear()
        seat.standing = Standing.REFUSED

    async def _keep_time(self) -> None:
        """Say what is waited for while no worker plays, and give up after too long."""
        waiting = Waiting(self._plan)
        with trio.CancelScope(shield=True):
            while not self._is_stopped:
                seats = self.seats.values()
                if line := waiting.look(seats, trio.current_time(), is_reachable=self.is_reachable):
                    self._owner.said(line)
                if waiting.is_over(self._refusals) and not self._leave_out(fewest_unable(tuple(seats))):
                    self._owner.failed(waiting.error(seats, self._refusals))
                with trio.move_on_after(LOOK_SECONDS):
                    await self._changed.wait()

    # --- the workers --------------------------------------------------------------------------------------------------

    async def _prepare(self, seat: Seat) -> None:
        """Have a worker ready to play, as soon as it plays for no other arena."""
        attempt, remark = seat.attempt, partial(self._remark, seat)
        with trio.CancelScope(shield=True):
            while True:
                async with self._preparing.setdefault(seat.host, trio.Lock()):
                    answer = await prepare(partial(self._requests.answer, seat), self._cargo, self.left_out, remark)
                self._note_busy(seat, is_busy=isinstance(answer, Busy))
                if not isinstance(answer, Busy):
                    break
                await self._pause(BUSY_SECONDS)
                if self._is_stopped or seat.is_silent or seat.standing is not Standing.COMING or seat.attempt > attempt:
                    return
            match answer:
                case None:
                    pass
                case Prepared(slots, machine, calibration, remarks) if slots > 0 and calibration.work_us > 0:
                    for line in remarks:
                        remark(line)
                    seat.slots, seat.machine, seat.calibration = slots, printable(machine, 300), calibration
                    self._take_on(seat, calibration)
                case Unable(problems) if problems:
                    seat.unable = {name: printable(why, LONGEST_WHY, lines=True) for name, why in problems.items()}
                    self.refuse(seat, "\n".join(problems.values()))
                case Refused(why):
                    self.refuse(seat, why)
                case _:
                    self.refuse(seat, "it does not answer what it was asked")
            self._leave_out(too_rarely_able(tuple(self.seats.values())))
            self._note()

    def _note_busy(self, seat: Seat, *, is_busy: bool) -> None:
        if is_busy and not seat.is_busy:
            self._owner.said(f"worker {seat.name} plays for another arena; it is waited for")
        seat.is_busy = is_busy

    async def _pause(self, seconds: float) -> None:
        """Wait for so long, or until it is stopped."""
        with trio.move_on_after(seconds):
            while not self._is_stopped:
                await self._changed.wait()

    def _remark(self, seat: Seat, line: str) -> None:
        self._owner.said(f"worker {seat.name}: {printable(line, LONGEST_WHY)}")

    def _leave_out(self, names: Sequence[str]) -> bool:
        """Leave bots out, and prepare the workers again that could not play them and can play all others; returns
        whether there are such workers."""
        seats = tuple(self.seats.values())
        for name in names:
            self.left_out.add(name, why_unable(name, seats))
        able = [seat for seat in seats if seat.unable and all(name in self.left_out for name in seat.unable)]
        for seat in able:
            seat.unable = {}
            seat.standing = Standing.COMING
            self._refusals.pop(seat.name, None)
            self._start_preparing(seat)
        return bool(able)

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

    def _note_reply(self, number: int, reply: Reply) -> None:
        if self._requests.note(reply):
            return
        for seat in self.seats.values():
            if number in seat.sent:
                self._owner.answered(seat, number, reply)
