"""The parts of an action, for bots: its squares, the returning piece, the guessed rank."""

import re
from typing import NamedTuple

from protocol.geometry import action_squares as squares
from protocol.notation import RANK_BY_LETTER, RANK_LETTERS, RESIGN, SQUARE_INDEX, SQUARE_PATTERN, Rank

_SQUARE, _RANK = f"({SQUARE_PATTERN})", f"([{RANK_LETTERS}])"
_MOVE = re.compile(rf"{_SQUARE}(?:-{_SQUARE})?-{_SQUARE}(?:\+{_RANK}{_SQUARE})?")
_GUESS = re.compile(rf"{_SQUARE}\?{_SQUARE}{_RANK}")


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


__all__ = ["RESIGN", "Parts", "parts", "squares"]
