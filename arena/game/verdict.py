"""The end of a game, as a value."""

import enum

import msgspec

from protocol.seats import Color, Reason


class GameResult(enum.Enum):
    """The winner of a game. `NEITHER` is a game that both sides lost by faults before it began."""

    RED = "red"
    BLUE = "blue"
    DRAW = "draw"
    NEITHER = "neither"

    @staticmethod
    def win(color: Color) -> "GameResult":
        return GameResult.BLUE if color else GameResult.RED

    @property
    def winner(self) -> Color | None:
        return Color.RED if self is GameResult.RED else Color.BLUE if self is GameResult.BLUE else None


class Verdict(msgspec.Struct, frozen=True):
    result: GameResult
    reason: Reason
    plies: int
    detail: str = ""
