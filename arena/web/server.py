"""An HTTP server as a trio task, with limits on connections, bytes and seconds.

`hypercorn` speaks HTTP on each connection. Listening and the stream are done here, because the library takes any number
of connections, and shields sending from cancellation: a client that reads slowly could hold a connection for ever.
"""

import contextlib
import math
import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import trio
from hypercorn.config import Config
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ASGIFramework, ConnectionState, LifespanState
from hypercorn.utils import wrap_app
from starlette.datastructures import Headers

from arena.web.address import Listening, Network, address_key, client_of, one_too_many


@dataclass(frozen=True)
class ServerLimits:
    """The limits of one server. Times are in seconds, sizes in bytes.

    At most `connections` are open, of which `viewers` wait for events. A further one is closed at once; instead of it
    one of the address that has the most, if that has more than its own, or one of its own that is idle. The head of a
    request has to arrive within `head_seconds`, which is also the limit of an idle connection; `body_bytes` limit the
    rest. A connection ends if the other side does not take `piece_bytes` within `stall_seconds`. A page has to be made
    within `answer_seconds`, with the time for the rest of the request. `queue_events` are kept for a slow viewer,
    `send_buffer` bytes by the kernel for each connection.
    """

    connections: int = 600
    viewers: int = 500
    head_seconds: float = 10.0
    head_bytes: int = 16 * 1024
    body_bytes: int = 64 * 1024
    answer_seconds: float = 60.0
    stall_seconds: float = 20.0
    piece_bytes: int = 64 * 1024
    queue_events: int = 100
    send_buffer: int = 128 * 1024
    keep_alive_seconds: float = 15.0
    retry_seconds: int = 5


LIMITS = ServerLimits()
LAST_SECONDS = 1.0
IDLE_GRACE = 1.0
"""Time before an idle connection is closed, beyond the library's own limit."""


class GuardedStream(trio.abc.HalfCloseableStream):
    """A stream of a socket for `hypercorn`, which also needs `socket`. `scope` ends with it.

    Idle connections are closed after `head_seconds`: the library limits only HTTP/1.1 requests, so a silent HTTP/2
    client would keep a connection for ever. When the other side has closed its half, an answer under way has
    `LAST_SECONDS`.
    """

    def __init__(self, stream: trio.SocketStream, limits: ServerLimits, scope: trio.CancelScope) -> None:
        self.socket = stream.socket
        self._stream, self._limits, self._scope = stream, limits, scope
        self._answers = 0
        self._wait_for_request()
        with contextlib.suppress(OSError):
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, limits.send_buffer)

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send data in pieces. Raises `BrokenResourceError` if a piece is not taken in time."""
        rest = memoryview(data)
        while True:
            piece, rest = rest[: self._limits.piece_bytes], rest[self._limits.piece_bytes :]
            with trio.move_on_after(self._limits.stall_seconds) as scope:
                await self._stream.send_all(piece)
            if scope.cancelled_caught:
                self.close()
                raise trio.BrokenResourceError("the other side reads too slowly")
            if not rest:
                return

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        data = await self._stream.receive_some(max_bytes)
        if not data and self._answers:
            self._scope.deadline = trio.current_time() + LAST_SECONDS
        elif not data:
            self.close()
        return data

    @property
    def is_idle(self) -> bool:
        return not self._answers

    def _wait_for_request(self) -> None:
        self._scope.deadline = trio.current_time() + self._limits.head_seconds + IDLE_GRACE

    @contextlib.contextmanager
    def answering(self) -> Iterator[None]:
        self._answers += 1
        self._scope.deadline = math.inf
        try:
            yield
        finally:
            self._answers -= 1
            if not self._answers:
                self._wait_for_request()

    async def send_eof(self) -> None:
        with contextlib.suppress(trio.BusyResourceError):
            await self._stream.send_eof()

    async def aclose(self) -> None:
        self.close()
        await trio.lowlevel.checkpoint()

    def close(self) -> None:
        self.socket.close()
        self._scope.cancel()


Application = Callable[[Any, Any, Any], Awaitable[None]]
STREAM = "arena.stream"
"""The key of a request's connection in its state."""


class Server:
    """Serves an application. These `proxies` tell it the addresses of clients."""

    def __init__(
        self, application: Application, limits: ServerLimits = LIMITS, proxies: Sequence[Network] = ()
    ) -> None:
        self._limits, self._proxies = limits, proxies
        self._config = _config(limits)
        self._application = application
        self._wrapped = wrap_app(cast(ASGIFramework, self._answer), self._config.wsgi_max_body_size, "asgi")
        self._context = WorkerContext(None)
        self._streams: dict[GuardedStream, str] = {}

    @property
    def connections(self) -> int:
        return len(self._streams)

    async def run(
        self, listening: Sequence[Listening], *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Accept connections until cancelled; then close them. Start it by `nursery.start`."""
        listeners = [trio.SocketListener(trio.socket.from_stdlib_socket(one.socket)) for one in listening]
        async with trio.open_nursery() as connections:
            try:
                async with trio.open_nursery() as nursery:
                    serve = partial(trio.serve_listeners, self._connection, listeners, handler_nursery=connections)
                    await nursery.start(serve)
                    task_status.started()
            finally:
                for stream in list(self._streams):  # sending cannot be cancelled, but closed
                    stream.close()

    async def _connection(self, stream: trio.SocketStream) -> None:
        with trio.CancelScope() as scope:
            guarded = GuardedStream(stream, self._limits, scope)
            try:
                key = address_key(stream.socket.getpeername()[0])
                if self._has_room(key):
                    self._streams[guarded] = key
                    state = ConnectionState(LifespanState({STREAM: guarded}))
                    await TCPServer(self._wrapped, self._config, self._context, state, cast(Any, guarded)).run()
            except* (trio.BrokenResourceError, trio.ClosedResourceError, OSError):
                pass  # the other side has gone
            finally:
                guarded.close()
                self._streams.pop(guarded, None)

    def _has_room(self, key: str) -> bool:
        if len(self._streams) < self._limits.connections:
            return True
        idle = (one for one, its in self._streams.items() if its == key and one.is_idle)
        if (stream := one_too_many(self._streams, key) or next(idle, None)) is None:
            return False
        del self._streams[stream]
        stream.close()
        return True

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        stream: GuardedStream = scope["state"].pop(STREAM)
        forwarded = Headers(scope=scope).getlist("x-forwarded-for")
        client = client_of(scope["client"][0], forwarded, self._proxies)
        scope["client"] = (client, 0)
        if stream in self._streams:  # a proxy's connection counts as its client's
            self._streams[stream] = address_key(client)
        with stream.answering():
            await self._application(scope, receive, send)


def _config(limits: ServerLimits) -> Config:
    config = Config()
    config.accesslog = config.errorlog = None  # the guard reports errors
    config.include_server_header = False
    config.keep_alive_timeout = limits.head_seconds
    config.h11_max_incomplete_size = limits.head_bytes
    config.h2_max_concurrent_streams = 1
    config.max_app_queue_size = 2
    config.read_timeout = None  # it would end connections that wait for events
    return config
