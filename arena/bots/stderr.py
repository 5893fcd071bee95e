"""What a bot writes to standard error: it is read all the time, so that no bot blocks there, and its end is kept."""

import os

import trio

from arena.system.concurrency import readable
from arena.system.printable import printable

STDERR_KEPT = 16 * 1024
"""Bytes of a bot's standard error that are kept: the last ones."""
STDERR_READ_SIZE = 64 * 1024
STDERR_LAST_READS = 64
"""How often what is left of standard error is read after the end: more than a pipe holds, and no more than that."""
STDERR_PAUSE = 0.002
"""Seconds between two readings of a bot's standard error: a flood, or a trickle of single bytes, takes no more."""


class StandardError:
    """The reading end of a bot's standard error, a descriptor that does not block, and the last part of what came."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._tail = bytearray()
        self._lost = 0
        """Bytes that came before those in `_tail`, and were dropped."""

    async def drain(self) -> None:
        """Keep reading until its end."""
        while True:
            await readable(self._descriptor)
            if self.read() == 0:
                return
            await trio.sleep(STDERR_PAUSE)

    def read(self) -> int | None:
        """Read once; returns the number of bytes, 0 at its end and None if there is nothing now."""
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
        """Read what is there, but not for ever what is written meanwhile."""
        for _ in range(STDERR_LAST_READS):
            if not self.read():
                break

    def begin_anew(self) -> None:
        """Forget what has come so far."""
        self._tail.clear()
        self._lost = 0

    @property
    def tail(self) -> str:
        """The last part of what came, made printable; a line says how much was dropped."""
        text = printable(self._tail.decode("utf-8", "replace"), lines=True)
        return f"[{self._lost} bytes before this were dropped]\n{text}" if self._lost else text
