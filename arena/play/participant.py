"""The sides of a running game: a bot's process, or a person.

Bytes go in with `write_now` and come out of the descriptor `stdout`, which can be waited for. What else a program has,
its exit, its threads, its standard error, only a `BotProcess` is asked for.
"""

import os
import select
from collections.abc import Callable

from arena.game.person_seat import PersonSeat
from arena.processes.process import QUIT_GRACE, BotProcess
from arena.processes.usage import CpuTimes
from protocol.game_bot import encoded
from protocol.lines import LineBuffer

LARGEST_READ = 65536


class PersonParticipant:
    """A person's side of one game, without a process.

    The referee speaks version 1 of the protocol with a person as with a bot, so that records of both are alike. The
    `PersonSeat` hears the lines; the person's actions become lines in a pipe.
    """

    def __init__(self, seat: PersonSeat, told: Callable[[], None]) -> None:
        """`told` is called after the seat has heard lines."""
        self.seat = seat
        self._told = told
        self._lines = LineBuffer()
        self.stdout, self._out = os.pipe()
        self.stdin = self._out
        for descriptor in (self.stdout, self._out):
            os.set_blocking(descriptor, False)
        self._unread = select.poll()
        self._unread.register(self.stdout, select.POLLIN)
        self._is_open = True

    def say(self, *lines: str) -> None:
        if self._is_open:
            os.write(self._out, b"".join(map(encoded, lines)))  # never blocks: the pipe holds one answer at most

    def write_now(self, data: bytes) -> bytes:
        """Pass lines of the arena to the person's seat, which takes all of them."""
        for line in self._lines.feed(data):
            if line.startswith(b"hello "):
                self.say("want legal", "ready")
            self.seat.hear(line)
        self._told()
        return b""

    def has_output(self) -> bool:
        return bool(self._unread.poll(0))

    def read_now(self) -> bytes | None:
        try:
            return os.read(self.stdout, LARGEST_READ)
        except BlockingIOError:
            return None

    async def end(self, grace: float = QUIT_GRACE) -> None:
        if self._is_open:
            self._is_open = False
            os.close(self.stdout)
            os.close(self._out)

    # --- what is measured of a program in every turn --------------------------------------------------------------

    def cpu_us(self) -> int:
        return 0

    def first_times(self) -> CpuTimes:
        return CpuTimes(None, {})

    def freeze(self) -> None:
        return

    def thaw(self) -> None:
        return


Participant = BotProcess | PersonParticipant
