"""What was seen of a bot when its fault was found, and what a hint is."""

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # a league loads this module and no engine
    from arena.game.faults import Fault
    from arena.rules.game import Game
    from protocol.conversation import Phase


class Language(enum.Enum):
    """What a bot is written in, as far as its files and its command tell."""

    PYTHON = "Python"
    C = "C"
    CPP = "C++"
    RUST = "Rust"
    GO = "Go"
    JAVA = "Java"
    JAVASCRIPT = "JavaScript"
    SHELL = "shell"
    UNKNOWN = "unknown"


class Activity(enum.Enum):
    """What a bot's processes were doing at a moment."""

    WAITS_FOR_INPUT = "waits for input"
    WAITS_TO_WRITE = "waits to write"
    WAITS = "waits for something else"
    RUNS = "runs"
    STOPPED = "is stopped"
    UNKNOWN = "unknown"


class Mistake(enum.Enum):
    """What a hint says in one word: for JSON, and for tests."""

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
    FLOODS_STDERR = "floods-stderr"
    BLOCKED_WRITING = "blocked-writing"
    ONLY_NOTES = "only-notes"

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
    NUL_BYTE = "nul-byte"
    SPACES = "spaces"
    UPPER_CASE = "upper-case"
    NO_VERB = "no-verb"
    ARENAS_VERB = "arenas-verb"
    WANTED = "wanted"
    PASSED = "passed"
    ACTION_FORM = "action-form"
    CUT_OFF = "cut-off"
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
    FILES_REVERSED = "files-reversed"
    OTHER_SIDE = "other-side"
    ENEMY_PIECE = "enemy-piece"
    RANKS_AND_FILES = "ranks-and-files"
    REPETITION = "repetition"
    STALE_ACTION = "stale-action"
    RULES = "rules"

    TOO_MUCH_MEMORY = "too-much-memory"
    TOO_MANY_PROCESSES = "too-many-processes"
    PONDERED = "pondered"


class Hint(NamedTuple):
    """What probably went wrong: the mistake, and a sentence for its author, printable and in plain ASCII."""

    mistake: Mistake
    text: str


class Probe(NamedTuple):
    """What a silent bot did when it was asked a little more, after its time was up: `arena.check` does that.

    Each is whatever it wrote: after a further line that means nothing, after the line that asks had come again, alone,
    after `quit`, and after its input had ended.
    """

    after_line: bytes = b""
    after_again: bytes = b""
    after_quit: bytes = b""
    after_end: bytes = b""


class Turn(NamedTuple):
    """What a bot has used of a turn: seconds since it began, and microseconds of processor time."""

    seconds: float
    used_us: int

    @property
    def is_idle(self) -> bool:
        """Whether it used no processor time, in whole milliseconds."""
        return self.used_us < 1000

    @property
    def is_starved(self) -> bool:
        """Whether it had a processor for less than half of that time."""
        return self.used_us < self.seconds * 1_000_000 / 2


class Seen(NamedTuple):
    """What was seen of a bot when its fault was found.

    `answered` says whether it had sent a line since the arena last wrote to it, `is_late` whether one has come when its
    time was up. `has_unread` says whether some of its input had not been read, `has_closed_input` whether nothing of it
    can be any more, `has_ended` whether its process or its output had ended. `is_confined` says whether a sandbox held
    it, `gets_legal` whether it is sent its legal actions. `not_sent` says what of its files is not on this machine;
    `links_out` are those of them that a sandbox does not show, with what they link to.
    `game` is the position, once there is one, `rows` its own set-up; `setups` are those of both, and `actions` what has
    been played since. `turn` is what it has used of the turn that it lost, where that can be told.
    """

    phase: "Phase"
    fault: "Fault"
    language: Language = Language.UNKNOWN
    stderr: str = ""
    activity: Activity = Activity.UNKNOWN
    has_unread: bool = False
    has_closed_input: bool = False
    has_ended: bool = False
    answered: bool = False
    is_late: bool = False
    unfinished: bytes = b""
    game: "Game | None" = None
    rows: tuple[str, ...] = ()
    setups: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    actions: tuple[str, ...] = ()
    gets_legal: bool = False
    is_confined: bool = False
    not_sent: str = ""
    links_out: Mapping[str, str] = MappingProxyType({})
    probe: Probe | None = None
    turn: Turn | None = None
