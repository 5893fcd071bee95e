#!/usr/bin/env python3
"""Skirmisher: strikes and draws back. It charges as Raider does, and looks at the squares beside its pieces as well.

A piece that stands beside a known stronger one leaves, none steps beside one, and the strongest do not hurry, so that
the cheap ones find out first what is there. What a stranger may be it does not ask.
"""

from protocol.bot import Bot, Rank, View, random_setup, run
from protocol.geometry import NEIGHBOURS, action_squares, row_for

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

HASTE = 1.5
"""What a step forward is worth."""
HASTE_OF_STRONG = 0.45
"""The same for the strongest three ranks, which come when the others have shown what is there."""


def outcome(attacker: Rank, defender: Rank) -> int:
    """1 if the attacker wins, 0 if both leave, -1 if it loses."""
    if defender is Rank.FLAG or (attacker is Rank.SPY and defender is Rank.MARSHAL):
        return 1
    if defender is Rank.BOMB:
        return 1 if attacker is Rank.MINER else -1
    strength, other = (Rank.SPY if rank is Rank.INFILTRATOR else rank for rank in (attacker, defender))
    return (strength > other) - (strength < other)


class Skirmisher(Bot):
    """Scores every legal action by what it attacks, and by who stands beside the squares that it leaves and reaches."""

    name = "skirmisher 1.0"

    def setup(self, view: View) -> str:
        """Of some random set-ups, one with the flag on the back row, few bombs in front and its strong pieces ahead."""
        return max((random_setup(view) for _ in range(100)), key=setup_score)

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
        safety = self.threat(view, origin, piece.rank) - self.threat(view, target, piece.rank)
        if other is None or other.color is view.color:
            advance = row_for(view.color, target) - row_for(view.color, origin)
            haste = HASTE_OF_STRONG if piece.rank >= Rank.COLONEL else HASTE
            return safety + haste * max(-1, min(advance, 1)) - (1.0 if piece.rank is Rank.SPY else 0.0)
        if other.rank is not None:
            return (-50.0, 0.0, 20.0 + other.rank)[outcome(piece.rank, other.rank) + 1]
        return safety + BOLDNESS.get(piece.rank, -5)

    def threat(self, view: View, square: int, rank: Rank) -> float:
        """How bad it is for this rank to stand there: worse for the stronger, if a piece that beats it is beside it."""
        for neighbour in NEIGHBOURS[square]:
            other = view.board[neighbour]
            known = other.rank if other and other.color is view.enemy else None
            if known and known > Rank.BOMB and outcome(known, rank) > 0:
                return 5.0 + rank
        return 0.0


def setup_score(setup: str) -> float:
    """How much it likes a set-up: rows are read from the back row forwards."""
    score = 0.0
    for row, letters in enumerate(setup.split("/")):
        score -= 10 * row * letters.count("F") + row * letters.count("B")
        score += sum(row for letter in letters if letter in "2456789")
    return score


if __name__ == "__main__":
    run(Skirmisher)
