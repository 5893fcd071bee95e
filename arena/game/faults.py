"""Faults of a side: the typed cause, the words for its author, and the verdict that follows."""

import enum
from collections.abc import Sequence
from typing import NamedTuple

from arena.errors import IllegalAnswerError
from arena.game.game_spec import Player
from arena.game.time_control import TimeControl
from arena.game.verdict import GameResult, Verdict
from arena.system.printable import printable
from protocol.conversation import Phase
from protocol.lines import RemoteProtocolError, Slip
from protocol.seats import Color, Reason

MAX_FAULT = 500
"""Characters of a fault, which may contain a bot's own words, file names and arguments."""


class Illegal(NamedTuple):
    """A well-formed action that the rules do not allow, and the rule that it breaks."""

    action: str
    rule: enum.Enum | None


class Malformed(NamedTuple):
    """A line that the protocol does not allow; of an unexpected message, only its verb."""

    slip: Slip
    line: str


class Unstartable(NamedTuple):
    errno: int | None


class Cause(enum.Enum):
    STALLED = "stalled"
    CLOSED_OUTPUT = "closed-output"
    MEMORY = "memory"
    PROCESSES = "processes"
    FILES = "files"
    PONDERING = "pondering"


class Excess(NamedTuple):
    """A limit that a bot exceeded, and how, in words that follow "the bot"."""

    cause: Cause
    words: str


class Fault(NamedTuple):
    """A mistake of a side: the reason for its loss, and the words for its author.

    `cause` has the data of those words, for hints; a fault read from a record has none.
    """

    reason: Reason
    text: str
    cause: Illegal | Malformed | Unstartable | Cause | None = None

    @property
    def shown(self) -> "Fault":
        """The fault with its words printable and short, for records and terminals."""
        return self._replace(text=printable(self.text, MAX_FAULT))

    @property
    def ascii(self) -> str:
        return "".join(c if " " <= c <= "~" else "?" for c in self.text)


OVERRUN = {Phase.INTRODUCING: Reason.NO_START, Phase.SETTING_UP: Reason.SETUP_TIMEOUT}
"""The reason for losing on time in a phase; in all others, `TIMEOUT`."""


def late(phase: Phase, time: TimeControl, budget_ms: int, ply: int, seconds: float) -> Fault:
    """Return the fault of a side that took this number of seconds; if it was to move, it had `budget_ms`."""
    taken = f"none came in {round(seconds * 1000)} ms"
    margin = f"(and a margin of {time.margin_ms} ms)"
    if phase is Phase.INTRODUCING:
        words = f"expected 'ready' within {time.start_ms} ms, {taken}"
    elif phase is Phase.SETTING_UP:
        words = f"expected a set-up within {time.setup_ms} ms {margin}, {taken}"
    else:
        words = f"ply {ply}: expected a move within {budget_ms} ms {margin}, {taken}"
    return Fault(OVERRUN.get(phase, Reason.TIMEOUT), words)


def with_processor_time(fault: Fault, used_us: int) -> Fault:
    return fault._replace(text=f"{fault.text}, with {used_us / 1000:.0f} ms of processor time")


def illegal(ply: int, action: str, error: IllegalAnswerError) -> Fault:
    words = str(error)
    if not words.startswith(f"{action}: "):  # where records have the action
        words = f"{action}: {words}"
    return Fault(Reason.ILLEGAL_ACTION, f"ply {ply}: {words}", Illegal(action, error.rule))


def malformed(error: RemoteProtocolError) -> Fault:
    return Fault(Reason.PROTOCOL, str(error), Malformed(error.slip, error.line))


def stalled(phase: Phase) -> Fault:
    return Fault(OVERRUN.get(phase, Reason.TIMEOUT), "the bot did not read what it was sent", Cause.STALLED)


def gone(phase: Phase, how: str, *, exited: bool) -> Fault:
    """Return the fault of a side if its process has `exited`, or only its output has ended; `how` in words."""
    cause = None if exited else Cause.CLOSED_OUTPUT
    if phase is Phase.INTRODUCING:
        return Fault(Reason.NO_START, f"expected 'ready', but the bot {how}", cause)
    return Fault(Reason.CRASH if exited else Reason.PROTOCOL, f"the bot {how}", cause)


def named(players: Sequence[Player], color: Color) -> str:
    return f"{color.word} ({players[color].name})"


def lost_by(players: Sequence[Player], loser: Color | None, reason: Reason) -> str:
    return f"drawn: {reason.sentence}" if loser is None else f"{named(players, loser)} {reason.sentence}"


def forfeit(players: Sequence[Player], guilty: Sequence[tuple[Color, Fault]], plies: int) -> Verdict:
    first, fault = guilty[0]
    result = GameResult.NEITHER if len(guilty) == 2 else GameResult.win(first.opponent)
    words = (f"{lost_by(players, color, fault.reason)}: {fault.text}" for color, fault in guilty)
    return Verdict(result, fault.reason, plies, "; ".join(words))
