"""Why a bot could not be started, or ended by itself."""

import re

from arena.game.hints.values import Hint, Language, Mistake, Seen
from arena.system.printable import printable
from protocol.conversation import Phase
from protocol.notation import Reason

QUOTED = 180
"""Characters of a bot's own words that a hint repeats: an error of the kit's ends in what it had expected."""

_PYTHON_ERROR = re.compile(r"^([A-Za-z_][\w.]*(?:Error|Exception|Warning|Interrupt|Exit|Iteration)?)(?::|$)")
_PYTHON_PLACE = re.compile(r'^\s*File "([^"]+)", line (\d+)', re.MULTILINE)
_OF_A_LIBRARY = re.compile(r"^<|/lib/python|/protocol/bot(?:_codec)?\.py$")
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
"""Where in the bot's own files an error was, in Java, Go and JavaScript: the first place that is no library's."""
_SIGNAL = re.compile(r"was killed by signal (\d+)")
_EXIT_OF_SIGNAL = re.compile(r"exited with code (1(?:29|[3-8]\d|9[0-2]))\b")
"""An exit with 128 plus the number of a signal, as of a shell or a sandbox whose program was killed by it."""
_MISSING = (
    re.compile(r"No module named '?([\w.]+)"),
    re.compile(r"Cannot find module '([^']+)'"),
    re.compile(r"ClassNotFoundException: (\S+)"),
    re.compile(r"Could not find or load main class (\S+)"),
    re.compile(r"error while loading shared libraries: ([^:\s]+)"),
    re.compile(r"ImportError: cannot import name (\S+)"),
)
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
_NOTHING_THERE = re.compile(r"empty|out of (?:range|bounds)", re.IGNORECASE)
UNWANTED = "; it is sent no legal actions, as it has not asked for them ('want legal'; with the kit, Want.LEGAL)"
"""Said of a bot that looked for an action in a list with nothing in it."""
_NO_FILE = re.compile(
    r"no such file|cannot open|can't open|could not open|\bENOENT\b|FileNotFound|NoSuchFile|os error 2\b", re.IGNORECASE
)
_OF_A_FILE = frozenset({Mistake.MISSING_MODULE, Mistake.NOT_FOUND, Mistake.WILD_POINTER})
"""What a file that is not there may lead to, whatever the bot says of it."""
EXIT_OF_SIGNALS = 128
SEGFAULT, ABORT, KILL, FLOATING, BUS, FILE_SIZE = 11, 6, 9, 8, 7, 25


def ended(seen: Seen) -> Hint | None:
    """A bot could not be started, its process has ended, or its output has."""
    if "closed its standard output" in seen.fault.text:
        return Hint(
            Mistake.CLOSED_OUTPUT,
            "its standard output must stay open until 'quit': something closed it or put another file in its place",
        )
    hint = _not_started(seen) or _surroundings(seen) or _by_signal(seen) or _by_words(seen) or _by_itself(seen)
    if not (_NO_FILE.search(seen.stderr) or (hint and hint.mistake in _OF_A_FILE)):
        return hint
    if seen.not_sent:
        return Hint(Mistake.NOT_SENT, _quoted(seen.not_sent) + (f"; {hint.text}" if hint else ""))
    return _linked_out(seen) or hint


def _linked_out(seen: Seen) -> Hint | None:
    """A sandbox shows nothing behind a link that the bot names, or, if it says nothing, may have tried to open."""
    for name, target in seen.links_out.items():
        if not seen.stderr.strip() or name.rpartition("/")[2] in seen.stderr:
            words = f"{_quoted(name)} is a link out of its folder, to {_quoted(target)}, where a sandbox shows nothing"
            return Hint(Mistake.LINKED_OUT, f"{words}: put the file itself into the folder")
    return None


def _not_started(seen: Seen) -> Hint | None:
    text, errors = seen.fault.text, seen.stderr
    if r"\r" in text or "\r" in errors or re.search(r"env: [^\w\s]?\w[\w.]*(?:\\r|\\x0d)", errors):
        return Hint(
            Mistake.CRLF_SCRIPT,
            "its first line (#!...) ends in a carriage return, as editors on Windows write it: save the file with "
            "LF line ends (sed -i 's/\\r$//' FILE)",
        )
    if seen.fault.reason is not Reason.NO_START:
        return None
    if "Exec format error" in text or "cannot execute binary" in errors:
        return Hint(Mistake.NOT_A_PROGRAM, "this is no program for this machine: build it here, or add a #! line")
    if "cannot run" in text or re.search(r"(?:exited with code 127\b)", text):
        return Hint(
            Mistake.NOT_FOUND,
            "a program that it is run by is not there: look at its #! line, its command and the PATH it gets",
        )
    return None


def _surroundings(seen: Seen) -> Hint | None:
    """What it did not find, or may not do, where it runs."""
    errors = seen.stderr
    for pattern in _MISSING:
        if match := pattern.search(errors):
            return Hint(
                Mistake.MISSING_MODULE,
                f"{_quoted(match[1])} is not to be found where it runs: {_of_the_kit(match[1])}bring it along in the "
                "bot's folder, or have the host name its installation (--interpreter)",
            )
    if seen.is_confined and re.search(r"read-only file ?system|EROFS", errors, re.IGNORECASE):
        return Hint(
            Mistake.READ_ONLY,
            "its own folder cannot be written in a sandbox: write logs and caches to /tmp, or to standard error",
        )
    if re.search(
        r"permission ?denied|EACCES|read-only file ?system|EROFS", errors, re.IGNORECASE
    ) and not _is_traceback_of_another(errors):
        return Hint(Mistake.READ_ONLY, "it may not write there: write logs and caches to /tmp, or to standard error")
    if re.search(r"no space left on device|file too large|ENOSPC|EFBIG", errors, re.IGNORECASE):
        return Hint(Mistake.READ_ONLY, "its files are larger than it may have in /tmp (--tmp is the limit)")
    if _NO_NETWORK.search(errors):
        where = (
            "there is no network in a sandbox" if seen.is_confined else "it found no network, and needs none to play"
        )
        return Hint(Mistake.NO_NETWORK, f"{where}: bring along what it needs")
    if _NO_MEMORY.search(errors):
        return Hint(Mistake.OUT_OF_MEMORY, "it ran out of memory: make its tables smaller (--memory is the limit)")
    return None


def _of_the_kit(module: str) -> str:
    if module.partition(".")[0] == "protocol":
        return "the kit is in the Python that the arena is installed in (#!/usr/bin/env python3, or 'python3'), or "
    if "stratego" in module:
        return "the kit is 'from protocol.bot import Bot, run'; or "
    return ""


def _is_traceback_of_another(errors: str) -> bool:
    last = errors.strip().splitlines()[-1:] or [""]
    return "Traceback" in errors and "permission" not in last[0].lower()


def _by_signal(seen: Seen) -> Hint | None:
    text = seen.fault.text
    if match := _SIGNAL.search(text):
        return _of_signal(int(match[1]), seen)
    if match := _EXIT_OF_SIGNAL.search(text):
        number = int(match[1]) - EXIT_OF_SIGNALS
        hint = _of_signal(number, seen)
        words = f"code {match[1]} is 128 + {number}: if signal {number} killed it, {hint.text}"
        return Hint(hint.mistake, words)
    return None


def _of_signal(number: int, seen: Seen) -> Hint:
    if number in (SEGFAULT, BUS):
        opened = (
            "; fopen() of a file to write gives NULL in its own folder, but not in /tmp" if seen.is_confined else ""
        )
        return Hint(
            Mistake.WILD_POINTER,
            "it used memory that is not its own (a null or wild pointer, an index out of range, endless recursion): "
            f"build it with -g -fsanitize=address to see where{opened}",
        )
    if number == FLOATING:
        return Hint(Mistake.WILD_POINTER, "it divided a whole number by zero")
    if number == ABORT:
        said = _error_of_others(seen.stderr)
        return Hint(Mistake.ABORTED, f"it ended itself by abort(){f': {said}' if said else ''}")
    if number == KILL:
        return Hint(Mistake.KILLED, "something killed it: the system when memory is short, or its own script")
    if number == FILE_SIZE:
        return Hint(Mistake.READ_ONLY, "it wrote a larger file than it may (--tmp is the limit)")
    return Hint(Mistake.KILLED, "a signal that it does not handle ended it; the arena sends none before its time is up")


def _by_words(seen: Seen) -> Hint | None:
    """What it has said itself."""
    errors = seen.stderr
    if "SyntaxError" in errors or "IndentationError" in errors:
        return Hint(Mistake.SYNTAX, f"the program has a syntax error{_python_place(errors)}")
    said = _python_error(errors) or _error_of_others(errors)
    if said:
        asked = UNWANTED if seen.phase is Phase.THINKING and not seen.gets_legal and _NOTHING_THERE.search(said) else ""
        return Hint(Mistake.EXCEPTION, f"an exception that nothing caught: {said}{asked}")
    return None


def _python_error(errors: str) -> str:
    start = errors.rfind("Traceback (most recent call last)")
    if start < 0:
        return ""
    lines = [line for line in errors[start:].splitlines()[1:] if line and not line[0].isspace()]
    last = next((line for line in lines if _PYTHON_ERROR.match(line)), "")
    return f"{_quoted(last)}{_python_place(errors[start:])}" if last else ""


def _python_place(errors: str) -> str:
    """Where in the bot's own files it was: the last place that is no library's."""
    places = _PYTHON_PLACE.findall(errors)
    own = [place for place in places if not _OF_A_LIBRARY.search(place[0])]
    if not (own or places):
        return ""
    name, line = (own or places)[-1]
    return f" ({_quoted(name.rpartition('/')[2])}, line {line})"


def _error_of_others(errors: str) -> str:
    for pattern in _OTHER_ERRORS:
        if match := pattern.search(errors):
            groups = match.groupdict()
            words = match[match.re.groups].strip().removesuffix(":")
            place = groups.get("place") or _place_of_others(errors[match.end() :])
            return _quoted(words) + (f" ({_quoted(place)})" if place else "")
    return ""


def _place_of_others(trace: str) -> str:
    return next((match[1] for pattern in _PLACES if (match := pattern.search(trace))), "")


def _by_itself(seen: Seen) -> Hint | None:
    """It has left no word of why."""
    text = seen.fault.text
    if "exited with code 0" in text:
        return Hint(
            Mistake.ENDED_EARLY,
            f"its main program came to its end: {_loop(seen)}, until 'quit' or the end of its input"
            f"{_with_the_kit(seen)}",
        )
    if "exited with code" in text:
        said = seen.stderr.strip().splitlines()
        what = f"its last words were: {_quoted(said[-1])}" if said else "it left no word on standard error"
        where = {Phase.INTRODUCING: "before 'ready'", Phase.SETTING_UP: "when it was to set up"}
        return Hint(Mistake.EXITED, f"it ended itself {where.get(seen.phase, 'in the middle of a game')}; {what}")
    return None


def _loop(seen: Seen) -> str:
    by_language = {
        Language.PYTHON: "read lines in a loop (for line in sys.stdin)",
        Language.SHELL: "read lines in a loop (while read -r line)",
        Language.JAVASCRIPT: "keep reading standard input",
    }
    return by_language.get(seen.language, "read lines in a loop")


def _with_the_kit(seen: Seen) -> str:
    """What a bot in Python may lack that has not said anything: whether it has the kit cannot be seen of it."""
    if seen.language is not Language.PYTHON or seen.phase is not Phase.INTRODUCING:
        return ""
    return "; with the kit, end the file with run(CLASS), the class of the bot"


def _quoted(text: str) -> str:
    """A bot's own words in a hint: plain ASCII and short."""
    return "".join(c if " " <= c <= "~" else "?" for c in printable(text, QUOTED))
