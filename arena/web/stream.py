"""A connection that nobody can hold by being slow.

The server library sends with cancellation shut out, and waits for a connection's tasks when it is over. So the limits
are here, below it: a piece that the other side does not take in time closes the socket, and a closed socket ends all
tasks of its connection.
"""

import contextlib
import math
import socket
from collections.abc import Iterator

import trio

from arena.web.limits import Limits

LAST_SECONDS = 1.0
IDLE_GRACE = 1.0
"""Seconds after which who is idle is cut off, beyond those after which the library closes the connection itself."""


class GuardedStream(trio.abc.HalfCloseableStream):
    """A stream of a socket for `hypercorn`, which asks for `socket` besides. `scope` is ended with it.

    Without an answer under way it is open for `head_seconds` and no longer. The library keeps that time for requests of
    HTTP/1.1 alone: who begins to speak HTTP/2 and says nothing more would keep a connection for ever.

    When the other side has said its last, an answer that is under way has `LAST_SECONDS` to end, and then or without
    one the connection is closed. The library would wait for the next request till the connection has been idle.
    """

    def __init__(self, stream: trio.SocketStream, limits: Limits, scope: trio.CancelScope) -> None:
        self.socket = stream.socket
        self._stream, self._limits, self._scope = stream, limits, scope
        self._answers, self._is_last = 0, False
        self._wait_for_request()
        with contextlib.suppress(OSError):
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, limits.send_buffer)

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send it by pieces. Raises `BrokenResourceError` if one of them is not taken in time."""
        rest = memoryview(data)
        while True:
            piece, rest = rest[: self._limits.piece_bytes], rest[self._limits.piece_bytes :]
            with trio.move_on_after(self._limits.stall_seconds) as scope:
                await self._stream.send_all(piece)
            if scope.cancelled_caught:
                self.close()
                raise trio.BrokenResourceError("the other side takes nothing")
            if not rest:
                return

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        data = await self._stream.receive_some(max_bytes)
        if not data:
            self._is_last = True
            if self._answers:
                self._scope.deadline = trio.current_time() + LAST_SECONDS
            else:
                self.close()
        return data

    def _wait_for_request(self) -> None:
        self._scope.deadline = trio.current_time() + self._limits.head_seconds + IDLE_GRACE

    @contextlib.contextmanager
    def answering(self) -> Iterator[None]:
        """Within, an answer is under way."""
        self._answers += 1
        if not self._is_last:
            self._scope.deadline = math.inf
        try:
            yield
        finally:
            self._answers -= 1
            if not self._answers:
                if self._is_last:
                    self.close()
                else:
                    self._wait_for_request()

    async def send_eof(self) -> None:
        with contextlib.suppress(trio.BusyResourceError):
            await self._stream.send_eof()

    async def aclose(self) -> None:
        self.close()
        await trio.lowlevel.checkpoint()

    def close(self) -> None:
        """End the connection and all that goes on for it."""
        self.socket.close()
        self._scope.cancel()
