"""Stratego's answers as text: the form of set-ups and actions, and the parts of an action.

The lines of a bot are `setup ROW/ROW/ROW/ROW` and, for example, `move a4-a5`.
"""

import re
from typing import NamedTuple

from protocol.geometry import action_squares as squares
from protocol.lines import RemoteProtocolError, cut
from protocol.notation import (
    BOARD_SIZE,
    EMPTY,
    RANK_BY_LETTER,
    RANK_LETTERS,
    RESIGN,
    SETUP_ROWS,
    SQUARE_INDEX,
    SQUARE_PATTERN,
    Rank,
)

_SQUARE, _RANK = f"({SQUARE_PATTERN})", f"([{RANK_LETTERS}])"
_PLAIN_MOVE = re.compile(rf"{_SQUARE}-{_SQUARE}")
_MOVE = re.compile(rf"{_SQUARE}(?:-{_SQUARE})?-{_SQUARE}(?:\+{_RANK}{_SQUARE})?")
_GUESS = re.compile(rf"{_SQUARE}\?{_SQUARE}{_RANK}")
SETUP_ROW_PATTERN = re.compile(rf"[{EMPTY}{RANK_LETTERS}]{{{BOARD_SIZE}}}")


class Parts(NamedTuple):
    """The parts of an action. Squares are numbers, as in `View.board`; a part that the action does not have is None.

    A piece goes from `start` to `end`, in a move that turns a corner by way of `over`. `rescued` is the rank that comes
    back on `rescue_square`. In a guess the piece on `start` guesses that the one on `end` has the rank `guessed`,
    without a move. To resign has none of them.
    """

    start: int | None = None
    end: int | None = None
    over: int | None = None
    rescued: Rank | None = None
    rescue_square: int | None = None
    guessed: Rank | None = None

    @property
    def is_move(self) -> bool:
        return self.end is not None and self.guessed is None


def parts(action: str) -> Parts:
    """Split an action in any of the forms of the protocol. Raises ValueError for other texts."""
    if action == RESIGN:
        return Parts()
    if guess := _GUESS.fullmatch(action):
        origin, target, letter = guess.groups()
        return Parts(SQUARE_INDEX[origin], SQUARE_INDEX[target], guessed=RANK_BY_LETTER[letter])
    move = _MOVE.fullmatch(action)
    if move is None:
        raise ValueError(f"expected an action such as a4-a5, got {action!r:.100}")
    start, over, end, letter, square = move.groups()
    return Parts(
        SQUARE_INDEX[start],
        SQUARE_INDEX[end],
        over=SQUARE_INDEX[over] if over else None,
        rescued=RANK_BY_LETTER[letter] if letter else None,
        rescue_square=SQUARE_INDEX[square] if square else None,
    )


def is_action(text: str) -> bool:
    """Whether a text has the form of an action, legal or not."""
    return text == RESIGN or bool(_MOVE.fullmatch(text) or _GUESS.fullmatch(text))


class StrategoForms:
    """See `protocol.codec.Forms`."""

    def __init__(self) -> None:
        self.plain_moves: dict[bytes, str] = {}

    def check_setup_form(self, text: str) -> None:
        rows = text.split("/")
        if len(rows) != SETUP_ROWS or not all(SETUP_ROW_PATTERN.fullmatch(row) for row in rows):
            raise RemoteProtocolError(
                "expected 'setup' and four rows of ten piece letters or dots, own back row first, separated by '/', "
                f"got 'setup {cut(text)}'"
            )

    def check_move_form(self, text: str) -> None:
        if not is_action(text):
            raise RemoteProtocolError(f"expected 'move' and one action such as a4-a5, got 'move {cut(text)}'")
        if _PLAIN_MOVE.fullmatch(text):  # as many as there are pairs of squares
            self.plain_moves[b"move %s\n" % text.encode()] = text


STRATEGO_FORMS = StrategoForms()


__all__ = ["RESIGN", "SETUP_ROW_PATTERN", "STRATEGO_FORMS", "Parts", "is_action", "parts", "squares"]
