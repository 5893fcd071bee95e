"""Events for many viewers, of whom none can hold up anything: server-sent events.

`publish` never waits. Each viewer has a queue of so many bytes; who does not keep up is dropped, and the browser, which
connects again by itself, is then told first how things stand (`greeting`). So an event may be missed, and the state
not. See https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import trio

from arena.system.concurrency import open_nursery
from arena.web.guard import RequestRefused
from arena.web.page_look import WEB_WORDS
from arena.web.server import LIMITS, ServerLimits

RECONNECT_MS = 2000


@dataclass(frozen=True)
class Event:
    """An event; `data` is one string, mostly JSON. Its `kind` is what a page listens for."""

    data: str
    kind: str = "message"
    id: str = ""

    def encoded(self) -> bytes:
        """As it travels."""
        lines = [f"event: {self.kind}"] if self.kind != "message" else []
        lines += [f"id: {self.id}"] if self.id else []
        lines += [f"data: {line}" for line in self.data.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
        return ("\n".join(lines) + "\n\n").encode("utf-8", "replace")


class Viewer:
    """What is on its way to one viewer."""

    def __init__(self, most: int) -> None:
        self._most, self._size = most, 0
        self._queue: deque[bytes] = deque()
        self._wake = trio.Event()
        self.is_dropped = False
        self.is_over = False

    def put(self, data: bytes) -> None:
        """Never waits; what does not fit drops the viewer."""
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
        """There will be no more after what is queued."""
        self.is_over = True
        self._wake.set()

    async def take(self) -> bytes:
        """All that is queued, when there is anything; nothing if there will be no more."""
        while not (self._queue or self.is_dropped or self.is_over):
            self._wake = trio.Event()
            await self._wake.wait()
        data = b"".join(self._queue)
        self._queue.clear()
        self._size = 0
        return data


class Viewers:
    """The viewers of a server, of all its feeds together: so many, and no more."""

    def __init__(self, limits: ServerLimits = LIMITS) -> None:
        self.limits = limits
        self.viewers: set[Viewer] = set()

    @contextmanager
    def seat(self) -> Iterator[Viewer]:
        """Raises `Refused` if there are too many."""
        if len(self.viewers) >= self.limits.viewers:
            raise RequestRefused(503, WEB_WORDS.too_many, {"Retry-After": str(self.limits.retry_seconds)})
        viewer = Viewer(self.limits.queue_bytes)
        self.viewers.add(viewer)
        try:
            yield viewer
        finally:
            self.viewers.discard(viewer)


class Feed:
    """One thing that can be followed. `greeting` says how things stand, as events, for who comes now."""

    def __init__(self, audience: Viewers, greeting: Callable[[], Sequence[Event]] = tuple) -> None:
        self._audience, self._greeting = audience, greeting
        self._viewers: set[Viewer] = set()

    def __len__(self) -> int:
        return len(self._viewers)

    def publish(self, event: Event) -> None:
        """Tell everybody, and wait for nobody."""
        if self._viewers:
            data = event.encoded()
            for viewer in self._viewers:
                viewer.put(data)

    def close(self) -> None:
        """There will be no more: viewers get what is queued, and their connections end."""
        for viewer in self._viewers:
            viewer.end()

    @contextmanager
    def viewer(self) -> Iterator[Viewer]:
        """Somebody who follows, and has been greeted."""
        with self._audience.seat() as viewer:
            viewer.put(b"".join(event.encoded() for event in self._greeting()))
            self._viewers.add(viewer)
            try:
                yield viewer
            finally:
                self._viewers.discard(viewer)

    def answer(self) -> "EventAnswer":
        """The answer to who asks to follow."""
        return EventAnswer(self, self._audience.limits)


class EventAnswer:
    """An answer that goes on for as long as the viewer stays and keeps up.

    The trap: the server library says that the viewer has left while it still sees to the last piece. Who is cancelled
    by that within `send`, as streams of starlette are, leaves a connection that is never closed. So the last piece is
    sent when nobody listens any more, and the connection ends with it.
    """

    def __init__(self, feed: Feed, limits: ServerLimits) -> None:
        self._feed, self._limits = feed, limits

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        with self._feed.viewer() as viewer:
            headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"connection", b"close")]
            headers.append((b"x-accel-buffering", b"no"))  # a proxy is to pass on what comes when it comes
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
