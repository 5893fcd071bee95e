"""The probable mistake behind a fault, and advice for the bot's author.

A hint follows from the typed cause of a fault (`arena.game.faults`), from observations of the bot (`Seen`), and from
the bot's own words. It may be wrong, and is marked as a hint.
"""

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from arena.game import Game, State
from arena.game.faults import Fault, Hint, Mistake
from protocol.conversation import Phase


class ProgramLanguage(enum.Enum):
    """The language of a bot, as its files and its command show it."""

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
    WAITS_FOR_INPUT = "waits for input"
    WAITS_TO_WRITE = "waits to write"
    WAITS = "waits for something else"
    RUNS = "runs"
    STOPPED = "is stopped"
    UNKNOWN = "unknown"


class Probe(NamedTuple):
    """The output of a silent bot after further input, which `arena.check` sends after its time is up.

    The input is a comment, the request again, `quit`, and the end of the input.
    """

    after_line: bytes = b""
    after_again: bytes = b""
    after_quit: bytes = b""
    after_end: bytes = b""


class TurnUse(NamedTuple):
    """The use of a turn by a bot: seconds since it began, and microseconds of processor time."""

    seconds: float
    used_us: int

    @property
    def is_idle(self) -> bool:
        return self.used_us < 1000

    @property
    def is_starved(self) -> bool:
        """Whether the bot had a processor for less than half of that time."""
        return self.used_us < self.seconds * 1_000_000 / 2


class Seen(NamedTuple):
    """Observations of a bot when its fault was found."""

    phase: Phase
    fault: Fault
    language: ProgramLanguage = ProgramLanguage.UNKNOWN
    stderr: str = ""
    status: int | None = None
    """The exit code of its process, or the negated number of the signal that killed it."""
    activity: Activity = Activity.UNKNOWN
    has_unread: bool = False
    has_closed_input: bool = False
    has_ended: bool = False
    answered: bool = False
    """Whether it had sent a line since the last output of the arena."""
    is_late: bool = False
    """Whether an answer came after its time was up."""
    unfinished: bytes = b""
    kind: Game | None = None
    """The game that is played."""
    state: State | None = None
    rows: tuple[str, ...] = ()
    setups: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    actions: tuple[str, ...] = ()
    gets_legal: bool = False
    is_confined: bool = False
    not_sent: str = ""
    """Files of the bot that are not on this machine, in words."""
    links_out: Mapping[str, str] = MappingProxyType({})
    """Files of the bot that a sandbox does not show, with the targets of their links."""
    probe: Probe | None = None
    turn: TurnUse | None = None
    """Resources used in the lost turn, if known."""


WANT_LEGAL = "'want legal' before 'ready' has its legal actions sent before each 'turn'"
REFUSED_PROCESS = Hint(
    Mistake.TOO_MANY_PROCESSES,
    "the system refused it one more thread or process (--processes is the limit): set the size of thread pools, "
    "which often have a thread for each CPU, and wait for children that have ended",
)

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
"""How to flush an answer from the program's own buffer."""

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
"""How to print debugging output."""

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
"""How to read one line."""

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
"""How to end a line."""
