"""A person's seat in one game: what it was told, and its state as frozen values, which are its JSON.

A seat gets the lines that a bot in it would get. A game may have a seat of its own below `PersonSeat`, which reads
more in those lines (`arena.game.Game.displays`).
"""

import enum
from typing import Any

import msgspec

from arena.errors import IllegalAnswerError
from arena.game import State, Variant
from protocol.lines import RemoteProtocolError
from protocol.seats import Color


class SeatStage(enum.Enum):
    """The stage of the game for a seat."""

    STARTING = "starting"
    SETTING_UP = "setting-up"
    READY = "ready"
    MOVING = "moving"
    WAITING = "waiting"
    OVER = "over"
    PAUSED = "paused"
    """The game was interrupted, and can be resumed."""


class ClockState(msgspec.Struct, frozen=True):
    """A side's clock in milliseconds; `left_ms` is its time for the turn, None without a clock.

    `bank_ms` is shown if a bank and a limit per move are both in force. `runs` tells that it runs now, and `left_ms` is
    as of the creation of this value.
    """

    left_ms: int | None
    bank_ms: int | None = None
    runs: bool = False


class EndState(msgspec.Struct, frozen=True):
    """The end of the game for this seat: `win`, `loss` or `draw`, the reason, and words, with a bot's fault.

    `truth` is the whole position: the lines of its text, in Stratego the 100 cells of the board; empty if the game did
    not begin. `number` is the game's in the store, None while it is not stored.
    """

    result: str
    reason: str
    words: str
    truth: tuple[str, ...] = ()
    number: int | None = None


class SeatState(msgspec.Struct, frozen=True, kw_only=True):
    """All that is shown to a seat of any game. `version` rises with each change.

    `players` are the names of Red and Blue. `setup` are the parts of this seat's set-up, once it has set up. `plies` is
    the number of actions so far. `choices` are the legal actions of this turn, if the game lists them, and none in
    another's. `clocks` are Red's and Blue's. `resigns`: this seat has resigned, which counts as soon as it is to move.
    `remark` is a line for people, such as that the bot was started again.
    """

    version: int
    color: str
    stage: SeatStage
    players: tuple[str, str]
    ruleset: str
    rules: tuple[tuple[str, str], ...]
    setup: tuple[str, ...] | None
    plies: int
    choices: tuple[Any, ...]
    clocks: tuple[ClockState, ClockState]
    resigns: bool = False
    remark: str = ""
    end: EndState | None = None


class PersonSeat:
    """One seat's knowledge of one game, updated by `hear`."""

    unlisted = "this is not among the actions that the game lists"
    """Why an action is refused that the rules allow and the game does not list."""

    def __init__(self, color: Color) -> None:
        self.color = color
        self.stage = SeatStage.STARTING
        self.lines: list[str] = []
        """The lines of the game that this seat has received."""
        self.rows: tuple[str, ...] | None = None
        self._legal: tuple[str, ...] = ()

    def hear(self, line: bytes) -> None:
        """Apply a line of the arena."""
        text = line.decode("ascii", "replace").rstrip("\r\n")
        verb, _, rest = text.partition(" ")
        match verb:
            case "setup":
                self.stage = SeatStage.SETTING_UP
            case "restore":
                self.set_up(tuple(rest.split("/")))
                self.stage = SeatStage.WAITING
            case "legal":
                self._legal += tuple(rest.split(" "))
            case "turn":
                self.stage = SeatStage.MOVING
            case "end":
                self.stage = SeatStage.OVER
            case "hello" | "game" | "rule" | "clock" | "seed" | "opponent" | "board" | "error" | "quit":
                pass
            case _:
                self.lines.append(text)

    def set_up(self, rows: tuple[str, ...]) -> None:
        self.rows = rows
        self.stage = SeatStage.READY

    def acted(self) -> None:
        self.stage = SeatStage.WAITING
        self._legal = ()

    @property
    def choices(self) -> tuple[Any, ...]:
        return self._legal if self.stage is SeatStage.MOVING else ()

    def lists(self, action: str) -> bool | None:
        """Whether an action is among the listed ones; None if the game does not list them."""
        return action in self._legal if self._legal else None

    def setup_fault(self, variant: Variant, setup: str) -> str:
        """Return why a set-up is not possible; empty if it is."""
        try:
            variant.kind.check_setup_form(setup)
            variant.kind.check_setup(variant, self.color, setup)
        except (RemoteProtocolError, IllegalAnswerError) as error:
            return str(error)
        return ""

    def state(self, known: SeatState, variant: Variant) -> SeatState:
        """Return the state with all that is shown of this game; `known` is what seats of all games have."""
        del variant
        return known

    def truth(self, position: State) -> tuple[str, ...]:
        """Return the whole position, for the end of the game."""
        text = position.text(None)
        return tuple(text.split("\n")) if text else ()
