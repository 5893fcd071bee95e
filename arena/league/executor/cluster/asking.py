"""What workers are asked beside what they play, through the gate, and what they answer."""

import trio

from arena.league.executor.cluster.gate_process import Gate
from arena.league.executor.cluster.messages import Answer, Ask, Refused, Reply, Submit, Unprepared, decode_answer
from arena.league.executor.cluster.seat import Seat


class Requests:
    """The requests of one run, by their numbers."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._number = 0
        self._asked: dict[int, Seat] = {}
        """Who has not answered yet."""
        self._replies: dict[int, Reply] = {}
        self._changed = trio.Event()
        self._is_stopped = False

    def submit(self, seat: Seat, data: bytes) -> int:
        """Send a worker a batch; returns the number of it, which its reply has."""
        self._number += 1
        self._gate.send(Submit(self._number, seat.address, data))
        return self._number

    def ask(self, seat: Seat, data: bytes) -> int:
        """Ask a worker something."""
        self._number += 1
        self._asked[self._number] = seat
        self._gate.send(Ask(self._number, seat.address, data))
        return self._number

    async def answer(self, seat: Seat, data: bytes) -> Answer | None:
        """What a worker answers: `Unprepared` if the way there is not free; None if it is gone, or the run is stopped.
        Raises `WireError`."""
        number = self.ask(seat, data)
        while number in self._asked:
            if self._is_stopped:
                return None
            await self._changed.wait()
        reply = self._replies.pop(number, None)
        if reply is None:
            return None
        if reply.is_fault:
            return Refused(reply.lost)
        return Unprepared() if reply.lost else decode_answer(reply.data)

    def note(self, reply: Reply) -> bool:
        """A reply has come. Returns whether it is one to these requests; if not, it is that to a batch."""
        if self._asked.pop(reply.number, None) is None:
            return False
        self._replies[reply.number] = reply
        self._note()
        return True

    def forget(self, seat: Seat) -> None:
        """A worker is gone: it answers nothing any more."""
        self._asked = {number: asked for number, asked in self._asked.items() if asked is not seat}
        self._note()

    def stop(self) -> None:
        """Nobody waits for an answer any more."""
        self._is_stopped = True
        self._note()

    def _note(self) -> None:
        self._changed.set()
        self._changed = trio.Event()
