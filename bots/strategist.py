#!/usr/bin/env python3
"""Strategist: knows what armies look like, what pieces are worth now, and how its own numbers were found.

It plays as Tactician does, with beliefs and a small search, and adds three things. Before the first move it believes
of every enemy piece what people mostly put on its row, and later that what still stands where it stood is more and
more a bomb, and that what steps away from a strong piece is weaker. A rank is worth what the other side has left above
it: where there is no enemy marshal the general takes its place, and the last miners are dear. And the numbers in the
first part below were not chosen by a person: they were tuned together, by many thousand games of the bot against
itself in which each number was changed a little at random, and all of them moved towards the side that won (SPSA:
Spall, "Multivariate stochastic approximation using a simultaneous perturbation gradient approximation", 1992).
"""

from collections import Counter
from operator import mul
from time import perf_counter

from protocol.bot import Bot, Rank, View, run
from protocol.geometry import NEIGHBOURS, action_squares, row_for
from protocol.messages import ArenaMessage, Battle, Moved, Reveal
from protocol.notation import EMPTY, SQUARE_INDEX
from protocol.view import Piece

# --- what was tuned -----------------------------------------------------------------------------------------------

VALUE = (0, 121.2, 25.4, 27.5, 2.04, 20.7, 8.02, 11.0, 12.4, 11.7, 20.6, 31.2, 58.5, 10)
"""What a piece is worth, by rank: nothing, flag, bomb, spy, scout, miner, sergeant, ... marshal, infiltrator."""
LAST_MINERS = (20.7, 39.4, 26.5, 22.9, 20.7)
"""What a miner is worth if there are so many; VALUE has the worth of one of five."""
LATE_SPY = 2.42
"""What a spy is worth when the enemy marshal is gone."""

CURIOSITY = 0.621
"""What learning a rank is worth."""
EAGER = 0.0618
"""How much this grows with each ply without a fight, for a piece that is worth nothing."""
EAGER_UP_TO = 22.2
"""What a piece is worth that does not become eager at all."""
HIDING = 0.0604
"""What share of its worth a piece gives away when its rank is seen."""
PATIENCE = 100.3
"""After so many plies without a fight the wish to stay hidden would be gone; a fifth of it stays."""

GUARD = 88.3
"""How much more it is worth to remove a piece near the own flag, before its distance is counted."""
GUARD_DECAY = 0.34
"""What is left of this with each step between it and the flag, as a share."""
DECAY = 0.759
"""How much less a target is worth with each step on the way to it."""
MOVING = 0.43
"""How much less a target is worth if it can run."""
IN_THE_WAY = 0.368
"""How much less it is worth behind an own piece."""
FIRST_MOVE = 0.321
"""The price of moving a piece that has not moved, which shows that it is no bomb."""

CAUTION = 0.862
"""How likely an enemy attacks a piece that it has not seen, beside one that it has seen."""
RELIEF = 0.799
"""What share of its danger a piece is worth that leaves it."""
AFTER_WIN = 1.43
"""How much the danger counts that a piece walks into by winning a fight."""
TRUST = 1.33
"""How much the search counts beside the score of the action by itself."""
WORTHWHILE = 0.815
"""What a capture must bring for the search to look at it."""
UNANSWERED = 0.39
"""How much a capture counts at the end of the search, where nobody looks whether it is answered."""

CAME_NEAR = 7.14
"""How much likelier a piece is to beat the known piece that it has come to."""
LET_STAND = 0.657
"""How much likelier it is to beat one that it has left alone once more."""
FLED = 0.479, 3.9
"""How much likelier a piece that stepped away from a known one is to beat it, and to lose to it."""
STANDING = 0.507
"""How much likelier a piece that stays where it was is a bomb, with every hundred plies."""

# --- what was not -------------------------------------------------------------------------------------------------

CANDIDATES = 8
"""How many actions are looked at more closely."""
DEPTH = 3
"""How many plies the search looks ahead after the action."""
NOISE = 0.1
"""What chance adds to the score of an action at most."""
BIG = 1e9
BUDGET_MS = 15.0
"""The most time for one action; less if the clock is short."""

RANKS = range(len(VALUE))
KNOWN = len(VALUE)
"""Kinds of enemy piece: numbers below this are ranks, the others stand for one piece each that is not known."""

PRIOR: dict[Rank, tuple[float, ...]] = {
    Rank.FLAG: (0.93, 0.06, 0.01, 0.01),
    Rank.BOMB: (0.40, 0.28, 0.20, 0.12),
    Rank.SPY: (0.20, 0.35, 0.35, 0.10),
    Rank.SCOUT: (0.15, 0.17, 0.25, 0.43),
    Rank.MINER: (0.45, 0.25, 0.20, 0.10),
    Rank.SERGEANT: (0.25, 0.25, 0.25, 0.25),
    Rank.LIEUTENANT: (0.12, 0.22, 0.30, 0.36),
    Rank.CAPTAIN: (0.10, 0.25, 0.30, 0.35),
    Rank.MAJOR: (0.12, 0.28, 0.32, 0.28),
    Rank.COLONEL: (0.10, 0.30, 0.35, 0.25),
    Rank.GENERAL: (0.08, 0.28, 0.34, 0.30),
    Rank.MARSHAL: (0.06, 0.24, 0.35, 0.35),
}
"""An estimate of how people spread each rank over the four rows of a set-up, the back row first."""

SETUPS = (
    "3BFB323B32/45B427B4S5/2658329627/62M546B827",
    "FB3B42323B/B43425SB35/24856297B7/62M7285626",
    "3233BFB3B4/25B4BS4B52/8572M76329/6265248672",
    "23B3B3BFB3/542B45SB42/7285M92746/2663728562",
    "3FB3243B2B/B5B24S73B5/72M8542692/6228457636",
)
"""Sound set-ups of the classic army, the back row first. No two games begin with quite the same one."""
ALIKE = ("24", "34", "35", "45", "56", "67", "78", "89", "9M")
"""Ranks that may change places in them, on the same row or the next."""
FROM_LIST = 0.7
"""How often one of them is taken rather than one made afresh."""

LIKING: dict[Rank, tuple[int, ...]] = {
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
"""How much each rank likes each row of a set-up that is made afresh, the back row first."""


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
WINS = [[float(outcome > 0) for outcome in outcomes] for outcomes in FIGHT]
BEATEN_BY = [[rank for rank in RANKS[Rank.SPY :] if FIGHT[rank][own] > 0] for own in RANKS]
BEATS = [[rank for rank in RANKS[Rank.SPY :] if FIGHT[rank][own] < 0] for own in RANKS]
"""By an own rank, the enemy ranks that win and those that lose an attack on it."""

Table = list[float]
"""A number for each rank: how likely it is, what it is worth, ..."""


def worths(own: Counter[int], other: Counter[int]) -> Table:
    """What each rank of a side is worth, by what the other side has left to beat it."""
    worth = [float(value) for value in VALUE]
    for rank in RANKS[Rank.SERGEANT : Rank.INFILTRATOR]:
        above = sum(1 for stronger in range(rank + 1, Rank.INFILTRATOR) if other[stronger] > 0)
        worth[rank] = VALUE[max(rank, Rank.MARSHAL - above)]
    if not other[Rank.MARSHAL]:
        worth[Rank.SPY] = LATE_SPY
    if own[Rank.MINER] < len(LAST_MINERS):
        worth[Rank.MINER] = LAST_MINERS[own[Rank.MINER]]
    return worth


class Strategist(Bot):
    """Keeps beliefs between its turns; the rest is worked out afresh for each action."""

    name = "strategist 1.0"

    def __init__(self) -> None:
        super().__init__()
        self.exposed: set[Piece] = set()
        """The own pieces whose rank the opponent has seen."""
        self.beliefs: dict[Piece, Table] = {}
        """Per enemy piece, a weight for each rank."""
        self.bomb_at_first: dict[Piece, float] = {}
        self.quiet_since = 0

    def setup(self, view: View) -> str:
        return own_setup(view)

    def event(self, view: View, message: ArenaMessage) -> None:
        if isinstance(message, Battle):
            self.quiet_since = len(view.actions)
        if isinstance(message, Battle | Reveal):
            piece = view.board[SQUARE_INDEX[message.square]]
            if piece:
                self.exposed.add(piece)
        elif isinstance(message, Moved) and message.color is view.enemy:
            squares = action_squares(message.action)
            if squares:
                self.believe_in_rows(view)
                self.watch_flight(view, *squares)
                self.watch_nearness(view, squares[1])

    def believe_in_rows(self, view: View) -> None:
        """What a piece may be by the row on which it was set up."""
        for square, piece in view.pieces(view.enemy):
            if piece not in self.beliefs:
                row = min(3, row_for(view.enemy, square))
                self.beliefs[piece] = [4 * PRIOR[Rank(rank)][row] if 0 < rank < 13 else 1.0 for rank in RANKS]
                self.bomb_at_first[piece] = self.beliefs[piece][Rank.BOMB]

    def watch_flight(self, view: View, origin: int, target: int) -> None:
        """What steps away from a piece that it has seen mostly fears it."""
        actor = view.board[target]
        if not actor or actor.color is view.color or actor.rank:
            return
        belief = self.beliefs[actor]
        for square in NEIGHBOURS[origin]:
            own = view.board[square]
            feared = own.rank or 0 if own and own in self.exposed else 0
            if feared > Rank.BOMB and square not in NEIGHBOURS[target]:
                for rank in BEATEN_BY[feared]:
                    belief[rank] *= FLED[0]
                for rank in BEATS[feared]:
                    belief[rank] *= FLED[1]

    def watch_nearness(self, view: View, target: int) -> None:
        """Pieces come near what they beat, and leave alone what they do not."""
        actor = view.board[target]
        for square, own in view.pieces(view.color):
            if own not in self.exposed:
                continue
            for other in (view.board[neighbour] for neighbour in NEIGHBOURS[square]):
                if other and other.color is view.enemy and not other.rank:
                    belief = self.beliefs[other]
                    for rank in BEATEN_BY[own.rank or 0]:
                        belief[rank] *= CAME_NEAR if other is actor else LET_STAND
                    most = max(belief)
                    if not 1e-10 < most < 1e10:
                        self.beliefs[other] = [weight / most for weight in belief]

    def move(self, view: View) -> str:
        deadline = perf_counter() + min(BUDGET_MS, view.own_ms / 10) / 1000
        if len(view.legal) == 1:
            return view.legal[0]
        self.believe_in_rows(view)
        position = Position(view, self.exposed, self.chances(view), len(view.actions) - self.quiet_since)
        scored = [(position.score(action) + NOISE * view.random.random(), action) for action in view.legal]
        scored.sort(reverse=True)
        best_score, best = -BIG, scored[0][1]
        for score, action in scored[:CANDIDATES]:
            if perf_counter() > deadline:
                break
            total = score + TRUST * position.prospects(action, deadline)
            if total > best_score:
                best_score, best = total, action
        return best

    def chances(self, view: View) -> dict[int, Table]:
        """For the square of each enemy piece that is not known, the chances of its ranks."""
        hidden = [(square, piece) for square, piece in view.pieces(view.enemy) if not piece.rank]
        for square, piece in hidden:
            if not piece.moved:
                belief = self.beliefs[piece]
                belief[Rank.BOMB] = self.bomb_at_first[piece] * (1 + STANDING * len(view.actions) / 100)
                belief[Rank.FLAG] = flag_weight(view, square)
        beliefs = [(square, piece.moved, self.beliefs[piece]) for square, piece in hidden]
        return fit_beliefs(beliefs, view.hidden_ranks())


def flag_weight(view: View, square: int) -> float:
    """A flag hides at the back, beside bombs and pieces that never move."""
    around = [view.board[neighbour] for neighbour in NEIGHBOURS[square]]
    walls = [other for other in around if other and other.color is view.enemy and not other.moved]
    bombs = sum(1 for wall in walls if wall.rank is Rank.BOMB)
    row = min(3, row_for(view.enemy, square))
    return (6.0, 1.0, 0.2, 0.1)[row] * (0.3 + len(walls)) / len(around) * (1 + bombs)


def fit_beliefs(hidden: list[tuple[int, bool, Table]], counts: dict[Rank, int]) -> dict[int, Table]:
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


def one_piece(row: Table) -> Table:
    """Weights scaled so that they add up to one."""
    scale = 1 / (sum(row) or 1.0)
    return [weight * scale for weight in row]


def average(odds: Table, table: Table) -> float:
    """The average of a table over the ranks that a piece may have."""
    total: float = sum(map(mul, odds, table))
    return total


class Position:
    """One position with all averages that scoring and searching need. `mine` and `kind` are changed while searching."""

    def __init__(self, view: View, exposed: set[Piece], odds: dict[int, Table], quiet: int) -> None:
        self.patience = max(0.2, 1 - quiet / PATIENCE)
        self.caution = CAUTION * self.patience
        self.quiet = quiet
        self.mine = [0] * len(view.board)
        self.kind = [0] * len(view.board)
        self.seen = [False] * len(view.board)
        self.unmoved = [False] * len(view.board)
        self.odds: list[Table] = [[float(rank == other) for other in RANKS] for rank in RANKS]
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
            # That it is not known protects neither a flag nor a spy.
            self.seen[square] = piece in exposed or piece.rank in (Rank.FLAG, Rank.SPY)
            self.unmoved[square] = not piece.moved
        self.weigh(view)
        self.fields: dict[int, list[float]] = {}
        self.guard = self.guards()
        self.fixed = [False, True, True] + [False] * (len(self.odds) - 3)
        self.deadline = 0.0
        self.zone = self.contacts()

    def weigh(self, view: View) -> None:
        """By own rank and enemy kind: what an attack brings, how likely it wins, and what an attack by them costs."""
        own = Counter(self.mine)
        enemy = Counter(kind for kind in self.kind if kind < KNOWN)
        enemy.update({int(rank): count for rank, count in view.hidden_ranks().items()})
        mine, theirs = worths(own, enemy), worths(enemy, own)
        unknown = self.odds[KNOWN:]
        self.gain: dict[int, list[float]] = {}
        self.wins: dict[int, list[float]] = {}
        self.loss: dict[int, list[float]] = {}
        for rank in own:
            payoff = [
                (worth if outcome >= 0 else 0.0) - (mine[rank] if outcome <= 0 else 0.0)
                for worth, outcome in zip(theirs, FIGHT[rank], strict=True)
            ]
            losses = [mine[rank] * (other in BEATEN_BY[rank]) for other in RANKS]
            # Learning a rank is worth something, so is hiding one, and if nothing happens the cheap must find out.
            eager = CURIOSITY + EAGER * self.quiet * max(0.0, 1 - mine[rank] / EAGER_UP_TO)
            extra = eager - HIDING * mine[rank] * self.patience
            self.gain[rank] = payoff + [average(odds, payoff) + extra for odds in unknown]
            self.wins[rank] = WINS[rank] + [average(odds, WINS[rank]) for odds in unknown]
            self.loss[rank] = losses + [average(odds, losses) for odds in unknown]

    def contacts(self) -> list[int]:
        """The squares where a fight may come up soon: those of pieces with an enemy near, and those beside them."""
        squares = set()
        for square, rank in enumerate(self.mine):
            here, there = (rank, self.kind) if rank else (self.kind[square], self.mine)
            if here and any(there[near] or any(there[far] for far in NEIGHBOURS[near]) for near in NEIGHBOURS[square]):
                squares.add(square)
                squares.update(NEIGHBOURS[square])
        return sorted(squares)

    def guards(self) -> list[float]:
        """For each square, how much more an enemy piece there is worth taking because it is near the own flag."""
        guard = [0.0] * len(self.mine)
        if Rank.FLAG in self.mine:
            row, file = divmod(self.mine.index(Rank.FLAG), 10)
            for square, kind in enumerate(self.kind):
                if kind and not self.still[kind]:
                    guard[square] = GUARD * GUARD_DECAY ** (abs(row - square // 10) + abs(file - square % 10))
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
        relief = RELIEF * self.danger(origin, rank, self.seen[origin]) - FIRST_MOVE * self.unmoved[origin]
        kind = self.kind[target]
        if kind:
            if kind < KNOWN and FIGHT[rank][kind] < 0:
                return self.gain[rank][kind]  # no relief for a piece that is thrown away
            risk = AFTER_WIN * self.wins[rank][kind] * self.danger(target, rank, True)
            return self.taking(rank, target) + relief - risk
        field = self.field(rank)
        return relief - self.danger(target, rank, self.seen[origin]) + field[target] - field[origin]

    def taking(self, rank: int, target: int) -> float:
        """What an attack brings by itself, with what it does for the own flag."""
        kind = self.kind[target]
        return self.gain[rank][kind] + self.guard[target] * self.wins[rank][kind]

    def danger(self, square: int, rank: int, seen: bool) -> float:
        """What a piece would lose on a square if the opponent attacked it there."""
        kinds = [self.kind[neighbour] for neighbour in NEIGHBOURS[square] if self.kind[neighbour]]
        return max((self.loss[rank][kind] for kind in kinds), default=0.0) * (1.0 if seen else self.caution)

    def field(self, rank: int) -> list[float]:
        """For each square, what the best target for this rank is worth from there."""
        if rank not in self.fields:
            self.fields[rank] = self.spread(rank)
        return self.fields[rank]

    def spread(self, rank: int) -> list[float]:
        field = [0.0] * len(self.mine)
        frontier = []
        for square, kind in enumerate(self.kind):
            worth = self.taking(rank, square) if kind else 0.0
            if worth > 0:
                field[square] = worth * (1.0 if self.still[kind] else MOVING)
                frontier.append(square)
        while frontier:
            reached = []
            for square in frontier:
                worth = field[square] * DECAY
                for neighbour in NEIGHBOURS[square]:
                    if field[neighbour] < worth and not self.kind[neighbour]:
                        own = self.mine[neighbour]
                        there = worth * IN_THE_WAY if own else worth
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
            return self.taking(rank, target) + self.after_attack(origin, target, DEPTH, -BIG, BIG)
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
        rank, kind, seen = self.mine[origin], self.kind[target], self.seen[origin]
        self.mine[origin] = 0
        if self.wins[rank][kind] >= 0.5:
            self.mine[target], self.kind[target], self.seen[target] = rank, 0, True
        value = self.theirs(depth, low, high)
        self.mine[origin], self.mine[target], self.kind[target], self.seen[origin] = rank, 0, kind, seen
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
                    best = min(best, -lost * UNANSWERED)
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
                    best = max(best, won * UNANSWERED)
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


def own_setup(view: View) -> str:
    """Mostly one of the list or its mirror image, with many small changes."""
    letters = list(view.random.choice(SETUPS).replace("/", ""))
    army = {rank.letter: count for rank, count in view.army.items()}
    if Counter(letters) != army or view.random.random() > FROM_LIST:
        return fresh_setup(view)
    step = view.random.choice((1, -1))
    letters = [letter for start in range(0, 40, 10) for letter in letters[start : start + 10][::step]]
    for _ in range(60):
        one, other = view.random.randrange(40), view.random.randrange(40)
        pair = "".join(sorted((letters[one], letters[other])))
        if abs(one // 10 - other // 10) <= 1 and pair in ALIKE:
            letters[one], letters[other] = letters[other], letters[one]
    return rows_of(letters)


def fresh_setup(view: View) -> str:
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
                return LIKING.get(rank, (0, 0, 0, 0))[row] + guard + 3 * view.random.random()

            chosen = max(free, key=liking)
            squares[chosen] = rank.letter
            if rank is Rank.FLAG:
                flag = chosen
    return rows_of([letter or EMPTY for letter in squares])


def rows_of(letters: list[str]) -> str:
    return "/".join("".join(letters[start : start + 10]) for start in range(0, 40, 10))


if __name__ == "__main__":
    run(Strategist)
