"""Events of watched games on their way from a worker to its parent: in batches, and without delaying games.

A game only appends an event to a list. The list is sent when the pipe has taken all earlier messages, so that no
outcome waits behind more than one batch; events that do not fit are dropped, and counted. When a game ends, its events
are sent before its outcome or not at all.
"""

from typing import Protocol

import msgspec
import trio

from arena.play.game_events import ActionPlayed, GameEvent, GameFinished, GameStarted

MOST_WAITING = 256
"""The most events on the list: some 40 KB, which are written in half a millisecond."""
BATCH_SECONDS = 0.01
"""How long events wait for others."""


class Happened(msgspec.Struct, frozen=True, tag=True):
    """Events of a worker's games in order, and how many were dropped after them."""

    events: tuple[GameStarted | ActionPlayed, ...]
    dropped: int


class Outlet(Protocol):
    def send(self, message: Happened) -> None:
        pass

    def flush(self) -> bool: ...


class EventStream:
    """The queued events of a worker's games. Run `send` in a task of its own."""

    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet
        self._waiting: list[GameStarted | ActionPlayed] = []
        self._dropped = 0
        self._has_some = trio.Event()

    def tell(self, event: GameEvent) -> None:
        """Queue an event. Never waits."""
        if isinstance(event, GameFinished):
            return  # its outcome says so
        if len(self._waiting) >= MOST_WAITING:
            self._dropped += 1
            return
        self._waiting.append(event if isinstance(event, ActionPlayed) else GameStarted(event.spec, event.setups, None))
        self._has_some.set()

    async def send(self) -> None:
        """Send queued events whenever the pipe is free."""
        while True:
            await self._has_some.wait()
            self._has_some = trio.Event()  # only here: the next event has to set the one that is waited for
            await trio.sleep(BATCH_SECONDS)
            if self._outlet.flush():
                self.flush()
            else:
                self._has_some.set()

    def flush(self) -> None:
        """Send queued events now; if the pipe is full, only their number."""
        if self._waiting and not self._outlet.flush():
            self._dropped += len(self._waiting)
            self._waiting.clear()
        if self._waiting or self._dropped:
            self._outlet.send(Happened(tuple(self._waiting), self._dropped))
            self._waiting.clear()
            self._dropped = 0
