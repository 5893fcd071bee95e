"""Lines that a person types, or a pipe holds, as they come: read without a thread, so that waiting can be cancelled."""

import errno
import os

import trio

LARGEST_READ = 4096
LONGEST_LINE = 4096
"""Characters; what is longer is no line that anybody typed, and is cut."""


class TypedLines:
    """The lines of a descriptor. It is not made non-blocking, because others share it."""

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._data = b""
        self._has_ended = False
        self._can_wait = True

    async def line(self) -> str | None:
        """The next line without its end; None at the end of the input, or when the terminal is gone."""
        while b"\n" not in self._data and not self._has_ended:
            await self._read()
        if not self._data:
            return None
        line, _, self._data = self._data.partition(b"\n")
        return line[:LONGEST_LINE].decode("utf-8", "replace").rstrip("\r")

    async def _read(self) -> None:
        if self._can_wait:
            try:
                await trio.lowlevel.wait_readable(self._descriptor)
            except PermissionError:  # a file on a disk, which can always be read
                self._can_wait = False
        else:
            await trio.lowlevel.checkpoint()
        try:
            data = os.read(self._descriptor, LARGEST_READ)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EINTR):  # whoever shares the descriptor has made it non-blocking
                return
            data = b""
        self._has_ended = not data
        self._data += data
        if len(self._data) > LARGEST_READ + LONGEST_LINE and b"\n" not in self._data:
            self._data = self._data[:LONGEST_LINE]
