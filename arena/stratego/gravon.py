"""Games of Gravon's archives: the XML of its monthly zips and the older `.gsn`, read and replayed.

No description by Gravon itself is known to us. Source of both formats: the readers of Rein Halbersma
(github.com/rhalbersma/gravon: `scripts/gsn2xml.py`, `src/scripts/transform/parse.py`, `src/scripts/extract/repair.py`,
`src/gravon/transform/label.py`) and the set-ups in its `data` folder; the letters of pieces also from page 90 of
Vincent de Boer's thesis "Invincible" (Delft, 2007).

Both have a field of 100 letters, rank 1 first (`_` a lake, `A` empty, `B` to `M` Red's bomb, spy, 2 to 9, marshal and
flag, `N` to `Y` Blue's), moves between squares A1 to K10 (there is no file J, and some files say J for K), a code for
the ending and the winner. A `.gsn` has the lines

    #X38FA11 Stratego-Notation v1
    type 0
    (the field)
    A4-A5
    END
    RED vs BLUE result 1 winner 0

and writes row 10 as one character. Moves with a colon, rescues of Ultimate Lightning, are kept, and are no legal ones.
"""

import re
from dataclasses import replace
from typing import NamedTuple
from xml.etree import ElementTree

from arena.errors import ArenaError
from arena.stratego.rules.action_types import IllegalActionError
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import Chase, Ruleset
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.rules.setup import IllegalSetupError
from arena.system.printable import printable, shown
from protocol.notation import BOARD_SIZE, EMPTY
from protocol.seats import Color

MOST_BYTES = 1 << 20
"""The largest file of a game: real ones have at most some 100 kB."""
LONGEST_NAME = 40

KINDS = ("classic", "barrage", "classicfree", "ultimate lightning", "duell")
"""The kinds of games by their names in XML; a `.gsn` has a number from 0 to 3, as the last kind is younger."""
RULESETS = dict(zip(KINDS, ("isf", "barrage", "isf", "vintage/lightning", "duel"), strict=True))
ENDINGS = {
    0: "unable to move",
    1: "flag captured",
    2: "both unable to move",
    3: "forfeit",
    4: "tie agreed",
    10: "both missing",
    11: "player clock timed out",
    12: "game clock timed out",
    13: "player clock timed out, and the player was missing",
    14: "opponent missing",
}
ON_THE_BOARD = (0, 1, 2)
"""Endings that follow from the rules."""
WINNERS = (Color.RED, Color.BLUE, None)

PIECES = "BS23456789MF"
_FIRST = {Color.RED: ord("B"), Color.BLUE: ord("N")}
_LETTERS = {color: {chr(_FIRST[color] + at): rank for at, rank in enumerate(PIECES)} for color in Color}
_MIDDLE = "AA__AA__AA" * 2
_FILES = dict(zip("ABCDEFGHIJK", "abcdefghijj", strict=True))
_ROWS = {"0": "10", ":": "10", **{str(row): str(row) for row in range(1, BOARD_SIZE + 1)}}
_SQUARES = {file + row: _FILES[file] + _ROWS[row] for file in _FILES for row in _ROWS}
_FIELD = "[A-Y_]{100}"


class GravonError(ArenaError):
    """A file that is no game of Gravon; the text says where, what was expected and what is there."""


class UnplayableError(ArenaError):
    """A game that cannot be replayed: `ply` is the one that cannot be played, 0 for the set-ups."""

    def __init__(self, ply: int, why: str) -> None:
        super().__init__(f"ply {ply}: {why}" if ply else f"set-up: {why}")
        self.ply = ply


class GravonGame(NamedTuple):
    kind: str
    """A kind of game, of `KINDS`."""
    names: tuple[str, str]
    field: str
    """Empty if the game ended before both sides had set up."""
    moves: tuple[tuple[str, str], ...]
    """Origin and target as the file has them; a line that is no such pair is an origin without a target."""
    ending: int
    """The number of an ending, of `ENDINGS`."""
    winner: Color | None


# --- reading ----------------------------------------------------------------------------------------------------------


def parse_game(data: bytes) -> GravonGame:
    """Parse a file of either format. Raises `GravonError`."""
    if len(data) > MOST_BYTES:
        raise GravonError(f"expected a game of at most {MOST_BYTES // 1024} KiB, got a longer file")
    data = data.removeprefix(b"\xef\xbb\xbf")
    return _parse_gsn(data) if data.startswith(b"#") else _parse_xml(data)


def _parse_gsn(data: bytes) -> GravonGame:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    lines = [line.strip() for line in text.rstrip().splitlines()]

    def match(number: int, pattern: str, what: str) -> re.Match[str]:
        found = re.fullmatch(pattern, lines[number - 1]) if number <= len(lines) else None
        if found is None:
            there = shown(lines[number - 1]) if number <= len(lines) else "the end of the file"
            raise GravonError(f"line {number}: expected {what}, got {there}")
        return found

    match(1, r"#X38FA11 Stratego-Notation v[12]", "'#X38FA11 Stratego-Notation v1' or v2")
    kind = KINDS[int(match(2, r"type\s*([0-3])", "'type' and a number from 0 to 3")[1])]
    end = lines.index("END") + 1 if "END" in lines else len(lines) + 1
    field = match(3, _FIELD, "a field of 100 letters")[0] if end != 3 else ""
    moves = tuple(
        (move[1], move[2]) if move[2] else (move[0], "")
        for move in (match(number, r"(..)(?:-(..)|:..)", "a move such as A4-A5, or 'END'") for number in range(4, end))
    )
    result = match(end + 1, r"(.*) vs (.*) result (\d{1,2}) winner ([012])", "'RED vs BLUE result 1 winner 0'")
    if len(lines) > end + 1:
        match(len(lines), "", "the end of the file")
    return _checked(GravonGame(kind, (result[1], result[2]), field, moves, int(result[3]), WINNERS[int(result[4])]))


def _checked(game: GravonGame) -> GravonGame:
    if game.ending not in ENDINGS:
        raise GravonError(f"expected a result of {', '.join(map(str, ENDINGS))}, got {game.ending}")
    red, blue = (printable(name.strip()[:LONGEST_NAME]) for name in game.names)
    return game._replace(names=(red, blue))


def _parse_xml(data: bytes) -> GravonGame:
    if b"\0" in data or b"<!DOCTYPE" in data:  # in any encoding without zeros, markup has the bytes of ASCII
        raise GravonError("expected XML in bytes, without a document type and entities: they are refused")
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise GravonError(f"not well-formed XML: {error}") from None
    except (ValueError, LookupError) as error:  # an encoding that there is not
        raise GravonError(f"not readable as XML: {shown(error)}") from None
    games, players, results, fields = (root.findall(path) for path in ("game", ".//player", ".//result", ".//field"))
    if (root.tag, len(games), len(players), len(results)) != ("stratego", 1, 2, 1) or len(fields) > 1:
        raise GravonError(f"expected <stratego> with one <game>, one <result> and two <player>, got <{root.tag[:20]}>")

    def value(element: ElementTree.Element, key: str, pattern: str) -> str:
        if not re.fullmatch(pattern, text := element.get(key, "")):
            raise GravonError(f"<{element.tag} {key}>: expected {pattern}, got {shown(text)}")
        return text

    return _checked(
        GravonGame(
            kind=value(games[0], "type", "|".join(KINDS)),
            names=(players[0].text or "", players[1].text or ""),
            field=value(fields[0], "content", _FIELD) if fields else "",
            moves=tuple((move.get("source", ""), move.get("target", "")) for move in root.iter("move")),
            ending=int(value(results[0], "type", "[0-9]{1,2}")),
            winner=WINNERS[int(value(results[0], "winner", "[123]")) - 1],
        )
    )


# --- replaying --------------------------------------------------------------------------------------------------------


def setups_of(game: GravonGame) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return both set-ups as rows, own back row first. Raises `UnplayableError`."""
    field = game.field
    if not field:
        raise UnplayableError(0, f"the game ended before it: {ENDINGS[game.ending]}")
    if field[40:60] != _MIDDLE:
        raise UnplayableError(0, f"expected empty squares and lakes in the middle, got {field[40:60]}")
    ranks = [field[start : start + BOARD_SIZE] for start in range(0, len(field), BOARD_SIZE)]
    return _rows(ranks[:4], Color.RED), _rows(ranks[:5:-1], Color.BLUE)


def _rows(ranks: list[str], color: Color) -> tuple[str, ...]:
    letters = {"A": EMPTY, **_LETTERS[color]}
    for letter in "".join(ranks):
        if letter not in letters:
            raise UnplayableError(0, f"expected only pieces of {color.word} on its side, got {letter!r}")
    return tuple("".join(letters[letter] for letter in rank) for rank in ranks)


def rules_of(kind: str) -> Ruleset:
    """Return the rules of our edition with a kind's army, without any against repetition and without caps.

    Which of these the site had in which year is not known.
    """
    return replace(
        load_ruleset(RULESETS[kind]),
        name=f"gravon-{kind.replace(' ', '-')}",
        two_squares=None,
        chase=Chase.FREE,
        max_plies=None,
        max_quiet_plies=None,
    )


def replay_game(game: GravonGame) -> tuple[EngineGame, tuple[str, ...]]:
    """Replay a game; return the engine's game, and the actions in the protocol's words. Raises `UnplayableError`."""
    try:
        engine = EngineGame(rules_of(game.kind), *setups_of(game))
    except IllegalSetupError as error:
        raise UnplayableError(0, str(error)) from None
    actions = []
    for ply, move in enumerate(game.moves, start=1):
        try:
            actions.append("-".join(_SQUARES[square] for square in move))
            engine.apply(actions[-1])
        except KeyError:
            got = shown("-".join(filter(None, move)))
            raise UnplayableError(ply, f"expected a move between squares from A1 to K10, got {got}") from None
        except IllegalActionError as error:
            raise UnplayableError(ply, str(error)) from None
    outcome, told = engine.outcome, f"{ENDINGS[game.ending]}, {'drawn' if game.winner is None else game.winner.word}"
    if outcome is None and game.ending in ON_THE_BOARD:
        raise UnplayableError(len(actions) + 1, f"the file ends here ({told}), and the game is not over on the board")
    if outcome is not None and outcome.winner is not game.winner:
        raise UnplayableError(len(actions), f"expected the end that the file has ({told}), got {outcome.reason.value}")
    return engine, tuple(actions)
