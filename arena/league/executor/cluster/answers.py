"""What workers send of their batches: judged again, and told once.

It comes as a batch is over, or before, where one takes long: then its worker is asked from time to time what is over of
it. Records are judged in a thread, and one that is wrong refuses its worker.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import msgspec
import trio

from arena.game.record import GameRecord, RecordError
from arena.game.spec import GameSpec
from arena.league.executor.cluster.batches import BEAT_SECONDS, COLLECT_SECONDS
from arena.league.executor.cluster.carrying import Cargo
from arena.league.executor.cluster.crew import Crew
from arena.league.executor.cluster.expected import checked_record
from arena.league.executor.cluster.ledger import Ledger
from arena.league.executor.cluster.messages import (
    LONGEST_WHY,
    Answer,
    BatchPlayed,
    Collect,
    Refused,
    Reply,
    Spoilt,
    Unprepared,
    decode_answer,
    encode,
)
from arena.league.executor.cluster.seat import Seat, SentBatch, Standing
from arena.league.executor.cluster.spoils import Spoils
from arena.league.executor.pipes import WireError
from arena.league.executor.task import Begun, Failed, NotPlayed, Outcome, Played, Said
from arena.league.executor.wire import unpacked
from arena.play.played_on import played_on
from arena.printable import printable
from protocol.notation import Reason

NAMED = 6
"""Bots that are named of those that played."""
OWN_FAULTS = frozenset({"HOST", "SANDBOX", "REFUSED_BOTS"})
"""Errors that are the machine's, by the names of `ErrorKind`: another one may play the game."""


class Teller(Protocol):
    """Who has asked for the games."""

    @property
    def is_closed(self) -> bool:
        """Whether no game is begun any more."""

    @property
    def is_stopped(self) -> bool:
        """Whether nobody waits for outcomes any more."""

    def tell(self, outcome: Outcome) -> None:
        """Something has come of a game."""

    def tell_begun(self, seat: Seat) -> None:
        """Games of a worker are over: it may have begun others."""

    def said(self, line: str) -> None:
        """There is something to tell the user."""

    def lost(self, batches: Iterable[SentBatch], why: str, *, counts: bool) -> None:
        """Nothing comes any more of what is open of these batches."""

    def judged(self) -> None:
        """An answer has been judged and told."""

    async def until_changed(self) -> None:
        """Wait until something has changed."""


class Answers:
    """The answers of one run."""

    def __init__(self, cargo: Cargo, crew: Crew, ledger: Ledger, teller: Teller) -> None:
        self._run, self._crew, self._ledger, self._teller = cargo.run.id, crew, ledger, teller
        self._bots = frozenset(unpacked(bot.bot.name) for bot in cargo.run.bots)
        self._spoils = Spoils()
        self.judging = 0
        """How many answers are just being judged."""

    @property
    def is_careful(self) -> bool:
        """Whether each worker is to have one game at a time (`Spoils.is_careful`)."""
        return self._spoils.is_careful

    async def take(self, seat: Seat, number: int, batch: SentBatch, reply: Reply) -> None:
        """Judge what a worker sends of a batch, and tell it."""
        with trio.CancelScope(shield=True):
            with trio.move_on_after(COLLECT_SECONDS):
                while seat.is_collecting and self._crew.is_reachable:  # what that brings is missing here
                    await self._teller.until_changed()
            with self._being_judged():
                await self._take_answer(seat, number, batch, reply)

    @contextmanager
    def _being_judged(self) -> Iterator[None]:
        self.judging += 1
        try:
            yield
        finally:
            self.judging -= 1
            self._teller.judged()

    async def _take_answer(self, seat: Seat, number: int, batch: SentBatch, reply: Reply) -> None:
        if seat.standing is Standing.REFUSED:  # its games are played elsewhere
            seat.sent.pop(number, None)
            return
        if not reply.lost or reply.is_fault:
            self._crew.note_answer(seat)
        answer: Answer = Unprepared()
        if not reply.lost:
            try:
                answer = decode_answer(reply.data)
            except WireError as error:
                answer = Refused(f"it sends what is no message: {error}")
        records = await self._judge(seat, answer, batch.specs)
        self._take_played(seat, [batch], answer, records)
        seat.sent.pop(number, None)
        is_told = isinstance(answer, Spoilt) or seat.standing is Standing.COMING
        counts = not is_told and (not reply.lost or reply.is_fault)
        self._teller.lost([batch], "" if is_told else self._why_again(seat, reply, answer), counts=counts)
        if isinstance(answer, Unprepared | Spoilt) and not self._teller.is_closed:
            self._crew.prepare_again(seat)
        self._teller.tell_begun(seat)

    async def _judge(self, seat: Seat, answer: Answer, wanted: dict[str, GameSpec]) -> list[GameRecord]:
        """The records in what a worker answers; none if one of them is wrong, for which it is refused."""
        if not isinstance(answer, BatchPlayed):
            return []
        try:
            return await trio.to_thread.run_sync(_judged, answer.records, wanted)
        except RecordError as error:
            self._crew.refuse(seat, f"it sent a wrong record: {error}")
            return []

    def _take_played(self, seat: Seat, batches: list[SentBatch], answer: Answer, records: list[GameRecord]) -> None:
        """Tell what has come of games of these batches."""
        if isinstance(answer, Refused):
            self._crew.refuse(seat, answer.why)
        elif isinstance(answer, Spoilt):
            self._take_spoilt(seat, answer)
        elif isinstance(answer, BatchPlayed) and seat.standing is not Standing.REFUSED:
            seat.note_speed(len(records), answer.seconds)
            started = [record for record in records if record.verdict.reason is not Reason.NO_START]
            self._spoils.note_clean({player.name for record in started for player in record.players})
            work_us = {game: batch.work_us for batch in batches for game in batch.specs}
            for record in records:
                played = _on(record, seat.name, answer.load, work_us[record.id])
                self._come_out(batches, record.id, Played(played))
            seat.played += len(records)
            self._take_others(seat, batches, answer)

    def _take_spoilt(self, seat: Seat, spoilt: Spoilt) -> None:
        """Bots' copies on a worker have changed: they are made anew, unless that has happened too often."""
        if not self._bots.issuperset((*spoilt.changed, *spoilt.players)):
            self._crew.refuse(seat, "it tells of bots that do not take part")
            return
        if not spoilt.changed:
            return
        for name, how in spoilt.changed.items():
            words = f"its copy on worker {seat.name} has changed while {_few(spoilt.players)} played there"
            self._teller.said(f"{name}: {words}: {printable(how, 300)}; what was played there is played again")
        for name, why in self._spoils.note(spoilt.changed, spoilt.players).items():
            self._crew.left_out.add(name, why)

    # --- what is over of batches that are not -------------------------------------------------------------------------

    async def collect(self, nursery: trio.Nursery) -> None:
        """Ask workers from time to time what has come of batches that take long; who does not answer is told of."""
        while not self._teller.is_stopped:
            with trio.move_on_after(COLLECT_SECONDS / 2):
                while not self._teller.is_stopped:
                    await self._teller.until_changed()
            now = trio.current_time()
            for seat in list(self._crew.seats.values()):
                if seat.is_silent or not self._crew.is_reachable:
                    seat.asked_at = now
                elif seat.is_collecting:
                    self._crew.note_late(seat, now - seat.asked_at)
                elif seat.standing is Standing.READY and _is_to_be_asked(seat, now):
                    seat.is_collecting, seat.asked_at = True, now
                    nursery.start_soon(self._collect_from, seat)

    async def _collect_from(self, seat: Seat) -> None:
        with trio.CancelScope(shield=True):
            before = list(seat.sent.values())
            answer = await self._crew.ask(seat, encode(Collect(self._run)))
            with self._being_judged():
                batches = [*before, *(batch for batch in seat.sent.values() if batch not in before)]
                wanted = {id: game for batch in batches for id, game in batch.specs.items()}
                if answer:
                    if not isinstance(answer, Unprepared):  # which may be that the way there is not free
                        self._crew.note_answer(seat)
                    self._take_played(seat, batches, answer, await self._judge(seat, answer, wanted))
                    self._teller.tell_begun(seat)
                seat.is_collecting = False

    def _why_again(self, seat: Seat, reply: Reply, answer: Answer) -> str:
        if reply.lost:
            return f"worker {seat.name} has not played what it was sent ({printable(reply.lost, 300)})"
        if isinstance(answer, Unprepared):
            return f"what plays on worker {seat.name} has been started again"
        return f"worker {seat.name} has not played all that it was sent"

    def _come_out(self, batches: list[SentBatch], game: str, outcome: Played | NotPlayed | Failed) -> None:
        """A game is over, unless it came out before: then this is a second one of it, and passed over."""
        for batch in batches:
            batch.open.pop(game, None)
        if not self._ledger.come_out(game):
            return
        told = [one for seat in self._crew.seats.values() for one in seat.sent.values() if game in one.begun]
        was_begun = bool(told) or any(game in batch.begun for batch in batches)
        for one in (*batches, *told):  # it may have been sent to another worker as well
            one.begun.discard(game)
        if not was_begun:
            self._teller.tell(Begun(game))
        self._teller.tell(outcome)

    def _take_others(self, seat: Seat, batches: list[SentBatch], answer: BatchPlayed) -> None:
        """What else has come of a batch. What is the machine's fault refuses the worker."""
        is_open = {game for batch in batches for game in batch.open}
        for other in answer.others:
            match other:
                case Said(line):
                    self._teller.said(f"worker {seat.name}: {printable(line, LONGEST_WHY)}")
                case Failed(id, kind, text) if id in is_open:
                    if kind in OWN_FAULTS:
                        self._crew.refuse(seat, text)
                    else:
                        words = f"worker {seat.name}: {printable(text, LONGEST_WHY, lines=True)}"
                        self._come_out(batches, id, Failed(id, "ARENA", words, 1))
                case NotPlayed(id, why) if id in is_open:
                    words = f"worker {seat.name}: {printable(why, LONGEST_WHY, lines=True)}"
                    self._come_out(batches, id, NotPlayed(id, words))
                case _:
                    self._crew.refuse(seat, "it tells of games that it was not sent")


def _is_to_be_asked(seat: Seat, now: float) -> bool:
    """Whether something may be over of what a worker has, or it has heard nothing of us for long."""
    late = now - COLLECT_SECONDS / 2
    has_more = any(len(batch.open) > 1 and batch.sent_at < late for batch in seat.sent.values())
    return has_more or (bool(seat.sent) and now - seat.asked_at >= BEAT_SECONDS)


def _few(names: Sequence[str]) -> str:
    """Names in one line."""
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def _judged(records: Iterable[bytes], wanted: dict[str, GameSpec]) -> list[GameRecord]:
    """The records of a batch. Raises `RecordError` for the first that is wrong: then none of them counts."""
    right: list[GameRecord] = []
    for data in records:
        record = checked_record(data, wanted)
        del wanted[record.id]
        right.append(record)
    return right


def _on(record: GameRecord, worker: str, load: float, work_us: int) -> GameRecord:
    """The record with the worker that it has come from: its name is the arena's to say, and not the worker's."""
    machine = played_on(record.machine or "", worker, load, work_us)
    return msgspec.structs.replace(record, machine=machine)
