"""The opponent's pieces, each followed from its first square on, with its possible ranks.

Actions of a piece and messages about it remove ranks, one rule for each method.
"""

from arena.stratego.rules.action_types import Path, PieceMove
from arena.stratego.rules.board import BACK_ROWS
from arena.stratego.rules.tables import RuleTables
from protocol.notation import Color, Rank, Survivor
from protocol.view import RESCUERS


class EnemyPiece:
    """A piece of the opponent: `home` is its first square (None if it has come back), `square` the present one.

    `ranks` are the ranks that agree with its own actions; if one is left, the rank is known. `moved`: it has moved. A
    piece that has left the board has the `square` -1. Treat all attributes as read-only.
    """

    __slots__ = ("home", "moved", "ranks", "square")

    def __init__(self, square: int, ranks: frozenset[Rank], home: int | None = None) -> None:
        self.home = home
        self.square = square
        self.ranks = ranks
        self.moved = False

    @property
    def rank(self) -> Rank | None:
        """The rank of the piece; None while several are possible."""
        return next(iter(self.ranks)) if len(self.ranks) == 1 else None

    def named(self, rank: Rank) -> None:
        self.ranks = frozenset({rank})

    def has_moved(self, tables: RuleTables, move: PieceMove, revealed: bool, fought: bool) -> None:
        """Note a move that did not end the game; `revealed` if the arena named the piece as a scout."""
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
        """Note a move to `square` that did not end the game."""
        if tables.flag_moves and square in BACK_ROWS[color.opponent]:
            self.ranks -= {Rank.FLAG}

    def rescues(self) -> None:
        self.ranks &= RESCUERS

    def stayed(self, tables: RuleTables, attacker: Rank) -> None:
        """Note that the piece has beaten an attacker under silent defence."""
        fights = tables.fights[attacker]
        self.ranks = frozenset(rank for rank in self.ranks if fights[rank] is Survivor.DEFENDER)

    def is_not(self, rank: Rank) -> None:
        self.ranks -= {rank}

    def __repr__(self) -> str:
        letters = "".join(rank.letter for rank in sorted(self.ranks))
        return f"EnemyPiece(square={self.square}, ranks={letters}, home={self.home}, moved={self.moved})"
