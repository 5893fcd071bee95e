"""What can be watched of a game, as frozen values: it has started, a side has acted, it is over.

A watcher is called by the runner, in the order of the events. It sees what the host may see; what a seat may know of
public events is said by `arena.game.seat_view.tell`.
"""

import msgspec

from arena.game.record import GameRecord, History
from arena.game.spec import GameSpec
from arena.rules.events import Event
from protocol.notation import Color


class GameStarted(msgspec.Struct, frozen=True):
    """Both sides have set up, and the first turn begins. A game that ends before that has no such event.

    `setups` are set-up lines, Red's and Blue's; `history` is what had been played before, of a game that goes on.
    """

    spec: GameSpec
    setups: tuple[str, str]
    history: History | None

    def __str__(self) -> str:
        red, blue = self.spec.players
        return f"game {self.spec.id}: {red.name} - {blue.name} has started"


class ActionPlayed(msgspec.Struct, frozen=True):
    """A side has acted: the number of the ply, from 1, the action, and the public events that came of it.

    In microseconds, `taken_us` is what its clock was charged with, `cpu_us` the processor time that the bot used.
    """

    game: str
    ply: int
    color: Color
    action: str
    events: tuple[Event, ...]
    taken_us: int
    cpu_us: int

    def __str__(self) -> str:
        return f"game {self.game}, ply {self.ply}: {self.color.word} {self.action}"


class GameFinished(msgspec.Struct, frozen=True):
    """The game is over: its record. A game that is interrupted, or that cannot be judged, has no such event."""

    record: GameRecord

    def __str__(self) -> str:
        verdict = self.record.verdict
        return (
            f"game {self.record.id} is over after {verdict.plies} plies: {verdict.result.value}, {verdict.reason.value}"
        )


class EventsDropped(msgspec.Struct, frozen=True):
    """So many events, of any games, are missing at this point: they came faster than they were taken."""

    count: int

    def __str__(self) -> str:
        return "1 event was dropped" if self.count == 1 else f"{self.count} events were dropped"


GameEvent = GameStarted | ActionPlayed | GameFinished
WatchedEvent = GameEvent | EventsDropped
"""The events of games in workers."""
