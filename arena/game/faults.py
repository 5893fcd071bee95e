"""What a side can do wrong, as values and in words for its author, and the verdict that follows from it."""

from collections.abc import Sequence
from typing import NamedTuple

from arena.game.spec import Player
from arena.game.time_control import TimeControl
from arena.game.verdict import GameResult, Verdict
from arena.rules.events import IllegalActionError, Rule
from arena.system.printable import printable
from protocol.conversation import Phase
from protocol.notation import Color, Reason

MAX_FAULT = 500
"""Characters of a fault that are told: a bot's own words, its file names and its arguments may be in it."""


class Illegal(NamedTuple):
    """A well-formed action that the rules do not allow, and the rule that it breaks."""

    action: str
    rule: Rule


class Fault(NamedTuple):
    """What a side did wrong: the reason it loses for, and the words for its author.

    `cause` has the data of those words, for hints; a fault that is read from a record has none.
    """

    reason: Reason
    text: str
    cause: Illegal | None = None

    @property
    def shown(self) -> "Fault":
        """The fault as it goes into records and to terminals: whatever a bot has put into its words, printable and
        short."""
        return self._replace(text=printable(self.text, MAX_FAULT))

    @property
    def ascii(self) -> str:
        """The words as they can be sent to the bot."""
        return "".join(c if " " <= c <= "~" else "?" for c in self.text)


OVERRUN = {Phase.INTRODUCING: Reason.NO_START, Phase.SETTING_UP: Reason.SETUP_TIMEOUT}
"""What a side loses by whose time is over in this phase; in all others, `TIMEOUT`."""


def late(phase: Phase, time: TimeControl, budget_ms: int, ply: int, seconds: float) -> Fault:
    """A side did not answer in time: it had `budget_ms` for the move if it was to make one, and took so many
    seconds."""
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
    """The fault of a side that was late with a move, and how much processor time it had in that turn: who reads the
    record can tell a bot that thought for too long from one that waited, or that the machine kept waiting."""
    return fault._replace(text=f"{fault.text}, with {used_us / 1000:.0f} ms of processor time")


def illegal(ply: int, action: str, error: IllegalActionError) -> Fault:
    """A side wants to play what the rules do not allow."""
    return Fault(Reason.ILLEGAL_ACTION, f"ply {ply}: {error}", Illegal(action, error.rule))


def stalled(phase: Phase) -> Fault:
    """A side did not read what it was sent before its time was over."""
    return Fault(OVERRUN.get(phase, Reason.TIMEOUT), "the bot did not read what it was sent")


def gone(phase: Phase, how: str, *, exited: bool) -> Fault:
    """A side's output has ended: `how` in words; `exited` tells a dead process from a closed output."""
    if phase is Phase.INTRODUCING:
        return Fault(Reason.NO_START, f"expected 'ready', but the bot {how}")
    return Fault(Reason.CRASH if exited else Reason.PROTOCOL, f"the bot {how}")


def named(players: Sequence[Player], color: Color) -> str:
    """A side in words: its colour, and who plays it."""
    return f"{color.word} ({players[color].name})"


def lost_by(players: Sequence[Player], loser: Color | None, reason: Reason) -> str:
    """How a game ended, in words; no loser: a draw."""
    return f"drawn: {reason.sentence}" if loser is None else f"{named(players, loser)} {reason.sentence}"


def forfeit(players: Sequence[Player], guilty: Sequence[tuple[Color, Fault]], plies: int) -> Verdict:
    """The verdict of a game that ends by the faults of one side, or of both."""
    first, fault = guilty[0]
    result = GameResult.NEITHER if len(guilty) == 2 else GameResult.win(first.opponent)
    words = (f"{lost_by(players, color, fault.reason)}: {fault.text}" for color, fault in guilty)
    return Verdict(result, fault.reason, plies, "; ".join(words))
