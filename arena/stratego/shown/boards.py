"""Boards as text, with marks for the last action, and what an action did in words.

Marks use the columns between cells, so that all boards have one width: `(..)` is the origin of the piece, `[..]` its
target, or a guessed or rescued piece. `x` is an empty square on which, or from which, a piece was lost.
"""

from collections.abc import Mapping, Sequence
from enum import Enum

from arena.stratego.rules.action_types import Event
from arena.stratego.shown.piece_names import Names
from arena.system.terminal_text import Paint, plain
from protocol import messages
from protocol.geometry import action_squares
from protocol.messages import ArenaMessage, Battle, Guess, Moved, Rescued
from protocol.notation import BOARD_SIZE, FILES, SQUARE_INDEX, Color, Survivor
from protocol.view import CELL_EMPTY, CELL_LAKE

NO_MARKS: Mapping[int, "SquareMark"] = {}


class SquareMark(Enum):
    """The effect of the last action on a square."""

    CAME_FROM = "from"
    WENT_TO = "to"
    LOST_FROM = "lost-from"
    """The origin of an attacker that was lost."""
    LOST_AT = "lost"
    """The square of a fight in which both were lost."""

    @property
    def is_loss(self) -> bool:
        return self in (SquareMark.LOST_FROM, SquareMark.LOST_AT)

    @property
    def brackets(self) -> str:
        return "()" if self in (SquareMark.CAME_FROM, SquareMark.LOST_FROM) else "[]"


def marks_of(events: Sequence[Event]) -> dict[int, SquareMark]:
    """Return the effects of an action by square."""
    marks: dict[int, SquareMark] = {}
    origin = None
    for event in events:
        match event:
            case Moved(_, action) if (squares := action_squares(action)) is not None:
                origin, target = squares
                marks |= {origin: SquareMark.CAME_FROM, target: SquareMark.WENT_TO}
            case Battle(square, survivor=survivor):
                if survivor is not Survivor.ATTACKER and origin is not None:
                    marks[origin] = SquareMark.LOST_FROM
                if survivor is Survivor.NEITHER:
                    marks[SQUARE_INDEX[square]] = SquareMark.LOST_AT
            case Rescued(_, square):
                marks[SQUARE_INDEX[square]] = SquareMark.WENT_TO
            case Guess(square, _, right):
                marks[SQUARE_INDEX[square]] = SquareMark.LOST_AT if right else SquareMark.WENT_TO
            case _:
                pass
    return marks


def board_text(
    cells: Sequence[str], marks: Mapping[int, SquareMark] = NO_MARKS, paint: Paint = plain, side: Color = Color.RED
) -> str:
    """Draw a board of two-character cells as a side sees it: for Red with rank 10 at the top."""
    way = 1 if side is Color.RED else -1
    rows = [paint("    " + "  ".join(FILES[::way]), "dim")]
    for rank in range(BOARD_SIZE, 0, -1)[::way]:
        start = (rank - 1) * BOARD_SIZE
        squares = range(start, start + BOARD_SIZE)[::way]
        between = [" "] * (BOARD_SIZE + 1)
        for kind in ("()", "[]"):  # of two marks in a column the target is shown
            for place, square in enumerate(squares):
                if square in marks and marks[square].brackets == kind:
                    between[place : place + 2] = kind
        shown = [_cell(cells[square], marks.get(square), paint) for square in squares]
        row = "".join(text for pair in zip(between, shown, strict=False) for text in pair) + between[-1]
        rows.append(f"{paint(f'{rank:>2} ', 'dim')}{row}".rstrip())
    return "\n".join(rows)


def _cell(cell: str, mark: SquareMark | None, paint: Paint) -> str:
    style = {"r": "red", "b": "blue"}.get(cell[0], "dim")
    if mark is not None:
        style = f"reverse {style}"
    if cell == CELL_EMPTY:
        return paint("x ", "bold") if mark is not None and mark.is_loss else paint("· ", style)
    return paint(cell, style if cell == CELL_LAKE else f"bold {style}")


_SURVIVORS = {
    Survivor.ATTACKER: "the attacker wins",
    Survivor.DEFENDER: "the defender wins",
    Survivor.NEITHER: "both leave",
}


def told_words(events: Sequence[Event], names: Names) -> str:
    return "; ".join(text for event in events if (text := event_words(event, names)))


def event_words(message: ArenaMessage, names: Names) -> str:
    """Return the text of a message, without its action."""
    match message:
        case messages.Battle(square, attacker, defender, survivor):
            met = names.name(defender) if defender is not None else "an unknown piece"
            return f"{names.name(attacker)} attacks {met} on {square}, {_SURVIVORS[survivor]}"
        case messages.Reveal(square, rank):
            return f"shows itself as {names.one(rank)} on {square}"
        case messages.Rescued(_, square, rank):
            return f"{names.one(rank)} comes back on {square}"
        case messages.Guess(square, rank, True):
            return f"guesses {names.one(rank)} on {square}, which is right: it leaves the board"
        case messages.Guess(square, rank, _):
            return f"guesses {names.one(rank)} on {square}, which is wrong"
        case _:
            return ""
