"""Common words: names of squares, colours, ranks and reasons.

The wire protocol, the rules engine, the records and the command line all name a square `a4`, the scout `2` and a game
lost on time `timeout`. The module imports only the standard library.

Squares are numbered 0..99 from Red's side: `a1` is 0, `b1` is 1, `a2` is 10, `j10` is 99.
"""

import enum
from collections.abc import Iterable

BOARD_SIZE = 10
FILES = "abcdefghij"
SQUARES: tuple[str, ...] = tuple(f"{file}{rank}" for rank in range(1, BOARD_SIZE + 1) for file in FILES)
SQUARE_INDEX: dict[str, int] = {name: index for index, name in enumerate(SQUARES)}
SQUARE_PATTERN = r"[a-j](?:10|[1-9])"
"""The name of a square, as part of a regular expression."""

RESIGN = "resign"
"""The action of a player who resigns."""

LAKES: frozenset[str] = frozenset({"c5", "d5", "c6", "d6", "g5", "h5", "g6", "h6"})
LAKE_SQUARES: frozenset[int] = frozenset(SQUARE_INDEX[name] for name in LAKES)

SETUP_ROWS = 4
"""The number of rows of a set-up."""


class Color(enum.IntEnum):
    """The two sides. The value is an index for pairs."""

    RED = 0
    BLUE = 1

    @property
    def word(self) -> str:
        """The colour as it is written on the wire: `red` or `blue`."""
        return COLOR_WORDS[self]

    @property
    def opponent(self) -> "Color":
        return Color.BLUE if self is Color.RED else Color.RED


COLOR_WORDS = ("red", "blue")
COLOR_BY_WORD: dict[str, Color] = {"red": Color.RED, "blue": Color.BLUE}


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

    The value is only an index; `arena.stratego.rules.combat` has the results of fights.
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


class Result(enum.Enum):
    """A finished game as one seat sees it."""

    WIN = "win"
    LOSS = "loss"
    DRAW = "draw"


class ReasonKind(enum.Enum):
    """The kind of ending that a reason belongs to."""

    PLAYED = "played"
    """Decided on the board, or by resigning."""
    FORFEIT = "forfeit"
    """Lost by a fault of the bot: it broke a rule, the protocol or its clock, or died."""
    DRAWN = "drawn"


class Reason(enum.Enum):
    """Why a game ended, for the wire, records and tables."""

    FLAG = "flag"
    FLAG_HOME = "flag-home"
    NO_MOVE = "no-move"
    NO_ATTACKER = "no-attacker"
    MOVED_FIXED = "moved-fixed"
    RESIGN = "resign"
    ILLEGAL_ACTION = "illegal-action"
    ILLEGAL_SETUP = "illegal-setup"
    TIMEOUT = "timeout"
    SETUP_TIMEOUT = "setup-timeout"
    CRASH = "crash"
    PROTOCOL = "protocol"
    NO_START = "no-start"
    OVER_LIMIT = "over-limit"
    PLY_CAP = "ply-cap"
    QUIET_CAP = "quiet-cap"
    BOTH_IMMOBILE = "both-immobile"

    @property
    def kind(self) -> ReasonKind:
        return _REASONS[self][0]

    @property
    def is_forfeit(self) -> bool:
        return self.kind is ReasonKind.FORFEIT

    @property
    def sentence(self) -> str:
        """The reason in plain words, to follow the name of the side that lost (or "drawn: ")."""
        return _REASONS[self][1]


_REASONS: dict[Reason, tuple[ReasonKind, str]] = {
    Reason.FLAG: (ReasonKind.PLAYED, "lost its flag"),
    Reason.FLAG_HOME: (ReasonKind.PLAYED, "let the enemy flag reach its back row"),
    Reason.NO_MOVE: (ReasonKind.PLAYED, "had no legal move"),
    Reason.NO_ATTACKER: (ReasonKind.PLAYED, "had nothing left to attack with"),
    Reason.MOVED_FIXED: (ReasonKind.PLAYED, "moved its flag or a bomb"),
    Reason.RESIGN: (ReasonKind.PLAYED, "resigned"),
    Reason.ILLEGAL_ACTION: (ReasonKind.FORFEIT, "tried an illegal action"),
    Reason.ILLEGAL_SETUP: (ReasonKind.FORFEIT, "sent an illegal set-up"),
    Reason.TIMEOUT: (ReasonKind.FORFEIT, "ran out of time"),
    Reason.SETUP_TIMEOUT: (ReasonKind.FORFEIT, "did not set up in time"),
    Reason.CRASH: (ReasonKind.FORFEIT, "stopped running"),
    Reason.PROTOCOL: (ReasonKind.FORFEIT, "broke the protocol"),
    Reason.NO_START: (ReasonKind.FORFEIT, "did not start"),
    Reason.OVER_LIMIT: (ReasonKind.FORFEIT, "used more of the machine than it may"),
    Reason.PLY_CAP: (ReasonKind.DRAWN, "the cap on plies was reached"),
    Reason.QUIET_CAP: (ReasonKind.DRAWN, "the cap on plies without an attack was reached"),
    Reason.BOTH_IMMOBILE: (ReasonKind.DRAWN, "neither side could go on"),
}
