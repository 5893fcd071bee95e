#!/usr/bin/env python3
"""Tactician: reads the opponent and calculates.

It keeps a belief about every enemy piece that it has not seen: where the piece stood at first, whether it dares to
come near pieces that it must know to be strong, whether it lets weak ones stand. The beliefs are fitted to the counts
of the ranks that are still hidden, and what each fight is worth follows from them. The most promising actions are then
looked at more closely by a small alpha-beta search over captures and escapes where the two sides touch, which stops
in good time before the clock runs out.
"""

from operator import mul
from time import perf_counter

from protocol.bot import Bot, Rank, View, run
from protocol.geometry import NEIGHBOURS, action_squares, row_for
from protocol.messages import ArenaMessage, Battle, Moved, Reveal
from protocol.notation import EMPTY, SQUARE_INDEX
from protocol.view import Piece

VALUE = (0, 150, 8, 10, 4, 9, 6, 9, 14, 22, 35, 55, 80, 10)
"""What a piece is worth, by rank: nothing, flag, bomb, spy, scout, miner, sergeant, ... marshal, infiltrator."""

RANKS = range(len(VALUE))
KNOWN = len(VALUE)
"""Kinds of enemy piece: numbers below this are ranks, the others stand for one piece each that is not known."""

CURIOSITY = 2.0
"""What learning a rank is worth."""

DECAY = 0.85
"""How much less a target is worth with each step on the way to it."""

CANDIDATES = 8
"""How many actions are looked at more closely."""

TRUST = 0.5
"""How much the search counts beside the score of the action by itself."""

DEPTH = 3
"""How many plies the search looks ahead after the action."""

WORTHWHILE = 1.5
"""What a capture must bring for the search to look at it."""

GUARD = 40.0
"""How much more it is worth to take a piece that stands right beside the own flag."""

BIG = 1e9

BUDGET_MS = 9.0
"""The most time for one action; less if the clock is short."""

ROWS: dict[Rank, tuple[int, ...]] = {
    Rank.FLAG: (9, 0, -9, -9),
    Rank.BOMB: (0, 1, 2, 1),
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


FIGHT = [[fight(attacker, defender) for defender in RANKS] for attacker in RANKS]

PAYOFF: list[list[float]] = [
    [
        (VALUE[defender] if FIGHT[attacker][defender] >= 0 else 0)
        - (VALUE[attacker] if FIGHT[attacker][defender] <= 0 else 0)
        for defender in RANKS
    ]
    for attacker in RANKS
]
"""What the attacker's side wins less what it loses."""

WINS = [[float(FIGHT[attacker][defender] > 0) for defender in RANKS] for attacker in RANKS]

LOSSES = [
    [VALUE[defender] * float(attacker > Rank.BOMB and FIGHT[attacker][defender] > 0) for attacker in RANKS]
    for defender in RANKS
]
"""By rank, what is lost when it is attacked by each rank: a piece that is known is attacked by those that beat it."""

Odds = list[float]
"""By rank, how likely it is that a piece has it."""


class Tactician(Bot):
    """Keeps beliefs between its turns; the rest is worked out afresh for each action."""

    name = "tactician 1.2"

    def __init__(self) -> None:
        super().__init__()
        self.exposed: set[Piece] = set()
        """The own pieces whose rank the opponent has seen."""
        self.beliefs: dict[Piece, list[float]] = {}
        """Per enemy piece, a weight for each rank."""
        self.quiet_since = 0

    def setup(self, view: View) -> str:
        return thoughtful_setup(view)

    def event(self, view: View, message: ArenaMessage) -> None:
        if isinstance(message, Battle):
            self.quiet_since = len(view.actions)
        if isinstance(message, Battle | Reveal):
            piece = view.board[SQUARE_INDEX[message.square]]
            if piece:
                self.exposed.add(piece)
        elif isinstance(message, Moved) and message.color is view.enemy:
            self.watch(view, message.action)

    def watch(self, view: View, action: str) -> None:
        """Learn from what the opponent did: pieces come near what they beat, and leave alone what they do not."""
        squares = action_squares(action)
        actor = view.board[squares[1]] if squares else None
        for square, own in view.pieces(view.color):
            if own not in self.exposed or not own.rank:
                continue
            for other in (view.board[neighbour] for neighbour in NEIGHBOURS[square]):
                if other and other.color is view.enemy and not other.rank:
                    belief = self.belief(other)
                    for rank in RANKS:
                        if LOSSES[own.rank][rank]:
                            belief[rank] *= 2.5 if other is actor else 0.7

    def belief(self, piece: Piece) -> Odds:
        return self.beliefs.setdefault(piece, [1.0] * KNOWN)

    def guess_flag(self, view: View, square: int, belief: Odds) -> None:
        """A flag hides at the back, beside bombs and pieces that never move."""
        around = [view.board[neighbour] for neighbour in NEIGHBOURS[square]]
        walls = [other for other in around if other and other.color is view.enemy and not other.moved]
        bombs = sum(1 for wall in walls if wall.rank is Rank.BOMB)
        row = min(3, row_for(view.enemy, square))
        belief[Rank.FLAG] = (6.0, 1.0, 0.2, 0.1)[row] * (0.3 + len(walls)) / len(around) * (1 + bombs)

    def move(self, view: View) -> str:
        deadline = perf_counter() + min(BUDGET_MS, view.own_ms / 10) / 1000
        position = Position(view, self.exposed, self.chances(view), len(view.actions) - self.quiet_since)
        scored = [(position.score(action) + 0.1 * view.random.random(), action) for action in view.legal]
        scored.sort(reverse=True)
        best_score, best = -BIG, scored[0][1]
        for score, action in scored[:CANDIDATES]:
            if perf_counter() > deadline:
                break
            total = score + TRUST * position.prospects(action, deadline)
            if total > best_score:
                best_score, best = total, action
        return best

    def chances(self, view: View) -> dict[int, Odds]:
        """For the square of each enemy piece that is not known, the chances of its ranks."""
        hidden = [(square, piece) for square, piece in view.pieces(view.enemy) if not piece.rank]
        for square, piece in hidden:
            if not piece.moved:
                self.guess_flag(view, square, self.belief(piece))
        return fit_beliefs([(square, piece.moved, self.belief(piece)) for square, piece in hidden], view.hidden_ranks())


def fit_beliefs(hidden: list[tuple[int, bool, Odds]], counts: dict[Rank, int]) -> dict[int, Odds]:
    """Beliefs as chances: each piece has some rank, and of each rank there are as many as are still hidden.

    Both cannot be had at once, so the weights are scaled to the one and to the other by turns.
    """
    left = [0.0 if rank == 0 else float(counts.get(Rank(rank), 0)) for rank in RANKS]
    left_moved = [0.0 if rank in (Rank.FLAG, Rank.BOMB) else count for rank, count in enumerate(left)]
    rows = [list(map(mul, belief, left_moved if moved else left)) for _, moved, belief in hidden]
    for _ in range(3):
        rows = [one_piece(row) for row in rows]
        scales = [count / (sum(column) or 1.0) for count, column in zip(left, zip(*rows, strict=True), strict=False)]
        rows = [list(map(mul, row, scales)) for row in rows]
    return {square: one_piece(row) for (square, _, _), row in zip(hidden, rows, strict=True)}


def one_piece(row: Odds) -> Odds:
    """Weights scaled so that they add up to one."""
    scale = 1 / (sum(row) or 1.0)
    return [weight * scale for weight in row]


def average(odds: Odds, table: list[float]) -> float:
    """The average of a table by rank over the ranks that a piece may have."""
    total: float = sum(map(mul, odds, table))
    return total


class Position:
    """One position with all averages that scoring and searching need. `mine` and `kind` are changed while searching."""

    def __init__(self, view: View, exposed: set[Piece], odds: dict[int, Odds], quiet: int) -> None:
        self.board = view.board
        self.color = view.color
        self.patience = max(0.2, 1 - quiet / 60)
        self.quiet = quiet
        self.mine = [0] * len(view.board)
        self.kind = [0] * len(view.board)
        self.seen = [False] * len(view.board)
        self.odds: list[Odds] = [[float(rank == other) for other in RANKS] for rank in RANKS]
        self.still = [False, True, True] + [False] * (KNOWN - 3)
        for square, piece in view.pieces(view.enemy):
            if piece.rank:
                self.kind[square] = piece.rank
            else:
                self.kind[square] = len(self.odds)
                self.odds.append(odds[square])
                self.still.append(not piece.moved)
        for square, piece in view.pieces(view.color):
            self.mine[square] = int(piece.rank or 0)
            self.seen[square] = piece in exposed
        ranks = set(self.mine)
        unknown = self.odds[KNOWN:]
        self.gain = {rank: PAYOFF[rank] + [self.worth_of_attack(rank, odds) for odds in unknown] for rank in ranks}
        self.wins = {rank: WINS[rank] + [average(odds, WINS[rank]) for odds in unknown] for rank in ranks}
        self.loss = {rank: LOSSES[rank] + [average(odds, LOSSES[rank]) for odds in unknown] for rank in ranks}
        self.fields: dict[int, list[float]] = {}
        self.guard = self.guards()
        self.fixed = [False, True, True] + [False] * (len(self.odds) - 3)
        self.caution = 0.4 * self.patience
        self.deadline = 0.0
        self.zone = self.contacts()

    def worth_of_attack(self, rank: int, odds: Odds) -> float:
        """What attacking an unknown piece with this rank brings on average, in the worth of pieces.

        Learning a rank is worth something, so is hiding one, and if nothing happens the cheap pieces must find out.
        """
        eager = CURIOSITY + 0.08 * self.quiet * max(0.0, 1 - VALUE[rank] / 25)
        return average(odds, PAYOFF[rank]) + eager - 0.1 * VALUE[rank] * self.patience

    def contacts(self) -> list[int]:
        """The squares where a fight may come up soon: those of pieces with an enemy near, and those beside them."""
        squares = set()
        for square, rank in enumerate(self.mine):
            here, there = (rank, self.kind) if rank else (self.kind[square], self.mine)
            if here and any(there[near] or any(there[far] for far in NEIGHBOURS[near]) for near in NEIGHBOURS[square]):
                squares.add(square)
                squares.update(NEIGHBOURS[square])
        return list(squares)

    def guards(self) -> list[float]:
        """For each square, how much more an enemy piece there is worth taking because it is near the own flag."""
        guard = [0.0] * len(self.mine)
        if Rank.FLAG in self.mine:
            row, file = divmod(self.mine.index(Rank.FLAG), 10)
            for square, kind in enumerate(self.kind):
                if kind and not self.still[kind]:
                    guard[square] = GUARD * 0.75 ** (abs(row - square // 10) + abs(file - square % 10))
        return guard

    # --- one action by itself -------------------------------------------------------------------------------------

    def score(self, action: str) -> float:
        """What the action does by itself, before anything that the opponent may answer."""
        squares = action_squares(action)
        if squares is None:
            return -1000.0
        origin, target = squares
        rank = self.mine[origin]
        if not rank:
            return 0.0
        relief = self.danger(origin, rank, self.seen[origin])
        kind = self.kind[target]
        if kind:
            if self.surely_lost(rank, kind):
                return -VALUE[rank]
            return (
                self.gain[rank][kind]
                + self.guard[target] * self.wins[rank][kind]
                + relief
                - self.wins[rank][kind] * self.danger(target, rank, True)
            )
        field = self.field(rank)
        return relief - self.danger(target, rank, self.seen[origin]) + field[target] - field[origin]

    def danger(self, square: int, rank: int, seen: bool) -> float:
        """What a piece would lose there. That it is not known protects it a little; a spy does not rely on that."""
        kinds = [self.kind[neighbour] for neighbour in NEIGHBOURS[square] if self.kind[neighbour]]
        share = 1.0 if seen or rank == Rank.SPY else 0.4 * self.patience
        return max((self.loss[rank][kind] for kind in kinds), default=0.0) * share

    def surely_lost(self, rank: int, kind: int) -> bool:
        """Whether an attack on this kind, a piece that is known, only loses the attacker."""
        return kind < KNOWN and FIGHT[rank][kind] < 0

    def field(self, rank: int) -> list[float]:
        """For each square, what the best target for this rank is worth from there."""
        if rank not in self.fields:
            self.fields[rank] = self.spread(rank)
        return self.fields[rank]

    def spread(self, rank: int) -> list[float]:
        gain, wins = self.gain[rank], self.wins[rank]
        field = [0.0] * len(self.board)
        frontier = []
        for square, kind in enumerate(self.kind):
            worth = gain[kind] + self.guard[square] * wins[kind] if kind else 0.0
            if worth > 0:
                # Those that can run mostly do, so they are poor targets from afar.
                field[square] = worth * (1.0 if self.still[kind] else 0.4)
                frontier.append(square)
        while frontier:
            reached = []
            for square in frontier:
                worth = field[square] * DECAY
                for neighbour in NEIGHBOURS[square]:
                    if field[neighbour] < worth and not self.kind[neighbour]:
                        own = self.mine[neighbour]
                        there = worth * 0.8 if own else worth  # an own piece is in the way
                        if field[neighbour] < there and own not in (Rank.FLAG, Rank.BOMB):
                            field[neighbour] = there
                            reached.append(neighbour)
            frontier = reached
        return field

    # --- the search -----------------------------------------------------------------------------------------------

    def prospects(self, action: str, deadline: float) -> float:
        """What the action brings after the best play of both sides where they touch."""
        squares = action_squares(action)
        if squares is None or not self.mine[squares[0]]:
            return 0.0
        origin, target = squares
        self.deadline = deadline
        rank, kind = self.mine[origin], self.kind[target]
        if kind:
            guard = self.guard[target] * self.wins[rank][kind]
            return self.gain[rank][kind] + guard + self.after_attack(origin, target, DEPTH, -BIG, BIG)
        field = self.field(rank)
        self.shift(self.mine, origin, target)
        value = field[target] - field[origin] + self.theirs(DEPTH, -BIG, BIG)
        self.shift(self.mine, target, origin)
        return value

    def shift(self, pieces: list[int], origin: int, target: int) -> None:
        pieces[target], pieces[origin] = pieces[origin], 0
        if pieces is self.mine:
            self.seen[target], self.seen[origin] = self.seen[origin], self.seen[target]

    def after_attack(self, origin: int, target: int, depth: int, low: float, high: float) -> float:
        """What follows after an own attack, if it goes as is to be expected."""
        rank, kind, seen = self.mine[origin], self.kind[target], (self.seen[origin], self.seen[target])
        self.mine[origin] = 0
        if self.wins[rank][kind] >= 0.5:
            self.mine[target], self.kind[target], self.seen[target] = rank, 0, True
        value = self.theirs(depth, low, high)
        self.mine[origin], self.mine[target], self.kind[target] = rank, 0, kind
        self.seen[origin], self.seen[target] = seen
        return value

    def theirs(self, depth: int, low: float, high: float) -> float:
        """The least that the opponent can hold us to: it takes a piece, saves one, or does something elsewhere.

        At depth 0 nobody looks whether the taker is taken in turn, so a capture counts for less.
        """
        best = self.ours(depth - 1, low, high) if depth else 0.0
        mine, kinds = self.mine, self.kind
        for origin in self.zone:
            kind = kinds[origin]
            if not kind or self.fixed[kind]:
                continue
            if best <= low:
                break
            hunted = False
            for target in NEIGHBOURS[origin]:
                rank = mine[target]
                if not rank:
                    continue
                hunted = hunted or self.gain[rank][kind] > WORTHWHILE
                lost = self.lost(target, kind)
                if lost > 1.0 and not depth:
                    best = min(best, -lost * 0.6)
                elif lost > 1.0:
                    mine[target], kinds[origin], kinds[target] = 0, 0, kind
                    best = min(best, self.ours(depth - 1, low + lost, high + lost) - lost)
                    mine[target], kinds[origin], kinds[target] = rank, kind, 0
            if hunted and depth:
                for target in self.free_beside(origin):
                    self.shift(kinds, origin, target)
                    best = min(best, self.ours(depth - 1, low, high))
                    self.shift(kinds, target, origin)
        return best

    def ours(self, depth: int, low: float, high: float) -> float:
        """The most that we can get where the sides touch, in the same way."""
        best = self.theirs(depth - 1, low, high) if depth else 0.0
        mine, kinds = self.mine, self.kind
        for origin in self.zone:
            rank = mine[origin]
            if rank <= Rank.BOMB:
                continue
            if best >= high or perf_counter() > self.deadline:
                break
            hunted = False
            for target in NEIGHBOURS[origin]:
                kind = kinds[target]
                if not kind:
                    continue
                hunted = hunted or self.lost(origin, kind) > 1.0
                won = self.gain[rank][kind]
                if won > WORTHWHILE and not depth:
                    best = max(best, won * 0.6)
                elif won > WORTHWHILE:
                    best = max(best, won + self.after_attack(origin, target, depth - 1, low - won, high - won))
            if hunted and depth:
                for target in self.free_beside(origin):
                    self.shift(mine, origin, target)
                    best = max(best, self.theirs(depth - 1, low, high))
                    self.shift(mine, target, origin)
        return best

    def lost(self, square: int, kind: int) -> float:
        """What the own piece on a square loses if this kind attacks it; what is not known is not attacked so surely."""
        return self.loss[self.mine[square]][kind] * (1.0 if self.seen[square] else self.caution)

    def free_beside(self, square: int) -> list[int]:
        return [near for near in NEIGHBOURS[square] if not self.mine[near] and not self.kind[near]]


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
    run(Tactician)
