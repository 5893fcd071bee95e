"""Hints for bots that did not answer in time, and for wrong lines, whatever the game."""

import re

from arena.game.faults import Cause, Hint, Mistake
from arena.game.hints import (
    DEBUG,
    FLUSH,
    NEWLINE,
    READ,
    REFUSED_PROCESS,
    WANT_LEGAL,
    Activity,
    Probe,
    ProgramLanguage,
    Seen,
)
from protocol.conversation import Phase
from protocol.lines import Slip

AWAITED = {Phase.INTRODUCING: "ready", Phase.SETTING_UP: "setup", Phase.THINKING: "move"}
"""The verb of the expected answer in each phase."""
ASKS = {Phase.INTRODUCING: "hello", Phase.SETTING_UP: "setup", Phase.THINKING: "turn"}
"""The line that requests the answer."""
_SLEPT_OR_KEPT_OFF = "perhaps it slept or waited, perhaps this machine was too busy (lower --jobs or raise --margin)"
SLOW = {Phase.INTRODUCING: Mistake.SLOW_START, Phase.SETTING_UP: Mistake.SLOW_SETUP}


def silent(seen: Seen) -> Hint:
    if seen.turn and seen.turn.is_idle and (seen.is_late or seen.activity is Activity.RUNS):
        return Hint(Mistake.SLEEPS, f"it used no processor time in this turn: {_SLEPT_OR_KEPT_OFF}")
    if seen.is_late:
        if seen.turn and seen.turn.is_starved:
            return _starved("its answer came after its time")
        words = "its answer came after its time: leave more of it, also for the way, and for a machine that is busy"
        return Hint(SLOW.get(seen.phase, Mistake.SLOW_MOVE), words)
    return _by_its_input(seen) or _by_its_activity(seen)


def _by_its_input(seen: Seen) -> Hint | None:
    """Return the hint that is certain from the bot's input and output."""
    if seen.unfinished and _is_answer(seen.unfinished + b"\n", seen):
        return Hint(Mistake.NO_NEWLINE, f"its answer has no line end: {NEWLINE[seen.language]}")
    if seen.probe is not None and (hint := _by_probe(seen.probe, seen)):
        return hint
    if seen.has_closed_input:
        return Hint(Mistake.NOT_READING, "it has closed its standard input, from which it receives all lines")
    if seen.activity is Activity.STOPPED:
        return None
    if seen.has_unread and seen.activity is not Activity.RUNS and seen.phase is Phase.INTRODUCING:
        words = (
            "it had not read its first line: perhaps it starts slowly, perhaps it never reads its input; do less "
            "before that, or ask for a longer --start-time"
        )
        return Hint(Mistake.SLOW_START, words)
    if seen.fault.cause is Cause.STALLED or (seen.has_unread and seen.activity is not Activity.RUNS):
        return Hint(Mistake.NOT_READING, "it does not read its input: it must read every line soon after it is sent")
    return None


def _by_probe(probe: Probe, seen: Seen) -> Hint | None:
    asks = ASKS.get(seen.phase, "turn")
    if _is_answer(probe.after_again, seen):
        return Hint(
            Mistake.SEVERAL_LINES,
            f"it answered when '{asks}' came once more, alone: several lines came in one read; split what is read at "
            f"line ends, or read one line at a time ({READ[seen.language]})",
        )
    if _is_answer(probe.after_line, seen):
        return Hint(
            Mistake.READS_AHEAD,
            f"it answered only after one more line: it reads ahead; read one line at a time ({READ[seen.language]}), "
            f"and answer each line first, here '{asks}'",
        )
    if _is_answer(probe.after_quit + probe.after_end, seen):
        if seen.language is ProgramLanguage.PYTHON and not probe.after_quit:  # PYTHONUNBUFFERED flushes its answers
            words = (
                f"it answered only at the end of its input: read one line at a time ({READ[seen.language]}), and "
                f"answer each at once (if answers go through a buffer of its own: {FLUSH[seen.language]})"
            )
            return Hint(Mistake.READS_AHEAD, words)
        words = f"its answer was stuck in its output buffer; flush it: {FLUSH[seen.language]}"
        if not probe.after_quit:
            words += " (or it reads its input to the end before it answers)"
        return Hint(Mistake.NO_FLUSH, words)
    return None


def _is_answer(data: bytes, seen: Seen) -> bool:
    verb = AWAITED.get(seen.phase, "")
    return any(line.rstrip(b"\r").split(b" ")[0] == verb.encode() for line in data.split(b"\n")[:-1])


_STANDING = {
    Activity.STOPPED: Hint(
        Mistake.STOPPED, "its process was stopped by a signal (SIGSTOP); the arena stops no bot that is to answer"
    ),
    Activity.WAITS_TO_WRITE: Hint(
        Mistake.BLOCKED_WRITING,
        "it was waiting to write to a full pipe: it may write too much, to standard error for example",
    ),
    Activity.WAITS: Hint(
        Mistake.SLEEPS,
        "it was waiting for something that is not its input: a sleep, a lock, a child, a file, the network",
    ),
}


def _by_its_activity(seen: Seen) -> Hint:
    if seen.activity is Activity.RUNS:
        return _too_slow(seen)
    if hint := _STANDING.get(seen.activity):
        return hint
    if seen.activity is Activity.WAITS_FOR_INPUT or seen.probe is not None:
        return _waits_for_more(seen)
    return Hint(Mistake.UNANSWERED, "what it was doing could not be seen; arena check BOT sends a probe to find out")


def _too_slow(seen: Seen) -> Hint:
    if seen.phase is Phase.INTRODUCING:
        words = "it was still working: import and load less before 'ready', or ask for a longer --start-time"
    elif seen.phase is Phase.SETTING_UP:
        words = "it was still working: the 'clock' line says how long a set-up may take"
    elif seen.turn and seen.turn.is_starved:
        return _starved("it was still working")
    else:
        words = "it was still working: the 'turn' line says how much time there is; stop some way before"
    return Hint(SLOW.get(seen.phase, Mistake.SLOW_MOVE), words)


def _starved(what: str) -> Hint:
    return Hint(Mistake.STARVED, f"{what}, but had used a CPU for less than half of its time: {_SLEPT_OR_KEPT_OFF}")


def _waits_for_more(seen: Seen) -> Hint:
    verb, asks = AWAITED.get(seen.phase, "move"), ASKS.get(seen.phase, "turn")
    if seen.phase is Phase.INTRODUCING and (seen.answered or seen.probe is not None):
        return Hint(
            Mistake.NO_READY,
            "it waits for more input: it must send a line 'ready' after 'hello 1', before anything else comes",
        )
    asked = "" if seen.gets_legal or seen.phase is not Phase.THINKING else f"; {WANT_LEGAL}"
    if seen.probe is not None:
        words = f"it has read '{asks}' and waits for more, with nothing in its buffer: it must send a line '{verb} ...'"
        return Hint(Mistake.UNANSWERED, f"{words} then{asked}")
    return Hint(
        Mistake.UNANSWERED,
        f"it waits for more input: perhaps its '{verb}' is in a buffer ({FLUSH[seen.language]}), perhaps it never "
        f"answers '{asks}'; arena check BOT tells which{asked}",
    )


VERBS = ("name", "author", "want", "ready", "setup", "move", "note")
_OTHER_PROTOCOLS = re.compile(
    r"^(uci|uciok|readyok|bestmove|id (name|author)|info |option name|xboard|feature |= |usermove|BOARD|OK\b)"
)
_SPACES = Hint(Mistake.SPACES, "fields are separated by single spaces, without any at either end of a line")


def wrong_line(seen: Seen, slip: Slip, line: str) -> Hint:
    """Return the hint for a line that cannot be read, or is not expected now."""
    match slip:
        case Slip.TOO_MANY:
            return Hint(Mistake.FLOOD, "it writes without end: it has to wait for its next 'turn' after each answer")
        case Slip.TOO_LONG:
            words = f"end each line with a newline, and print what is long with {DEBUG[seen.language]}"
            return Hint(Mistake.TOO_LONG, words)
        case Slip.NOT_ASCII:
            words = "only plain ASCII may stand in a line, without tabs or control characters, in notes and names too"
            return Hint(Mistake.NOT_ASCII, f"{words}; other output: {DEBUG[seen.language]}")
        case Slip.UNASKED | Slip.OPPONENTS_TURN:
            return _out_of_turn(seen, line, is_opponents=slip is Slip.OPPONENTS_TURN)
        case Slip.UNKNOWN_VERB:
            return _no_message(seen, line)
    verb = line.partition(" ")[0]
    if line != " ".join(line.split()):
        return _SPACES
    if verb in ("setup", "move"):
        return Hint(Mistake.ACTION_FORM, f"see the protocol of the game for what follows '{verb}'")
    words = "legal, board or both may stand behind 'want', with one space between them: 'want legal board'"
    return Hint(Mistake.WANTED, words) if verb == "want" else _SPACES


def _out_of_turn(seen: Seen, verb: str, *, is_opponents: bool) -> Hint:
    if verb == "setup" and seen.phase in (Phase.WAITING, Phase.THINKING):
        words = "a set-up is sent once, at 'setup'; 'restore' gives a bot its set-up: take it, and do not answer"
        return Hint(Mistake.ANSWERED_RESTORE, words)
    if verb == "move" and is_opponents:
        words = "send one 'move' for each 'turn' line, and nothing at 'moved', 'legal' or 'board'"
        return Hint(Mistake.TWO_ANSWERS, words)
    if verb == "note" and is_opponents:
        return Hint(Mistake.UNASKED, "a note goes before the answer: first 'note ...', then the 'move' of this turn")
    if verb in ("setup", "move", "note"):
        asks = "setup" if verb == "setup" else "turn"
        return Hint(Mistake.UNASKED, f"it sends ahead: '{verb}' may come only after the arena's line '{asks}'")
    return Hint(Mistake.UNASKED, "introduce yourself once, at 'hello', and end that with 'ready'")


def _no_message(seen: Seen, line: str) -> Hint:
    stripped = line.strip()
    verb = stripped.split(" ")[0]
    if verb in VERBS:
        return _SPACES
    if verb.rstrip(":").lower() in VERBS:
        return Hint(Mistake.UPPER_CASE, f"verbs are in small letters, without a colon: '{verb.rstrip(':').lower()}'")
    if _OTHER_PROTOCOLS.match(line):
        return Hint(Mistake.OTHER_PROTOCOL, "it speaks the protocol of another program: see docs/protocol.md")
    if "Failed to start thread" in line:  # a warning of the JVM
        return REFUSED_PROCESS
    words = f"standard output is for answers alone; print for yourself with {DEBUG[seen.language]}, or begin with '#'"
    return Hint(Mistake.DEBUG_OUTPUT, words)
