"""Why an action was not legal: often a bot has another board in mind than the one that is played on.

Each guess is tried on the position: if the action becomes legal when it is read backwards, upside down or mirrored,
that is most likely what its author has mixed up.
"""

import re
from collections.abc import Callable

from arena.game.hints.values import Hint, Language, Mistake, Seen
from arena.game.hints.words import WANT_LEGAL
from arena.rules.board import BLUE_BIT
from arena.rules.events import IllegalActionError, Rule
from arena.rules.game import Game
from protocol.codec import is_action
from protocol.notation import BOARD_SIZE, FILES, SQUARE_INDEX, SQUARES

_SQUARE = re.compile(r"([a-j])(10|[1-9])")

BOTH_FIRST_TURNS = 2
"""Plies up to which nothing has changed in a side's set-up."""
EARLIER_TURNS = 10
"""A bot's own turns before this that are searched for its action."""
LONGEST_REPLAY = 4000
"""Plies of a game that is played again for that; other games wait meanwhile, some 3 us a ply."""
OWN_SIDE = frozenset({Rule.OWN_PIECE, Rule.IMMOVABLE, Rule.TARGET})


def illegal_action(seen: Seen) -> Hint | None:
    """A well-formed action that the rules do not allow."""
    game, cause = seen.game, seen.fault.cause
    if game is None or cause is None:
        return None
    action, rule = cause
    if rule in (Rule.TWO_SQUARES, Rule.CHASE):
        if seen.gets_legal:
            words = f"moving to and fro is limited: {_choose(seen)}, which leave such moves out"
        else:
            words = f"moving to and fro is limited, and the legal actions leave such moves out: {WANT_LEGAL}"
        return Hint(Mistake.REPETITION, words)
    hint = _stale(seen, action) or _mixed_up(game, action, rule) or _wrong_rows(seen, action, rule)
    return hint if hint is None or seen.gets_legal else Hint(hint.mistake, f"{hint.text}; {WANT_LEGAL}")


def _choose(seen: Seen) -> str:
    """What a bot does that is sent its legal actions."""
    kit = ", in the kit from view.legal" if seen.language is Language.PYTHON else ""
    return f"choose from the 'legal' lines that come before this 'turn'{kit}"


def _is_legal(game: Game, action: str) -> bool:
    if not is_action(action):
        return False
    try:
        game.check(game.parse(action))
    except IllegalActionError:
        return False
    return True


def _mixed_up(game: Game, action: str, rule: Rule) -> Hint | None:
    """It would be legal if its squares were read another way."""
    squares = action.split("-")
    if len(squares) == 2 and _is_legal(game, "-".join(reversed(squares))):
        back = "-".join(reversed(squares))
        return Hint(Mistake.SQUARES_REVERSED, f"{back} is legal: the square that the piece comes from stands first")
    readings: tuple[tuple[Mistake, Callable[[str, int], tuple[str, int]], str], ...] = (
        (
            Mistake.ROWS_REVERSED,
            lambda file, rank: (file, BOARD_SIZE + 1 - rank),
            "it counts ranks from the wrong end: rank 1 is Red's back row, for both players",
        ),
        (
            Mistake.FILES_REVERSED,
            lambda file, rank: (FILES[BOARD_SIZE - 1 - FILES.index(file)], rank),
            "it counts files from the wrong end: they run from a to j for both players",
        ),
        (
            Mistake.OTHER_SIDE,
            lambda file, rank: (FILES[BOARD_SIZE - 1 - FILES.index(file)], BOARD_SIZE + 1 - rank),
            "it sees the board from the other side: squares have the same names for both players",
        ),
        (
            Mistake.RANKS_AND_FILES,
            lambda file, rank: (FILES[rank - 1], FILES.index(file) + 1),
            "it takes files for ranks: the letter is the column, from a to j",
        ),
    )
    if rule in OWN_SIDE:
        for mistake, reading, words in readings:
            other = _SQUARE.sub(lambda match: "{}{}".format(*reading(match[1], int(match[2]))), action)  # noqa: B023
            if _is_legal(game, other):
                return Hint(mistake, f"{other} is legal: perhaps {words}")
    return None


def _stale(seen: Seen, action: str) -> Hint | None:
    """It was legal in a turn of its own before this one."""
    ply = _last_legal(seen, action)
    if not ply:
        return None
    when = "in the turn before" if ply == len(seen.actions) - 1 else f"at ply {ply}"
    what = "list of 'legal' actions" if seen.gets_legal else "board"
    return Hint(Mistake.STALE_ACTION, f"it was legal {when}, and is not now: perhaps its {what} is an old one")


def _last_legal(seen: Seen, action: str) -> int:
    """The last ply before this at which the same side might have played it; 0 if there is none among those searched."""
    game, count = seen.game, len(seen.actions)
    if game is None or not all(seen.setups) or not 2 <= count <= LONGEST_REPLAY:
        return 0
    again, found = Game(game.ruleset, *seen.setups), 0
    for before, played in enumerate(seen.actions):
        is_own = before >= count - 2 * EARLIER_TURNS and again.to_move is game.to_move
        if is_own and _is_legal(again, action):
            found = before + 1
        again.play(again.parse(played))
    return found


def _wrong_rows(seen: Seen, action: str, rule: Rule) -> Hint | None:
    """On its own set-up with the rows the other way round it would be one of its first moves."""
    game = seen.game
    if game is None or rule not in OWN_SIDE:
        return None
    if seen.rows and game.ply < BOTH_FIRST_TURNS:
        rows = tuple(reversed(seen.rows))
        other = Game(game.ruleset, rows, rows)  # of the enemy's it is enough that it is not in the way
        other.to_move, other.outcome = game.to_move, None
        if _is_legal(other, action):
            words = "perhaps its set-up stands the other way round: the first row is its back row"
            return Hint(Mistake.ROWS_REVERSED, words)
    origin = SQUARE_INDEX.get(action.partition("-")[0])
    if origin is not None and game.board[origin] and (game.board[origin] > BLUE_BIT) != bool(game.to_move):
        words = (
            f"the piece on {SQUARES[origin]} is the opponent's: the 'game' line says that it plays {game.to_move.word}"
        )
        return Hint(Mistake.ENEMY_PIECE, words)
    if seen.gets_legal:
        return Hint(Mistake.RULES, f"{_choose(seen)}: they are all that may be played")
    return Hint(Mistake.RULES, "follow each 'moved' and 'battle' line on a board of your own")
