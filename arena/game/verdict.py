"""The end of a game, as a value and in words."""

import enum
from collections.abc import Sequence

import msgspec

from arena.game.faults import Fault
from arena.game.game_spec import Player
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


NO_FAULTS = (None, None)


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of a game, and its reason: that of the loser's fault, or of Red's if both lost.

    `faults` are Red's and Blue's, by which a side lost. `detail` is all that in words (`words_of`).
    """

    result: GameResult
    reason: Reason
    plies: int
    detail: str = ""
    faults: tuple[Fault | None, Fault | None] = NO_FAULTS

    @property
    def fault_by_loser(self) -> dict[Color, Fault]:
        return {color: fault for color, fault in zip(Color, self.faults, strict=True) if fault}


def verdict_of(
    players: Sequence[Player],
    result: GameResult,
    reason: Reason,
    plies: int,
    faults: tuple[Fault | None, Fault | None] = NO_FAULTS,
) -> Verdict:
    verdict = Verdict(result, reason, plies, faults=faults)
    return msgspec.structs.replace(verdict, detail=words_of(players, verdict))


def words_of(players: Sequence[Player], verdict: Verdict) -> str:
    """Return the end of a game in words, with the faults of both sides."""
    if faults := verdict.fault_by_loser:
        return "; ".join(f"{lost_by(players, color, one.reason)}: {one.words}" for color, one in faults.items())
    winner = verdict.result.winner
    return lost_by(players, None if winner is None else winner.opponent, verdict.reason)


def named(players: Sequence[Player], color: Color) -> str:
    name = players[color].name
    return name if name == color.word else f"{color.word} ({name})"


def lost_by(players: Sequence[Player], loser: Color | None, reason: Reason) -> str:
    return f"drawn: {reason.sentence}" if loser is None else f"{named(players, loser)} {reason.sentence}"


def forfeit(players: Sequence[Player], guilty: Sequence[tuple[Color, Fault]], plies: int) -> Verdict:
    """Return the verdict of a game that the `guilty` sides have lost by these faults."""
    first, fault = guilty[0]
    faults = dict(guilty)
    result = GameResult.NEITHER if len(faults) == 2 else GameResult.win(first.opponent)
    return verdict_of(players, result, fault.reason, plies, (faults.get(Color.RED), faults.get(Color.BLUE)))
