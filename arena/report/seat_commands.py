"""What a person types in a terminal game, as values. Pure; what is possible now is judged by the session.

e4-e5, e4 e5, e4e5    a move; longer actions as the protocol writes them: d2-d3-e3, a9-a10+8c2, e7?e9B
e4                    where that piece can go
known e7              what is known of a piece
ply 12, back, next    the board as it was known then, and a ply before or after that
help, moves, history, board, rules, resign, pause
"""

import re
from dataclasses import dataclass
from enum import Enum

from protocol.notation import SQUARE_PATTERN

_SQUARE = rf"({SQUARE_PATTERN})"
_TWO = re.compile(rf"{_SQUARE}[\s,:x>-]*{_SQUARE}")
_ONE = re.compile(_SQUARE)
_ACTION = re.compile(r"[a-j][0-9a-jFBSMI?+-]+", re.ASCII)


class Verb(Enum):
    """What is asked for."""

    ACT = "act"
    TARGETS = "targets"
    KNOWN = "known"
    HELP = "help"
    MOVES = "moves"
    BOARD = "board"
    PLY = "ply"
    BACK = "back"
    NEXT = "next"
    HISTORY = "history"
    RULES = "rules"
    RESIGN = "resign"
    PAUSE = "pause"
    PRESET = "preset"
    RANDOM = "random"
    SWAP = "swap"
    SETUP = "setup"
    READY = "ready"
    NOTHING = ""
    UNKNOWN = "unknown"


_BY_FORM = (Verb.ACT, Verb.TARGETS, Verb.UNKNOWN)
"""What is asked for by a move or a square, and not by a word."""


@dataclass(frozen=True)
class Typed:
    """One line that was typed: what it asks for, and the words behind that."""

    verb: Verb
    words: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What was typed, with short words spelled out and single spaces; not made printable."""
        return " ".join(self.words if self.verb in _BY_FORM else (self.verb.value, *self.words))


_VERBS = {
    **{verb.value: verb for verb in (Verb.HELP, Verb.MOVES, Verb.BOARD, Verb.RULES, Verb.RESIGN, Verb.PAUSE)},
    **{verb.value: verb for verb in (Verb.PLY, Verb.BACK, Verb.NEXT, Verb.HISTORY)},
    **{verb.value: verb for verb in (Verb.KNOWN, Verb.PRESET, Verb.RANDOM, Verb.SWAP, Verb.SETUP, Verb.READY)},
    "h": Verb.HELP,
    "?": Verb.HELP,
    "quit": Verb.PAUSE,
    "exit": Verb.PAUSE,
    "k": Verb.KNOWN,
    "m": Verb.MOVES,
    "b": Verb.BOARD,
    "go": Verb.READY,
}


def read_typed(line: str) -> Typed:
    """What a line asks for."""
    text = line.strip()
    if not text:
        return Typed(Verb.NOTHING)
    word, *rest = text.split()
    verb = _VERBS.get(word.lower())
    if verb is not None:
        return Typed(verb, tuple(rest))
    low = text.lower()
    if one := _ONE.fullmatch(low):
        return Typed(Verb.TARGETS, (one[1],))
    if two := _TWO.fullmatch(low):
        return Typed(Verb.ACT, (f"{two[1]}-{two[2]}",))
    if _ACTION.fullmatch(text):
        return Typed(Verb.ACT, (text,))
    return Typed(Verb.UNKNOWN, (text,))
