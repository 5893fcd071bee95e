"""Faults of a side: the typed cause, the words for its author, the hint at its probable mistake; and verdicts."""

import enum
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from arena.errors import IllegalAnswerError
from arena.game.game_spec import Player
from arena.game.time_control import TimeControl
from arena.system.printable import printable
from protocol.conversation import Phase
from protocol.lines import RemoteProtocolError, Slip
from protocol.seats import Color, Reason

MAX_FAULT = 500
"""Characters of a fault, which may contain a bot's own words, file names and arguments."""
MARK = "; hint: "
"""The separator of a fault and its hint in one line."""
LONGEST_HINT = 300


class Illegal(msgspec.Struct, frozen=True, tag="illegal", omit_defaults=True):
    """A well-formed action that the rules do not allow, and the name of the rule that it breaks, if it has one."""

    action: str
    rule: str = ""


class Malformed(msgspec.Struct, frozen=True, tag="malformed"):
    """A line that the protocol does not allow; of an unexpected message, only its verb."""

    slip: Slip
    line: str


class Unstartable(msgspec.Struct, frozen=True, tag="unstartable"):
    """A program that cannot be started; `errno` is the system's error number."""

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


class Mistake(enum.Enum):
    NO_FLUSH = "no-flush"
    UNANSWERED = "unanswered"
    NO_READY = "no-ready"
    NO_NEWLINE = "no-newline"
    READS_AHEAD = "reads-ahead"
    SEVERAL_LINES = "several-lines"
    NOT_READING = "not-reading"
    SLOW_START = "slow-start"
    SLOW_SETUP = "slow-setup"
    SLOW_MOVE = "slow-move"
    SLEEPS = "sleeps"
    STARVED = "starved"
    STOPPED = "stopped"
    BLOCKED_WRITING = "blocked-writing"

    CRLF_SCRIPT = "crlf-script"
    NOT_FOUND = "not-found"
    NOT_A_PROGRAM = "not-a-program"
    MISSING_MODULE = "missing-module"
    NOT_SENT = "not-sent"
    LINKED_OUT = "linked-out"
    READ_ONLY = "read-only"
    NO_NETWORK = "no-network"
    OUT_OF_MEMORY = "out-of-memory"
    SYNTAX = "syntax"
    EXCEPTION = "exception"
    WILD_POINTER = "wild-pointer"
    ABORTED = "aborted"
    KILLED = "killed"
    ENDED_EARLY = "ended-early"
    EXITED = "exited"
    CLOSED_OUTPUT = "closed-output"

    DEBUG_OUTPUT = "debug-output"
    OTHER_PROTOCOL = "other-protocol"
    NOT_ASCII = "not-ascii"
    SPACES = "spaces"
    UPPER_CASE = "upper-case"
    NO_VERB = "no-verb"
    WANTED = "wanted"
    ACTION_FORM = "action-form"
    SHORT_SETUP = "short-setup"
    WRONG_ARMY = "wrong-army"
    TOO_LONG = "too-long"
    FLOOD = "flood"
    RESIGNED = "resigned"
    TWO_ANSWERS = "two-answers"
    UNASKED = "unasked"
    ANSWERED_RESTORE = "answered-restore"

    SQUARES_REVERSED = "squares-reversed"
    ROWS_REVERSED = "rows-reversed"
    OTHER_SIDE = "other-side"
    ENEMY_PIECE = "enemy-piece"
    RANKS_AND_FILES = "ranks-and-files"
    REPETITION = "repetition"
    STALE_ACTION = "stale-action"
    RULES = "rules"

    TOO_MUCH_MEMORY = "too-much-memory"
    TOO_MANY_PROCESSES = "too-many-processes"
    PONDERED = "pondered"


class Hint(msgspec.Struct, frozen=True):
    """A probable mistake, and a sentence for the bot's author in plain ASCII."""

    mistake: Mistake
    text: str


class Fault(msgspec.Struct, frozen=True, omit_defaults=True):
    """A mistake of a side, as records have it: the reason for its loss, and the words and a hint for its author.

    `cause` has the data of those words. A fault whose reason says it all has none.
    """

    reason: Reason
    text: str
    cause: Illegal | Malformed | Unstartable | Cause | None = None
    hint: Hint | None = None

    @property
    def shown(self) -> "Fault":
        """The fault with its words printable and short, for records and terminals."""
        cause, hint = self.cause, self.hint
        if isinstance(cause, Malformed):
            cause = replace(cause, line=printable(cause.line, MAX_FAULT))
        if hint:
            hint = replace(hint, text=printable(hint.text[:LONGEST_HINT]))
        return replace(self, text=printable(self.text, MAX_FAULT), cause=cause, hint=hint)

    @property
    def words(self) -> str:
        """The fault and its hint in one line."""
        return self.text + MARK + self.hint.text if self.hint else self.text

    @property
    def ascii(self) -> str:
        return "".join(c if " " <= c <= "~" else "?" for c in self.words)


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
    return replace(fault, text=f"{fault.text}, with {used_us / 1000:.0f} ms of processor time")


def illegal(ply: int, action: str, error: IllegalAnswerError) -> Fault:
    words = str(error).removeprefix(f"{action}: ")
    rule = "" if error.rule is None else str(error.rule.value)
    return Fault(Reason.ILLEGAL_ACTION, tried(ply, action) + words, Illegal(action, rule))


def tried(ply: int, action: str) -> str:
    """Return the start of the words on an illegal action."""
    return f"ply {ply}: {action}: "


def malformed(error: RemoteProtocolError) -> Fault:
    return Fault(Reason.PROTOCOL, str(error), Malformed(error.slip, error.line))


def stalled(phase: Phase) -> Fault:
    return Fault(OVERRUN.get(phase, Reason.TIMEOUT), "the bot did not read what it was sent", Cause.STALLED)


def over_limit(excess: Excess) -> Fault:
    return Fault(Reason.OVER_LIMIT, f"the bot {excess.words}", excess.cause)


def gone(phase: Phase, how: str, *, exited: bool) -> Fault:
    """Return the fault of a side if its process has `exited`, or only its output has ended; `how` in words."""
    cause = None if exited else Cause.CLOSED_OUTPUT
    if phase is Phase.INTRODUCING:
        return Fault(Reason.NO_START, f"expected 'ready', but the bot {how}", cause)
    return Fault(Reason.CRASH if exited else Reason.PROTOCOL, f"the bot {how}", cause)


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
