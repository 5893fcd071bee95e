#!/usr/bin/env python3
"""Warden: minds its pieces. It weighs each attack by what the pieces are worth and draws back from the stronger.

For a piece that it does not know it counts how many of the hidden enemy ranks its own piece would beat and how many
would beat it. Pieces with nothing to take or to flee from walk towards what is worth attacking, and what comes near its
flag is attacked the more. Warden sees only the squares beside the piece that it moves, and forgets that the opponent,
too, remembers what it has seen.
"""

from functools import cache

from protocol.bot import Bot, Rank, View, random_setup, run
from protocol.geometry import NEIGHBOURS, action_squares
from protocol.notation import BOARD_SIZE, SQUARES

WORTH = {
    Rank.FLAG: 100,
    Rank.BOMB: 6,
    Rank.SPY: 8,
    Rank.SCOUT: 3,
    Rank.MINER: 8,
    Rank.SERGEANT: 5,
    Rank.LIEUTENANT: 8,
    Rank.CAPTAIN: 13,
    Rank.MAJOR: 20,
    Rank.COLONEL: 32,
    Rank.GENERAL: 50,
    Rank.MARSHAL: 70,
    Rank.INFILTRATOR: 10,
}

FIXED = (Rank.FLAG, Rank.BOMB)

CURIOSITY = 13
"""What finding out a rank is worth by itself."""

GUARD = 30
"""What an attack near the own flag is worth besides: half of this right beside it, less further away."""

Prey = dict[tuple[Rank | None, bool], list[int]]
"""The squares of the enemy pieces by what is known of them: the rank, and whether it has moved."""

Hopes = dict[Rank, dict[tuple[Rank | None, bool], float]]
"""For each own rank and each kind of prey, what an attack is worth."""


def fight(attacker: Rank, defender: Rank) -> int:
    """1 if the attacker wins, 0 if both leave, -1 if it loses."""
    if defender is Rank.FLAG or (attacker is Rank.SPY and defender is Rank.MARSHAL):
        return 1
    if defender is Rank.BOMB:
        return 1 if attacker is Rank.MINER else -1
    strength, other = (Rank.SPY if rank is Rank.INFILTRATOR else rank for rank in (attacker, defender))
    return (strength > other) - (strength < other)


class Warden(Bot):
    """Scores every legal action by the piece that acts, what it attacks and what it would stand beside."""

    name = "warden 1.1"

    def setup(self, view: View) -> str:
        """The best guarded of some random set-ups."""
        return max((random_setup(view) for _ in range(300)), key=setup_score)

    def move(self, view: View) -> str:
        hidden = view.hidden_ranks()
        prey: Prey = {}
        for square, other in view.pieces(view.enemy):
            prey.setdefault((other.rank, other.moved), []).append(square)
        hopes = {
            rank: {kind: hope(rank, *kind, hidden) for kind in prey}
            for rank in {piece.rank for _, piece in view.pieces(view.color) if piece.rank}
        }
        goals = {
            rank: [square for kind, worth in hopes[rank].items() if worth > 0 for square in prey[kind]]
            for rank in hopes
        }
        return max(view.legal, key=lambda action: self.score(view, action, hopes, goals) + view.random.random())

    def score(self, view: View, action: str, hopes: Hopes, goals: dict[Rank, list[int]]) -> float:
        squares = action_squares(action)
        if squares is None:
            return -1000.0
        origin, target = squares
        piece, other = view.board[origin], view.board[target]
        if piece is None or piece.rank is None:
            return 0.0
        fear = danger(view, origin, piece.rank) - danger(view, target, piece.rank)
        if other is None or other.color is view.color:
            return fear + 10 * (closeness(target, goals[piece.rank]) - closeness(origin, goals[piece.rank]))
        if other.rank and fight(piece.rank, other.rank) < 0:
            return fear + hopes[piece.rank][other.rank, other.moved]
        flag = [square for square, own in view.pieces(view.color) if own.rank is Rank.FLAG]
        return fear + hopes[piece.rank][other.rank, other.moved] + GUARD * closeness(target, flag)


@cache
def closeness_from(square: int) -> tuple[float, ...]:
    """For each square, 1 if it is this one, and less the further away it is, as if nothing were in the way."""
    row, file = divmod(square, BOARD_SIZE)
    return tuple(
        1 / (1 + abs(row - other // BOARD_SIZE) + abs(file - other % BOARD_SIZE)) for other in range(len(SQUARES))
    )


def closeness(square: int, goals: list[int]) -> float:
    """How close the nearest goal is."""
    return max(map(closeness_from(square).__getitem__, goals), default=0.0)


def hope(rank: Rank, other: Rank | None, moved: bool, hidden: dict[Rank, int]) -> float:
    """What attacking a piece would bring, on average over the hidden ranks if it is not known."""
    if rank in FIXED:
        return 0.0
    if other:
        return gain(rank, other)
    # What has moved is neither bomb nor flag.
    chances = [(secret, count) for secret, count in hidden.items() if not (moved and secret in FIXED)]
    total = sum(count * gain(rank, secret) for secret, count in chances)
    return CURIOSITY + total / max(1, sum(count for _, count in chances))


def gain(attacker: Rank, defender: Rank) -> int:
    """What is won less what is lost in a fight."""
    outcome = fight(attacker, defender)
    return (WORTH[defender] if outcome >= 0 else 0) - (WORTH[attacker] if outcome <= 0 else 0)


def danger(view: View, square: int, rank: Rank) -> int:
    """What a piece of this rank would lose to the known enemy pieces beside a square."""
    for neighbour in NEIGHBOURS[square]:
        piece = view.board[neighbour]
        if (
            piece
            and piece.color is view.enemy
            and piece.rank
            and piece.rank not in FIXED
            and fight(piece.rank, rank) > 0
        ):
            return WORTH[rank]
    return 0


def setup_score(setup: str) -> int:
    """How much a warden likes a set-up: the flag at the back among bombs, miners behind, the strong pieces in front."""
    rows = setup.split("/")
    score = 0
    for row, letters in enumerate(rows):
        score -= 20 * row * letters.count("F") + row * (letters.count("B") + letters.count("3"))
        score += sum(row for letter in letters if letter in "56789")
    row, file = divmod("".join(rows).index("F"), BOARD_SIZE)
    beside = [(row + 1, file), (row, file - 1), (row, file + 1)]
    return score + sum(6 for r, f in beside if r < 4 and 0 <= f < BOARD_SIZE and rows[r][f] == "B")


if __name__ == "__main__":
    run(Warden)
