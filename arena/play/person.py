"""A person's side of a game, for what plays it: a peer without a process.

The referee speaks version 1 of the protocol with it as with any bot. What is written to it are lines, which become
messages here and go to the person's `PersonSeat`; what the person does becomes lines in a pipe, so that whatever waits
for a bot's output waits for a person in the same way. So a record of a person's game is a record like any other.
"""

import os
import select
from collections.abc import Callable

import trio

from arena.bots.delays import CpuTimes
from arena.bots.process import QUIT_GRACE
from arena.game.faults import Excess
from arena.game.hints import Activity
from arena.game.person_seat import PersonSeat
from protocol.bot_codec import decode_for_bot, encode_from_bot
from protocol.lines import LineBuffer
from protocol.messages import BotMessage, Hello, Ready, Want, Wants

LARGEST_READ = 65536


class PersonPeer:
    """A person's seat in one game. `told` is called when something has been told to it."""

    sandbox = ""
    is_confined = False
    stderr_tail = ""
    used_us = peak_memory = pondered_us = 0

    def __init__(self, seat: PersonSeat, told: Callable[[], None]) -> None:
        self.seat = seat
        self._told = told
        self._lines = LineBuffer()
        self.stdout, self._out = os.pipe()
        self.stdin = self._out
        """What is written to a person is never waited for."""
        for descriptor in (self.stdout, self._out):
            os.set_blocking(descriptor, False)
        self._unread = select.poll()
        self._unread.register(self.stdout, select.POLLIN)
        self._is_open = True

    def say(self, message: BotMessage) -> None:
        """The person answers."""
        if self._is_open:
            os.write(self._out, encode_from_bot(message))  # a line; the pipe is empty but for what was not asked for

    # --- what a game needs of it --------------------------------------------------------------------------------------

    def write_now(self, data: bytes) -> bytes:
        """The arena says these lines; all of them are taken."""
        for line in self._lines.feed(data):
            message = decode_for_bot(line)
            if message is None:
                continue
            if isinstance(message, Hello):
                self.say(Wants((Want.LEGAL,)))
                self.say(Ready())
            self.seat.tell(message)
        self._told()
        return b""

    def has_output(self) -> bool:
        """Whether the person has answered, and that has not been read."""
        return bool(self._unread.poll(0))

    def read_now(self) -> bytes | None:
        """What the person has answered; None if that is nothing."""
        try:
            return os.read(self.stdout, LARGEST_READ)
        except BlockingIOError:
            return None

    async def end(self, grace: float = QUIT_GRACE) -> None:
        """The game is over for this seat."""
        if self._is_open:
            self._is_open = False
            os.close(self.stdout)
            os.close(self._out)

    # --- what a person has none of ------------------------------------------------------------------------------------

    def cpu_us(self) -> int:
        return 0

    def used_since(self, before_us: int) -> int | None:
        return None

    def first_times(self) -> CpuTimes:
        return CpuTimes(None, {})

    def times(self) -> CpuTimes | None:
        return None

    def freeze(self) -> None: ...

    def thaw(self) -> None: ...

    def worked_us(self) -> int:
        return 0

    def is_starved(self, before_us: int, seconds: float) -> bool:
        return False

    def has_exited(self) -> bool:
        return False

    def exit_words(self) -> str:
        return "has left"

    def exit_status(self) -> int | None:
        return None

    def out_of_memory(self) -> Excess | None:
        return None

    def machine_was_out_of_memory(self) -> bool:
        return False

    def read_stderr_now(self) -> None: ...

    def activity(self) -> Activity:
        return Activity.UNKNOWN

    def has_unread(self) -> bool | None:
        return False

    def has_closed_input(self) -> bool:
        return False

    def kill_now(self) -> None: ...

    async def drain_stderr(self) -> None:
        await trio.sleep_forever()

    async def wait_exit(self) -> None:
        await trio.sleep_forever()

    async def watch(self) -> Excess:
        await trio.sleep_forever()
        raise AssertionError("a person uses nothing of the machine")
