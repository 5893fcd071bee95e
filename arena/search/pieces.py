"""The opponent's pieces as they can be told apart: each from its first square on, with the ranks that it can have.

What a piece did, and what was told of it, takes ranks away from it. Every such sentence of the rules is a method here.
"""

from arena.rules.actions import Path, PieceMove
from arena.rules.board import BACK_ROWS
from arena.rules.tables import RuleTables
from protocol.notation import Color, Rank, Survivor
from protocol.piece import RESCUERS


class EnemyPiece:
    """A piece of the opponent: `home` is where it first stood (None if it has come back), `square` where it is now.

    `ranks` are those that it can have by what it did itself; where one is left, the rank is known. `moved` says whether
    it has moved. A piece that has left the board has the `square` -1. Treat all of it as read-only.
    """

    __slots__ = ("home", "moved", "ranks", "square")

    def __init__(self, square: int, ranks: frozenset[Rank], home: int | None = None) -> None:
        self.home = home
        self.square = square
        self.ranks = ranks
        self.moved = False

    @property
    def rank(self) -> Rank | None:
        """Its rank, None while there are several that it can have."""
        return next(iter(self.ranks)) if len(self.ranks) == 1 else None

    def named(self, rank: Rank) -> None:
        """Its rank has been told."""
        self.ranks = frozenset({rank})

    def has_moved(self, tables: RuleTables, move: PieceMove, revealed: bool, fought: bool) -> None:
        """It has made a move, after which the game went on; `revealed` if the arena said that it is a scout."""
        self.moved = True
        self.ranks &= tables.ruleset.movable_ranks
        if isinstance(move, Path):
            self.ranks &= {Rank.CAPTAIN}
        elif move.between:
            runs = {Rank.SCOUT, Rank.CAPTAIN} if tables.captains_take_two and len(move.between) == 1 else {Rank.SCOUT}
            self.ranks &= runs
            if not revealed and not fought and tables.shows_a_scout(len(move.between) + 1):
                self.ranks -= {Rank.SCOUT}

    def did_not_win_by_arriving(self, tables: RuleTables, square: int, color: Color) -> None:
        """It stands on `square` after its move, and the game has gone on."""
        if tables.flag_moves and square in BACK_ROWS[color.opponent]:
            self.ranks -= {Rank.FLAG}

    def rescues(self) -> None:
        """It has arrived to bring a lost piece back."""
        self.ranks &= RESCUERS

    def stayed(self, tables: RuleTables, attacker: Rank) -> None:
        """It has beaten an attacker and kept silent."""
        fights = tables.fights[attacker]
        self.ranks = frozenset(rank for rank in self.ranks if fights[rank] is Survivor.DEFENDER)

    def is_not(self, rank: Rank) -> None:
        """A guess was wrong."""
        self.ranks -= {rank}

    def __repr__(self) -> str:
        letters = "".join(rank.letter for rank in sorted(self.ranks))
        return f"EnemyPiece(square={self.square}, ranks={letters}, home={self.home}, moved={self.moved})"
