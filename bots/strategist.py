#!/usr/bin/env python3
"""Strategist: knows what armies look like, what pieces are worth now, and how its own numbers were found.

It plays as Tactician does, with beliefs and a small search, and adds three things. What it believes was learned: which
ranks stand on a row, which are sent out first, what it says that a piece comes near, stays or steps away, are numbers
fitted to the true ranks in stored games of many bots (a logistic regression). A rank is worth what the other side has
left above it: where there is no enemy marshal the general takes its place, and the last miners are dear. And what
things are worth was not chosen by a person either: those numbers, the first part below, were tuned together, by many
thousand games of the bot against itself in which each was changed a little at random, and all of them moved towards
the side that won (SPSA: Spall, "Multivariate stochastic approximation using a simultaneous perturbation gradient
approximation", 1992).
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

VALUE = (0, 96.8, 27.3, 37.9, 1.49, 22.8, 5.68, 9.82, 10.4, 10.9, 17.4, 31.3, 89.4, 10)
"""What a piece is worth, by rank: nothing, flag, bomb, spy, scout, miner, sergeant, ... marshal, infiltrator."""
LAST_MINERS = (22.8, 50.6, 25.9, 23.4, 16.1)  # what a miner is worth if there are so many; VALUE has one of five
LATE_SPY = 2.65  # what a spy is worth when the enemy marshal is gone

CURIOSITY = 0.769  # what learning a rank is worth
EAGER = 0.0544  # how much this grows with each ply without a fight, for a piece that is worth nothing
EAGER_UP_TO = 21.0  # what a piece is worth that does not become eager at all
HIDING = 0.0466  # what share of its worth a piece gives away when its rank is seen
PATIENCE = 183  # after so many plies without a fight the wish to hide would be gone; a fifth of it stays
CAUTION = 0.85  # how likely an enemy attacks a piece that it has not seen
EXPOSED = 1.35  # how much the danger counts of a piece that it has seen: others come for it, too

GUARD = 67.8  # how much more it is worth to remove a piece near the own flag, before its distance is counted
GUARD_DECAY = 0.407  # what is left of this with each step between it and the flag, as a share
DECAY = 0.733  # how much less a target is worth with each step on the way to it
MOVING = 0.277  # how much less it is worth if it can run
IN_THE_WAY = 0.4  # how much less it is worth behind an own piece

FIRST_MOVE = 0.275  # the price of moving a piece that has not moved, which shows that it is no bomb
RELIEF = 0.859  # what share of its danger a piece is worth that leaves it
AFTER_WIN = 2.3  # how much the danger counts that a piece walks into by winning a fight
TRUST = 1.76  # how much the search counts beside the score of the action by itself
WORTHWHILE = 1.0, 0.948  # what a capture by them or by us must bring for the search to look at it
UNANSWERED = 0.8  # how much a capture counts at the end of the search, where nobody looks whether it is answered

# --- what was fitted to games -------------------------------------------------------------------------------------

STOOD: dict[Rank, tuple[float, ...]] = {
    Rank.FLAG: (0.79, 0.05, 0.01, 0.01),
    Rank.BOMB: (0.53, 0.33, 0.16, 0.09),
    Rank.SPY: (0.11, 0.76, 0.17, 0.08),
    Rank.SCOUT: (0.29, 0.25, 0.33, 0.47),
    Rank.MINER: (0.83, 0.14, 0.11, 0.09),
    Rank.SERGEANT: (0.20, 0.51, 0.24, 0.23),
    Rank.LIEUTENANT: (0.07, 0.33, 0.41, 0.41),
    Rank.CAPTAIN: (0.05, 0.18, 0.40, 0.55),
    Rank.MAJOR: (0.07, 0.36, 0.41, 0.27),
    Rank.COLONEL: (0.10, 0.22, 0.38, 0.37),
    Rank.GENERAL: (0.15, 0.16, 0.50, 0.22),
    Rank.MARSHAL: (0.11, 0.13, 0.35, 0.37),
    Rank.INFILTRATOR: (0.25, 0.25, 0.25, 0.25),
}
"""How likely a rank stands on each row of a set-up, the back row first, beside other ranks on that row."""
STARTS = (1, 1, 1, 0.89, 0.51, 0.72, 0.71, 1.1, 1.6, 1.5, 1.5, 1.5, 1.8, 1)
"""How often a piece of a rank moves for the first time, beside others."""
FLAG_ROWS = (5.0, 0.24, 0.06, 0.06)
"""The weight of a flag on each row, of a piece that has not moved."""
FLAG_BY_BOMB, FLAG_BY_OTHER = (
    2.7,
    0.35,
)  # how much likelier a flag is for each bomb, or none, seen beside its first place
BOMB_BY_BOMB, BOMB_BY_OTHER = 0.44, 1.34  # the same for a bomb
CAME_NEAR = 0.62, -1.09
"""What it says of a piece that it has come to stand beside a known one, n times: its odds are multiplied by n + 1 to
the first power for ranks that beat that piece, to the second for ranks that lose to it;"""
LET_STAND = -0.36, -0.09  # the same, that it stood there and has not attacked;
FLED = -0.74, 0.69  # and that it has stepped away.

# --- what was not -------------------------------------------------------------------------------------------------

CANDIDATES = 8  # how many actions are looked at more closely
DEPTH = 3  # how many plies the search looks ahead after the action
NOISE = 0.1  # what chance adds to the score of an action at most
BUDGET_MS = 15.0  # the most time for one action; less if the clock is short
BIG = 1e9

LIKES: dict[Rank, tuple[int, ...]] = {
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
    Rank.INFILTRATOR: (0, 0, 0, 0),
}
"""How much a rank likes each row of an own set-up that is made afresh, the back row first."""
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
FROM_LIST = 0.7  # how often one of them is taken rather than one made afresh

# --- fights -------------------------------------------------------------------------------------------------------

RANKS = range(len(VALUE))
KNOWN = len(VALUE)
"""Kinds of enemy piece: numbers below this are ranks, the others stand for one piece each that is not known."""
FLAG, BOMB = int(Rank.FLAG), int(Rank.BOMB)
"""The ranks that do not move, and the lowest: whatever is above them attacks."""

Table = list[float]
"""A number for each rank: how likely it is, what it is worth, ..."""


def fight(attacker: int, defender: int) -> int:
    """1 if the attacker wins, 0 if both leave, -1 if it loses."""
    if defender == BOMB:
        return 1 if attacker == Rank.MINER else -1
    if defender == FLAG or (attacker, defender) == (Rank.SPY, Rank.MARSHAL):
        return 1
    attacker, defender = (Rank.SPY if rank == Rank.INFILTRATOR else rank for rank in (attacker, defender))
    return (attacker > defender) - (attacker < defender)


FIGHT = [[fight(attacker, defender) for defender in RANKS] for attacker in RANKS]
WINS = [[float(outcome > 0) for outcome in outcomes] for outcomes in FIGHT]
BEATEN_BY = [[rank for rank in RANKS[Rank.SPY :] if FIGHT[rank][own] > 0] for own in RANKS]
BEATS = [[rank for rank in RANKS[Rank.SPY :] if FIGHT[rank][own] < 0] for own in RANKS]
"""By an own rank, the enemy ranks that win and those that lose an attack on it."""


def worths(own: Counter[int], other: Counter[int]) -> Table:
    """What each rank of a side is worth, by what the other side has left to beat it."""
    worth: Table = list(VALUE)
    for rank in RANKS[Rank.SERGEANT : Rank.INFILTRATOR]:
        above = sum(other[stronger] > 0 for stronger in RANKS[rank + 1 : Rank.INFILTRATOR])
        worth[rank] = VALUE[max(rank, Rank.MARSHAL - above)]
    if not other[Rank.MARSHAL]:
        worth[Rank.SPY] = LATE_SPY
    if own[Rank.MINER] < len(LAST_MINERS):
        worth[Rank.MINER] = LAST_MINERS[own[Rank.MINER]]
    return worth


def average(odds: Table, table: Table) -> float:
    """The average of a table over the ranks that a piece may have."""
    total: float = sum(map(mul, odds, table))
    return total


def steps(one: int, other: int) -> int:
    """How far it is from one square to another."""
    return abs(one // 10 - other // 10) + abs(one % 10 - other % 10)


# --- beliefs ------------------------------------------------------------------------------------------------------


class Strategist(Bot):
    """Keeps beliefs between its turns; the rest is worked out afresh for each action."""

    name = "strategist 1.4"

    def __init__(self) -> None:
        super().__init__()
        self.exposed: set[Piece] = set()
        """The pieces whose rank a fight or a rule has shown."""
        self.beliefs: dict[Piece, Table] = {}
        """Per enemy piece, a weight for each rank."""
        self.bomb_at_first: dict[Piece, float] = {}
        self.signs: Counter[tuple[Piece, tuple[float, float]]] = Counter()
        """How often each piece has done what is a sign of its rank."""
        self.homes: dict[int, Piece] = {}
        """Where each enemy piece stood at first."""
        self.started: set[Piece] = set()
        """Those that have moved."""
        self.quiet_since = 0

    def setup(self, view: View) -> str:
        letters = listed_setup(view) or fresh_setup(view)
        return "/".join("".join(letters[start : start + 10]) for start in range(0, 40, 10))

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
                self.watch_start(view.board[squares[1]])
                self.watch_flight(view, *squares)
                self.watch_nearness(view, squares[1])

    def believe_in_rows(self, view: View) -> None:
        """What a piece may be by the row on which it was set up."""
        for square, piece in view.pieces(view.enemy):
            if piece not in self.beliefs:
                row = min(3, row_for(view.enemy, square))
                self.homes[square] = piece
                self.beliefs[piece] = [1.0, *(4 * STOOD[rank][row] for rank in Rank)]
                self.bomb_at_first[piece] = self.beliefs[piece][BOMB]

    def watch_start(self, actor: Piece | None) -> None:
        """Some ranks are sent out before others."""
        if actor in self.beliefs and actor not in self.started:
            self.started.add(actor)
            self.beliefs[actor] = list(map(mul, self.beliefs[actor], STARTS))

    def watch_flight(self, view: View, origin: int, target: int) -> None:
        """What steps away from a piece that it has seen mostly fears it."""
        actor = view.board[target]
        if not actor or actor.color is view.color or actor.rank:
            return
        for square in NEIGHBOURS[origin]:
            left = view.board[square]
            if left not in self.exposed or left.color is view.enemy or square in NEIGHBOURS[target]:
                continue
            if left.rank and left.rank > BOMB:
                self.note_sign(actor, left.rank, FLED)

    def watch_nearness(self, view: View, target: int) -> None:
        """Pieces come near what they beat, and leave alone what they do not."""
        actor = view.board[target]
        for square, own in view.pieces(view.color):
            for other in (view.board[near] for near in NEIGHBOURS[square] if own in self.exposed):
                if other and other.color is view.enemy and not other.rank:
                    self.note_sign(other, own.rank or 0, CAME_NEAR if other is actor else LET_STAND)

    def note_sign(self, piece: Piece, own: int, sign: tuple[float, float]) -> None:
        """A piece has done what is a sign of its rank: each time that says less, after n times (n + 1) to a power."""
        self.signs[piece, sign] += 1
        times = self.signs[piece, sign]
        belief, more = self.beliefs[piece], (times + 1) / times
        for ranks, power in zip((BEATEN_BY[own], BEATS[own]), sign, strict=True):
            for rank in ranks:
                belief[rank] *= more**power

    def move(self, view: View) -> str:
        deadline = perf_counter() + min(BUDGET_MS, view.own_ms / 10) / 1000
        if len(view.legal) == 1:
            return view.legal[0]
        position = Position(view, self.exposed, self.chances(view), len(view.actions) - self.quiet_since, deadline)
        ends = {action: squares for action in view.legal if (squares := action_squares(action))}
        scored = [(position.score(*ends[action]) + NOISE * view.random.random(), action) for action in ends]
        scored.sort(reverse=True)
        best_score, best = -BIG, scored[0][1]
        for score, action in scored[:CANDIDATES]:
            if perf_counter() > deadline:
                break
            total = score + TRUST * position.prospects(*ends[action])
            if total > best_score:
                best_score, best = total, action
        return best

    def flag_weight(self, view: View, square: int) -> float:
        """A flag hides at the back, among bombs: what stood beside it at first counts, whatever has become of that."""
        return FLAG_ROWS[min(3, row_for(view.enemy, square))] * self.beside_home(square, FLAG_BY_BOMB, FLAG_BY_OTHER)

    def beside_home(self, square: int, bomb: float, other_piece: float) -> float:
        """By how much each bomb, and each piece that is none, that turned out to stand there at first changes odds."""
        weight = 1.0
        for other in (self.homes[near] for near in NEIGHBOURS[square] if near in self.homes):
            if other.rank or other.moved:
                weight *= bomb if other.rank is Rank.BOMB else other_piece
        return weight

    def chances(self, view: View) -> dict[int, Table]:
        """For the square of each enemy piece that is not known, the chances of its ranks.

        Each piece has some rank, and of each rank there are as many as are still hidden. Both cannot be had at once, so
        the weights are scaled to the one and to the other by turns.
        """
        self.believe_in_rows(view)
        counts = view.hidden_ranks()
        left = [0.0, *(float(counts.get(rank, 0)) for rank in Rank)]
        left_moved = [0.0 if rank <= BOMB else count for rank, count in enumerate(left)]
        squares, rows = [], []
        for square, piece in view.pieces(view.enemy):
            if not piece.rank:
                belief = self.beliefs[piece]
                if not piece.moved:
                    belief[BOMB] = self.bomb_at_first[piece] * self.beside_home(square, BOMB_BY_BOMB, BOMB_BY_OTHER)
                    belief[FLAG] = self.flag_weight(view, square)
                squares.append(square)
                rows.append(list(map(mul, belief, left_moved if piece.moved else left)))
        for _ in range(3):
            rows = [scaled(row) for row in rows]
            scales = [
                count / (sum(column) or 1.0) for count, column in zip(left, zip(*rows, strict=True), strict=False)
            ]
            rows = [list(map(mul, row, scales)) for row in rows]
        return {square: scaled(row) for square, row in zip(squares, rows, strict=True)}


def scaled(row: Table) -> Table:
    """Weights so that they add up to one."""
    scale = 1 / (sum(row) or 1.0)
    return [weight * scale for weight in row]


# --- one action by itself -----------------------------------------------------------------------------------------


class Position:
    """One position with all averages that scoring and searching need. `mine` and `kind` are changed while searching."""

    def __init__(self, view: View, exposed: set[Piece], odds: dict[int, Table], quiet: int, deadline: float) -> None:
        self.deadline = deadline
        self.patience = max(0.2, 1 - quiet / PATIENCE)
        self.caution = CAUTION * self.patience
        self.mine, self.kind = [0] * len(view.board), [0] * len(view.board)
        self.exposure, self.unmoved = [0.0] * len(view.board), [False] * len(view.board)
        self.still = [0 < rank <= BOMB for rank in RANKS]
        unknown: list[Table] = []
        for square, piece in view.pieces(view.enemy):
            self.kind[square] = piece.rank or KNOWN + len(unknown)
            if not piece.rank:
                unknown.append(odds[square])
                self.still.append(not piece.moved)
        for square, piece in view.pieces(view.color):
            self.mine[square] = int(piece.rank or 0)
            # That it is not known protects neither a flag nor a spy.
            hidden = 1.0 if piece.rank in (Rank.FLAG, Rank.SPY) else self.caution
            self.exposure[square] = EXPOSED if piece in exposed else hidden
            self.unmoved[square] = not piece.moved
        self.weigh(view.hidden_ranks(), unknown, quiet)
        self.fields: dict[int, list[float]] = {}
        self.guard = self.guards()
        self.zone = self.contacts()

    def weigh(self, hidden: dict[Rank, int], unknown: list[Table], quiet: int) -> None:
        """By own rank and enemy kind: what an attack brings, how likely it wins, and what an attack by them costs."""
        own = Counter(self.mine)
        enemy = Counter(kind for kind in self.kind if kind < KNOWN) + Counter({int(r): n for r, n in hidden.items()})
        mine, theirs = worths(own, enemy), worths(enemy, own)
        self.gain: dict[int, Table] = {}
        self.wins: dict[int, Table] = {}
        self.loss: dict[int, Table] = {}
        for rank in own:
            payoff = [
                (worth if outcome >= 0 else 0.0) - (mine[rank] if outcome <= 0 else 0.0)
                for worth, outcome in zip(theirs, FIGHT[rank], strict=True)
            ]
            losses = [mine[rank] * (other in BEATEN_BY[rank]) for other in RANKS]
            # Learning a rank is worth something, so is hiding one, and if nothing happens the cheap must find out.
            eager = CURIOSITY + EAGER * quiet * max(0.0, 1 - mine[rank] / EAGER_UP_TO)
            extra = eager - HIDING * mine[rank] * self.patience
            self.gain[rank] = payoff + [average(odds, payoff) + extra for odds in unknown]
            self.wins[rank] = WINS[rank] + [average(odds, WINS[rank]) for odds in unknown]
            self.loss[rank] = losses + [average(odds, losses) for odds in unknown]

    def guards(self) -> list[float]:
        """For each square, how much more an enemy piece there is worth taking because it is near the own flag."""
        if FLAG not in self.mine:
            return [0.0] * len(self.mine)
        home = self.mine.index(FLAG)
        return [
            GUARD * GUARD_DECAY ** steps(square, home) if kind and not self.still[kind] else 0.0
            for square, kind in enumerate(self.kind)
        ]

    def score(self, origin: int, target: int) -> float:
        """What an action does by itself, before anything that the opponent may answer."""
        rank, kind, exposure = self.mine[origin], self.kind[target], self.exposure[origin]
        relief = RELIEF * self.danger(origin, rank, exposure) - FIRST_MOVE * self.unmoved[origin]
        if not kind:
            return relief - self.danger(target, rank, exposure) + self.field(rank)[target] - self.field(rank)[origin]
        if kind < KNOWN and FIGHT[rank][kind] < 0:
            return self.gain[rank][kind]  # no relief for a piece that is thrown away
        danger = self.danger(target, rank, EXPOSED)
        return self.taking(rank, target) + relief - AFTER_WIN * self.wins[rank][kind] * danger

    def taking(self, rank: int, target: int) -> float:
        """What an attack brings by itself, with what it does for the own flag."""
        kind = self.kind[target]
        return self.gain[rank][kind] + self.guard[target] * self.wins[rank][kind]

    def danger(self, square: int, rank: int, exposure: float) -> float:
        """What a piece would lose on a square if the opponent attacked it there, by how likely that is."""
        kinds = [self.kind[near] for near in NEIGHBOURS[square] if self.kind[near]]
        return max((self.loss[rank][kind] for kind in kinds), default=0.0) * exposure

    def field(self, rank: int) -> list[float]:
        """For each square, what the best target for this rank is worth from there."""
        if rank in self.fields:
            return self.fields[rank]
        field = self.fields[rank] = [0.0] * len(self.mine)
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
                for near in NEIGHBOURS[square]:
                    own = self.mine[near]
                    there = worth * IN_THE_WAY if own else worth
                    if field[near] < there and not self.kind[near] and own not in (FLAG, BOMB):
                        field[near] = there
                        reached.append(near)
            frontier = reached
        return field

    # --- the search -----------------------------------------------------------------------------------------------

    def contacts(self) -> list[int]:
        """The squares where a fight may come up soon: those of pieces with an enemy near, and those beside them."""
        squares = set()
        for square, rank in enumerate(self.mine):
            here, there = (rank, self.kind) if rank else (self.kind[square], self.mine)
            if here and any(there[near] or any(there[far] for far in NEIGHBOURS[near]) for near in NEIGHBOURS[square]):
                squares.add(square)
                squares.update(NEIGHBOURS[square])
        return sorted(squares)

    def prospects(self, origin: int, target: int) -> float:
        """What an action brings after the best play of both sides where they touch."""
        rank = self.mine[origin]
        field = self.field(rank)
        first = self.taking(rank, target) if self.kind[target] else field[target] - field[origin]
        return first + self.after(origin, target, DEPTH, -BIG, BIG)

    def most(self, ours: bool, depth: int, low: float, high: float) -> float:
        """The most that a side can get: it takes a piece, saves one, or does something elsewhere.

        An alpha-beta search: what is below `low` or above `high` decides nothing. At depth 0 nobody looks whether the
        taker is taken in turn, so a capture counts for less.
        """
        best = -self.most(not ours, depth - 1, -high, -low) if depth else 0.0
        movers, others = (self.mine, self.kind) if ours else (self.kind, self.mine)
        for origin in self.zone:
            if movers[origin] <= BOMB:
                continue
            if best >= high or perf_counter() > self.deadline:
                break
            hunted = False
            for target in NEIGHBOURS[origin]:
                if others[target]:
                    hunted = hunted or self.capture(not ours, target, origin) > WORTHWHILE[not ours]
                    won = self.capture(ours, origin, target)
                    if won > WORTHWHILE[ours] and not depth:
                        best = max(best, won * UNANSWERED)
                    elif won > WORTHWHILE[ours]:
                        best = max(best, won + self.after(origin, target, depth - 1, low - won, high - won))
            if hunted and depth:
                for target in NEIGHBOURS[origin]:
                    if not movers[target] and not others[target]:
                        best = max(best, self.after(origin, target, depth - 1, low, high))
        return best

    def capture(self, ours: bool, origin: int, target: int) -> float:
        """What an attack brings a side by itself; what is not known is not attacked so surely."""
        if ours:
            return self.gain[self.mine[origin]][self.kind[target]]
        return self.loss[self.mine[target]][self.kind[origin]] * self.exposure[target]

    def after(self, origin: int, target: int, depth: int, low: float, high: float) -> float:
        """What the side with a piece on `origin` gets after moving it, if a fight goes as is to be expected."""
        mine, kinds, exposure = self.mine, self.kind, self.exposure
        rank, kind = mine[origin], kinds[target]
        before = rank, mine[target], kinds[origin], kind, exposure[origin], exposure[target]
        if not rank:
            mine[target], kinds[origin], kinds[target] = 0, 0, kinds[origin]
        elif self.wins[rank][kind] >= 0.5:
            mine[origin], mine[target], kinds[target] = 0, rank, 0
            exposure[target] = EXPOSED if kind else exposure[origin]
        else:
            mine[origin] = 0
        value = -self.most(not rank, depth, -high, -low)
        mine[origin], mine[target], kinds[origin], kinds[target], exposure[origin], exposure[target] = before
        return value


# --- set-ups ------------------------------------------------------------------------------------------------------


def listed_setup(view: View) -> list[str]:
    """Mostly one of the list or its mirror image, with many small changes; else, or for another army, nothing."""
    letters = list(view.random.choice(SETUPS).replace("/", ""))
    if Counter(letters) != {rank.letter: count for rank, count in view.army.items()}:
        return []
    if view.random.random() > FROM_LIST:
        return []
    step = view.random.choice((1, -1))
    letters = [letter for start in range(0, 40, 10) for letter in letters[start : start + 10][::step]]
    for _ in range(60):
        one, other = view.random.randrange(40), view.random.randrange(40)
        pair = "".join(sorted((letters[one], letters[other])))
        if abs(one // 10 - other // 10) <= 1 and pair in ALIKE:
            letters[one], letters[other] = letters[other], letters[one]
    return letters


def fresh_setup(view: View) -> list[str]:
    """The flag at the back, bombs around it, then rank by rank on the rows each likes, with some chance."""
    letters = [EMPTY] * 40
    for rank in sorted(view.army):
        for _ in range(view.army[rank]):
            likings = {
                square: LIKES[rank][square // 10]
                + (6 if rank is Rank.BOMB and steps(square, letters.index(Rank.FLAG.letter)) == 1 else 0)
                + 3 * view.random.random()
                for square, letter in enumerate(letters)
                if letter == EMPTY
            }
            letters[max(likings, key=likings.__getitem__)] = rank.letter
    return letters


if __name__ == "__main__":
    run(Strategist)
