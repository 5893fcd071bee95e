"""The legal actions in a position that is searched, and its outcome.

Each side's steps are listed once and kept until a piece of that side moves or leaves: they depend on its own pieces
alone, since an empty square and an enemy can both be entered. Scouts' moves are kept with the squares that they depend
on.
"""

from collections import Counter
from collections.abc import Iterator

from arena.stratego.rules.action_types import Action, PieceMove, Rescue
from arena.stratego.rules.board import BLUE_BIT, RANKS, RAYS, SQUARE_KEYS, STEPS, StraightMove, code_of
from arena.stratego.rules.movegen import infiltrations, may_rescue, piece_moves, rescues
from arena.stratego.rules.position import Pieces
from arena.stratego.rules.repetition import Change, ways_back
from arena.stratego.rules.ruleset import Chase, Ruleset, Starts
from arena.stratego.rules.tables import CANNOT_ATTACK, COLORS, SCOUTS, tables_of
from arena.stratego.search.chasing import NO_CHASE, ChaseState, changes_of, fled, last, since
from protocol.geometry import NEIGHBOURS
from protocol.notation import SQUARES, Color, Reason
from protocol.seats import Outcome

UNKNOWN = (BLUE_BIT - 1, 2 * BLUE_BIT - 1)
"""By side: the code of a piece of unknown rank, which blocks and may be attacked, but does not act."""

BIT = tuple(1 << square for square in range(len(SQUARES)))
NEAR = tuple(sum(BIT[neighbour] for neighbour in neighbours) for neighbours in NEIGHBOURS)
"""By square: its neighbours as a set of bits."""


def _choices(steps: tuple[tuple[int, StraightMove], ...]) -> list[tuple[StraightMove, ...]]:
    """Return every subset of a square's steps, indexed by its bits."""
    choices: list[tuple[StraightMove, ...]] = [()]
    for _, move in steps:
        choices += [(*choice, move) for choice in choices]
    return choices + [()] * (16 - len(choices))


STEPS_BY_EXITS: list[tuple[StraightMove, ...]] = [choice for steps in STEPS for choice in _choices(steps)]
"""The steps from a square, by 16 times the square plus a bit for each of its neighbours that can be entered."""

FLIPS = tuple(
    tuple(
        (neighbour, 1 << [target for target, _ in STEPS[neighbour]].index(square)) for neighbour in NEIGHBOURS[square]
    )
    for square in range(len(SQUARES))
)
"""By square: its neighbours, each with the bit of this square among their exits."""

ALL_EXITS = [16 * square + (1 << len(STEPS[square])) - 1 for square in range(len(SQUARES))]

Run = tuple[int, ...]
"""One side's run of moves by one piece: its square, the borders it may not cross next, those of its last moves."""

NO_RUN: Run = (-1, 0)

Slides = tuple[int, int, int, tuple[StraightMove, ...]]
"""A scout's moves with what they depend on: a set of squares, and the pieces of both sides on them."""

NO_SLIDES: Slides = (0, 1, 0, ())

Steps = tuple[list[StraightMove], list[int]]
"""All steps of a side except those of its scouts, and the squares of scouts that can move."""


NOT_ASKED = Outcome(None, Reason.PLY_CAP)
"""An outcome that has not been computed; compared by identity."""

EVER = 1 << 30


class Listing(Pieces):
    """A position that lists its legal actions; `arena.search.Position` plays them."""

    def _begin(self, ruleset: Ruleset, board: list[int]) -> None:
        self.ruleset = ruleset
        self.tables = tables_of(ruleset)
        self.board = board
        self.side = 1 if ruleset.starts is Starts.BLUE else 0
        self.ply = 0
        self.quiet = 0
        self.lost = (Counter(), Counter())
        self.rescued = [0, 0]
        self.rescuers = (set(), set())
        self.movers = (set(), set())
        self.told = set()
        self._occupied = [0, 0]
        for square, code in enumerate(board):
            if code:
                self._occupied[code > BLUE_BIT] |= BIT[square]
                if self.tables.can_move[code]:
                    self.movers[code > BLUE_BIT].add(square)
        self._exits = (ALL_EXITS[:], ALL_EXITS[:])
        self._exits_of = [0, 0]
        """By side: the pieces for which its exits were computed; they are updated on demand."""
        self._steps: list[Steps | None] = [None, None]
        self._slides: tuple[dict[int, Slides], dict[int, Slides]] = ({}, {})
        self._runs: list[Run] = [NO_RUN, NO_RUN]
        self._chase = None if self.tables.chasing_is_free else NO_CHASE
        self._limit = ruleset.two_squares or 0
        self._booklet = ruleset.chase is Chase.BOOKLET
        self._refused: frozenset[int] = frozenset()
        """The cached result of `ways_back` for the position with the chase in `_refused_after`."""
        self._refused_after: ChaseState | None = None
        self._other_moves = False
        self._outcome: Outcome | None = NOT_ASKED

    @property
    def to_move(self) -> Color:
        return COLORS[self.side]

    @property
    def outcome(self) -> Outcome | None:
        """The outcome of the game, or None."""
        if self._outcome is NOT_ASKED:
            self._outcome = self._find_outcome(self._can_go_on())
        return self._outcome

    # --- what may be played ---------------------------------------------------------------------------------------

    def legal_moves(self) -> list[Action]:
        """Return every legal action of the side to move, always in the same order; none when the game is over.

        Resigning is not among them, nor is a move that loses the game by itself.
        """
        outcome = self._outcome
        if outcome is None:
            return self._fresh_actions()
        if outcome is not NOT_ASKED:
            return []
        actions = self._fresh_actions()
        self._outcome = outcome = self._find_outcome(bool(actions))
        return actions if outcome is None else []

    def _fresh_actions(self) -> list[Action]:
        side = self.side
        chase = self._chase
        repeats = self._runs[side][1] or (chase is not None and (chase[1] if side else chase[0]) > 1)
        if not self.tables.plain:
            return self._all_actions(side, bool(repeats))
        moves = self._plain_moves(side)
        if repeats:
            moves = self._without_repeats(side, moves)
        return moves  # type: ignore[return-value]  # a list of moves is one of actions, as it is not shared

    def _without_repeats(self, side: int, moves: list[StraightMove]) -> list[StraightMove]:
        """Filter out moves that the rules against repetition forbid. A cheap test settles most of them."""
        running, board, theirs = self._runs[side][0], self.board, self._occupied[1 - side]
        return [
            move
            for move in moves
            if (move.origin != running and (board[move.target] or not theirs & NEAR[move.target]))
            or self._is_fresh(side, move)
        ]

    def _can_go_on(self) -> bool:
        side, chase = self.side, self._chase
        if self._runs[side][1] or (chase is not None and (chase[1] if side else chase[0]) > 1):
            return bool(self._fresh_actions())
        return self._is_mobile(side)

    def _plain_moves(self, side: int) -> list[StraightMove]:
        """Return every move of a side under a plain ruleset, without the rules against repetition."""
        steps = self._steps[side]
        if steps is None:
            steps = self._steps[side] = self._find_steps(side)
        moves = steps[0][:]
        if steps[1]:
            mine, theirs = self._occupied[side], self._occupied[1 - side]
            slides = self._slides[side]
            for origin in steps[1]:
                found = slides.get(origin, NO_SLIDES)
                watched = found[0]
                if mine & watched != found[1] or theirs & watched != found[2]:
                    found = slides[origin] = self._slide(side, origin)
                moves += found[3]
        return moves

    def _find_steps(self, side: int) -> Steps:
        exits, board, scout = self._exits[side], self.board, SCOUTS[side]
        changed = self._exits_of[side] ^ self._occupied[side]
        while changed:
            bit = changed & -changed
            for square, exit_bit in FLIPS[bit.bit_length() - 1]:
                exits[square] ^= exit_bit
            changed ^= bit
        self._exits_of[side] = self._occupied[side]
        steps: list[StraightMove] = []
        scouts: list[int] = []
        for origin in sorted(self.movers[side]):
            if board[origin] != scout:
                steps += STEPS_BY_EXITS[exits[origin]]
            elif exits[origin] & 15:
                scouts.append(origin)
        return steps, scouts

    def _slide(self, side: int, origin: int) -> Slides:
        board = self.board
        mine, theirs = self._occupied[side], self._occupied[1 - side]
        moves: list[StraightMove] = []
        watched = BIT[origin]
        for ray in RAYS[origin]:
            for target, move in ray:
                watched |= BIT[target]
                code = board[target]
                if code:
                    if (code > BLUE_BIT) != side:
                        moves.append(move)
                    break
                moves.append(move)
        return watched, mine & watched, theirs & watched, tuple(moves)

    def _all_actions(self, side: int, repeats: bool) -> list[Action]:
        actions: list[Action] = []
        arriving = []
        for move in piece_moves(self, side):
            if not repeats or self._is_fresh(side, move):
                actions.append(move)
            if self.tables.rescues and may_rescue(self, side, move):
                arriving.append(move)  # a move that repetition forbids may be legal with a piece that comes back
        if self.tables.infiltration:
            actions += infiltrations(self, side)
        if arriving:
            found = rescues(self, side, arriving)
            actions += (action for action in found if self._is_fresh_rescue(side, action)) if repeats else found
        return sorted(actions, key=_text)

    def _is_fresh(self, side: int, move: PieceMove, back: tuple[int, int] | None = None) -> bool:
        """Whether the rules against repetition allow a move, with the square and code of a piece that comes back."""
        run, chase = self._runs[side], self._chase
        if run[1] & move.borders and move.origin == run[0]:
            return False
        plies = self.judged_by(side, move)
        if not plies:
            return True
        assert chase is not None
        if self._refused_after is not chase:  # a new one is made with every action, so this is still the same position
            self._refused = ways_back(self.board, self.told, side, since(changes_of(chase)), plies)
            self._refused_after = chase
        keys = SQUARE_KEYS[self.board[move.origin]]
        change = keys[move.origin] ^ keys[move.target]
        if back:
            change ^= SQUARE_KEYS[back[1]][back[0]]
        return change not in self._refused

    def judged_by(self, side: int, move: PieceMove) -> int:
        """Return the number of plies back over which a side's move may repeat no position; 0 if it is allowed
        anyway.
        """
        chase, target = self._chase, move.target
        length = 0 if chase is None else chase[1] if side else chase[0]
        if chase is None or length < 2 or self.board[target] or not self._occupied[1 - side] & NEAR[target]:
            return 0
        if self._booklet:
            return EVER if len(fled(chase, side)) > 2 else 0
        before = last(chase, side)
        if before is not None and before.target == move.origin and before.origin == target:
            return 0
        return length - 1

    def changes(self) -> Iterator[Change]:
        """Yield the changes on the board, the latest first, as far back as a rule needs them."""
        return since(changes_of(self._chase)) if self._chase else iter(())

    def _is_fresh_rescue(self, side: int, action: Rescue) -> bool:
        return self._is_fresh(side, action.move, (action.square, code_of(COLORS[side], action.rank)))

    # --- the end --------------------------------------------------------------------------------------------------

    def _find_outcome(self, can_go_on: bool) -> Outcome | None:
        side, tables = self.side, self.tables
        stuck = not can_go_on
        other_stuck = not self._other_moves and tables.at_once and not self._is_mobile(1 - side)
        if stuck or other_stuck:
            unarmed = tables.needs_attacker and not (self._has_attacker(0) or self._has_attacker(1))
            return self._ends_for(stuck or unarmed, other_stuck or unarmed, Reason.NO_MOVE)
        if tables.needs_attacker and not (self._has_attacker(0) and self._has_attacker(1)):
            return self._ends_for(not self._has_attacker(side), not self._has_attacker(1 - side), Reason.NO_ATTACKER)
        if self.ply >= tables.max_plies:
            return Outcome(None, Reason.PLY_CAP)
        return Outcome(None, Reason.QUIET_CAP) if self.quiet >= tables.max_quiet else None

    def _ends_for(self, mover: bool, other: bool, reason: Reason) -> Outcome:
        """Return the outcome of a loss of the side to move, the other side, or both (a draw)."""
        if mover and other:
            return Outcome(None, Reason.BOTH_IMMOBILE)
        return Outcome(COLORS[1 - self.side] if mover else COLORS[self.side], reason)

    def _is_mobile(self, side: int) -> bool:
        if self.tables.plain:
            steps = self._steps[side]
            if steps:
                return bool(steps[0] or steps[1])
            mine = self._occupied[side]
            return any(NEAR[origin] & ~mine for origin in self.movers[side])
        return any(True for _ in piece_moves(self, side)) or (
            self.tables.infiltration and any(True for _ in infiltrations(self, side))
        )

    def _has_attacker(self, side: int) -> bool:
        if self.tables.plain:
            return bool(self.movers[side])
        return any(RANKS[self.board[square]] not in CANNOT_ATTACK for square in self.movers[side])


def _text(action: Action) -> str:
    return action.text
