"""Records replayed by the engine, from the rules in the record."""

from collections.abc import Iterator
from dataclasses import dataclass

from arena.game.record import GameRecord, RecordError
from arena.game.seat_view import SeatView, tell
from arena.stratego.rules.events import Event, IllegalActionError
from arena.stratego.rules.game import Game
from arena.stratego.rules.rule_lines import ruleset_from_lines
from arena.stratego.rules.ruleset import Ruleset, RulesetError
from arena.stratego.rules.setup import IllegalSetupError
from protocol.notation import Color


@dataclass(frozen=True)
class ReplayStep:
    """One ply of a replay: its number, the side, the action, its events and its time."""

    ply: int
    color: Color
    action: str
    events: tuple[Event, ...]
    microseconds: int


class SeenGame:
    """A game played move by move: the true position, and each side's knowledge.

    Raises `RulesetError` or `IllegalSetupError` for an impossible beginning.
    """

    def __init__(self, ruleset: Ruleset, setups: tuple[str, str]) -> None:
        rows = tuple(tuple(setup.split("/")) for setup in setups)
        self.game = Game(ruleset, *rows)
        self.views = tuple(SeatView(self.game, color, rows[color]) for color in Color)

    def apply(self, action: str) -> tuple[Event, ...]:
        """Play an action and return its events. Raises `IllegalActionError`."""
        events = self.game.apply(action)
        for event in events:
            for view, told in zip(self.views, tell(event), strict=True):
                view.see(told)
        return events


class Replay(SeenGame):
    """A replay of a record: the true position, and each side's knowledge.

    Raises `RecordError` if a side never set up, or if the record breaks its own rules.
    """

    def __init__(self, record: GameRecord) -> None:
        red, blue = record.setups
        if red is None or blue is None:
            raise RecordError(f"game {record.id} ended before both sides had set up: {record.verdict.detail}")
        if len(record.actions) != len(record.times_us):
            raise RecordError(f"game {record.id}: {len(record.actions)} actions, but {len(record.times_us)} times")
        self.record = record
        try:
            super().__init__(ruleset_from_lines(record.ruleset, record.rules), (red, blue))
        except (RulesetError, IllegalSetupError) as error:
            raise RecordError(f"game {record.id}: {error}") from None

    def steps(self) -> Iterator[ReplayStep]:
        """Play the recorded actions one by one; the position is the one after the yielded step."""
        for action, microseconds in zip(self.record.actions, self.record.times_us, strict=True):
            color = self.game.to_move
            try:
                events = self.apply(action)
            except IllegalActionError as error:
                raise RecordError(f"game {self.record.id}: ply {self.game.ply + 1}: {error}") from None
            yield ReplayStep(self.game.ply, color, action, events, microseconds)
