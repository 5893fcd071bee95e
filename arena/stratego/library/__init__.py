"""The names of `import arena` that belong to Stratego: its rules and its positions."""

from dataclasses import dataclass
from typing import Any

from arena.api.keywords import plain_errors
from arena.errors import UsageError
from arena.game import State
from arena.stratego.rules.action_types import IllegalActionError
from arena.stratego.rules.engine import EngineGame as Game
from arena.stratego.rules.ruleset import Ruleset
from arena.stratego.rules.rulesets import as_ruleset
from arena.stratego.rules.setup import IllegalSetupError
from arena.stratego.shown.boards import board_text
from arena.stratego.state import as_stratego
from protocol.notation import SQUARE_INDEX, Color

__all__ = [
    "Board",
    "Game",
    "IllegalActionError",
    "IllegalSetupError",
    "Ruleset",
    "rules",
]


def rules(name: str | Ruleset = "isf") -> Ruleset:
    """Return the ruleset of `NAME[+SWITCH...]` or `FILE.toml[+SWITCH...]`: `arena.rules("vintage/barrage+rescue")`.

    `arena.Game(ruleset, red_rows, blue_rows)` starts a game under it. Raises `UsageError` for an unknown name.
    """
    with plain_errors():
        return as_ruleset(name)


@dataclass(frozen=True)
class Board:
    """A position: 100 cells of two characters, a1 b1 .. j1 a2 .. j10, as in the protocol's `board` line.

    The first character is `r` or `b`, the second the rank's letter or `?`; `..` is an empty square and `~~` a lake (see
    docs/protocol.md). `board["a4"]` is one cell, `str(board)` the board as text with rank 10 at the top.
    """

    cells: tuple[str, ...]

    def __getitem__(self, square: str) -> str:
        try:
            return self.cells[SQUARE_INDEX[square]]
        except KeyError:
            raise UsageError(f"expected a square from a1 to j10, got {square!r}") from None

    def __str__(self) -> str:
        return board_text(self.cells)

    def __repr__(self) -> str:
        red, blue = (sum(cell[0] == color.word[0] for cell in self.cells) for color in Color)
        return f"Board({red} red and {blue} blue pieces)"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


def position(state: State, seat: Color | None) -> Board:
    """Return the position as a seat knows it, or with all ranks (None)."""
    return Board(as_stratego(state).cells(seat))
