"""Events of watched games on their way from a worker to its parent: in batches, and without delaying games.

A game only appends an event to a list. The list is sent when the pipe has taken all earlier messages, so that no
outcome waits behind more than one batch; events that do not fit are dropped, and counted. When a game ends, its events
are sent before its outcome or not at all.
"""

from typing import Any, Protocol, Self, cast

import msgspec
import trio

from arena.game.game_spec import GameSpec
from arena.play.game_events import ActionPlayed, GameEvent, GameFinished, GameStarted
from arena.stratego.rules.action_types import parse_action
from arena.stratego.rules.events import Event, Fought, Guessed, Moved, Rescued, Resigned, Revealed
from protocol.notation import Color

MOST_WAITING = 256
"""The most events on the list: some 40 KB, which are written in half a millisecond."""
BATCH_SECONDS = 0.01
"""How long events wait for others."""

_EVENTS = {kind.__name__: kind for kind in (Fought, Guessed, Rescued, Resigned, Revealed)}


class WireAction(msgspec.Struct, frozen=True, tag=True):
    """An `ActionPlayed` on the wire: public events as names and fields."""

    game: str
    ply: int
    color: Color
    action: str
    events: tuple[tuple[str, Any], ...]
    taken_us: int
    cpu_us: int

    @classmethod
    def of(cls, event: ActionPlayed) -> Self:
        events = tuple(_to_wire(one) for one in event.events)
        return cls(event.game, event.ply, event.color, event.action, events, event.taken_us, event.cpu_us)

    def event(self) -> ActionPlayed:
        events = tuple(_from_wire(name, fields) for name, fields in self.events)
        return ActionPlayed(self.game, self.ply, self.color, self.action, events, self.taken_us, self.cpu_us)


class WireStart(msgspec.Struct, frozen=True, tag=True):
    spec: GameSpec
    setups: tuple[str, str]

    def event(self) -> GameStarted:
        return GameStarted(self.spec, self.setups, None)


class Happened(msgspec.Struct, frozen=True, tag=True):
    """Events of a worker's games in order, and how many were dropped after them."""

    events: tuple[WireStart | WireAction, ...]
    dropped: int


def _to_wire(event: Event) -> tuple[str, Any]:
    if isinstance(event, Moved):  # a move is one object, known by its text
        return Moved.__name__, (event.color, event.move.text)
    return type(event).__name__, event


def _from_wire(name: str, fields: Any) -> Event:
    if name == Moved.__name__:
        color, text = fields
        return Moved(Color(color), parse_action(text))
    return cast(Event, msgspec.convert(fields, _EVENTS[name]))


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
        self._waiting.append(event)
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
            events = tuple(
                WireAction.of(event) if isinstance(event, ActionPlayed) else WireStart(event.spec, event.setups)
                for event in self._waiting
            )
            self._outlet.send(Happened(events, self._dropped))
            self._waiting.clear()
            self._dropped = 0
