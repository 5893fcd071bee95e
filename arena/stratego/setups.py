"""Help with setting up: presets, random set-ups, and checks of incomplete ones.

The presets are our own. Each is for one army; other armies get a set-up by `spread`, which puts pieces in their usual
places. Rows are those of a `setup` line: own back row first, files a to j.
"""

import random
from collections import Counter
from collections.abc import Sequence

import msgspec

from arena.stratego.rules.ruleset import Ruleset
from arena.stratego.rules.setup import IllegalSetupError, check_setup, wrong_shape
from protocol.notation import BOARD_SIZE, EMPTY, RANK_BY_LETTER, SETUP_ROWS, Rank

SQUARES_OF_A_SIDE = BOARD_SIZE * SETUP_ROWS
Rows = tuple[str, ...]


class Preset(msgspec.Struct, frozen=True):
    """A set-up to begin with: its name, its purpose, and its rows."""

    name: str
    text: str
    rows: Rows


class SetupCheck(msgspec.Struct, frozen=True):
    """The result of checking a set-up that may be incomplete.

    `missing` are the pieces still to be placed, by letter; `problems` describes extra pieces, or ones that the army
    does not have; `is_legal` if there are neither.
    """

    is_legal: bool
    missing: tuple[tuple[str, int], ...]
    problems: tuple[str, ...]


def check_rows(ruleset: Ruleset, rows: Sequence[str]) -> SetupCheck:
    """Check an incomplete set-up: four rows of ten, `.` for an empty square."""
    misshapen = wrong_shape(rows)
    if misshapen:
        return SetupCheck(False, _army(ruleset), (misshapen,))
    placed = Counter(letter for row in rows for letter in row if letter != EMPTY)
    army = dict(_army(ruleset))
    missing = tuple((letter, count - placed[letter]) for letter, count in army.items() if placed[letter] < count)
    problems = []
    for letter, count in placed.items():
        if letter not in army:
            problems.append(f"the army of {ruleset.name} has no piece {letter!r}")
        elif count > army[letter]:
            problems.append(f"{count} {_name(letter, count)}, and the army of {ruleset.name} has {army[letter]}")
    if not (missing or problems):
        try:
            check_setup(ruleset, rows)
        except IllegalSetupError as error:
            problems.append(str(error))
    return SetupCheck(not (missing or problems), missing, tuple(problems))


def _army(ruleset: Ruleset) -> tuple[tuple[str, int], ...]:
    return tuple((rank.letter, count) for rank, count in ruleset.army)


def _name(letter: str, count: int) -> str:
    name = RANK_BY_LETTER[letter].name.lower()
    return name if count == 1 else {"spy": "spies"}.get(name, f"{name}s")


def random_rows(ruleset: Ruleset, seed: int) -> Rows:
    """Return a random legal set-up, uniformly distributed, that follows from the seed alone."""
    from protocol.bot import random_rows as rows_of_army  # a league plays without the kit for bots

    return rows_of_army(dict(ruleset.army), random.Random(seed))


def _rows(letters: Sequence[str]) -> Rows:
    return tuple("".join(letters[start : start + BOARD_SIZE]) for start in range(0, SQUARES_OF_A_SIDE, BOARD_SIZE))


def presets(ruleset: Ruleset) -> tuple[Preset, ...]:
    """Return the legal set-ups to begin with under these rules, at least one."""
    army = dict(_army(ruleset))
    fitting = []
    for preset in _PRESETS:
        rows = _fitted(preset.rows, army)
        if rows is not None:
            fitting.append(msgspec.structs.replace(preset, rows=rows))
    return tuple(fitting) or (Preset("spread", "weak pieces in front, the flag behind bombs", spread(ruleset)),)


def _fitted(rows: Rows, army: dict[str, int]) -> Rows | None:
    """Adapt a set-up to an army that differs in at most one piece, which takes the other one's square."""
    placed = Counter("".join(rows))
    del placed[EMPTY]
    surplus, lacking = placed - Counter(army), Counter(army) - placed
    if surplus.total() > 1 or surplus.total() != lacking.total():
        return None
    if not surplus:
        return rows
    ((old, _),), ((new, _),) = surplus.items(), lacking.items()
    text = "/".join(rows)
    place = text.rindex(old)  # the foremost one
    return tuple((text[:place] + new + text[place + 1 :]).split("/"))


_FORWARD = (Rank.SCOUT, Rank.SERGEANT, Rank.CAPTAIN, Rank.MAJOR, Rank.LIEUTENANT, Rank.COLONEL, Rank.MARSHAL)
_MIDDLE = (Rank.GENERAL, Rank.INFILTRATOR, Rank.SPY, Rank.MINER)
_FROM_THE_MIDDLE = (4, 5, 3, 6, 2, 7, 1, 8, 0, 9)


def spread(ruleset: Ruleset) -> Rows:
    """Return a plain set-up for any army.

    The flag is in the middle of the back row, bombs around it, miners and the spy behind, the rest in front, spread
    over the files.
    """
    board = [EMPTY] * SQUARES_OF_A_SIDE
    left = Counter(dict(_army(ruleset)))
    flag = _FROM_THE_MIDDLE[0]
    board[flag] = Rank.FLAG.letter
    left[Rank.FLAG.letter] -= 1
    order = [flag + BOARD_SIZE, flag + 1, flag - 1]
    for square in order[: left[Rank.BOMB.letter]]:
        board[square] = Rank.BOMB.letter
        left[Rank.BOMB.letter] -= 1
    others = [rank.letter for rank in (*_FORWARD, *_MIDDLE, Rank.BOMB, Rank.FLAG) for _ in range(left[rank.letter])]
    squares = [row * BOARD_SIZE + file for row in range(SETUP_ROWS - 1, -1, -1) for file in _FROM_THE_MIDDLE]
    free = [square for square in squares if board[square] == EMPTY]
    for square, letter in zip(free, others, strict=False):
        board[square] = letter
    return _rows(board)


def _preset(name: str, text: str, *rows: str) -> Preset:
    return Preset(name, text, rows)


_PRESETS = (
    _preset(
        "corner",
        "the flag in a corner behind bombs, strong pieces on the other side",
        "FB35S32B23",
        "B4243B5342",
        "5B2678256B",
        "2674M29876",
    ),
    _preset(
        "middle",
        "the flag in the middle of the back row, bombs on three sides, strength on both wings",
        "323BFB2B23",
        "5B34B4S5B3",
        "4728265482",
        "26M2756976",
    ),
    _preset(
        "decoy",
        "bombs in one corner of the back row, and the flag near the other one",
        "BB23233BFB",
        "B3454S23B4",
        "5726784265",
        "29627M5862",
    ),
    _preset(
        "storm",
        "strong pieces in front to attack at once; little is left at home",
        "3BFB323B23",
        "43B4B6S5B4",
        "2542562725",
        "67M2869872",
    ),
    _preset(
        "quiet",
        "the flag in the corner behind both bombs, the others far apart",
        "FB........",
        "BS......2.",
        "3...9....3",
        "2....M....",
    ),
    _preset(
        "hidden",
        "the flag uncovered among the others, the bombs as a lure on the other side",
        ".3F.....B.",
        ".S.....B..",
        "..39......",
        "2....M...2",
    ),
    _preset(
        "wall",
        "the flag in the corner, its bomb next to it, the marshal in front",
        "FB........",
        "3S........",
        ".9........",
        "2..M.....2",
    ),
    _preset(
        "open",
        "the flag in the open, and the bomb as a lure in the middle",
        ".......F..",
        "....B...3.",
        ".S.....9..",
        "2.......M2",
    ),
    _preset(
        "camp",
        "the flag behind both bombs, the others in a half circle in front",
        "F.B..23...",
        "B4S3......",
        "54256.6...",
        "28.M.79.2.",
    ),
)
