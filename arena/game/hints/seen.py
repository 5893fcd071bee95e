"""What was seen of a bot when its fault was found, what a hint is, and the words of an author's language."""

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from arena.game.faults import Fault
from protocol.conversation import Phase

if TYPE_CHECKING:
    from arena.rules.game import Game


class ProgramLanguage(enum.Enum):
    """What a bot is written in, as far as its files and its command show."""

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
    """A hint in one word, for JSON."""

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


class Hint(NamedTuple):
    """What probably went wrong: the mistake, and a sentence for the bot's author in plain ASCII."""

    mistake: Mistake
    text: str


class Probe(NamedTuple):
    """What a silent bot wrote after further questions, which `arena.check` asks once its time is up.

    The questions are a comment, the line that asks for its answer again, `quit`, and the end of its input.
    """

    after_line: bytes = b""
    after_again: bytes = b""
    after_quit: bytes = b""
    after_end: bytes = b""


class TurnUse(NamedTuple):
    """What a bot has used of a turn: seconds since it began, and microseconds of processor time."""

    seconds: float
    used_us: int

    @property
    def is_idle(self) -> bool:
        """Whether it used no processor time, in whole milliseconds."""
        return self.used_us < 1000

    @property
    def is_starved(self) -> bool:
        """Whether the bot had a processor for less than half of that time."""
        return self.used_us < self.seconds * 1_000_000 / 2


class Seen(NamedTuple):
    """What was seen of a bot when its fault was found."""

    phase: Phase
    fault: Fault
    language: ProgramLanguage = ProgramLanguage.UNKNOWN
    stderr: str = ""
    status: int | None = None
    """The code that its process exited with, or the number of the signal that killed it, as a negative number."""
    activity: Activity = Activity.UNKNOWN
    has_unread: bool = False
    """Whether some of its input had not been read."""
    has_closed_input: bool = False
    has_ended: bool = False
    """Whether its process or its output had ended."""
    answered: bool = False
    """Whether it had sent a line since the arena last wrote to it."""
    is_late: bool = False
    """Whether an answer came when its time was up."""
    unfinished: bytes = b""
    game: "Game | None" = None
    rows: tuple[str, ...] = ()
    """Its own set-up."""
    setups: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    actions: tuple[str, ...] = ()
    gets_legal: bool = False
    """Whether it is sent its legal actions."""
    is_confined: bool = False
    """Whether a sandbox holds it."""
    not_sent: str = ""
    """Which of its files are not on this machine, in words."""
    links_out: Mapping[str, str] = MappingProxyType({})
    """Those of its files that a sandbox does not show, with what they link to."""
    probe: Probe | None = None
    turn: TurnUse | None = None
    """What it has used of the turn that it lost, where that is known."""


WANT_LEGAL = "'want legal' before 'ready' has its legal actions sent before each 'turn'"

FLUSH: Mapping[ProgramLanguage, str] = {
    ProgramLanguage.PYTHON: "print(..., flush=True)",
    ProgramLanguage.C: "fflush(stdout) after each answer, or setvbuf(stdout, NULL, _IOLBF, 0) at the start",
    ProgramLanguage.CPP: "std::cout << answer << std::endl, or << std::flush",
    ProgramLanguage.RUST: "std::io::stdout().flush() after each answer",
    ProgramLanguage.GO: "Flush() of the bufio.Writer after each answer",
    ProgramLanguage.JAVA: "System.out.flush() after each answer, or new PrintWriter(System.out, true)",
    ProgramLanguage.JAVASCRIPT: "process.stdout.write(answer + '\\n') at once, for each answer",
    ProgramLanguage.SHELL: "stdbuf -oL before the program that prints, or its own option (sed -u, awk's fflush())",
    ProgramLanguage.UNKNOWN: "flush standard output after each answer",
}
"""How an answer is brought out of the program's own buffer."""

DEBUG: Mapping[ProgramLanguage, str] = {
    ProgramLanguage.PYTHON: "print(..., file=sys.stderr)",
    ProgramLanguage.C: "fprintf(stderr, ...)",
    ProgramLanguage.CPP: "std::cerr << ...",
    ProgramLanguage.RUST: "eprintln!(...)",
    ProgramLanguage.GO: "fmt.Fprintln(os.Stderr, ...)",
    ProgramLanguage.JAVA: "System.err.println(...)",
    ProgramLanguage.JAVASCRIPT: "console.error(...)",
    ProgramLanguage.SHELL: "echo ... >&2",
    ProgramLanguage.UNKNOWN: "a print to standard error",
}
"""How something is printed that is not for the arena."""

READ: Mapping[ProgramLanguage, str] = {
    ProgramLanguage.PYTHON: "sys.stdin.readline()",
    ProgramLanguage.C: "fgets(line, sizeof line, stdin)",
    ProgramLanguage.CPP: "std::getline(std::cin, line)",
    ProgramLanguage.RUST: "stdin().read_line(&mut line)",
    ProgramLanguage.GO: "scanner.Scan()",
    ProgramLanguage.JAVA: "reader.readLine()",
    ProgramLanguage.JAVASCRIPT: "readline's 'line' event",
    ProgramLanguage.SHELL: "read -r line",
    ProgramLanguage.UNKNOWN: "with a call that returns at each line end",
}
"""How one line is read."""

NEWLINE: Mapping[ProgramLanguage, str] = {
    ProgramLanguage.PYTHON: "print(answer, flush=True), or write(answer + '\\n')",
    ProgramLanguage.C: 'printf("move %s\\n", action)',
    ProgramLanguage.CPP: "std::cout << answer << std::endl",
    ProgramLanguage.RUST: "println!, not print!",
    ProgramLanguage.GO: "fmt.Println, not fmt.Print",
    ProgramLanguage.JAVA: "println, not print",
    ProgramLanguage.JAVASCRIPT: "process.stdout.write(answer + '\\n')",
    ProgramLanguage.SHELL: "printf '%s\\n', or echo without -n",
    ProgramLanguage.UNKNOWN: "write \\n after each answer",
}
"""How a line is ended."""
