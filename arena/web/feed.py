"""Server-sent events for many viewers, none of which can delay others.

`publish` never waits. Each viewer has a queue of limited size; a viewer that falls behind is dropped, and its browser
connects again and first gets the present state (`greeting`). See
https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import trio

from arena.system.concurrency import open_nursery
from arena.web.guard import RequestRefused
from arena.web.server import LIMITS, TOO_MANY, ServerLimits

RECONNECT_MS = 2000


@dataclass(frozen=True)
class Event:
    data: str
    kind: str = "message"

    def encoded(self) -> bytes:
        lines = [f"event: {self.kind}"] if self.kind != "message" else []
        lines += [f"data: {line}" for line in self.data.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
        return ("\n".join(lines) + "\n\n").encode("utf-8", "replace")


class Viewer:
    def __init__(self, most: int) -> None:
        self._most, self._size = most, 0
        self._queue: deque[bytes] = deque()
        self._wake = trio.Event()
        self.is_dropped = False
        self.is_over = False

    def put(self, data: bytes) -> None:
        """Queue data without waiting; if it does not fit, the viewer is dropped."""
        if self.is_dropped or self.is_over or not data:
            return
        if self._queue and self._size + len(data) > self._most:
            self.is_dropped = True
            self._queue.clear()
        else:
            self._queue.append(data)
            self._size += len(data)
        self._wake.set()

    def end(self) -> None:
        self.is_over = True
        self._wake.set()

    async def take(self) -> bytes:
        """Wait for data and return all of it, or empty bytes at the end."""
        while not (self._queue or self.is_dropped or self.is_over):
            self._wake = trio.Event()
            await self._wake.wait()
        data = b"".join(self._queue)
        self._queue.clear()
        self._size = 0
        return data


class Viewers:
    """The viewers of all feeds of a server; their number is limited."""

    def __init__(self, limits: ServerLimits = LIMITS) -> None:
        self.limits = limits
        self.viewers: set[Viewer] = set()

    @contextmanager
    def seat(self) -> Iterator[Viewer]:
        """Add a viewer during the body. Raises `RequestRefused` if there are too many."""
        if len(self.viewers) >= self.limits.viewers:
            raise RequestRefused(503, TOO_MANY, {"Retry-After": str(self.limits.retry_seconds)})
        viewer = Viewer(self.limits.queue_bytes)
        self.viewers.add(viewer)
        try:
            yield viewer
        finally:
            self.viewers.discard(viewer)


class Feed:
    """A stream of events. `greeting` returns the events that describe the present state to a new viewer."""

    def __init__(self, audience: Viewers, greeting: Callable[[], Sequence[Event]] = tuple) -> None:
        self._audience, self._greeting = audience, greeting
        self._viewers: set[Viewer] = set()

    def __len__(self) -> int:
        return len(self._viewers)

    def publish(self, event: Event) -> None:
        if self._viewers:
            data = event.encoded()
            for viewer in self._viewers:
                viewer.put(data)

    def close(self) -> None:
        for viewer in self._viewers:
            viewer.end()

    @contextmanager
    def viewer(self) -> Iterator[Viewer]:
        with self._audience.seat() as viewer:
            viewer.put(b"".join(event.encoded() for event in self._greeting()))
            self._viewers.add(viewer)
            try:
                yield viewer
            finally:
                self._viewers.discard(viewer)

    def answer(self) -> "EventAnswer":
        return EventAnswer(self, self._audience.limits)


class EventAnswer:
    """An answer that lasts while the viewer stays and keeps up.

    The server library reports that the viewer has left while it still handles the last piece. An answer that is
    cancelled then, within `send`, leaves a connection that is never closed. So the last piece is sent after listening
    for the end has stopped, and the connection ends with it.
    """

    def __init__(self, feed: Feed, limits: ServerLimits) -> None:
        self._feed, self._limits = feed, limits

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        with self._feed.viewer() as viewer:
            headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"connection", b"close")]
            headers.append((b"x-accel-buffering", b"no"))  # proxies do not buffer it
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            if scope["method"] == "HEAD":
                await send({"type": "http.response.body", "body": b""})
                return
            async with open_nursery() as nursery:
                nursery.start_soon(self._until_left, receive, nursery.cancel_scope)
                await self._send(viewer, send)
                nursery.cancel_scope.cancel()
            await send({"type": "http.response.body", "body": b""})

    async def _send(self, viewer: Viewer, send: Any) -> None:
        data = b"retry: %d\n\n" % RECONNECT_MS
        while not viewer.is_dropped:
            await send({"type": "http.response.body", "body": data, "more_body": True})
            data = b": still here\n\n"
            with trio.move_on_after(self._limits.keep_alive_seconds):
                data = await viewer.take()
                if not data:
                    return

    @staticmethod
    async def _until_left(receive: Any, scope: trio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()
