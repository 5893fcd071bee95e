"""Events of a game for watchers, as frozen values: its start, each action, and its end.

The runner calls a watcher in the order of the events. A watcher sees everything.
"""

import msgspec

from arena.game import Told
from arena.game.game_spec import GameSpec
from arena.game.record import GameRecord, History
from protocol.seats import Color


class GameStarted(msgspec.Struct, frozen=True, tag=True):
    """Both sides have set up, and the first turn begins. A game that ends before that has no such event.

    `setups` are set-up lines, Red's and Blue's; `history` is the earlier part of a resumed game.
    """

    spec: GameSpec
    setups: tuple[str, str]
    history: History | None

    def __str__(self) -> str:
        red, blue = self.spec.players
        return f"game {self.spec.id}: {red.name} - {blue.name} has started"


class ActionPlayed(msgspec.Struct, frozen=True, tag=True):
    """A side has acted: the number of the ply, from 1, the action, and the lines by which Red
    and Blue were told of it.

    In microseconds, `taken_us` was charged to its clock, and `cpu_us` is the processor time that the bot used.
    """

    game: str
    ply: int
    color: Color
    action: str
    told: Told
    taken_us: int
    cpu_us: int

    def __str__(self) -> str:
        return f"game {self.game}, ply {self.ply}: {self.color.word} {self.action}"


class GameFinished(msgspec.Struct, frozen=True):
    """The game is over, with its record. An interrupted or unjudged game has no such event."""

    record: GameRecord

    def __str__(self) -> str:
        verdict = self.record.verdict
        return (
            f"game {self.record.id} is over after {verdict.plies} plies: {verdict.result.value}, {verdict.reason.value}"
        )


class EventsDropped(msgspec.Struct, frozen=True):
    """The number of events, of any games, missing at this point: they came faster than they were taken."""

    count: int

    def __str__(self) -> str:
        return "1 event was dropped" if self.count == 1 else f"{self.count} events were dropped"


GameEvent = GameStarted | ActionPlayed | GameFinished
WatchedEvent = GameEvent | EventsDropped
