"""What happens in games, on its way to who watches them: in the thread that waits, and never in the way of a game."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from arena.api.threads import BackgroundCall
from arena.play.events import EventsDropped, WatchedEvent

T = TypeVar("T")
OnEvent = Callable[[WatchedEvent], object]

MOST_WAITING = 10_000
"""Events that wait for the watcher, some megabytes; further ones are dropped."""


class EventQueue:
    """Hands events to a watcher that may be slow: if too many wait, those that come are dropped, and it is told so.

    The two counts are changed by one thread each.
    """

    def __init__(self, call: BackgroundCall[T], on_event: OnEvent, most: int = MOST_WAITING) -> None:
        self._call = call
        self._on_event = on_event
        self._most = most
        self._told = 0
        self._taken = 0
        self._dropped = 0

    def put(self, event: WatchedEvent) -> None:
        """An event has come, in the thread of the games."""
        if self._told - self._taken >= self._most:
            self._dropped += event.count if isinstance(event, EventsDropped) else 1
            return
        self.finish()
        self._tell(event)

    def finish(self) -> None:
        """Tell how many have been dropped and not been told of: before the next one, and at the end."""
        if self._dropped:
            self._tell(EventsDropped(self._dropped))
            self._dropped = 0

    def _tell(self, event: WatchedEvent) -> None:
        self._told += 1
        self._call.tell(partial(self._deliver, event))

    def _deliver(self, event: WatchedEvent) -> None:
        self._taken += 1
        self._on_event(event)
