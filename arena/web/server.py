"""A server as a task: connections counted, too many refused with a word, each one handed to `hypercorn`.

`hypercorn.trio.serve` would do, but that it takes any number of connections and that one that reads slowly can hold it
for ever. So the listening is ours; what is said on a connection is the library's.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, cast

import trio
from hypercorn.config import Config
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ASGIFramework, ConnectionState, LifespanState
from hypercorn.utils import wrap_app

from arena.web.address import Listening
from arena.web.limits import LIMITS, Limits
from arena.web.stream import GuardedStream

Application = Callable[[Any, Any, Any], Awaitable[None]]
"""An application of ASGI."""
STREAM = "arena.stream"
"""Under which name a request is told its connection."""
REFUSED_AT_ONCE = 200
"""Connections that are being refused with a word; those beyond are closed at once."""
REFUSAL_SECONDS = 2.0
REFUSAL_TEXT = b"Too many people are looking at these pages. Try again in a moment.\n"


class Server:
    """The connections of one application."""

    def __init__(self, application: Application, limits: Limits = LIMITS) -> None:
        self._limits = limits
        self._config = _config(limits)
        self._application = application
        self._wrapped = wrap_app(cast(ASGIFramework, self._answer), self._config.wsgi_max_body_size, "asgi")
        self._context = WorkerContext(None)
        self._streams: set[GuardedStream] = set()
        self._refused = 0

    @property
    def connections(self) -> int:
        """How many are open."""
        return len(self._streams)

    async def run(
        self, listening: Sequence[Listening], *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Take connections until cancelled; then every one is closed. Start it by `nursery.start`."""
        listeners = [trio.SocketListener(trio.socket.from_stdlib_socket(one.socket)) for one in listening]
        async with trio.open_nursery() as connections:
            try:
                async with trio.open_nursery() as nursery:
                    serve = partial(trio.serve_listeners, self._connection, listeners, handler_nursery=connections)
                    await nursery.start(serve)
                    task_status.started()
            finally:
                for stream in list(self._streams):  # what is being sent cannot be cancelled, but it can be closed
                    stream.close()

    async def _connection(self, stream: trio.SocketStream) -> None:
        if len(self._streams) >= self._limits.connections:
            await self._refuse(stream)
            return
        with trio.CancelScope() as scope:
            guarded = GuardedStream(stream, self._limits, scope)
            self._streams.add(guarded)
            try:
                state = ConnectionState(LifespanState({STREAM: guarded}))
                await TCPServer(self._wrapped, self._config, self._context, state, cast(Any, guarded)).run()
            except* (trio.BrokenResourceError, trio.ClosedResourceError, OSError):
                pass  # the other side has gone
            finally:
                guarded.close()
                self._streams.discard(guarded)

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        with scope["state"].pop(STREAM).answering():
            await self._application(scope, receive, send)

    async def _refuse(self, stream: trio.SocketStream) -> None:
        """Say that there are too many, and wait a moment for that to be read: to close at once would take it back."""
        if self._refused >= REFUSED_AT_ONCE:
            stream.socket.close()
            return
        self._refused += 1
        try:
            with trio.move_on_after(REFUSAL_SECONDS):
                await stream.send_all(_refusal(self._limits))
                await stream.send_eof()
                while await stream.receive_some(4096):
                    pass
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        finally:
            self._refused -= 1
            stream.socket.close()


def _refusal(limits: Limits) -> bytes:
    head = (
        "HTTP/1.1 503 Service Unavailable\r\n"
        f"Retry-After: {limits.retry_seconds}\r\n"
        "Content-Type: text/plain; charset=utf-8\r\n"
        "X-Content-Type-Options: nosniff\r\n"
        "Cache-Control: no-store\r\n"
        "Connection: close\r\n"
        f"Content-Length: {len(REFUSAL_TEXT)}\r\n\r\n"
    )
    return head.encode() + REFUSAL_TEXT


def _config(limits: Limits) -> Config:
    config = Config()
    config.accesslog = config.errorlog = None  # what goes wrong is told by the guard
    config.include_server_header = False
    config.keep_alive_timeout = limits.head_seconds
    config.h11_max_incomplete_size = limits.head_bytes
    config.h2_max_concurrent_streams = 1
    config.max_app_queue_size = 2
    config.read_timeout = None  # it would end who only listens to events
    return config
