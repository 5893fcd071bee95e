"""What a side can do wrong: the typed cause, the words for its author, and the verdict that follows."""

import enum
from collections.abc import Sequence
from typing import NamedTuple

from arena.game.spec import Player
from arena.game.time_control import TimeControl
from arena.game.verdict import GameResult, Verdict
from arena.rules.events import IllegalActionError, Rule
from arena.system.printable import printable
from protocol.conversation import Phase
from protocol.lines import RemoteProtocolError, Slip
from protocol.notation import Color, Reason

MAX_FAULT = 500
"""Characters of a fault that are told: a bot's own words, its file names and its arguments may be in it."""


class Illegal(NamedTuple):
    """A well-formed action that the rules do not allow, and the rule that it breaks."""

    action: str
    rule: Rule


class Malformed(NamedTuple):
    """A line that the protocol does not allow; of one that came out of turn, its verb alone."""

    slip: Slip
    line: str


class Unstartable(NamedTuple):
    """A program that the system could not start, with the system's error number."""

    errno: int | None


class Cause(enum.Enum):
    """What a side did wrong, where one word says it."""

    STALLED = "stalled"
    """It did not read what it was sent."""
    CLOSED_OUTPUT = "closed-output"
    MEMORY = "memory"
    PROCESSES = "processes"
    FILES = "files"
    PONDERING = "pondering"


class Excess(NamedTuple):
    """What a bot used more of than it may, and in words that follow "the bot"."""

    cause: Cause
    words: str


class Fault(NamedTuple):
    """What a side did wrong: the reason that it loses for, and the words for its author.

    `cause` has the data of those words, for hints; a fault that is read from a record has none.
    """

    reason: Reason
    text: str
    cause: Illegal | Malformed | Unstartable | Cause | None = None

    @property
    def shown(self) -> "Fault":
        """The fault with its words printable and short, as they go into records and to terminals."""
        return self._replace(text=printable(self.text, MAX_FAULT))

    @property
    def ascii(self) -> str:
        """The words as a line to the bot can have them."""
        return "".join(c if " " <= c <= "~" else "?" for c in self.text)


OVERRUN = {Phase.INTRODUCING: Reason.NO_START, Phase.SETTING_UP: Reason.SETUP_TIMEOUT}
"""What a side loses by whose time is over in this phase; in all others, `TIMEOUT`."""


def late(phase: Phase, time: TimeControl, budget_ms: int, ply: int, seconds: float) -> Fault:
    """Return the fault of a side that took so many seconds; if it was to move, it had `budget_ms`."""
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
    """Return the fault of a late move with the processor time of that turn, which shows if the bot worked or waited."""
    return fault._replace(text=f"{fault.text}, with {used_us / 1000:.0f} ms of processor time")


def illegal(ply: int, action: str, error: IllegalActionError) -> Fault:
    """Return the fault of a side that wants to play what the rules do not allow."""
    return Fault(Reason.ILLEGAL_ACTION, f"ply {ply}: {error}", Illegal(action, error.rule))


def malformed(error: RemoteProtocolError) -> Fault:
    """Return the fault of a side that has sent what the protocol does not allow."""
    return Fault(Reason.PROTOCOL, str(error), Malformed(error.slip, error.line))


def stalled(phase: Phase) -> Fault:
    """Return the fault of a side that did not read what it was sent before its time was over."""
    return Fault(OVERRUN.get(phase, Reason.TIMEOUT), "the bot did not read what it was sent", Cause.STALLED)


def gone(phase: Phase, how: str, *, exited: bool) -> Fault:
    """Return the fault of a side whose process has `exited`, or only its output has ended; `how` in words."""
    cause = None if exited else Cause.CLOSED_OUTPUT
    if phase is Phase.INTRODUCING:
        return Fault(Reason.NO_START, f"expected 'ready', but the bot {how}", cause)
    return Fault(Reason.CRASH if exited else Reason.PROTOCOL, f"the bot {how}", cause)


def named(players: Sequence[Player], color: Color) -> str:
    """Return a side in words: its colour, and the name of its player."""
    return f"{color.word} ({players[color].name})"


def lost_by(players: Sequence[Player], loser: Color | None, reason: Reason) -> str:
    """Return how a game ended, in words; without a loser, it was drawn."""
    return f"drawn: {reason.sentence}" if loser is None else f"{named(players, loser)} {reason.sentence}"


def forfeit(players: Sequence[Player], guilty: Sequence[tuple[Color, Fault]], plies: int) -> Verdict:
    """Return the verdict of a game that ends by the faults of one side, or of both."""
    first, fault = guilty[0]
    result = GameResult.NEITHER if len(guilty) == 2 else GameResult.win(first.opponent)
    words = (f"{lost_by(players, color, fault.reason)}: {fault.text}" for color, fault in guilty)
    return Verdict(result, fault.reason, plies, "; ".join(words))
