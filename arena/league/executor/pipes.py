"""Messages over the pipes between the arena's own processes: bytes of msgspec, each behind its length.

Which messages these are, and what they mean, is for both ends to know: a decoder says which are expected.
"""

import contextlib
import itertools
import os
import struct
from collections import deque
from typing import Any

import msgspec
import trio

from arena.system.concurrency import readable, writable

LENGTH = struct.Struct("<I")
READ_SIZE = 65536
MOST_PARTS = 64
"""Messages that are written at a time."""
LONGEST = 2**30
"""Bytes of a message; a game of a million plies has some 64 MiB."""


class WireError(Exception):
    """What came over a pipe is no message; the text says why."""


_encode = msgspec.msgpack.Encoder().encode


def frame(message: msgspec.Struct) -> bytes:
    """A message as it goes over a pipe."""
    data = _encode(message)
    return LENGTH.pack(len(data)) + data


class Frames:
    """Cuts what comes over a pipe into messages."""

    def __init__(self, decoder: "msgspec.msgpack.Decoder[Any]", longest: int = LONGEST) -> None:
        """`longest`: bytes of a message that is still taken for one."""
        self._decoder = decoder
        self._longest = longest
        self._data = bytearray()

    def feed(self, data: bytes) -> list[Any]:
        """The messages that end in this part. Raises `WireError`."""
        self._data += data
        messages, at = [], 0
        try:
            while len(self._data) >= at + LENGTH.size:
                (length,) = LENGTH.unpack_from(self._data, at)
                if length > self._longest:
                    raise WireError(f"expected a message of at most {self._longest} bytes, got {length}")
                end = at + LENGTH.size + length
                if len(self._data) < end:
                    break
                messages.append(self._decoder.decode(self._data[at + LENGTH.size : end]))
                at = end
        except msgspec.MsgspecError as error:
            raise WireError(f"expected a message: {error}") from None
        del self._data[:at]
        return messages


class Connection:
    """One end of the two pipes: nothing here ever blocks, and to send waits for nobody.

    Run `write` beside everything else. The descriptors are this object's from here on.
    """

    def __init__(self, incoming: int, outgoing: int, decoder: "msgspec.msgpack.Decoder[Any]") -> None:
        self._incoming, self._outgoing = incoming, outgoing
        for descriptor in (incoming, outgoing):
            os.set_blocking(descriptor, False)
        self._frames = Frames(decoder)
        self._unsent: deque[memoryview] = deque()
        self._has_news = trio.Event()
        """Whether something has been put into the queue, or its end has been reached."""
        self._is_finished = self._is_closed = False

    def send(self, message: msgspec.Struct) -> None:
        """Put a message behind those that wait to be written; after `finish` nothing happens."""
        if not self._is_finished:
            self._unsent.append(memoryview(frame(message)))
            self._has_news.set()

    async def write(self) -> None:
        """Write what is sent, until all that was sent before `finish` is written."""
        with contextlib.suppress(trio.ClosedResourceError):  # closed while the pipe was full
            while not self._is_closed:
                if not self.flush():
                    await writable(self._outgoing)
                elif self._is_finished:
                    self._close_outgoing()
                else:
                    self._has_news = trio.Event()
                    await self._has_news.wait()

    def flush(self) -> bool:
        """Write what the pipe takes at once; returns whether that was all."""
        try:
            parts = list(itertools.islice(self._unsent, MOST_PARTS))
            written = os.writev(self._outgoing, parts) if parts else 0
        except BlockingIOError:
            return False
        except OSError:  # nobody reads it
            self._unsent.clear()
            return True
        while self._unsent and written >= len(self._unsent[0]):
            written -= len(self._unsent.popleft())
        if written:
            self._unsent[0] = self._unsent[0][written:]  # a view: what is left of a long message is not copied
        return not self._unsent

    def flush_all(self) -> None:
        """Write all that is sent, and wait as long as that takes; for when nothing else runs any more."""
        os.set_blocking(self._outgoing, True)
        while not self.flush():
            pass

    async def receive(self) -> list[Any]:
        """The next messages, at least one; none at the end. To cancel this loses no message. Raises `WireError`."""
        while True:
            try:
                data = os.read(self._incoming, READ_SIZE)
            except BlockingIOError:
                await readable(self._incoming)
                continue
            if not data:
                return []
            messages = self._frames.feed(data)
            await trio.lowlevel.cancel_shielded_checkpoint()
            if messages:
                return messages

    def receive_rest(self) -> list[Any]:
        """The messages that are there now: all that are still to come from a process that is dead. Raises
        `WireError`."""
        messages = []
        with contextlib.suppress(BlockingIOError):  # somebody else has a copy of the dead one's end
            while data := os.read(self._incoming, READ_SIZE):
                messages += self._frames.feed(data)
        return messages

    def finish(self) -> None:
        """Send nothing any more: once the rest is written, the other side sees the end. It may still be heard."""
        if not self._is_finished:
            self._is_finished = True
            self._has_news.set()
            if self.flush():
                self._close_outgoing()

    def close(self) -> None:
        """Close both pipes, whatever is left to be written. Nothing may be asked of it afterwards."""
        self._is_finished = True
        self._close_outgoing()
        os.close(self._incoming)

    def _close_outgoing(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            trio.lowlevel.notify_closing(self._outgoing)
            os.close(self._outgoing)
            self._has_news.set()
