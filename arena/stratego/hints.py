"""Hints for set-ups and actions of Stratego that are malformed or illegal.

Many bots assume another board. Each guess is tried on the position: if the action becomes legal when it is read
backwards, upside down or mirrored, that is most likely the mistake.
"""

import re
from collections.abc import Callable

from arena.game.faults import Hint, Illegal, Malformed, Mistake
from arena.game.hints import WANT_LEGAL, ProgramLanguage, Seen
from arena.stratego.rules.action_types import BrokenRule, IllegalActionError
from arena.stratego.rules.board import BLUE_BIT
from arena.stratego.rules.engine import EngineGame
from arena.stratego.state import StrategoState
from protocol.actions import is_action
from protocol.lines import Slip
from protocol.notation import BOARD_SIZE, EMPTY, FILES, RANK_BY_LETTER, SETUP_ROWS, SQUARE_INDEX, SQUARES
from protocol.seats import Reason

_ACTION = re.compile(r"(?<![\w?+-])[a-j](?:10|[1-9])-[a-j](?:10|[1-9])(?![\w?+-])")
_ROWS = re.compile(r"^[FBSM2-9I.*_]{8,12}(?:[/ ,][FBSM2-9I.*_]{8,12})*$")
_SWAPPED = re.compile(r"^(?:10|[1-9])[a-j]\W?(?:10|[1-9])[a-j]$")
_NEARLY = re.compile(r"^([a-jA-J](?:10|[1-9]))\W*([a-jA-J](?:10|[1-9]))$")
_CUT_OFF = re.compile(r"^[a-j](?:10|[1-9])-[a-j]?$")
MOST_ROWS = 12


def hint(seen: Seen) -> Hint | None:
    """Return the hint for an answer that Stratego does not allow; None for other faults."""
    match seen.fault.cause:
        case Illegal(action, rule) if isinstance(seen.state, StrategoState):
            return illegal_action(seen, seen.state.board, action, BrokenRule(rule))
        case Malformed(Slip.FIELDS, line) if line == " ".join(line.split()):
            verb, _, fields = line.partition(" ")
            return _malformed_setup(fields) if verb == "setup" else _malformed_move(fields) if verb == "move" else None
        case Malformed(Slip.UNKNOWN_VERB, line):
            return _no_verb(line.strip())
    if seen.fault.reason is Reason.ILLEGAL_SETUP:
        words = "count the pieces by the 'rule army' line of this game: another ruleset has another army"
        return Hint(Mistake.WRONG_ARMY, words)
    return None


def _no_verb(line: str) -> Hint | None:
    if is_action(line) or _NEARLY.match(line):
        return Hint(Mistake.NO_VERB, f"the verb is missing: 'move {line}'")
    if _ROWS.match(line):
        return Hint(Mistake.NO_VERB, "the verb is missing, and the rows stand on one line: setup ROW/ROW/ROW/ROW")
    return None


def _malformed_setup(fields: str) -> Hint:
    rows = [row for row in re.split(r"[/ ,]+", fields) if row]
    lengths = [len(row) for row in rows]
    if lengths != [BOARD_SIZE] * SETUP_ROWS:
        squares = f"rows of {'+'.join(map(str, lengths)) or 0} squares"
        counted = f"{len(rows)} {squares}" if len(rows) <= MOST_ROWS else "many rows"
        words = f"{counted}, {sum(lengths)} in all: expected 4 rows of 10, with a dot on each empty square"
        return Hint(Mistake.SHORT_SETUP, words)
    if any(letter not in RANK_BY_LETTER and letter.upper() in RANK_BY_LETTER for letter in "".join(rows)):
        return Hint(Mistake.UPPER_CASE, "pieces are in capitals: F B S 2 to 9 M I")
    if all(letter in RANK_BY_LETTER or letter == EMPTY for letter in "".join(rows)):
        return Hint(Mistake.SPACES, "the rows are separated by '/' alone: setup ROW/ROW/ROW/ROW")
    return Hint(Mistake.SHORT_SETUP, "each character is an empty square, a dot, or a piece: one of F B S 2 to 9 M I")


def _malformed_move(action: str) -> Hint:
    if _SWAPPED.match(action):
        return Hint(Mistake.RANKS_AND_FILES, "a square is its file and then its rank: a4, not 4a")
    if match := _NEARLY.match(action):
        meant = f"{match[1].lower()}-{match[2].lower()}"
        words = f"the two squares are in small letters, with one '-' between them: {meant}"
        return Hint(Mistake.ACTION_FORM, words)
    if _CUT_OFF.match(action):
        words = "this is the beginning of an action: perhaps it cuts long lines off, which have up to 4096 bytes"
        return Hint(Mistake.ACTION_FORM, words)
    found = _ACTION.findall(action)
    if found:
        return Hint(Mistake.ACTION_FORM, f"only one action follows 'move': 'move {found[0]}'")
    words = "an action is FROM-TO, such as a4-a5; there is a legal one in each turn: copy it from the 'legal' line"
    return Hint(Mistake.ACTION_FORM, words)


# --- actions ----------------------------------------------------------------------------------------------------------

_SQUARE = re.compile(r"([a-j])(10|[1-9])")
BOTH_FIRST_TURNS = 2
"""The first plies, in which the set-up of the side to move is unchanged."""
EARLIER_TURNS = 10
"""Earlier turns of a bot that are searched for its action."""
LONGEST_REPLAY = 4000
"""Plies of a game that is replayed for that; other games wait meanwhile, some 3 us a ply."""
OWN_SIDE = frozenset({BrokenRule.OWN_PIECE, BrokenRule.IMMOVABLE, BrokenRule.TARGET})

_READINGS: tuple[tuple[Mistake, Callable[[str, int], str], str], ...] = (
    (
        Mistake.ROWS_REVERSED,
        lambda file, rank: f"{file}{BOARD_SIZE + 1 - rank}",
        "it counts ranks from the wrong end: rank 1 is Red's back row, for both players",
    ),
    (
        Mistake.OTHER_SIDE,
        lambda file, rank: f"{FILES[BOARD_SIZE - 1 - FILES.index(file)]}{BOARD_SIZE + 1 - rank}",
        "it sees the board from the other side: squares have the same names for both players",
    ),
    (
        Mistake.RANKS_AND_FILES,
        lambda file, rank: f"{FILES[rank - 1]}{FILES.index(file) + 1}",
        "it takes files for ranks: the letter is the column, from a to j",
    ),
)
"""Other readings of the name of a square."""


def illegal_action(seen: Seen, game: EngineGame, action: str, rule: BrokenRule) -> Hint | None:
    if rule in (BrokenRule.TWO_SQUARES, BrokenRule.CHASE):
        cure = f"{_choose(seen)}, which leave" if seen.gets_legal else "the legal actions leave"
        hint: Hint | None = Hint(Mistake.REPETITION, f"moving back and forth is limited: {cure} such moves out")
    else:
        hint = _stale(seen, game, action) or _mixed_up(game, action, rule) or _wrong_rows(seen, game, action, rule)
    return hint if hint is None or seen.gets_legal else Hint(hint.mistake, f"{hint.text}; {WANT_LEGAL}")


def _choose(seen: Seen) -> str:
    kit = ", in the kit from view.legal" if seen.language is ProgramLanguage.PYTHON else ""
    return f"choose from the 'legal' lines that come before this 'turn'{kit}"


def _is_legal(game: EngineGame, action: str) -> bool:
    if not is_action(action):
        return False
    try:
        game.check(game.parse(action))
    except IllegalActionError:
        return False
    return True


def _stale(seen: Seen, game: EngineGame, action: str) -> Hint | None:
    count = len(seen.actions)
    if not all(seen.setups) or not 2 <= count <= LONGEST_REPLAY:
        return None
    again, last = EngineGame(game.ruleset, *seen.setups), 0
    for before, played in enumerate(seen.actions):
        is_own = before >= count - 2 * EARLIER_TURNS and again.to_move is game.to_move
        if is_own and _is_legal(again, action):
            last = before + 1
        again.play(again.parse(played))
    if not last:
        return None
    when = "in the turn before" if last == count - 1 else f"at ply {last}"
    what = "list of 'legal' actions" if seen.gets_legal else "board"
    return Hint(Mistake.STALE_ACTION, f"it was legal {when}, and is not now: perhaps its {what} is an old one")


def _read(action: str, reading: Callable[[str, int], str]) -> str:
    return _SQUARE.sub(lambda match: reading(match[1], int(match[2])), action)


def _mixed_up(game: EngineGame, action: str, rule: BrokenRule) -> Hint | None:
    back = "-".join(reversed(action.split("-")))
    if action.count("-") == 1 and _is_legal(game, back):
        return Hint(Mistake.SQUARES_REVERSED, f"{back} is legal: the square that the piece leaves comes first")
    for mistake, reading, words in _READINGS if rule in OWN_SIDE else ():
        other = _read(action, reading)
        if _is_legal(game, other):
            return Hint(mistake, f"{other} is legal: perhaps {words}")
    return None


def _wrong_rows(seen: Seen, game: EngineGame, action: str, rule: BrokenRule) -> Hint | None:
    """Return the hint for an action that takes the wrong piece, or one in another row."""
    if rule not in OWN_SIDE:
        return None
    if seen.rows and game.ply < BOTH_FIRST_TURNS:
        rows = tuple(reversed(seen.rows))
        other = EngineGame(game.ruleset, rows, rows)  # of the enemy's it is enough that it is not in the way
        other.to_move, other.outcome = game.to_move, None
        if _is_legal(other, action):
            words = "perhaps its set-up is upside down: the first row is its back row"
            return Hint(Mistake.ROWS_REVERSED, words)
    origin = SQUARE_INDEX.get(action.partition("-")[0])
    if origin is not None and game.board[origin] and (game.board[origin] > BLUE_BIT) != bool(game.to_move):
        whose = f"the piece on {SQUARES[origin]} is the opponent's"
        return Hint(Mistake.ENEMY_PIECE, f"{whose}: the 'game' line says that it plays {game.to_move.word}")
    if seen.gets_legal:
        return Hint(Mistake.RULES, f"{_choose(seen)}: only these may be played")
    return Hint(Mistake.RULES, "follow each 'moved' and 'battle' line on a board of your own")
