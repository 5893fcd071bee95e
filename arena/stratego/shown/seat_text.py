"""A person's seat as text for a terminal, and the commands that a person types.

A screen is 80 columns by 20 lines, so that a prompt and an answer fit below it in 24.
"""

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from arena.game.person_seat import SeatStage
from arena.report.layout import Paint, plain, unpainted
from arena.report.shown import WIDTH, clock_lines, end_words, title, wrapped
from arena.stratego.seat_state import ActionState, ChoiceState, PieceState, StrategoSeatState
from arena.stratego.setups import Preset
from arena.stratego.shown.boards import board_text
from arena.stratego.shown.piece_names import DEFAULT_NAMES, STRONGEST_FIRST
from protocol.notation import (
    COLOR_BY_WORD,
    EMPTY,
    HOME_SQUARES,
    LAKE_SQUARES,
    RANK_BY_LETTER,
    SQUARE_INDEX,
    SQUARE_PATTERN,
    SQUARES,
    Color,
)
from protocol.view import CELL_EMPTY, CELL_LAKE

BOARD_COLUMNS = 36
PANEL_COLUMNS = WIDTH - BOARD_COLUMNS
EMPTY_BOARD = [CELL_LAKE if square in LAKE_SQUARES else CELL_EMPTY for square in range(len(SQUARES))]


def screen_text(
    state: StrategoSeatState,
    recent: Sequence[ActionState] = (),
    paint: Paint = plain,
    *,
    width: int = WIDTH,
    plies: int | None = None,
) -> str:
    """Return the screen without the prompt; in less than 80 columns the panel is below the board.

    `recent` are the last actions, the oldest first. For an earlier state `plies` is the present number of plies.
    """
    side = COLOR_BY_WORD[state.color]
    truth = state.end.truth if state.end else ()
    marks = {SQUARE_INDEX[name]: mark for name, mark in state.last.marks.items()} if state.last else {}
    board = board_text(truth or cells_of(state), marks, paint, side).split("\n")
    panel = _panel(state)
    columns = min(width, WIDTH)
    lines = [paint(line, "bold") for line in wrapped(title(state, plies), columns)]
    if width < WIDTH:
        lines += [*board, *panel]
        board = panel = []
    for number in range(max(len(board), len(panel))):
        left = board[number] if number < len(board) else ""
        right = panel[number] if number < len(panel) else ""
        lines.append(f"{left}{' ' * (BOARD_COLUMNS - len(unpainted(left)))}{right}".rstrip())
    if recent:
        lines.append(actions_text(recent, state.color, columns))
    if state.end:
        lines += wrapped(end_words(state), columns)
    if state.remark:
        lines += wrapped(state.remark, columns)
    return "\n".join(lines)


def cells_of(state: StrategoSeatState) -> tuple[str, ...]:
    cells = EMPTY_BOARD.copy()
    for piece in state.pieces:
        rank = piece.rank or ("!" if piece.moved else "?")
        cells[SQUARE_INDEX[piece.square]] = f"{piece.color[0]}{rank}"
    return tuple(cells)


def setup_cells(rows: Sequence[str], color: Color) -> tuple[str, ...]:
    cells = EMPTY_BOARD.copy()
    for square, letter in zip(HOME_SQUARES[color], "".join(rows), strict=True):
        if letter != EMPTY:
            cells[square] = f"{color.word[0]}{letter}"
    return tuple(cells)


def presets_text(presets: Iterable[Preset], columns: int = WIDTH) -> str:
    return "\n".join(
        textwrap.fill(f"  {preset.name}: {preset.text}", columns - 1, subsequent_indent="    ") for preset in presets
    )


def _panel(state: StrategoSeatState) -> list[str]:
    own = COLOR_BY_WORD[state.color]
    clocks = clock_lines(state, own, "enemy")
    lines = [*clocks, ""] if clocks else []
    lines += _paragraph("you lost: ", _counted(state.lost[own]))
    lines += _paragraph("enemy lost: ", _counted(state.lost[own.opponent]))
    if state.stage is not SeatStage.OVER:  # when it is over the board shows all
        hidden = [letter for letter, count in state.hidden for _ in range(count)]
        lines += _paragraph("enemy pieces not known: ", _counted(hidden))
    if state.stage is SeatStage.MOVING:
        lines += ["", "e4-e5 moves, e4 shows where it can go,", "known e7 tells of a piece, help of all else"]
    return lines


def _paragraph(label: str, text: str) -> list[str]:
    return textwrap.wrap(label + (text or "none"), PANEL_COLUMNS - 1, subsequent_indent="  ")


def _counted(letters: Iterable[str]) -> str:
    listed = list(letters)
    counts = ((rank.letter, listed.count(rank.letter)) for rank in STRONGEST_FIRST)
    return " ".join(letter if count == 1 else f"{letter}x{count}" for letter, count in counts if count)


def action_words(action: ActionState, viewer: str) -> str:
    """Return an action and its outcome as text, as the viewer knows them."""
    words = f"{'you' if action.color == viewer else 'the enemy'} {action.action}"
    return f"{words}: {action.words}" if action.words else words


def actions_text(actions: Iterable[ActionState], viewer: str, columns: int = WIDTH) -> str:
    return "\n".join(
        line for action in actions for line in wrapped(f"{action.ply}. {action_words(action, viewer)}", columns)
    )


def piece_words(piece: PieceState, viewer: str) -> str:
    if piece.rank:
        whose, name = "your" if piece.color == viewer else "the enemy", DEFAULT_NAMES.name(RANK_BY_LETTER[piece.rank])
        still = "" if piece.moved or piece.color == viewer else ", which has not moved"
        return f"{piece.square}: {whose} {name}{still}"
    moved = "has moved" if piece.moved else "has not moved"
    could_be = ", ".join(DEFAULT_NAMES.name(RANK_BY_LETTER[letter]) for letter in reversed(piece.could_be))
    return f"{piece.square}: an enemy piece that {moved}; it can be: {could_be}"


def choices_text(choices: Sequence[ChoiceState], columns: int = WIDTH) -> str:
    return "\n".join(wrapped("  ".join(choice.action for choice in choices), columns))


_SQUARE = rf"({SQUARE_PATTERN})"
_TWO = re.compile(rf"{_SQUARE}[\s,:x>-]*{_SQUARE}")
_ONE = re.compile(_SQUARE)
_ACTION = re.compile(r"[a-j][0-9a-jFBSMI?+-]+", re.ASCII)


class Verb(Enum):
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
"""Commands that are a move or a square instead of a word."""


@dataclass(frozen=True)
class Typed:
    """A typed line: its command, and its words without the command."""

    verb: Verb
    words: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The line with short words spelled out and single spaces; not made printable."""
        return " ".join(self.words if self.verb in _BY_FORM else (self.verb.value, *self.words))


_SHORT = {"h": Verb.HELP, "?": Verb.HELP, "quit": Verb.PAUSE, "exit": Verb.PAUSE, "k": Verb.KNOWN, "m": Verb.MOVES}
_SHORT |= {"b": Verb.BOARD, "go": Verb.READY}
_VERBS = {verb.value: verb for verb in Verb if verb not in (*_BY_FORM, Verb.NOTHING)} | _SHORT


def read_typed(line: str) -> Typed:
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
