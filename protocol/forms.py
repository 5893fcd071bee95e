"""The form of Stratego's set-ups and actions: `setup ROW/ROW/ROW/ROW`, `move a4-a5`."""

import re

from protocol.lines import RemoteProtocolError, cut
from protocol.notation import BOARD_SIZE, EMPTY, RANK_LETTERS, RESIGN, SETUP_ROWS, SQUARE_PATTERN

_SQUARE, _RANK = SQUARE_PATTERN, f"[{RANK_LETTERS}]"
_ACTION = re.compile(rf"{RESIGN}|{_SQUARE}(?:-{_SQUARE}){{1,2}}(?:\+{_RANK}{_SQUARE})?|{_SQUARE}\?{_SQUARE}{_RANK}")
_PLAIN_MOVE = re.compile(rf"{_SQUARE}-{_SQUARE}")
SETUP_ROW_PATTERN = re.compile(rf"[{EMPTY}{RANK_LETTERS}]{{{BOARD_SIZE}}}")


def is_action(text: str) -> bool:
    """Whether `text` has the form of an action, legal or not."""
    return _ACTION.fullmatch(text) is not None


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
