#!/usr/bin/env python3
"""Raider: charges. It takes what it knows to be weaker, feels out strangers with its cheap pieces, and else advances.

It looks at one action at a time and at nothing but the piece that acts and what stands on the square it leads to. What
may happen to the piece afterwards it does not see, and that is how it loses.
"""

from protocol.bot import Bot, Rank, View, random_setup, run
from protocol.geometry import action_squares, row_for

BOLDNESS = {
    Rank.SCOUT: 9,
    Rank.MINER: 4,
    Rank.SERGEANT: 8,
    Rank.LIEUTENANT: 7,
    Rank.CAPTAIN: 5,
    Rank.MAJOR: 4,
    Rank.COLONEL: 2,
}
"""How gladly a rank attacks a piece that it does not know; the ranks that are not listed do not."""


def wins(attacker: Rank, defender: Rank) -> bool:
    """Whether the attacker is left standing alone."""
    if defender is Rank.BOMB:
        return attacker is Rank.MINER
    if attacker is Rank.SPY or attacker is Rank.INFILTRATOR:
        return defender is Rank.FLAG or (attacker is Rank.SPY and defender is Rank.MARSHAL)
    return attacker > defender or defender is Rank.INFILTRATOR


class Raider(Bot):
    """Scores every legal action by itself and plays the best, with a random number to choose among equals."""

    name = "raider 1.0"

    def setup(self, view: View) -> str:
        """Of some random set-ups, one with the flag on the back row, few bombs in front and its strong pieces ahead."""
        return max((random_setup(view) for _ in range(30)), key=setup_score)

    def move(self, view: View) -> str:
        return max(view.legal, key=lambda action: self.score(view, action) + view.random.random())

    def score(self, view: View, action: str) -> float:
        squares = action_squares(action)
        if squares is None:
            return -100.0
        origin, target = squares
        piece, other = view.board[origin], view.board[target]
        if piece is None or piece.rank is None:
            return 0.0
        if other is None or other.color is view.color:
            advance = row_for(view.color, target) - row_for(view.color, origin)
            return 1.5 * max(-1, min(advance, 1)) - (1.0 if piece.rank is Rank.SPY else 0.0)
        if other.rank is not None:
            return 20.0 + other.rank if wins(piece.rank, other.rank) else -50.0
        return float(BOLDNESS.get(piece.rank, -5))


def setup_score(setup: str) -> float:
    """How much a raider likes a set-up: rows are read from the back row forwards."""
    score = 0.0
    for row, letters in enumerate(setup.split("/")):
        score -= 10 * row * letters.count("F") + row * letters.count("B")
        score += sum(row for letter in letters if letter in "2456789")
    return score


if __name__ == "__main__":
    run(Raider)
