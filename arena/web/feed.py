"""Server-sent events for many viewers, none of which can delay others.

See https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import trio

from arena.system.concurrency import open_nursery
from arena.web.address import address_key, one_too_many
from arena.web.guard import RequestRefused
from arena.web.server import LIMITS, ServerLimits

RECONNECT_MS = 2000
TOO_MANY = "Too many people are looking at these pages. Try again in a moment."


@dataclass(frozen=True)
class Event:
    data: str
    kind: str = "message"

    def encoded(self) -> bytes:
        lines = [f"event: {self.kind}"] if self.kind != "message" else []
        lines += [f"data: {line}" for line in self.data.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
        return ("\n".join(lines) + "\n\n").encode("utf-8", "replace")


class Viewers:
    """The viewers of all feeds of a server, with the keys of their addresses; their number is limited."""

    def __init__(self, limits: ServerLimits = LIMITS) -> None:
        self.limits = limits
        self.held: dict[trio.MemorySendChannel[bytes], str] = {}


class Feed:
    """A stream of events. `greeting` returns the events that describe the present state to a new viewer."""

    def __init__(self, audience: Viewers, greeting: Callable[[], Sequence[Event]] = tuple) -> None:
        self._audience, self._greeting = audience, greeting
        self._queues: set[trio.MemorySendChannel[bytes]] = set()

    def __len__(self) -> int:
        return len(self._queues)

    def publish(self, event: Event) -> None:
        data = event.encoded()
        for queue in self._queues:
            try:
                queue.send_nowait(data)
            except (trio.WouldBlock, trio.ClosedResourceError):
                queue.close()

    def close(self) -> None:
        for queue in self._queues:
            queue.close()

    @contextmanager
    def viewer(self, address: str = "") -> Iterator[trio.MemoryReceiveChannel[bytes]]:
        """Add a viewer during the body. Raises `RequestRefused` if there are too many.

        Then an address that has more of them than this one would have loses one.
        """
        limits, held, key = self._audience.limits, self._audience.held, address_key(address)
        if len(held) >= limits.viewers:
            if (one := one_too_many(held, key)) is None:
                raise RequestRefused(503, TOO_MANY, {"Retry-After": str(limits.retry_seconds)})
            del held[one]
            one.close()
        queue, events = trio.open_memory_channel[bytes](limits.queue_events)
        queue.send_nowait(b"retry: %d\n\n" % RECONNECT_MS + b"".join(event.encoded() for event in self._greeting()))
        held[queue] = key
        self._queues.add(queue)
        try:
            yield events
        finally:
            self._queues.discard(queue)
            held.pop(queue, None)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request with the events, while the viewer stays and keeps up.

        The server library reports that the viewer has left while it still handles the last piece. An answer that is
        cancelled then, within `send`, leaves a connection that is never closed. So the last piece is sent after
        listening for the end has stopped, and the connection ends with it.
        """
        with self.viewer(scope["client"][0]) as events:
            headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"connection", b"close")]
            headers.append((b"x-accel-buffering", b"no"))  # proxies do not buffer it
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            if scope["method"] == "HEAD":
                await send({"type": "http.response.body", "body": b""})
                return
            async with open_nursery() as nursery:

                async def until_left() -> None:
                    while (await receive())["type"] != "http.disconnect":
                        pass
                    nursery.cancel_scope.cancel()

                nursery.start_soon(until_left)
                with suppress(trio.EndOfChannel):
                    while True:
                        data = b": still here\n\n"
                        with trio.move_on_after(self._audience.limits.keep_alive_seconds):
                            data = await events.receive()
                        await send({"type": "http.response.body", "body": data, "more_body": True})
                nursery.cancel_scope.cancel()
            await send({"type": "http.response.body", "body": b""})
