"""The built-in opponent of a bot that is checked, which knows all pieces, and the course of a game."""

from dataclasses import replace
from random import Random

import trio

from arena.check.situations import Foe, Situation, Twist
from arena.game.game_spec import Opening
from arena.game.referee import Referee
from arena.stratego.rules.action_types import Action, Infiltration, Rescue
from arena.stratego.rules.board import BLUE_BIT, EMPTY, RANKS
from arena.stratego.rules.game import Game
from arena.stratego.rules.ruleset import Ruleset, Starts
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.rules.tables import CANNOT_ATTACK, tables_of
from arena.stratego.state import as_stratego
from protocol.bot import random_rows
from protocol.conversation import Phase
from protocol.notation import BOARD_SIZE, Color, Rank, Survivor

TAKES_MORE = frozenset({"hello", "game", "seed", "setup", "restore", "turn", "moved", "battle", "reveal"}) | frozenset(
    {"rescued", "guess", "end", "quit"}
)
"""Verbs that allow more fields. None are ever added after a TEXT or a VALUE, or to the lists of `enemy`, `board` and
`legal`."""


def noisy(data: bytes) -> bytes:
    """Return lines with others among them that a bot has to ignore."""
    lines = []
    for line in data.decode("ascii").splitlines():
        verb = line.split(" ")[0]
        lines.append(f"{line} later 7" if verb in TAKES_MORE else line)
        if verb == "clock":
            lines[-1] += " later 7"
        if verb in ("hello", "moved", "seed", "enemy"):
            lines += ["", "# a comment", f"later {verb} is not for you 1 2 3"]
        if verb == "game":
            lines.append("rule later yes")
        if verb == "quit":
            break
    return "".join(f"{line}\n" for line in lines).encode("ascii")


LEFT_TO_END = 1
"""A hunter takes the flag only when the other side has at most this number of movable pieces."""
OPEN_FILES = (0, 1, 4, 5, 8, 9)
"""Files of the front row without a lake before them."""


class BuiltInOpponent:
    """An opponent; the same seed plays the same."""

    def __init__(self, foe: Foe, seed: int) -> None:
        self._foe = foe
        self._random = Random(seed)

    def rows(self, ruleset: Ruleset) -> tuple[str, ...]:
        return random_rows(dict(ruleset.army), self._random)

    def action(self, game: Game) -> str:
        actions = list(game.legal_moves())
        self._random.shuffle(actions)
        if self._foe is Foe.HUNTER:
            return max(actions, key=lambda action: _greed(game, action)).text
        if self._foe is Foe.SHY:
            return next((action for action in actions if not _attacks(game, action)), actions[0]).text
        return actions[0].text


def narrow_rows(ruleset: Ruleset, seed: int) -> tuple[str, ...]:
    """Return a set-up with as few movable pieces as possible."""
    random = Random(seed)
    tables = tables_of(ruleset)
    if not ruleset.fills_rows:
        return random_rows(dict(ruleset.army), random)
    pieces = [rank for rank, count in ruleset.army for _ in range(count)]
    fixed = [rank for rank in pieces if not tables.can_move[rank] and rank is not Rank.FLAG][: len(OPEN_FILES) - 1]
    walkers = [rank for rank in pieces if tables.can_move[rank] and rank is not Rank.SCOUT]
    front = [*fixed, *walkers[: len(OPEN_FILES) - len(fixed)]]
    rest = list(pieces)
    for rank in front:
        rest.remove(rank)
    random.shuffle(rest)
    cells: list[Rank | None] = [None] * len(pieces)
    for file, rank in zip(OPEN_FILES, front, strict=True):
        cells[3 * BOARD_SIZE + file] = rank
    letters = [(rank or rest.pop()).letter for rank in cells]
    return tuple("".join(letters[start : start + BOARD_SIZE]) for start in range(0, len(letters), BOARD_SIZE))


def _attacks(game: Game, action: Action) -> bool:
    if isinstance(action, Infiltration):
        return True
    return game.board[(action.move if isinstance(action, Rescue) else action).target] != EMPTY


def _greed(game: Game, action: Action) -> float:
    board = game.board
    if isinstance(action, Infiltration):
        return 8.0 if RANKS[board[action.target]] is action.rank else -5.0
    move = action.move if isinstance(action, Rescue) else action
    code, other = board[move.origin], board[move.target]
    bonus = 3.0 if isinstance(action, Rescue) else 0.0
    if other:
        if RANKS[other] is Rank.FLAG:
            side = 1 - game.to_move
            return 100.0 if len(game.movers[side]) <= LEFT_TO_END else -5.0
        survivor = game.tables.fights[RANKS[code]][RANKS[other]]
        if survivor is Survivor.ATTACKER:
            return 20.0 + RANKS[other] + bonus
        return 2.0 if survivor is Survivor.NEITHER else -30.0
    return bonus + _distance(game, move.origin, code) - _distance(game, move.target, code)


def _distance(game: Game, square: int, code: int) -> int:
    """Return the steps from a square to the nearest piece that this one beats, on an empty board."""
    if RANKS[code] in CANNOT_ATTACK:  # a flag or a bomb that may move
        return 0
    fights = game.tables.fights[RANKS[code]]
    is_blue = code > BLUE_BIT
    row, file = divmod(square, BOARD_SIZE)
    nearest = 2 * BOARD_SIZE
    for other, found in enumerate(game.board):
        if found and (found > BLUE_BIT) != is_blue and fights[RANKS[found]] is Survivor.ATTACKER:
            other_row, other_file = divmod(other, BOARD_SIZE)
            nearest = min(nearest, abs(row - other_row) + abs(file - other_file))
    return nearest


now = trio.current_time


def ruleset_of(situation: Situation) -> Ruleset:
    """Return the rules of a situation; if players choose the first move, the bot begins."""
    ruleset = load_ruleset(situation.rules)
    if ruleset.starts is not Starts.CHOSEN:
        return ruleset
    return replace(ruleset, starts=Starts.RED if situation.color is Color.RED else Starts.BLUE)


class PlannedGame:
    def __init__(self, situation: Situation, seed: int, *, breaks: bool = False) -> None:
        self._situation = situation
        self._opponent = BuiltInOpponent(situation.foe, seed)
        self._breaks = breaks or situation.twist in (Twist.BROKEN_OFF, Twist.INPUT_ENDS)
        self._begun: float | None = None
        ruleset = ruleset_of(situation)
        self._rows = self._opponent.rows(ruleset)
        self.opening: Opening | None = None
        if situation.twist is Twist.OPENING:
            rows, foe = "/".join(narrow_rows(ruleset, seed)), "/".join(self._rows)
            self.opening = (rows, foe) if situation.color is Color.RED else (foe, rows)

    def answer(self, referee: Referee) -> bytes | None:
        situation = self._situation
        phase = referee.seats[situation.color.opponent].phase
        if phase is Phase.INTRODUCING:
            return None if situation.twist is Twist.NO_GAME else b"ready\n"
        if phase is Phase.SETTING_UP:
            return f"setup {'/'.join(self._rows)}\n".encode()
        assert referee.state is not None
        game = as_stratego(referee.state).board
        if self._begun is None:
            self._begun = now()
        is_long = situation.plies is not None and game.ply >= situation.plies and not self._breaks
        if is_long or now() - self._begun > situation.seconds:
            return b"move resign\n"
        return f"move {self._opponent.action(game)}\n".encode()

    def is_at_break(self, referee: Referee) -> bool:
        """Whether to break the game off here, where the bot has received its turn."""
        situation = self._situation
        if not self._breaks or referee.state is None or situation.plies is None:
            return False
        seat = referee.seats[situation.color]
        return referee.state.ply >= situation.plies and seat.phase is Phase.THINKING and not seat.due
