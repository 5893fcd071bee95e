"""A piece as a seat knows it, and its possible ranks after its actions."""

from protocol.notation import Color, Rank

RESCUERS = frozenset(Rank) - {Rank.SCOUT, Rank.FLAG}
"""The ranks that may bring a lost piece back."""


class Piece:
    """A piece on the board as a seat knows it.

    `rank` is None while it is not known. `could_be` is None, or the ranks that its actions allow: never less than what
    is possible. `moved` tells whether it has moved.
    """

    __slots__ = ("color", "could_be", "moved", "rank")

    def __init__(self, color: Color, rank: Rank | None, moved: bool = False) -> None:
        self.color = color
        self.rank = rank
        self.could_be: frozenset[Rank] | None = None
        self.moved = moved

    def narrow(self, ranks: frozenset[Rank]) -> None:
        """Restrict the piece to these ranks; if one is left, that is its rank."""
        if self.rank is None:
            self.could_be = ranks if self.could_be is None else self.could_be & ranks
            if len(self.could_be) == 1:
                (self.rank,) = self.could_be

    @property
    def cell(self) -> str:
        """The two characters of a `board` line: colour, then rank, `?` (unknown, never moved) or `!` (has moved)."""
        return self.color.word[0] + (self.rank.letter if self.rank else "!" if self.moved else "?")


def stayers(attacker: Rank, bombs_stay: bool) -> frozenset[Rank]:
    """Return the ranks that stay when this one attacks them: those above it, and bombs that do not explode."""
    lowest = Rank.SPY if attacker is Rank.INFILTRATOR else attacker
    stayers = {rank for rank in Rank if lowest < rank < Rank.INFILTRATOR}
    if attacker is Rank.SPY:
        stayers.remove(Rank.MARSHAL)
    if bombs_stay and attacker is not Rank.MINER:
        stayers.add(Rank.BOMB)
    return frozenset(stayers)
