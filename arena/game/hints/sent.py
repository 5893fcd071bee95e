"""Hints for wrong lines, whatever the game."""

import re

from arena.game.faults import Hint, Mistake
from arena.game.hints.seen import DEBUG, Seen
from protocol.conversation import Phase
from protocol.lines import Slip

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
            words = "only plain ASCII may stand in a line, in notes and names too"
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
    words = f"standard output is for answers alone; print for yourself with {DEBUG[seen.language]}, or begin with '#'"
    return Hint(Mistake.DEBUG_OUTPUT, words)
