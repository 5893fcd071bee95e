"""A position: the pieces and all that the legality of the next action depends on."""

from collections import Counter
from collections.abc import Sequence
from typing import Self

from arena.errors import UsageError
from arena.stratego.rules.action_types import PieceMove, Rescue
from arena.stratego.rules.board import BLUE_BIT, EMPTY, code_of
from arena.stratego.rules.repetition import ChaseLog, TwoSquares
from arena.stratego.rules.ruleset import Ruleset, Starts
from arena.stratego.rules.setup import place_both
from arena.stratego.rules.tables import CANNOT_ATTACK, COLORS, RuleTables, tables_of
from protocol.notation import SQUARES, Color, Rank
from protocol.seats import Outcome


class Pieces:
    """The pieces on a board under one ruleset, with all that legality depends on except the rules on repetition.

    `EnginePosition` explains the attributes. `arena.search` has a second position class with this base.
    """

    ruleset: Ruleset
    tables: RuleTables
    board: list[int]
    lost: tuple[Counter[Rank], Counter[Rank]]
    rescued: list[int]
    """By side: the number of pieces it has brought back."""
    rescuers: tuple[set[int], set[int]]
    """By side: the squares of pieces that have earned a rescue and may not earn another."""
    movers: tuple[set[int], set[int]]
    """By side: the squares of its movable pieces."""
    told: set[int]
    """The squares of pieces with ranks known to the opponent."""

    def rescuable(self, side: int) -> list[Rank]:
        """Return the ranks that the side may bring back, if it has a rescue left."""
        if self.rescued[side] >= self.tables.rescues:
            return []
        return [rank for rank, count in sorted(self.lost[side].items()) if count and rank not in CANNOT_ATTACK]


class EnginePosition(Pieces):
    """A position under one ruleset.

    `board` holds the pieces (see the module `board`), `to_move` is the side to move, `ply` the number of actions so
    far, `quiet` those since the last attack, `lost` the losses of each side, `outcome` None until the game is over.
    Treat them as read-only. If the ruleset leaves the first move to the players, Red begins; a league draws the side
    and plays under a ruleset with it. Raises `IllegalSetupError` if a set-up is not one under the ruleset.
    """

    def __init__(self, ruleset: Ruleset, red: Sequence[str], blue: Sequence[str]) -> None:
        if not isinstance(ruleset, Ruleset):
            raise UsageError(f"expected a Ruleset, such as arena.rules('isf'), got {ruleset!r:.60}")
        self.ruleset = ruleset
        self.tables = tables_of(ruleset)
        self.board = [EMPTY] * len(SQUARES)
        place_both(self.board, ruleset, red, blue)
        self.to_move = Color.BLUE if ruleset.starts is Starts.BLUE else Color.RED
        self.ply = 0
        self.quiet = 0
        self.outcome: Outcome | None = None
        self.lost = (Counter(), Counter())
        self.rescued = [0, 0]
        self.rescuers = (set(), set())
        self.movers = (set(), set())
        for square, code in enumerate(self.board):
            if self.tables.can_move[code]:
                self.movers[code > BLUE_BIT].add(square)
        self.mobile = [EMPTY, EMPTY]
        """By side: the square of a piece last found able to move, which is tried first the next time."""
        self.runs = (TwoSquares(ruleset.two_squares), TwoSquares(ruleset.two_squares))
        self.chase = None if self.tables.chasing_is_free else ChaseLog(ruleset.chase, self.tables.rescues > 0)
        self.told = set()

    def copy(self) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.board = self.board[:]
        other.lost = (self.lost[0].copy(), self.lost[1].copy())
        other.rescued = self.rescued[:]
        other.rescuers = (self.rescuers[0].copy(), self.rescuers[1].copy())
        other.movers = (self.movers[0].copy(), self.movers[1].copy())
        other.mobile = self.mobile[:]
        other.runs = (self.runs[0].copy(), self.runs[1].copy())
        other.chase = self.chase.copy() if self.chase else None
        other.told = self.told.copy()
        return other

    def is_fresh(self, move: PieceMove, side: int) -> bool:
        if self.runs[side].forbids(move):
            return False
        return not (self.chase and self.chase.forbids(self.board, self.told, side, move))

    def is_fresh_rescue(self, action: Rescue, side: int) -> bool:
        if self.runs[side].forbids(action.move):
            return False
        placed = action.square, code_of(COLORS[side], action.rank)
        return not (self.chase and self.chase.forbids(self.board, self.told, side, action.move, placed))
