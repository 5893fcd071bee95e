"""A game in progress: what may be played, what happens when it is, and how it ends.

`Game.apply` takes an action and returns the public events it causes, or raises `IllegalActionError` with the rule, the
piece and the square. `Game.legal_moves` lists what may be played. The two are kept apart on purpose: applying checks
one action against the rules by itself and never generates the list, and a property test holds them to the same answer.

Programs that search use `legal_moves` and `play`, which skips the checks.
"""

import enum
from collections.abc import Sequence
from typing import NamedTuple

from arena.rules.board import BLUE_BIT, CODES, EMPTY, MOVES, RANKS, RAYS, STEPS, Move, code_of
from arena.rules.combat import FIGHTS
from arena.rules.deploy import check_setup, place
from arena.rules.repetition import ChaseLog, TwoSquares
from arena.rules.ruleset import IMMOVABLE, Chase, NoMove, Ruleset
from protocol.notation import LAKE_SQUARES, SQUARES, Color, Rank, Reason, Survivor

COLORS = (Color.RED, Color.BLUE)
RESIGN = "resign"


class Rule(enum.Enum):
    """The rule that an illegal action breaks."""

    FORM = "form"
    OWN_PIECE = "own-piece"
    IMMOVABLE = "immovable"
    STEP = "one-step"
    LAKE = "lake"
    BLOCKED = "blocked"
    TARGET = "own-target"
    TWO_SQUARES = "two-squares"
    CHASE = "chase"
    OVER = "game-over"


class IllegalActionError(Exception):
    """An action that the rules do not allow. `rule` is the one it breaks; the text names the piece and the square."""

    def __init__(self, rule: Rule, sentence: str) -> None:
        super().__init__(f"{sentence} (rule: {rule.value})")
        self.rule = rule


class Moved(NamedTuple):
    """A side has moved a piece."""

    color: Color
    move: Move


class Fought(NamedTuple):
    """A fight on a square: both ranks and who is left."""

    square: int
    attacker: Rank
    defender: Rank
    survivor: Survivor


class Revealed(NamedTuple):
    """A rank has become public without a fight."""

    square: int
    rank: Rank


class Resigned(NamedTuple):
    """A side has given the game up."""

    color: Color


Event = Moved | Fought | Revealed | Resigned


class Outcome(NamedTuple):
    """How a game ended; `winner` is None for a draw."""

    winner: Color | None
    reason: Reason


_SCOUTS = tuple(code_of(color, Rank.SCOUT) for color in COLORS)
_CAN_MOVE = tuple(code in RANKS and RANKS[code] not in IMMOVABLE for code in range(CODES))
_ENTERABLE = (
    tuple(code == EMPTY or code > BLUE_BIT for code in range(CODES)),
    tuple(code < BLUE_BIT for code in range(CODES)),
)
"""Per side and per code, whether a piece of the side may move onto what the code stands for."""


class Game:
    """One game under one ruleset, from both set-ups to its outcome.

    `board` is the position (see `arena.rules.board`), `to_move` the side to move, `ply` the number of actions so far,
    `quiet` those since the last attack, `outcome` None while the game goes on. Treat them as read-only.
    Raises `IllegalSetupError` if a set-up is not one under the ruleset.
    """

    def __init__(self, ruleset: Ruleset, red: Sequence[str], blue: Sequence[str]) -> None:
        self.ruleset = ruleset
        self.board = [EMPTY] * len(SQUARES)
        for color, rows in zip(COLORS, (red, blue), strict=True):
            check_setup(ruleset, rows)
            place(self.board, color, rows)
        self.to_move = ruleset.starts
        self.ply = 0
        self.quiet = 0
        self.outcome: Outcome | None = None
        self._max_plies = ruleset.max_plies or 0
        self._max_quiet = ruleset.max_quiet_plies or 0
        self._at_once = ruleset.no_move is NoMove.AT_ONCE
        self._movers: tuple[set[int], set[int]] = (set(), set())
        for square, code in enumerate(self.board):
            if _CAN_MOVE[code]:
                self._movers[code > BLUE_BIT].add(square)
        self._runs = (TwoSquares(ruleset.two_squares), TwoSquares(ruleset.two_squares))
        self._chase = ChaseLog(self.board) if ruleset.chase is Chase.ISF else None
        self._look_for_end()

    def copy(self) -> "Game":
        """An independent game in the same position."""
        other = object.__new__(Game)
        other.__dict__.update(self.__dict__)
        other.board = self.board[:]
        other._movers = (self._movers[0].copy(), self._movers[1].copy())
        other._runs = (self._runs[0].copy(), self._runs[1].copy())
        other._chase = self._chase.copy() if self._chase else None
        return other

    # --- what may be played ---------------------------------------------------------------------------------------

    def legal_moves(self) -> list[Move]:
        """Every legal move of the side to move, in no particular order; empty when the game is over."""
        if self.outcome:
            return []
        side = self.to_move
        board, enterable, scout = self.board, _ENTERABLE[side], _SCOUTS[side]
        moves: list[Move] = []
        add = moves.append
        for origin in self._movers[side]:
            if board[origin] == scout:
                for ray in RAYS[origin]:
                    for target, move in ray:
                        code = board[target]
                        if code == EMPTY:
                            add(move)
                        else:
                            if enterable[code]:
                                add(move)
                            break
            else:
                for target, move in STEPS[origin]:
                    if enterable[board[target]]:
                        add(move)
        return self._without_repetition(moves, side)

    def _without_repetition(self, moves: list[Move], side: int) -> list[Move]:
        run, chase = self._runs[side], self._chase
        if run.low < run.high:
            moves = [move for move in moves if not run.forbids(move)]
        if chase and chase.length[side] > 1:
            moves = [move for move in moves if not chase.forbids(self.board, side, move)]
        return moves

    def parse(self, text: str) -> Move:
        """The move that an action's text stands for; `IllegalActionError` for a form that this game does not have."""
        move = MOVES.get(text)
        if move is not None:
            return move
        if "?" in text:
            raise IllegalActionError(Rule.FORM, f"{text}: the ruleset {self.ruleset.name} has no infiltration")
        if "+" in text:
            raise IllegalActionError(Rule.FORM, f"{text}: the ruleset {self.ruleset.name} has no rescue")
        if text.count("-") != 1:
            raise IllegalActionError(Rule.FORM, f"{text}: expected a move from one square to another, such as a4-a5")
        raise IllegalActionError(Rule.FORM, f"{text}: a piece moves along its file or rank to another square")

    def check(self, move: Move) -> None:
        """Raise `IllegalActionError` unless the side to move may play this move."""
        if self.outcome:
            raise IllegalActionError(Rule.OVER, f"{move.text}: the game is over")
        board = self.board
        side: int = self.to_move
        code = board[move.origin]
        name = SQUARES[move.origin]
        if move.origin not in self._movers[side]:
            if code == EMPTY or (code > BLUE_BIT) != side:
                raise IllegalActionError(Rule.OWN_PIECE, f"{move.text}: {COLORS[side].word} has no piece on {name}")
            raise IllegalActionError(Rule.IMMOVABLE, f"{move.text}: the {_piece(code)} on {name} cannot move")
        if move.between:
            if code != _SCOUTS[side]:
                raise IllegalActionError(
                    Rule.STEP, f"{move.text}: the {_piece(code)} on {name} moves one square at a time"
                )
            for square in move.between:
                if square in LAKE_SQUARES:
                    raise IllegalActionError(Rule.LAKE, f"{move.text}: the lake on {SQUARES[square]} is in the way")
                if board[square]:
                    raise IllegalActionError(Rule.BLOCKED, f"{move.text}: the piece on {SQUARES[square]} is in the way")
        target = move.target
        if target in LAKE_SQUARES:
            raise IllegalActionError(Rule.LAKE, f"{move.text}: {SQUARES[target]} is a lake")
        if not _ENTERABLE[side][board[target]]:
            raise IllegalActionError(
                Rule.TARGET, f"{move.text}: {COLORS[side].word}'s own piece is on {SQUARES[target]}"
            )
        self._check_repetition(move, side)

    def _check_repetition(self, move: Move, side: int) -> None:
        if self._runs[side].forbids(move):
            piece = _piece(self.board[move.origin])
            limit = self.ruleset.two_squares
            raise IllegalActionError(
                Rule.TWO_SQUARES,
                f"{move.text}: the {piece} on {SQUARES[move.origin]} has made {limit} moves in a row over this border",
            )
        if self._chase and self._chase.forbids(self.board, side, move):
            piece = _piece(self.board[move.origin])
            raise IllegalActionError(
                Rule.CHASE,
                f"{move.text}: the {piece} on {SQUARES[move.origin]} would threaten and bring back a position that "
                "has stood on the board in this chase",
            )

    # --- playing --------------------------------------------------------------------------------------------------

    def apply(self, text: str) -> tuple[Event, ...]:
        """Play the action written as `text` for the side to move, after checking it. Returns the public events."""
        if text == RESIGN:
            return self.resign()
        move = self.parse(text)
        self.check(move)
        return self.play(move)

    def resign(self) -> tuple[Event, ...]:
        """The side to move gives up."""
        if self.outcome:
            raise IllegalActionError(Rule.OVER, "resign: the game is over")
        side = self.to_move
        self.ply += 1
        self.outcome = Outcome(COLORS[1 - side], Reason.RESIGN)
        return (Resigned(COLORS[side]),)

    def play(self, move: Move) -> tuple[Event, ...]:
        """Play a move that is known to be legal (one of `legal_moves`). Returns the public events."""
        side, board = self.to_move, self.board
        origin, target = move.origin, move.target
        code, other = board[origin], board[target]
        self.ply += 1
        moved = Moved(COLORS[side], move)
        if other:
            events: tuple[Event, ...] = (moved, self._fight(move, code, other))
        else:
            board[target], board[origin] = code, EMPTY
            movers = self._movers[side]
            movers.remove(origin)
            movers.add(target)
            self._runs[side].played(move, True)
            if self._chase:
                self._chase.moved(board, side, move, code)
            self.quiet += 1
            # Only a scout moves further than one square, so the move itself shows what the piece is.
            events = (moved, Revealed(target, Rank.SCOUT)) if move.between else (moved,)
        self.to_move = COLORS[1 - side]
        if self.outcome is None:
            self._look_for_end(other_is_mobile=not other)
        return events

    def _fight(self, move: Move, code: int, other: int) -> Fought:
        side, board, movers = self.to_move, self.board, self._movers
        origin, target = move.origin, move.target
        attacker, defender = RANKS[code], RANKS[other]
        survivor = FIGHTS[attacker][defender]
        board[origin] = EMPTY
        movers[side].remove(origin)
        if survivor is not Survivor.DEFENDER:
            movers[1 - side].discard(target)
            board[target] = EMPTY
            if survivor is Survivor.ATTACKER:
                board[target] = code
                movers[side].add(target)
        self._runs[side].played(move, survivor is Survivor.ATTACKER)
        if self._chase:
            self._chase.attacked(board, side, move, (code, other))
        self.quiet = 0
        if defender is Rank.FLAG:
            self.outcome = Outcome(COLORS[side], Reason.FLAG)
        return Fought(target, attacker, defender, survivor)

    # --- the end --------------------------------------------------------------------------------------------------

    def _look_for_end(self, other_is_mobile: bool = False) -> None:
        """End the game if a side cannot move or a cap is reached.

        A piece that has just moved to an empty square can step back, so its side need not be looked at.
        """
        side = self.to_move
        run, chase = self._runs[side], self._chase
        if run.low < run.high or (chase and chase.length[side] > 1):
            stuck = not self.legal_moves()  # the rules against repetition may leave it nothing
        else:
            stuck = not self._is_mobile(side)
        other_stuck = self._at_once and not other_is_mobile and not self._is_mobile(1 - side)
        if stuck and other_stuck:
            self.outcome = Outcome(None, Reason.BOTH_IMMOBILE)
        elif stuck or other_stuck:
            self.outcome = Outcome(COLORS[1 - side] if stuck else COLORS[side], Reason.NO_MOVE)
        elif self._max_plies and self.ply >= self._max_plies:
            self.outcome = Outcome(None, Reason.PLY_CAP)
        elif self._max_quiet and self.quiet >= self._max_quiet:
            self.outcome = Outcome(None, Reason.QUIET_CAP)

    def _is_mobile(self, side: int) -> bool:
        """Whether any piece of the side has a square to go to, whatever it did before."""
        board, enterable = self.board, _ENTERABLE[side]
        for origin in self._movers[side]:
            for target, _ in STEPS[origin]:
                if enterable[board[target]]:
                    return True
        return False


def _piece(code: int) -> str:
    return RANKS[code].name.lower()
