"""A ruleset: every choice that editions of the game make differently, as one frozen value.

The engine asks a `Ruleset` and never an edition's name. The rulesets that come with the arena are TOML files in
`arena/rulesets`; a host's own file has the same form. A name or a key that is not known is an error, with the nearest
known ones suggested: a misspelt rule that silently fell back to a default would spoil a league without anyone noticing.
"""

import difflib
import enum
import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from protocol.notation import ARMY_RULE, BOARD_SIZE, COLOR_BY_WORD, RANK_BY_LETTER, SETUP_ROWS, Color, Rank

DEFAULT_RULESET = "isf"
HOME_SIZE = SETUP_ROWS * BOARD_SIZE
IMMOVABLE = frozenset({Rank.FLAG, Rank.BOMB})


class Chase(enum.Enum):
    """What a side may not do when it chases."""

    FREE = "free"
    """Pieces may be chased for ever (Jumbo 494/495, Original 03/2000, Milton Bradley)."""
    ISF = "isf"
    """A threatening move may not bring back a position of the same chase (ISF Game Rules 11.1-11.3)."""


class NoMove(enum.Enum):
    """When it is looked whether a side still has a move."""

    AT_ONCE = "at-once"
    """After every ply, for both sides; if neither has one the game is drawn (ISF, Original 03/2000)."""
    ON_TURN = "on-turn"
    """When a side is to move (Jumbo 494/495, Milton Bradley)."""


class RulesetError(Exception):
    """A ruleset that does not exist or does not make sense; the text says what was expected, what came and where."""


@dataclass(frozen=True)
class Ruleset:
    """The rules in force.

    `army` counts the pieces a side has of each rank. `two_squares` is the number of consecutive moves that one piece
    may make over the same border between two squares, or None for no limit. `max_plies` and `max_quiet_plies` are the
    caps on all plies and on plies in a row without an attack, or None; reaching one is a draw.
    """

    name: str
    title: str
    source: str
    army: tuple[tuple[Rank, int], ...]
    starts: Color = Color.RED
    two_squares: int | None = 3
    chase: Chase = Chase.ISF
    no_move: NoMove = NoMove.AT_ONCE
    max_plies: int | None = 2000
    max_quiet_plies: int | None = 200

    @property
    def army_size(self) -> int:
        return sum(count for _, count in self.army)

    @property
    def fills_rows(self) -> bool:
        """Whether the army takes up all four rows, so that set-ups leave nothing to see."""
        return self.army_size == HOME_SIZE

    def lines(self) -> list[tuple[str, str]]:
        """Every rule in force as a name and a value in words: the `rule` lines of the protocol."""

        def number(value: int | None) -> str:
            return "none" if value is None else str(value)

        return [
            (ARMY_RULE, " ".join(f"{rank.letter}:{count}" for rank, count in self.army)),
            ("starts", self.starts.word),
            ("two-squares", number(self.two_squares)),
            ("chase", self.chase.value),
            ("no-move", self.no_move.value),
            ("max-plies", number(self.max_plies)),
            ("max-quiet-plies", number(self.max_quiet_plies)),
        ]

    def digest(self) -> str:
        """A hexadecimal fingerprint of the rules themselves: two rulesets that play alike have the same."""
        return hashlib.sha256("\n".join(f"{name} {value}" for name, value in self.lines()).encode()).hexdigest()


def ruleset_from_lines(name: str, lines: Iterable[tuple[str, str]]) -> Ruleset:
    """The ruleset that `Ruleset.lines` wrote, as it stands in a record. Raises `RulesetError` if it is not one.

    Title and source are not rules and are not in the lines.
    """
    values = dict(lines)

    def number(key: str) -> int | None:
        return None if values[key] == "none" else int(values[key])

    try:
        return Ruleset(
            name=name,
            title=name,
            source="",
            army=tuple((RANK_BY_LETTER[field[0]], int(field[2:])) for field in values[ARMY_RULE].split()),
            starts=COLOR_BY_WORD[values["starts"]],
            two_squares=number("two-squares"),
            chase=Chase(values["chase"]),
            no_move=NoMove(values["no-move"]),
            max_plies=number("max-plies"),
            max_quiet_plies=number("max-quiet-plies"),
        )
    except (KeyError, ValueError) as error:
        raise RulesetError(f"the rules of {name!r} cannot be read: {error}") from None


# --- loading ------------------------------------------------------------------------------------------------------


def ruleset_names() -> list[str]:
    """The names of the rulesets that come with the arena, sorted."""
    return sorted(path.name.removesuffix(".toml") for path in _folder().iterdir() if path.name.endswith(".toml"))


def load_ruleset(name: str = DEFAULT_RULESET) -> Ruleset:
    """The ruleset of that name. Raises `RulesetError`, with the nearest names, if there is none."""
    names = ruleset_names()
    if name not in names:
        raise RulesetError(f"unknown ruleset {name!r}; {suggest(name, names)}")
    path = _folder() / f"{name}.toml"
    return parse_ruleset(name, path.read_text(encoding="utf-8"), path.name)


def _folder() -> Traversable:
    return resources.files("arena") / "rulesets"


def suggest(word: str, known: Iterable[str]) -> str:
    """The words to help someone who wrote `word` where one of `known` was expected."""
    choices = list(known)
    near = difflib.get_close_matches(word, choices, n=3, cutoff=0.6)
    return f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(choices)}"


def parse_ruleset(name: str, text: str, where: str) -> Ruleset:
    """A ruleset from the text of a TOML file; `where` names the file in errors. Raises `RulesetError`."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RulesetError(f"{where}: not valid TOML: {error}") from None
    table = _Table(document, where)
    rules, caps = table.table("rules"), table.table("caps")
    ruleset = Ruleset(
        name=name,
        title=table.text("title"),
        source=table.text("source"),
        army=_army(table.table("army")),
        starts=COLOR_BY_WORD[rules.choice("starts", COLOR_BY_WORD)],
        two_squares=rules.count("two_squares", least=1),
        chase=Chase(rules.choice("chase", [chase.value for chase in Chase])),
        no_move=NoMove(rules.choice("no_move", [no_move.value for no_move in NoMove])),
        max_plies=caps.count("plies", least=1),
        max_quiet_plies=caps.count("quiet_plies", least=1),
    )
    for part in (table, rules, caps):
        part.finish()
    return ruleset


def _army(table: "_Table") -> tuple[tuple[Rank, int], ...]:
    counts = [(rank, table.number(letter, least=0)) for letter, rank in RANK_BY_LETTER.items() if letter in table]
    table.finish(RANK_BY_LETTER)
    army = tuple((rank, count) for rank, count in counts if count)
    total = sum(count for _, count in army)
    if dict(army).get(Rank.FLAG) != 1:
        raise RulesetError(f"{table.where}: expected exactly one flag, F = 1")
    if total > HOME_SIZE:
        raise RulesetError(f"{table.where}: expected at most {HOME_SIZE} pieces, got {total}")
    if all(rank in IMMOVABLE for rank, _ in army):
        raise RulesetError(f"{table.where}: expected at least one piece that can move")
    return army


class _Table:
    """A TOML table that remembers which keys were asked for, so that the ones nobody knows can be refused."""

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self._values = values
        self._asked: list[str] = []
        self.where = where

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def _get(self, key: str, expected: str) -> Any:
        self._asked.append(key)
        if key not in self._values:
            raise RulesetError(f"{self.where}: the key {key!r} is missing; expected {expected}")
        return self._values[key]

    def _wrong(self, key: str, expected: str) -> RulesetError:
        return RulesetError(f"{self.where}: {key}: expected {expected}, got {self._values[key]!r}")

    def table(self, key: str) -> "_Table":
        value = self._get(key, "a table")
        if not isinstance(value, dict):
            raise self._wrong(key, "a table")
        return _Table(value, f"{self.where}: [{key}]")

    def text(self, key: str) -> str:
        value = self._get(key, "a text")
        if not isinstance(value, str) or not value:
            raise self._wrong(key, "a text")
        return value

    def choice(self, key: str, known: Iterable[str]) -> str:
        expected = "one of " + ", ".join(f'"{word}"' for word in known)
        value = self._get(key, expected)
        if value not in list(known):
            raise self._wrong(key, expected)
        return str(value)

    def count(self, key: str, least: int) -> int | None:
        """A whole number, or None where the file says "none"."""
        expected = f'a whole number from {least} up, or "none"'
        return None if self._get(key, expected) == "none" else self.number(key, least, expected)

    def number(self, key: str, least: int, expected: str = "") -> int:
        expected = expected or f"a whole number from {least} up"
        value = self._get(key, expected)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self._wrong(key, expected)
        return int(value)

    def finish(self, known: Iterable[str] = ()) -> None:
        """Raise for the first key that nobody asked for."""
        known = [*self._asked, *known]
        for key in self._values:
            if key not in known:
                raise RulesetError(f"{self.where}: unknown key {key!r}; {suggest(key, known)}")
