"""Hints for bots that could not be started, or ended: by their exit status and standard error."""

import errno
import re

from arena.game.faults import Cause, Hint, Mistake, Unstartable
from arena.game.hints import REFUSED_PROCESS, ProgramLanguage, Seen
from arena.system.printable import printable
from protocol.conversation import Phase

QUOTED = 180
"""Characters of a bot's own words that a hint repeats: an error of the kit ends in what it had expected."""
NO_SUCH_PROGRAM = 127
"""The exit code of a shell, or of a sandbox, that does not find its program."""
SEGFAULT, BUS, DIVISION, ABORT, KILL, FILE_SIZE, LAST_SIGNAL = 11, 7, 8, 6, 9, 25, 64
EXIT_OF_SIGNALS = 128
"""Shells and sandboxes exit with this plus the number of the signal that killed their program."""

_PYTHON_ERROR = re.compile(r"^([A-Za-z_][\w.]*(?:Error|Exception|Warning|Interrupt|Exit|Iteration)?)(?::|$)")
_PYTHON_PLACE = re.compile(r'^\s*File "([^"]+)", line (\d+)', re.MULTILINE)
_OF_A_LIBRARY = re.compile(r"^<|/lib/python|/protocol/\w+\.py$")
"""Files of Python's own, and of the kit where it is not installed among these."""
_OTHER_ERRORS = (
    re.compile(r"Exception in thread \S+ (.+)"),  # Java
    re.compile(r"panicked at (?P<place>[^'\n]+:\d+:\d+):\n(.+)"),  # Rust
    re.compile(r"thread '[^']*'(?: \(\d+\))? panicked at (.+)"),  # Rust before 1.73, or without a message
    re.compile(r"^panic: (.+)", re.MULTILINE),  # Go
    re.compile(r"^fatal error: (.+)", re.MULTILINE),  # Go
    re.compile(r"^(?:Uncaught )?(\w*Error(?:: .+)?)$", re.MULTILINE),  # JavaScript
    re.compile(r"terminate called (.+)"),  # C++
    re.compile(r"(Assertion .+ failed)"),  # C
)
_PLACES = (
    re.compile(r"^\s+at (?!java\.|javax\.|jdk\.|sun\.).*\(([\w$]+\.java:\d+)\)", re.MULTILINE),
    re.compile(r"^\t(?!\S*/go[^/]*/src/|runtime/)\S*?([\w.-]+\.go:\d+)", re.MULTILINE),
    re.compile(r"^\s+at (?!.*\bnode:).*?([\w.-]+\.[cm]?[jt]s:\d+):\d+\)?$", re.MULTILINE),
)
"""The places of an error in a Java, Go or JavaScript program: the first one outside of a library."""
_MISSING = re.compile(
    r"No module named '?([\w.]+)|Cannot find module '([^']+)'|ClassNotFoundException: (\S+)"
    r"|Could not find or load main class (\S+)|error while loading shared libraries: ([^:\s]+)"
    r"|ImportError: cannot import name (\S+)"
)
_CARRIAGE_RETURN = re.compile(r"\r|env: [^\w\s]?\w[\w.]*(?:\\r|\\x0d)")
_FORBIDDEN = re.compile(r"permission ?denied|EACCES|read-only file ?system|EROFS", re.IGNORECASE)
_NO_NETWORK = re.compile(
    r"network is unreachable|name or service not known|name resolution|no such host"
    r"|\b(ENETUNREACH|EAI_AGAIN|ENOTFOUND|\w*\.?UnknownHostException)\b",
    re.IGNORECASE,
)
_NO_MEMORY = re.compile(
    r"\bMemoryError\b|OutOfMemoryError|bad_alloc|heap out of memory|cannot allocate memory|runtime: out of memory"
    r"|memory allocation of \d+ bytes failed",
    re.IGNORECASE,
)
_HEAP_OPTIONS = {"Java heap space": "-Xmx", "JavaScript heap out of memory": "--max-old-space-size"}
"""The options of runtimes that limit the heap, by the words of a runtime whose heap is full."""
_NO_PROCESS = re.compile(
    r"can't start new thread|unable to create native thread|failed to create new OS thread|cannot fork"
    r"|ERR_WORKER_INIT_FAILED"
    r"|(?:fork|thread|spawn|system_error)(?s:.{0,300})(?:resource temporarily unavailable|\bEAGAIN\b)",
    re.IGNORECASE,
)
_NO_FILE = re.compile(
    r"no such file|cannot open|can't open|could not open|\bENOENT\b|FileNotFound|NoSuchFile|os error 2\b", re.IGNORECASE
)
_OF_A_FILE = frozenset({Mistake.MISSING_MODULE, Mistake.NOT_FOUND, Mistake.WILD_POINTER})
"""Mistakes that a missing file may cause."""
_NOTHING_THERE = re.compile(r"empty|out of (?:range|bounds)", re.IGNORECASE)
UNWANTED = "; it is sent no legal actions, as it has not asked for them ('want legal'; with the kit, Want.LEGAL)"


def ended(seen: Seen) -> Hint | None:
    if seen.fault.cause is Cause.CLOSED_OUTPUT:
        return Hint(
            Mistake.CLOSED_OUTPUT,
            "its standard output must stay open until 'quit': something closed it or put another file in its place",
        )
    hint = _not_started(seen) or _surroundings(seen) or _by_signal(seen) or _by_words(seen) or _by_itself(seen)
    if not (_NO_FILE.search(seen.stderr) or (hint and hint.mistake in _OF_A_FILE)):
        return hint
    if seen.not_sent:
        return Hint(Mistake.NOT_SENT, _quoted(seen.not_sent) + (f"; {hint.text}" if hint else ""))
    for name, target in seen.links_out.items():
        if not seen.stderr.strip() or name.rpartition("/")[2] in seen.stderr:
            words = f"{_quoted(name)} is a link out of its folder, to {_quoted(target)}, where a sandbox shows nothing"
            return Hint(Mistake.LINKED_OUT, f"{words}: put the file itself into the folder")
    if hint and seen.is_confined and _NO_FILE.search(hint.text):
        return Hint(hint.mistake, f"{hint.text}; a sandbox shows it its own folder, and no other files of yours")
    return hint


def _not_started(seen: Seen) -> Hint | None:
    cause = seen.fault.cause
    if _CARRIAGE_RETURN.search(seen.stderr):
        return Hint(
            Mistake.CRLF_SCRIPT,
            "its first line (#!...) ends in a carriage return, as editors on Windows write it: save the file with "
            "LF line ends (sed -i 's/\\r$//' FILE)",
        )
    if seen.phase is not Phase.INTRODUCING:
        return None
    if cause == Unstartable(errno.ENOEXEC) or "cannot execute binary" in seen.stderr:
        return Hint(Mistake.NOT_A_PROGRAM, "this is no program for this machine: build it here, or add a #! line")
    if isinstance(cause, Unstartable) or seen.status == NO_SUCH_PROGRAM:
        return Hint(
            Mistake.NOT_FOUND,
            "the program that runs it was not found: check its #! line, its command and its PATH",
        )
    return None


def _surroundings(seen: Seen) -> Hint | None:
    errors = seen.stderr
    if match := _MISSING.search(errors):
        module = match[match.lastindex or 0]
        return Hint(
            Mistake.MISSING_MODULE,
            f"{_quoted(module)} was not found where the bot runs: {_of_the_kit(module)}bring it along in the "
            "bot's folder, or have the host name its installation (--interpreter)",
        )
    if _FORBIDDEN.search(errors) and ("Traceback" not in errors or _FORBIDDEN.search(errors.strip().splitlines()[-1])):
        confined = "in a sandbox no folder but /tmp itself can be written, not even its own"
        where = confined if seen.is_confined else "it may not write there"
        return Hint(Mistake.READ_ONLY, f"{where}: write logs and caches to /tmp, or to standard error")
    if re.search(r"no space left on device|file too large|ENOSPC|EFBIG", errors, re.IGNORECASE):
        return Hint(Mistake.READ_ONLY, "its files are larger than it may have in /tmp (--tmp is the limit)")
    if _NO_NETWORK.search(errors):
        where = "there is no network in a sandbox" if seen.is_confined else "it found no network, and needs none"
        return Hint(Mistake.NO_NETWORK, f"{where}: bring along what it needs")
    if _NO_PROCESS.search(errors):
        return REFUSED_PROCESS
    if _NO_MEMORY.search(errors):
        option = next((option for words, option in _HEAP_OPTIONS.items() if words in errors), None)
        limit = f"{option} in its command is the limit, within --memory" if option else "--memory is the limit"
        return Hint(Mistake.OUT_OF_MEMORY, f"it ran out of memory: make its tables smaller ({limit})")
    return None


def _of_the_kit(module: str) -> str:
    if module.partition(".")[0] == "protocol":
        return "the kit is in the Python that the arena is installed in (#!/usr/bin/env python3, or 'python3'), or "
    if "stratego" in module:
        return "the kit is 'from protocol.bot import Bot, run'; or "
    return ""


def _by_signal(seen: Seen) -> Hint | None:
    status = seen.status
    if status is None or EXIT_OF_SIGNALS >= status >= 0 or status > EXIT_OF_SIGNALS + LAST_SIGNAL:
        return None
    if status < 0:
        return _of_signal(-status, seen)
    hint = _of_signal(status - EXIT_OF_SIGNALS, seen)
    number = status - EXIT_OF_SIGNALS
    return Hint(hint.mistake, f"code {status} is 128 + {number}: if signal {number} killed it, {hint.text}")


def _of_signal(number: int, seen: Seen) -> Hint:
    if number in (SEGFAULT, BUS):
        words = (
            "it used memory that is not its own (a null or wild pointer, an index out of range, endless recursion): "
            "build it with -g -fsanitize=address to see where"
        )
        opened = "; fopen() of a file to write gives NULL in its own folder, but not in /tmp"
        return Hint(Mistake.WILD_POINTER, words + (opened if seen.is_confined else ""))
    if number == DIVISION:
        return Hint(Mistake.WILD_POINTER, "it divided a whole number by zero")
    if number == ABORT:
        said = _error_of_others(seen.stderr)
        return Hint(Mistake.ABORTED, f"it ended itself by abort(){f': {said}' if said else ''}")
    if number == FILE_SIZE:
        return Hint(Mistake.READ_ONLY, "it wrote a larger file than it may (--tmp is the limit)")
    if number == KILL:
        return Hint(Mistake.KILLED, "something killed it: the system when memory is short, or its own script")
    return Hint(Mistake.KILLED, "a signal that it does not handle ended it; the arena sends none before its time limit")


def _by_words(seen: Seen) -> Hint | None:
    errors = seen.stderr
    if "SyntaxError" in errors or "IndentationError" in errors:
        return Hint(Mistake.SYNTAX, f"the program has a syntax error{_python_place(errors)}")
    said = _python_error(errors) or _error_of_others(errors)
    if not said:
        return None
    asked = UNWANTED if seen.phase is Phase.THINKING and not seen.gets_legal and _NOTHING_THERE.search(said) else ""
    return Hint(Mistake.EXCEPTION, f"an exception that nothing caught: {said}{asked}")


def _python_error(errors: str) -> str:
    start = errors.rfind("Traceback (most recent call last)")
    if start < 0:
        return ""
    lines = [line for line in errors[start:].splitlines()[1:] if line and not line[0].isspace()]
    last = next((line for line in lines if _PYTHON_ERROR.match(line)), "")
    return f"{_quoted(last)}{_python_place(errors[start:])}" if last else ""


def _python_place(errors: str) -> str:
    places = _PYTHON_PLACE.findall(errors)
    own = [place for place in places if not _OF_A_LIBRARY.search(place[0])]
    if not (own or places):
        return ""
    name, line = (own or places)[-1]
    return f" ({_quoted(name.rpartition('/')[2])}, line {line})"


def _error_of_others(errors: str) -> str:
    """Return the error that a program in another language has printed, with its place."""
    for pattern in _OTHER_ERRORS:
        if match := pattern.search(errors):
            trace = errors[match.end() :]
            place = match.groupdict().get("place") or next(
                (found[1] for pattern in _PLACES if (found := pattern.search(trace))), ""
            )
            words = match[match.re.groups].strip().removesuffix(":")
            return _quoted(words) + (f" ({_quoted(place)})" if place else "")
    return ""


def _by_itself(seen: Seen) -> Hint | None:
    if seen.status == 0:
        loop = {
            ProgramLanguage.PYTHON: "read lines in a loop (for line in sys.stdin)",
            ProgramLanguage.SHELL: "read lines in a loop (while read -r line)",
            ProgramLanguage.JAVASCRIPT: "keep reading standard input",
        }.get(seen.language, "read lines in a loop")
        is_new = seen.language is ProgramLanguage.PYTHON and seen.phase is Phase.INTRODUCING
        kit = "; with the kit, end the file with run(CLASS), the class of the bot" if is_new else ""
        words = f"its main program came to its end: {loop}, until 'quit' or the end of its input{kit}"
        return Hint(Mistake.ENDED_EARLY, words)
    if seen.status is None:
        return None
    said = seen.stderr.strip().splitlines()
    what = f"the last line on standard error: {_quoted(said[-1])}" if said else "nothing on standard error"
    where = {Phase.INTRODUCING: "before 'ready'", Phase.SETTING_UP: "when it was to set up"}
    return Hint(Mistake.EXITED, f"it ended itself {where.get(seen.phase, 'in the middle of a game')}; {what}")


def _quoted(text: str) -> str:
    return "".join(c if " " <= c <= "~" else "?" for c in printable(text, QUOTED))
