"""The dialect of 2012 as text: squares, ranks, moves, results and boards, to it and from it.

`docs/ucc-2012.md` is the reference. Its board has Red at the top: x counts files from a, y counts ranks from 1, so that
(x, y) is the arena's square number 10 * y + x, and `DOWN` leads away from Red. Ranks count the other way: 1 is the
marshal, 9 the scout.

Red always begins there. In a game that Blue begins, the dialect's Red is the arena's Blue, and its board the arena's
turned upside down (`turned`): everything else here knows the dialect's colours and squares alone.
"""

import re

from protocol.geometry import action_squares
from protocol.lines import RemoteProtocolError, excerpt
from protocol.messages import Battle
from protocol.notation import BOARD_SIZE, EMPTY, RANK_BY_LETTER, RESIGN, SQUARES, Color, Rank, Survivor

LETTERS: dict[Rank, str] = {
    Rank.FLAG: "F",
    Rank.BOMB: "B",
    Rank.SPY: "s",
    **{Rank(Rank.MARSHAL - number): str(1 + number) for number in range(9)},
}
"""The character of each rank of the original army."""
RANKS: dict[str, Rank] = {letter: rank for rank, letter in LETTERS.items()}
ENEMY, LAKE = "#", "+"
"""On a board, beside the own pieces and empty squares."""
SURRENDER = "SURRENDER"
START = "START"
QUIT = "QUIT"
STEPS: dict[str, tuple[int, int]] = {"UP": (0, -1), "DOWN": (0, 1), "LEFT": (-1, 0), "RIGHT": (1, 0)}
"""What a step adds to x and to y."""
_WAYS = {y * BOARD_SIZE + x: way for way, (x, y) in STEPS.items()}

_MOVE = re.compile(r"\s*(\d{1,3})\s+(\d{1,3})\s+([A-Z]+)(?:\s+(\d{1,3}))?\s*", re.ASCII)
_VERSION_1 = re.compile(r"(?:name|author|want|setup|move|note) |ready\s*\Z", re.ASCII)
_TO_ARENA = str.maketrans({letter: rank.letter for letter, rank in RANKS.items()})
_FROM_ARENA = str.maketrans({rank.letter: letter for letter, rank in RANKS.items()})
_RANK = re.compile(r"\d+", re.ASCII)
_ROW = re.compile(rf"[{''.join(RANKS)}{re.escape(EMPTY)}]{{{BOARD_SIZE}}}")
HINT_1 = "; this is version 1 of the arena's protocol, and the bot was started as one that speaks ucc-2012"
HINT_2012 = (
    '; this is a row of a set-up in the dialect of 2012: a bot that speaks it has protocol = "ucc-2012" in its '
    "bot.toml, or is named ucc:PATH"
)


def turned(action: str) -> str:
    """An action on the board turned upside down: a4-a5 becomes a7-a6, and the other way."""
    return _RANK.sub(lambda rank: str(BOARD_SIZE + 1 - int(rank[0])), action)


def is_row(text: str) -> bool:
    """Whether this is a row of ten pieces in this dialect, or empty squares."""
    return _ROW.fullmatch(text) is not None


def text_of(line: bytes) -> str:
    """A line of a bot, without what may stand at its end. Raises `RemoteProtocolError` unless it is plain ASCII."""
    text = line.rstrip(b" \t\r").decode("latin-1")
    if not (text.isascii() and text.replace("\t", " ").isprintable()):
        raise RemoteProtocolError(f"expected printable ASCII characters, got {excerpt(line)}")
    return text


def read_row(line: bytes, number: int) -> str:
    """One of the four rows of a set-up, counted from 1, in the arena's letters. Raises `RemoteProtocolError`."""
    text = text_of(line)
    if not is_row(text):
        raise RemoteProtocolError(
            f"expected row {number} of 4 of its set-up, ten of {''.join(RANKS)}, got {excerpt(line)}{_hint(text)}"
        )
    return text.translate(_TO_ARENA)


def own_rows(color: Color, rows: tuple[str, ...]) -> tuple[str, ...]:
    """The rows from the top of the board as the arena has them, the own back row first; and the other way."""
    return rows if color is Color.RED else rows[::-1]


def setup_lines(color: Color, setup: str) -> list[str]:
    """The four lines of the dialect's `color` for a set-up as it stands in records."""
    return [row.translate(_FROM_ARENA) for row in own_rows(color, tuple(setup.split("/")))]


def read_action(line: bytes) -> str:
    """The action that an answer to a turn stands for. Raises `RemoteProtocolError` if it stands for none."""
    text = text_of(line)
    if text == SURRENDER:
        return RESIGN
    match = _MOVE.fullmatch(text)
    step = STEPS.get(match[3]) if match else None
    if match is None or step is None:
        raise RemoteProtocolError(
            f"expected X Y and one of {', '.join(STEPS)} (a scout's number of squares after it), or {SURRENDER}, got "
            f"{excerpt(line)}{_hint(text)}"
        )
    x, y, squares = int(match[1]), int(match[2]), int(match[4] or 1)
    last_x, last_y = x + squares * step[0], y + squares * step[1]
    if squares < 1 or not all(0 <= number < BOARD_SIZE for number in (x, y, last_x, last_y)):
        raise RemoteProtocolError(f"expected a move of 1 or more squares on the board, 0 to 9, got {excerpt(line)}")
    return f"{SQUARES[y * BOARD_SIZE + x]}-{SQUARES[last_y * BOARD_SIZE + last_x]}"


def _hint(text: str) -> str:
    return HINT_1 if _VERSION_1.match(text) else ""


def action_line(action: str) -> str:
    """An action as it is written: a straight move, or resigning."""
    squares = action_squares(action)
    if squares is None:
        return SURRENDER
    origin, target = squares
    y, x = divmod(origin, BOARD_SIZE)
    away = target - origin
    size = 1 if abs(away) < BOARD_SIZE else BOARD_SIZE
    way, count = _WAYS[size if away > 0 else -size], abs(away) // size
    return f"{x} {y} {way}{f' {count}' if count > 1 else ''}"


_OUTCOMES = {Survivor.ATTACKER: "KILLS", Survivor.DEFENDER: "DIES", Survivor.NEITHER: "BOTHDIE"}


def result_line(action: str, battle: Battle | None) -> str:
    """What both are told of a move: the move, and what came of it."""
    if battle is None:
        return f"{action_line(action)} OK"
    assert battle.defender is not None, "no ruleset with a silent defence is played in this dialect"
    ranks = f"{LETTERS[battle.attacker]} {LETTERS[battle.defender]}"
    return f"{action_line(action)} {_OUTCOMES[battle.survivor]} {ranks}"


def rank_of(letter: str) -> Rank:
    """The rank for a letter of the arena's."""
    return RANK_BY_LETTER[letter]
