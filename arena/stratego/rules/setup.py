"""Legal set-ups, and their place on the board.

A set-up is four rows of ten characters, the side's own back row first, files a to j for both sides alike. An army of 40
fills the rows; a smaller one uses any of the 40 home squares (Vintage p. 22, 81320 p. 2).
"""

from collections import Counter
from collections.abc import Sequence

from arena.errors import IllegalAnswerError
from arena.stratego.rules.board import code_of
from arena.stratego.rules.ruleset import Ruleset
from protocol.notation import BOARD_SIZE, EMPTY, HOME_SQUARES, RANK_BY_LETTER, SETUP_ROWS, Color


class IllegalSetupError(IllegalAnswerError):
    """A set-up that the ruleset does not allow; the text has the expected and the actual value."""


def check_setup(ruleset: Ruleset, rows: Sequence[str]) -> None:
    """Raise `IllegalSetupError` unless `rows` is a set-up of exactly the ruleset's army."""
    if isinstance(rows, str) or not isinstance(rows, Sequence) or not all(isinstance(row, str) for row in rows):
        raise IllegalSetupError(f"expected {SETUP_ROWS} rows of {BOARD_SIZE} squares, each a string, got {rows!r:.60}")
    misshapen = wrong_shape(rows)
    if misshapen:
        raise IllegalSetupError(misshapen)
    counts = Counter(letter for row in rows for letter in row if letter != EMPTY)
    army = {rank.letter: count for rank, count in ruleset.army}
    for letter in counts:
        if letter not in army:
            raise IllegalSetupError(f"the army of {ruleset.name} has no piece {letter!r}")
    wrong = [f"{count} x {letter} (got {counts[letter]})" for letter, count in army.items() if counts[letter] != count]
    if wrong:
        raise IllegalSetupError(f"expected the army of {ruleset.name}: {', '.join(wrong)}")


def wrong_shape(rows: Sequence[str]) -> str | None:
    """Describe a wrong number of rows or a wrong length of one; None if the shape is right."""
    expected = f"expected {SETUP_ROWS} rows of {BOARD_SIZE} squares"
    if len(rows) != SETUP_ROWS:
        return f"{expected}, got {len(rows)} row{'' if len(rows) == 1 else 's'}"
    for number, row in enumerate(rows, 1):
        if len(row) != BOARD_SIZE:
            return f"{expected}, got {len(row)} in row {number}"
    return None


def place(board: list[int], color: Color, rows: Sequence[str]) -> None:
    for square, letter in zip(HOME_SQUARES[color], "".join(rows), strict=True):
        if letter != EMPTY:
            board[square] = code_of(color, RANK_BY_LETTER[letter])


def place_both(board: list[int], ruleset: Ruleset, red: Sequence[str], blue: Sequence[str]) -> None:
    """Put the set-ups of both sides on the board. Raises `IllegalSetupError`, which names the side."""
    for color, rows in ((Color.RED, red), (Color.BLUE, blue)):
        try:
            check_setup(ruleset, rows)
        except IllegalSetupError as error:
            raise IllegalSetupError(f"{color.word}: {error}") from None
        place(board, color, rows)
