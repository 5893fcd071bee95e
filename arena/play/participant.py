"""The sides of a running game: a bot's process, or a person.

Bytes go in with `write_now` and come out of the descriptor `stdout`, which can be waited for. The other members are
about a program: its end, its use of the machine, its standard error.
"""

import os
import select
from collections.abc import Callable

import trio

from arena.game.faults import Excess
from arena.game.hints import Activity
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

    sandbox = ""
    stderr_tail = ""
    used_us = peak_memory = pondered_us = 0
    stdin = stdout = -1

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

    # --- what only a program has --------------------------------------------------------------------------------------

    def cpu_us(self) -> int:
        return 0

    def used_since(self, before_us: int) -> int | None:
        return None

    def first_times(self) -> CpuTimes:
        return CpuTimes(None, {})

    def times(self) -> CpuTimes | None:
        return None

    def freeze(self) -> None:
        return

    def thaw(self) -> None:
        return

    def worked_us(self) -> int:
        return 0

    def is_starved(self, before_us: int, seconds: float) -> bool:
        return False

    def has_exited(self) -> bool:
        return False

    def exit_words(self) -> str:
        return ""

    def out_of_memory(self) -> Excess | None:
        return None

    def machine_was_out_of_memory(self) -> bool:
        return False

    def activity(self) -> Activity:
        return Activity.UNKNOWN

    def kill_now(self) -> None:
        return

    async def drain_stderr(self) -> None:
        await trio.sleep_forever()

    async def wait_exit(self) -> None:
        await trio.sleep_forever()

    async def watch(self) -> Excess:
        await trio.sleep_forever()
        raise AssertionError("a participant without a process uses nothing of the machine")


Participant = BotProcess | PersonParticipant
