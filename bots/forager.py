#!/usr/bin/env python3
"""Forager: wanders, and takes what it cannot lose. It remembers every rank that it has seen, and uses that for nothing
but this: it attacks a piece that it knows to be weaker, and never one that it knows to be as strong or stronger.
"""

from protocol.bot import Bot, Rank, View, random_setup, run
from protocol.geometry import action_squares


def wins(attacker: Rank, defender: Rank) -> bool:
    """Whether the attacker is left standing alone."""
    if defender is Rank.BOMB:
        return attacker is Rank.MINER
    if attacker is Rank.SPY or attacker is Rank.INFILTRATOR:
        return defender is Rank.FLAG or (attacker is Rank.SPY and defender is Rank.MARSHAL)
    return attacker > defender or defender is Rank.INFILTRATOR


class Forager(Bot):
    """Sorts the legal actions by what is certain of them, and draws one of the best."""

    name = "forager 1.0"

    def setup(self, view: View) -> str:
        """A random set-up with the flag on the back row."""
        return max((random_setup(view) for _ in range(20)), key=lambda setup: "F" in setup.split("/")[0])

    def move(self, view: View) -> str:
        return max(view.legal, key=lambda action: (self.worth(view, action), view.random.random()))

    def worth(self, view: View, action: str) -> int:
        """1 for a sure capture, -1 for a fight that is not won, 0 for all that is not known."""
        squares = action_squares(action)
        if squares is None:
            return -2  # a resignation, or a guess
        piece, other = view.board[squares[0]], view.board[squares[1]]
        if piece is None or piece.rank is None or other is None or other.color is view.color:
            return 0
        if other.rank is None:
            return 0
        return 1 if wins(piece.rank, other.rank) else -1


if __name__ == "__main__":
    run(Forager)
