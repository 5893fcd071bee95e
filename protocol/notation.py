"""Common words: names of squares, colours, ranks and reasons.

The wire protocol, the rules engine, the records and the command line all name a square `a4`, the scout `2` and a game
lost on time `timeout`. The module imports only the standard library.

Squares are numbered 0..99 from Red's side: `a1` is 0, `b1` is 1, `a2` is 10, `j10` is 99.
"""

import enum
from collections.abc import Iterable

from protocol.seats import COLOR_BY_WORD, COLOR_WORDS, RESIGN, Color, Reason, ReasonKind, SeatResult

BOARD_SIZE = 10
FILES = "abcdefghij"
SQUARES: tuple[str, ...] = tuple(f"{file}{rank}" for rank in range(1, BOARD_SIZE + 1) for file in FILES)
SQUARE_INDEX: dict[str, int] = {name: index for index, name in enumerate(SQUARES)}
SQUARE_PATTERN = r"[a-j](?:10|[1-9])"
"""The name of a square, as part of a regular expression."""

LAKES: frozenset[str] = frozenset({"c5", "d5", "c6", "d6", "g5", "h5", "g6", "h6"})
LAKE_SQUARES: frozenset[int] = frozenset(SQUARE_INDEX[name] for name in LAKES)

SETUP_ROWS = 4
"""The number of rows of a set-up."""


def home_square(color: Color, row: int, file: int) -> int:
    """Return the square in `row` (0 is the side's own back row) and `file` (0 is file a, for both sides alike)."""
    rank = row if color is Color.RED else BOARD_SIZE - 1 - row
    return rank * BOARD_SIZE + file


HOME_SQUARES: tuple[tuple[int, ...], tuple[int, ...]] = (
    tuple(home_square(Color.RED, row, file) for row in range(SETUP_ROWS) for file in range(BOARD_SIZE)),
    tuple(home_square(Color.BLUE, row, file) for row in range(SETUP_ROWS) for file in range(BOARD_SIZE)),
)
"""By colour: the 40 squares of its set-up rows in the order of a set-up line: own back row first, files a to j."""


class Rank(enum.IntEnum):
    """The twelve ranks of the original army and the infiltrator.

    The value is only an index; `arena.stratego.rules.tables` has the results of fights.
    """

    FLAG = 1
    BOMB = 2
    SPY = 3
    SCOUT = 4
    MINER = 5
    SERGEANT = 6
    LIEUTENANT = 7
    CAPTAIN = 8
    MAJOR = 9
    COLONEL = 10
    GENERAL = 11
    MARSHAL = 12
    INFILTRATOR = 13

    @property
    def letter(self) -> str:
        return RANK_LETTERS[self - 1]


RANK_LETTERS = "FBS23456789MI"
RANK_BY_LETTER: dict[str, Rank] = {letter: Rank(index + 1) for index, letter in enumerate(RANK_LETTERS)}

ARMY_RULE = "army"
"""The name of the rule that lists how many pieces of each rank a side has, as `F:1 B:6 ...`."""


def army_text(army: Iterable[tuple[Rank, int]]) -> str:
    return " ".join(f"{rank.letter}:{count}" for rank, count in army)


def read_army(text: str) -> tuple[tuple[Rank, int], ...]:
    """Parse the text of `army_text`. Raises ValueError or KeyError for anything else."""
    pairs = (field.split(":") for field in text.split())
    return tuple((RANK_BY_LETTER[letter], int(count)) for letter, count in pairs)


EMPTY = "."


class Survivor(enum.Enum):
    """The side left on the square after a fight."""

    ATTACKER = "attacker"
    DEFENDER = "defender"
    NEITHER = "neither"


__all__ = [
    "ARMY_RULE",
    "BOARD_SIZE",
    "COLOR_BY_WORD",
    "COLOR_WORDS",
    "EMPTY",
    "FILES",
    "HOME_SQUARES",
    "LAKES",
    "LAKE_SQUARES",
    "RANK_BY_LETTER",
    "RANK_LETTERS",
    "RESIGN",
    "SETUP_ROWS",
    "SQUARES",
    "SQUARE_INDEX",
    "SQUARE_PATTERN",
    "Color",
    "Rank",
    "Reason",
    "ReasonKind",
    "SeatResult",
    "Survivor",
    "army_text",
    "home_square",
    "read_army",
]
