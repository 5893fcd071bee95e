"""The pipes between the arena and a bot; no read or write blocks.

A bot may stop reading, close its end or write megabytes, without delaying other games. So a write takes what the pipe
takes at once, and the caller waits with the rest.
"""

import fcntl
import os
import select
import termios
from typing import IO

import trio

from arena.system.concurrency import readable, writable
from arena.system.printable import printable

READ_SIZE = 8192
CLOSED = -1


class Pipes:
    """A bot's standard input and output, by their descriptors `stdin` and `stdout`."""

    def __init__(self, standard_input: IO[bytes], standard_output: IO[bytes]) -> None:
        self._input, self._output = standard_input, standard_output
        self.stdin, self.stdout = standard_input.fileno(), standard_output.fileno()
        for descriptor in (self.stdin, self.stdout):
            os.set_blocking(descriptor, False)
        self._unread = select.poll()
        self._unread.register(self.stdout, select.POLLIN)

    async def write(self, data: bytes) -> None:
        """Write all, waiting while the pipe is full. Errors are ignored: output or exit show the bot's end."""
        while data:
            try:
                data = data[os.write(self.stdin, data) :]
            except BlockingIOError:
                await writable(self.stdin)
            except OSError:
                return

    def write_now(self, data: bytes) -> bytes:
        """Write what the pipe takes at once; return the rest."""
        try:
            return data[os.write(self.stdin, data) :]
        except BlockingIOError:
            return data
        except OSError:
            return b""

    def close_input(self) -> None:
        """End the bot's input; later writes are ignored."""
        self.stdin = CLOSED  # its number may be another file's from now on
        self._input.close()

    def has_output(self) -> bool:
        return bool(self._unread.poll(0))

    def read_now(self) -> bytes | None:
        """Read what is there: None if there is no data yet, empty at the end of output."""
        try:
            return os.read(self.stdout, READ_SIZE)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def has_unread(self) -> bool | None:
        """Return whether the bot has unread input; None if that is unknown."""
        try:
            return any(fcntl.ioctl(self.stdin, termios.FIONREAD, b"\0" * 4))
        except (OSError, ValueError):
            return None

    def has_closed_input(self) -> bool:
        if self.stdin == CLOSED:
            return False
        asked = select.poll()
        asked.register(self.stdin, 0)
        return any(event & select.POLLERR for _, event in asked.poll(0))

    def close_output(self) -> None:
        self._output.close()


STDERR_KEPT = 16 * 1024
"""The last bytes of a bot's standard error that are kept."""
STDERR_READ_SIZE = 64 * 1024
STDERR_LAST_READS = 64
"""The most reads of standard error after the end: more than a pipe holds."""
STDERR_PAUSE = 0.002
"""Seconds between two reads of a bot's standard error: bounds the cost of a flood, or of a trickle of bytes."""


class StandardError:
    """The reading end of a bot's standard error, and the last part of its text."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._tail = bytearray()
        self._lost = 0
        """Bytes that were dropped before those in `_tail`."""

    async def drain(self) -> None:
        while True:
            await readable(self._descriptor)
            if self.read() == 0:
                return
            await trio.sleep(STDERR_PAUSE)

    def read(self) -> int | None:
        """Read once; return the number of bytes, 0 at the end and None if there is no data now."""
        try:
            data = os.read(self._descriptor, STDERR_READ_SIZE)
        except BlockingIOError:
            return None
        except OSError:
            return 0
        self._tail += data
        surplus = len(self._tail) - STDERR_KEPT
        if surplus > 0:
            del self._tail[:surplus]
            self._lost += surplus
        return len(data)

    def read_rest(self) -> None:
        """Read what is there, but not forever if more is written meanwhile."""
        for _ in range(STDERR_LAST_READS):
            if not self.read():
                break

    def begin_anew(self) -> None:
        self._tail.clear()
        self._lost = 0

    @property
    def tail(self) -> str:
        text = printable(self._tail.decode("utf-8", "replace"), lines=True)
        return f"[{self._lost} bytes before this were dropped]\n{text}" if self._lost else text
