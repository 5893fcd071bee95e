"""A person's seat as text for a terminal, and the commands that a person types.

A screen is 80 columns by 20 lines, so that a prompt and an answer fit below it in 24.
"""

import re
import textwrap
from collections.abc import Iterable, Sequence

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


VERBS = (
    *("known", "help", "moves", "board", "ply", "back", "next", "history", "rules", "resign", "pause"),
    *("preset", "random", "swap", "setup", "ready"),
)
_SHORT = {"h": "help", "?": "help", "quit": "pause", "exit": "pause", "k": "known", "m": "moves"}
_SHORT |= {"b": "board", "go": "ready"}

Typed = tuple[str, ...]
"""A typed line: its command and its words. A line without a word of `VERBS` is to `act`, asks for the `targets` of a
piece, or is `unknown`."""


def read_typed(line: str) -> Typed:
    """Parse a line; of an empty one the command is empty."""
    text = line.strip()
    word, *rest = text.split() or [""]
    verb = _SHORT.get(word.lower(), word.lower())
    if verb in VERBS or not verb:
        return verb, *rest
    low = text.lower()
    if one := _ONE.fullmatch(low):
        return "targets", one[1]
    if two := _TWO.fullmatch(low):
        return "act", f"{two[1]}-{two[2]}"
    return "act" if _ACTION.fullmatch(text) else "unknown", text


def typed_text(typed: Typed) -> str:
    """Return a line with short words spelled out and single spaces; not made printable."""
    return " ".join(typed if typed[0] in VERBS else typed[1:])
