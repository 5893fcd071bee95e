#!/usr/bin/env python3
"""Scholar: counts. It knows which enemy ranks are still hidden, and judges every choice by the average over them.

A piece that has moved is no bomb and no flag; one that never has may be either. From this Scholar works out what each
fight is worth on average, what its own pieces stand to lose where they are (more if the opponent has seen them), and,
for each of its ranks, which way the worthwhile targets lie. It looks one action ahead and is far too curious.
"""

from protocol.bot import Bot, Rank, View, run
from protocol.geometry import NEIGHBOURS, action_squares
from protocol.messages import ArenaMessage, Battle, Reveal
from protocol.notation import EMPTY, SQUARE_INDEX
from protocol.view import Piece

VALUE = (0, 150, 20, 15, 3, 18, 8, 11, 13, 18, 28, 42, 70, 10)
"""What a piece is worth, by rank: nothing, flag, bomb, spy, scout, miner, sergeant, ... marshal, infiltrator."""

RANKS = range(1, len(VALUE))
MOVED, STILL = len(VALUE), len(VALUE) + 1
"""Kinds of enemy piece: a rank if it is known, else whether it has moved."""

CURIOSITY = 11.0
"""What learning a rank is worth: a scholar overrates it, and pays for what it learns."""

DECAY = 0.78
"""How much less a target is worth with each step on the way to it."""

ROWS: dict[Rank, tuple[int, ...]] = {
    Rank.FLAG: (9, 0, -9, -9),
    Rank.BOMB: (2, 2, 1, -4),
    Rank.SPY: (1, 3, 2, -3),
    Rank.SCOUT: (1, 1, 1, 3),
    Rank.MINER: (3, 2, 0, -3),
    Rank.SERGEANT: (1, 2, 2, 2),
    Rank.LIEUTENANT: (0, 1, 2, 3),
    Rank.CAPTAIN: (-1, 1, 2, 3),
    Rank.MAJOR: (-2, 1, 3, 2),
    Rank.COLONEL: (-3, 1, 3, 1),
    Rank.GENERAL: (-4, 2, 3, 1),
    Rank.MARSHAL: (-4, 2, 3, 1),
}
"""How much each rank likes each row of the set-up, own back row first."""


def fight(attacker: int, defender: int) -> int:
    """1 if the attacker wins, 0 if both leave, -1 if it loses."""
    if defender == Rank.FLAG:
        return 1
    if defender == Rank.BOMB:
        return 1 if attacker == Rank.MINER else -1
    if attacker == Rank.SPY and defender == Rank.MARSHAL:
        return 1
    strengths = [Rank.SPY if rank == Rank.INFILTRATOR else rank for rank in (attacker, defender)]
    return (strengths[0] > strengths[1]) - (strengths[0] < strengths[1])


FIGHT = [[fight(attacker, defender) for defender in (1, *RANKS)] for attacker in (1, *RANKS)]


class Scholar(Bot):
    """Scores every legal action by averages over the hidden ranks and plays the best."""

    name = "scholar 1.1"

    def __init__(self) -> None:
        super().__init__()
        self.exposed: set[Piece] = set()
        """The own pieces whose rank the opponent has seen."""
        self.quiet_since = 0

    def event(self, view: View, message: ArenaMessage) -> None:
        if isinstance(message, Battle):
            self.quiet_since = len(view.actions)
        if isinstance(message, Battle | Reveal):
            piece = view.board[SQUARE_INDEX[message.square]]
            if piece:
                self.exposed.add(piece)

    def setup(self, view: View) -> str:
        return thoughtful_setup(view)

    def move(self, view: View) -> str:
        position = Position(view, self.exposed, len(view.actions) - self.quiet_since)
        return max(view.legal, key=lambda action: position.score(action) + 0.2 * view.random.random())


class Position:
    """One position with all averages that scoring an action needs."""

    def __init__(self, view: View, exposed: set[Piece], quiet: int) -> None:
        self.board = view.board
        self.color = view.color
        self.exposed = exposed
        self.patience = max(0.2, 1 - quiet / 120)
        self.kind = [0] * len(view.board)
        for square, piece in view.pieces(view.enemy):
            self.kind[square] = piece.rank or (MOVED if piece.moved else STILL)
        self.odds = self.count_odds(view.hidden_ranks())
        own = {piece.rank for _, piece in view.pieces(view.color) if piece.rank}
        self.gain = {rank: [self.average(rank, kind) for kind in range(STILL + 1)] for rank in own}
        self.fields: dict[int, list[float]] = {}

    def count_odds(self, hidden: dict[Rank, int]) -> list[list[tuple[int, float]]]:
        """For each kind of enemy piece, what ranks it may have and how likely they are."""
        odds = [[(rank, 1.0)] for rank in range(MOVED)]
        fixed = {rank: count for rank, count in hidden.items() if rank in (Rank.FLAG, Rank.BOMB)}
        mobile = {rank: count for rank, count in hidden.items() if rank not in fixed}
        all_mobile = max(1, sum(mobile.values()))
        still = max(1, self.kind.count(STILL))
        share = min(1.0, sum(fixed.values()) / still)
        odds.append([(rank, count / all_mobile) for rank, count in mobile.items()])
        odds.append(
            [(rank, count / still) for rank, count in fixed.items()]
            + [(rank, (1 - share) * count / all_mobile) for rank, count in mobile.items()]
        )
        return odds

    def average(self, rank: int, kind: int) -> float:
        """What attacking this kind with this rank brings on average, in the worth of pieces."""
        total = 0.0
        for other, chance in self.odds[kind] if kind else ():
            outcome = FIGHT[rank][other]
            total += chance * ((VALUE[other] if outcome >= 0 else 0) - (VALUE[rank] if outcome <= 0 else 0))
        if kind >= MOVED:
            total += CURIOSITY - 0.1 * VALUE[rank] * self.patience  # hiding an own rank is worth something, too
        return total

    def danger(self, square: int, piece: Piece) -> float:
        """What `piece` stands to lose on `square` to the enemy pieces beside it."""
        worst = 0.0
        rank = piece.rank or 0
        for neighbour in NEIGHBOURS[square]:
            kind = self.kind[neighbour]
            if kind:
                worst = max(worst, self.threat(kind, rank, piece in self.exposed))
        return worst

    def threat(self, kind: int, rank: int, exposed: bool) -> float:
        beaten = sum(chance for other, chance in self.odds[kind] if other > Rank.BOMB and FIGHT[other][rank] > 0)
        return beaten * VALUE[rank] * (1.0 if exposed else 0.4)

    def field(self, rank: int) -> list[float]:
        """For each square, what the best target for this rank is worth from there."""
        if rank not in self.fields:
            self.fields[rank] = self.spread(self.gain[Rank(rank)])
        return self.fields[rank]

    def spread(self, gain: list[float]) -> list[float]:
        field = [0.0] * len(self.board)
        frontier = []
        for square, kind in enumerate(self.kind):
            if kind and gain[kind] > 0:
                # Those that can run mostly do, so they are poor targets from afar.
                field[square] = gain[kind] * (1.0 if kind in (STILL, Rank.BOMB, Rank.FLAG) else 0.4)
                frontier.append(square)
        while frontier:
            reached = []
            for square in frontier:
                worth = field[square] * DECAY
                for neighbour in NEIGHBOURS[square]:
                    if field[neighbour] < worth and not self.kind[neighbour]:
                        piece = self.board[neighbour]
                        there = worth * 0.5 if piece else worth  # an own piece is in the way
                        if field[neighbour] < there and not (piece and piece.rank in (Rank.FLAG, Rank.BOMB)):
                            field[neighbour] = there
                            reached.append(neighbour)
            frontier = reached
        return field

    def score(self, action: str) -> float:
        squares = action_squares(action)
        if squares is None:
            return -1000.0
        origin, target = squares
        piece = self.board[origin]
        if piece is None or piece.rank is None:
            return 0.0
        escape = self.danger(origin, piece)
        kind = self.kind[target]
        if kind:
            return self.gain[piece.rank][kind] + escape
        field = self.field(piece.rank)
        return escape - self.danger(target, piece) + (field[target] - field[origin])


def thoughtful_setup(view: View) -> str:
    """The flag at the back, bombs around it, then rank by rank on the rows each likes, with some chance."""
    squares = ["" for _ in range(40)]
    flag = 0
    for rank in sorted(view.army):
        for _ in range(view.army[rank]):
            free = [square for square, letter in enumerate(squares) if not letter]

            def liking(square: int, rank: Rank = rank, flag: int = flag) -> float:
                row, file = divmod(square, 10)
                beside_flag = abs(row - flag // 10) + abs(file - flag % 10) == 1
                guard = 6 if rank is Rank.BOMB and beside_flag else 0
                return ROWS.get(rank, (0, 0, 0, 0))[row] + guard + 3 * view.random.random()

            chosen = max(free, key=liking)
            squares[chosen] = rank.letter
            if rank is Rank.FLAG:
                flag = chosen
    letters = "".join(letter or EMPTY for letter in squares)
    return "/".join(letters[start : start + 10] for start in range(0, 40, 10))


if __name__ == "__main__":
    run(Scholar)
