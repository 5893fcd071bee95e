"""A ruleset: every choice that editions of the game make differently, as one frozen value.

The engine asks a `Ruleset` and never an edition's name. The defaults are the rules that all booklets have in common; an
edition is a set of values (see the module `rulesets`), a variant changes some of them, and `lines` lists them all: for
bots, for records and for the fingerprint of a league.
"""

import enum
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields
from functools import lru_cache
from typing import Any

from arena.errors import UsageError
from protocol.notation import ARMY_RULE, BOARD_SIZE, SETUP_ROWS, Rank, army_text, read_army

HOME_SIZE = SETUP_ROWS * BOARD_SIZE


class RulesetError(UsageError):
    """An unknown or invalid ruleset; the text has the place, the expected and the actual value."""


class Starts(enum.Enum):
    RED = "red"
    BLUE = "blue"
    CHOSEN = "chosen"
    """The players choose (Milton Bradley); in the arena the host, or chance."""


class Chase(enum.Enum):
    FREE = "free"
    """Pieces may be chased for ever (Jumbo 494/495, Original 03/2000, Milton Bradley)."""
    ISF = "isf"
    """A threatening move may not bring back a position of the same chase (ISF Game Rules 11.1-11.3)."""
    BOOKLET = "booklet"
    """Over more than two squares, it may not bring back any earlier position (81320, 09495, Travel, Vintage)."""


class NoMove(enum.Enum):
    """When a side without a legal move is detected."""

    AT_ONCE = "at-once"
    """After every ply, for both sides; if neither has one the game is drawn (ISF, Original 03/2000, Vintage)."""
    ON_TURN = "on-turn"
    """When a side is to move (Jumbo 494/495, Milton Bradley and others)."""


class EqualRanks(enum.Enum):
    BOTH_LEAVE = "both-leave"
    ATTACKER = "attacker"
    """The attacker wins (Vintage p. 21, attacker's advantage)."""


class Bombs(enum.Enum):
    FIXED = "fixed"
    """Bombs never move, and stay when they have beaten a piece."""
    EXPLODING = "exploding"
    """A piece other than a miner that attacks a bomb leaves the board with it (Vintage p. 21)."""
    MOBILE = "mobile"
    """Bombs explode, and may move one square like any piece, but not attack (Vintage p. 21)."""


class Flag(enum.Enum):
    FIXED = "fixed"
    MOBILE = "mobile"
    """The flag moves one square, and its owner also wins by bringing it to the opponent's back row (Vintage p. 21)."""


class FixedPieces(enum.Enum):
    """The penalty for trying to move a piece that may not move."""

    ILLEGAL = "illegal"
    LOSES = "loses"
    """The side loses the game (Jumbo 09495, German text)."""


class Defence(enum.Enum):
    """Whether a defender names its rank."""

    NAMED = "named"
    SILENT = "silent"
    """A defender names its rank only to a scout; a rank is known once its piece is removed (Vintage p. 21)."""


class Scouts(enum.Enum):
    """How a scout that moves more than one square is recognised."""

    SEEN = "seen"
    """The move itself shows it, where no other piece can move so."""
    ANNOUNCED = "announced"
    """The owner must announce a scout (Vintage p. 19)."""


class Captains(enum.Enum):
    ONE_STEP = "one-step"
    TWO_STEPS = "two-steps"
    """Up to two squares, with a turn after the first if they like (Vintage p. 22, Bataille éclair)."""


class Spy(enum.Enum):
    STRAIGHT = "straight"
    DIAGONAL = "diagonal"
    """Also an enemy that touches its square at a corner (Horn, the "Tek" house rules of 1942)."""


class Attacks(enum.Enum):
    ALL_SIDES = "all-sides"
    FACING = "facing"
    """Straight ahead or behind along their file, never sideways (Horn, on L'Attaque)."""


@dataclass(frozen=True)
class Ruleset:
    """The rules in force. The defaults are what all booklets have in common.

    `army` counts the pieces a side has of each rank. `two_squares` is the number of consecutive moves that one piece
    may make over the same border between two squares, or None for no limit. `rescues` is how many lost pieces a side
    may bring back. `infiltration`: an infiltrator may guess. `needs_attacker`: a side without a piece that can attack
    has lost. `max_plies` and `max_quiet_plies` are the caps on all plies and on plies in a row without an attack, or
    None; reaching one is a draw.

    `title`, `source` and `notes` (per rule, where it comes from) are for people and not part of the rules.
    Raises `RulesetError` if the values contradict each other.
    """

    name: str
    title: str
    source: str
    army: tuple[tuple[Rank, int], ...]
    starts: Starts = Starts.RED
    two_squares: int | None = None
    chase: Chase = Chase.FREE
    no_move: NoMove = NoMove.ON_TURN
    needs_attacker: bool = False
    equal_ranks: EqualRanks = EqualRanks.BOTH_LEAVE
    bombs: Bombs = Bombs.FIXED
    flag: Flag = Flag.FIXED
    fixed_pieces: FixedPieces = FixedPieces.ILLEGAL
    rescues: int = 0
    defence: Defence = Defence.NAMED
    scouts: Scouts = Scouts.SEEN
    captains: Captains = Captains.ONE_STEP
    infiltration: bool = False
    spy: Spy = Spy.STRAIGHT
    attacks: Attacks = Attacks.ALL_SIDES
    max_plies: int | None = 2000
    max_quiet_plies: int | None = 200
    notes: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        problem = self._contradiction()
        if problem:
            raise RulesetError(f"{self.name}: {problem}")

    def _contradiction(self) -> str | None:
        army = dict(self.army)
        total = sum(army.values())
        if len(army) != len(self.army) or min(army.values(), default=1) < 1:
            return f"army: expected each rank once, with 1 or more pieces, got {army_text(self.army)!r}"
        for key, least in NUMBERS.items():
            value = getattr(self, key)
            if value is not None and value < least:
                return f"{key}: expected a whole number from {least} up, got {value}"
        if army.get(Rank.FLAG) != 1:
            return f"army: expected exactly one flag, F = 1, got {army.get(Rank.FLAG, 0)}"
        if total > HOME_SIZE:
            return f"army: expected at most {HOME_SIZE} pieces, got {total}"
        if not set(army) & self.movable_ranks:
            return f"army: expected at least one piece that can move, got {army_text(self.army)!r}"
        if self.spy is Spy.DIAGONAL and self.attacks is Attacks.FACING:
            return "a spy that attacks diagonally and attacks along files only contradict each other"
        for wanted, rank, words in (
            (self.captains is Captains.TWO_STEPS, Rank.CAPTAIN, "captains that move two squares need a captain"),
            (self.infiltration, Rank.INFILTRATOR, "infiltration needs an infiltrator"),
            (self.spy is Spy.DIAGONAL, Rank.SPY, "a spy that attacks diagonally needs a spy"),
        ):
            if wanted and rank not in army:
                return f"{words} in the army ({rank.letter} = 1 or more)"
        return None

    @property
    def movable_ranks(self) -> frozenset[Rank]:
        """The ranks that may move at all."""
        fixed = {Rank.BOMB} if self.bombs is not Bombs.MOBILE else set()
        fixed |= {Rank.FLAG} if self.flag is not Flag.MOBILE else set()
        return frozenset(Rank) - fixed

    @property
    def army_size(self) -> int:
        return sum(count for _, count in self.army)

    @property
    def fills_rows(self) -> bool:
        """Whether the army takes up all four rows, so that the squares of a set-up are known."""
        return self.army_size == HOME_SIZE

    def lines(self) -> list[tuple[str, str]]:
        """Return every rule in force as a name and a value: the `rule` lines of the protocol."""
        return [(key.replace("_", "-"), value_text(getattr(self, key))) for key in RULE_KEYS]

    def lasting_lines(self) -> list[tuple[str, str]]:
        """Return the lines that identify the rules of a store's games in every version of the arena.

        Rules added after the first version are left out where they have their default, which is how games were played
        before.
        """
        later = sorted(key for key in RULE_KEYS if key not in FIRST_RULES and getattr(self, key) != DEFAULTS[key])
        return [(key.replace("_", "-"), value_text(getattr(self, key))) for key in (*FIRST_RULES, *later)]

    def digest(self) -> str:
        """Return a hexadecimal fingerprint of the rules: two rulesets with the same rules have the same one."""
        import hashlib  # bots that search with the engine never ask for it, and start sooner

        return hashlib.sha256("\n".join(f"{name} {value}" for name, value in self.lasting_lines()).encode()).hexdigest()


NOT_RULES = ("name", "title", "source", "notes")
RULE_KEYS: tuple[str, ...] = tuple(field.name for field in fields(Ruleset) if field.name not in NOT_RULES)
"""The names of all rules, as `Ruleset` spells them; on the wire and in records `_` becomes `-`."""

DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(Ruleset) if field.default is not MISSING}
"""The default value of each rule; the army alone has none."""

FIRST_RULES = (
    *("army", "starts", "two_squares", "chase", "no_move", "needs_attacker", "equal_ranks", "bombs", "flag"),
    *("fixed_pieces", "rescues", "defence", "scouts", "captains", "infiltration", "spy", "attacks"),
    *("max_plies", "max_quiet_plies"),
)
"""The rules of the first version, in its order. Never add to them: ids of stored games follow from these."""

CHOICES: dict[str, type[enum.Enum]] = {
    key: type(default) for key, default in DEFAULTS.items() if isinstance(default, enum.Enum)
}
"""The rules that are a choice between words."""

NUMBERS: dict[str, int] = {"two_squares": 1, "rescues": 0, "max_plies": 1, "max_quiet_plies": 1}
"""The rules that are a number, with the least that it may be."""

MAY_BE_NONE = frozenset(field.name for field in fields(Ruleset) if field.type == int | None)
"""The numbers that may be None, for no limit."""

SWITCHES = frozenset(key for key, default in DEFAULTS.items() if isinstance(default, bool))
"""The rules that are on or off."""


def value_text(value: object) -> str:
    """Return the value of a rule as text for its line; `ruleset_from_lines` reads it back."""
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, tuple):
        return army_text(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


# --- rulesets read back from their lines --------------------------------------------------------------------------


def ruleset_from_lines(name: str, lines: Iterable[tuple[str, str]]) -> Ruleset:
    """Parse the lines of a ruleset in a record, as `Ruleset.lines` writes them. Raises `RulesetError`.

    A rule without a line has its default: the lines are older than the rule. Title, source and notes are not in the
    lines.
    """
    return _ruleset(name, tuple(lines))


@lru_cache(maxsize=32)
def _ruleset(name: str, lines: tuple[tuple[str, str], ...]) -> Ruleset:
    """Cached, as all games of a league have the same lines, and parsing takes a third of checking a short game."""
    values: dict[str, Any] = {}
    unknown = []
    for line, text in lines:
        key = line.replace("-", "_")
        if key not in RULE_KEYS or "_" in line:
            unknown.append(line)
        elif key in values:
            raise RulesetError(f"the rules of {name!r} cannot be read: there are two lines for {line}")
        else:
            values[key] = _read(name, line, text)
    if unknown:
        names = ", ".join(map(repr, unknown))
        raise RulesetError(
            f"the rules of {name!r} cannot be read: this version of arena does not know {names}; they were written by "
            "a newer version"
        )
    if ARMY_RULE not in values:
        raise RulesetError(f"the rules of {name!r} cannot be read: there is no line for {ARMY_RULE}")
    return Ruleset(name=name, title=name, source="", **values)


def _read(name: str, line: str, text: str) -> Any:
    try:
        value = _value(line.replace("-", "_"), text)
        is_known = value_text(value) == text  # '007', ' 7' and '\u0667' are numbers to Python, and to no rule
    except (KeyError, ValueError):
        is_known = False
    if not is_known:
        raise RulesetError(
            f"the rules of {name!r} cannot be read: this version of arena does not know {line} {text!r}; they are "
            "damaged, or were written by a newer version"
        )
    return value


def _value(key: str, text: str) -> Any:
    if key in CHOICES:
        return CHOICES[key](text)
    if key == ARMY_RULE:
        return read_army(text)
    if key in SWITCHES:
        return {"yes": True, "no": False}[text]
    return None if text == "none" and key in MAY_BE_NONE else int(text)
