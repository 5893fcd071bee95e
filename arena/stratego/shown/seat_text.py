"""A person's seat as text for a terminal, and the commands that a person types.

A screen is 80 columns by 20 lines, so that a prompt and an answer fit below it in 24.
"""

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from arena.game.person_seat import SeatStage
from arena.report.layout import Paint, plain, unpainted
from arena.report.shown import WIDTH, clock_lines, end_words, title, wrapped
from arena.stratego.seat_state import ActionState, ChoiceState, PieceState, StrategoSeatState
from arena.stratego.setups import Preset
from arena.stratego.shown.boards import SquareMark, board_text
from arena.stratego.shown.piece_names import DEFAULT_NAMES, STRONGEST_FIRST, Names
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
    Survivor,
)
from protocol.view import CELL_EMPTY, CELL_LAKE

BOARD_COLUMNS = 36
PANEL_COLUMNS = WIDTH - BOARD_COLUMNS


def screen_text(
    state: StrategoSeatState,
    recent: Sequence[ActionState] = (),
    paint: Paint = plain,
    names: Names = DEFAULT_NAMES,
    *,
    width: int = WIDTH,
    plies: int | None = None,
) -> str:
    """Return the screen without the prompt; in less than 80 columns the panel is below the board.

    `recent` are the last actions, the oldest first. For an earlier state `plies` is the present number of plies.
    """
    side = COLOR_BY_WORD[state.color]
    truth = state.end.truth if state.end else ()
    cells = truth or cells_of(state)
    board = board_text(tuple(map(names.cell, cells)), marks_of(state.last), paint, side).split("\n")
    panel = _panel(state, names)
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
        lines.append(actions_text(recent, state.color, names, columns))
    if state.end:
        lines += wrapped(end_words(state), columns)
    if state.remark:
        lines += wrapped(state.remark, columns)
    return "\n".join(lines)


def cells_of(state: StrategoSeatState) -> tuple[str, ...]:
    cells = [CELL_LAKE if square in LAKE_SQUARES else CELL_EMPTY for square in range(len(SQUARES))]
    for piece in state.pieces:
        rank = piece.rank or ("!" if piece.moved else "?")
        cells[SQUARE_INDEX[piece.square]] = f"{piece.color[0]}{rank}"
    return tuple(cells)


def setup_cells(rows: Sequence[str], color: Color) -> tuple[str, ...]:
    cells = [CELL_LAKE if square in LAKE_SQUARES else CELL_EMPTY for square in range(len(SQUARES))]
    for square, letter in zip(HOME_SQUARES[color], "".join(rows), strict=True):
        if letter != EMPTY:
            cells[square] = f"{color.word[0]}{letter}"
    return tuple(cells)


def presets_text(presets: Iterable[Preset], columns: int = WIDTH) -> str:
    return "\n".join(
        textwrap.fill(f"  {preset.name}: {preset.text}", columns - 1, subsequent_indent="    ") for preset in presets
    )


def marks_of(last: ActionState | None) -> Mapping[int, SquareMark]:
    """Return the marks of the last action, as `arena.stratego.shown.boards.marks_of` does for events."""
    if last is None or last.origin is None or last.target is None:
        return {}
    origin, target = SQUARE_INDEX[last.origin], SQUARE_INDEX[last.target]
    if last.guess:
        return {target: SquareMark.LOST_AT if last.guess.right else SquareMark.WENT_TO}
    marks = {origin: SquareMark.CAME_FROM, target: SquareMark.WENT_TO}
    if last.fight:
        if last.fight.survivor != Survivor.ATTACKER.value:
            marks[origin] = SquareMark.LOST_FROM
        if last.fight.survivor == Survivor.NEITHER.value:
            marks[target] = SquareMark.LOST_AT
    if last.rescued:
        marks[SQUARE_INDEX[last.rescued.square]] = SquareMark.WENT_TO
    return marks


def _panel(state: StrategoSeatState, names: Names) -> list[str]:
    own = COLOR_BY_WORD[state.color]
    clocks = clock_lines(state, own, "enemy")
    lines = [*clocks, ""] if clocks else []
    lines += _paragraph("you lost: ", _counted(state.lost[own], names))
    lines += _paragraph("enemy lost: ", _counted(state.lost[own.opponent], names))
    if state.stage is not SeatStage.OVER:  # when it is over the board shows all
        hidden = [letter for letter, count in state.hidden for _ in range(count)]
        lines += _paragraph("enemy pieces not known: ", _counted(hidden, names))
    if state.stage is SeatStage.MOVING:
        lines += ["", "e4-e5 moves, e4 shows where it can go,", "known e7 tells of a piece, help of all else"]
    return lines


def _paragraph(label: str, text: str) -> list[str]:
    return textwrap.wrap(label + (text or "none"), PANEL_COLUMNS - 1, subsequent_indent="  ")


def _counted(letters: Iterable[str], names: Names) -> str:
    listed = list(letters)
    counts = ((rank.letter, listed.count(rank.letter)) for rank in STRONGEST_FIRST)
    shown = ((names.cell(f"r{letter}")[1:], count) for letter, count in counts if count)
    return " ".join(text if count == 1 else f"{text}x{count}" for text, count in shown)


def action_words(action: ActionState, viewer: str, names: Names = DEFAULT_NAMES) -> str:
    """Return an action and its outcome as text, as the viewer knows them."""
    who = "you" if action.color == viewer else "the enemy"
    words = f"{who} {action.action}"
    if action.guess:
        right = "right, and it leaves the board" if action.guess.right else "wrong"
        words += f": guesses {_one(action.guess.rank, names)} on {action.guess.square}, {right}"
    if action.fight:
        fight = action.fight
        met = _one(fight.defender, names) if fight.defender else "an unknown piece"
        came = {"attacker": "the attacker wins", "defender": "the defender wins", "neither": "both are lost"}
        words += f": {_one(fight.attacker, names)} attacks {met}, {came[fight.survivor]}"
    if action.revealed:
        words += f"; {_one(action.revealed.rank, names)} on {action.revealed.square}"
    if action.rescued:
        words += f"; {_one(action.rescued.rank, names)} comes back on {action.rescued.square}"
    return words


def actions_text(
    actions: Iterable[ActionState], viewer: str, names: Names = DEFAULT_NAMES, columns: int = WIDTH
) -> str:
    return "\n".join(
        line for action in actions for line in wrapped(f"{action.ply}. {action_words(action, viewer, names)}", columns)
    )


def _one(letter: str, names: Names) -> str:
    return names.one(RANK_BY_LETTER[letter])


def piece_words(piece: PieceState, viewer: str, names: Names = DEFAULT_NAMES) -> str:
    if piece.rank:
        whose, name = "your" if piece.color == viewer else "the enemy", names.name(RANK_BY_LETTER[piece.rank])
        still = "" if piece.moved or piece.color == viewer else ", which has not moved"
        return f"{piece.square}: {whose} {name}{still}"
    moved = "has moved" if piece.moved else "has not moved"
    could_be = ", ".join(names.name(RANK_BY_LETTER[letter]) for letter in reversed(piece.could_be))
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
