"""Why nothing came before a bot's time was up."""

from arena.game.hints.values import Activity, Hint, Mistake, Probe, Seen
from arena.game.hints.words import FLUSH, NEWLINE, READ
from protocol.conversation import Phase

AWAITED = {Phase.INTRODUCING: "ready", Phase.SETTING_UP: "setup", Phase.THINKING: "move"}
"""The verb of the answer that a bot owes in each phase."""
ASKS = {Phase.INTRODUCING: "hello", Phase.SETTING_UP: "setup", Phase.THINKING: "turn"}
"""The line that asks for it."""


def silent(seen: Seen) -> Hint:
    """A bot has not answered in time."""
    if seen.is_late:
        return _late(seen)
    return _by_its_input(seen) or _by_its_activity(seen)


def _by_its_input(seen: Seen) -> Hint | None:
    """What is certain from what it has written and read."""
    if seen.unfinished and _is_answer(seen.unfinished + b"\n", seen):
        return Hint(Mistake.NO_NEWLINE, f"its answer has no line end: {NEWLINE[seen.language]}")
    if seen.probe is not None and (hint := _by_probe(seen.probe, seen)):
        return hint
    if seen.has_closed_input:
        return Hint(Mistake.NOT_READING, "it has closed its standard input, from which all that it is told comes")
    if "did not read" in seen.fault.text or (seen.has_unread and seen.activity is not Activity.RUNS):
        if seen.activity is Activity.STOPPED:
            return None
        words = "it does not read its input: it must read every line, soon after it has come"
        if seen.phase is Phase.INTRODUCING:
            words += "; what takes long at its start may take as long as --start-time, 'hello' included"
        return Hint(Mistake.NOT_READING, words)
    return None


def _by_probe(probe: Probe, seen: Seen) -> Hint | None:
    asks = ASKS.get(seen.phase, "turn")
    if _is_answer(probe.after_line, seen):
        return Hint(
            Mistake.READS_AHEAD,
            f"it answered only when one more line had come: it reads a line too far before it answers; read one line "
            f"at a time ({READ[seen.language]}), and answer at '{asks}'",
        )
    if _is_answer(probe.after_quit + probe.after_end, seen):
        words = f"its answer was there, but in a buffer of its own; flush it: {FLUSH[seen.language]}"
        if not probe.after_quit:
            words += " (or it reads its input to the end before it answers)"
        return Hint(Mistake.NO_FLUSH, words)
    return None


def _is_answer(data: bytes, seen: Seen) -> bool:
    verb = AWAITED.get(seen.phase, "")
    return any(line.rstrip(b"\r").split(b" ")[0] == verb.encode() for line in data.split(b"\n")[:-1])


def _by_its_activity(seen: Seen) -> Hint:
    phase = seen.phase
    if seen.activity is Activity.STOPPED:
        words = "its process was stopped by a signal (SIGSTOP); the arena stops no bot that is to answer"
        return Hint(Mistake.STOPPED, words)
    if seen.stderr.startswith("[") and "bytes before this were dropped" in seen.stderr.partition("\n")[0]:
        return Hint(Mistake.FLOODS_STDERR, "it was writing to standard error, a great deal: that takes its own time")
    if seen.activity is Activity.WAITS_TO_WRITE:
        return Hint(Mistake.BLOCKED_WRITING, "it was waiting to write to a pipe that nobody reads")
    if seen.answered and phase is Phase.THINKING:
        return Hint(Mistake.ONLY_NOTES, "it sent lines, but no 'move'; notes and comments are no answer")
    if seen.activity is Activity.RUNS:
        return _too_slow(seen)
    if seen.activity is Activity.WAITS:
        return Hint(
            Mistake.SLEEPS,
            "it was waiting for something that is not its input: a sleep, a lock, a child, a file, the network",
        )
    if seen.activity is Activity.WAITS_FOR_INPUT or seen.probe is not None:
        return _waits_for_more(seen)
    return Hint(
        Mistake.UNANSWERED, "what it was doing cannot be seen on this machine; arena check asks it a little more"
    )


def _late(seen: Seen) -> Hint:
    if seen.turn and seen.turn.is_starved:
        return _starved("its answer came after its time")
    mistake = {Phase.INTRODUCING: Mistake.SLOW_START, Phase.SETTING_UP: Mistake.SLOW_SETUP}.get(seen.phase)
    words = "its answer came after its time: leave more of it, also for the way, and for a machine that is busy"
    return Hint(mistake or Mistake.SLOW_MOVE, words)


def _too_slow(seen: Seen) -> Hint:
    if seen.phase is Phase.INTRODUCING:
        words = "it was still working: import and load less before 'ready', or ask for a longer --start-time"
        return Hint(Mistake.SLOW_START, words)
    if seen.phase is Phase.SETTING_UP:
        return Hint(Mistake.SLOW_SETUP, "it was still working: the 'clock' line says how long a set-up may take")
    if seen.turn and seen.turn.is_starved:
        return _starved("it was still working")
    words = "it was still working: the 'turn' line says how much time there is; stop some way before"
    return Hint(Mistake.SLOW_MOVE, words)


def _starved(what: str) -> Hint:
    words = (
        f"{what}, and had a processor for less than half of the time: it slept or waited for something, or this "
        "machine was too busy (fewer games at a time with --jobs, or a longer --margin)"
    )
    return Hint(Mistake.STARVED, words)


def _waits_for_more(seen: Seen) -> Hint:
    verb, asks = AWAITED.get(seen.phase, "move"), ASKS.get(seen.phase, "turn")
    if seen.phase is Phase.INTRODUCING and (seen.answered or seen.probe is not None):
        return Hint(
            Mistake.NO_READY,
            "it waits for more input: it must send a line 'ready' after 'hello 1', before anything else comes",
        )
    if seen.probe is not None:
        return Hint(
            Mistake.UNANSWERED,
            f"it has read '{asks}' and waits for more, with nothing in its buffer: it must send a line "
            f"'{verb} ...' then",
        )
    return Hint(
        Mistake.UNANSWERED,
        f"it waits for more input: either its '{verb}' lies in a buffer ({FLUSH[seen.language]}), or it never answers "
        f"'{asks}'; arena check tells which",
    )
