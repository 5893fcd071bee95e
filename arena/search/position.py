"""A position to search in: legal actions, play, undo, copies and a key, none of which cost more in a long game.

It is held to the engine's `Game` in lockstep, under every ruleset, by its tests. What differs is how it is kept:

- what repetition depends on are values that are never changed, so that `undo` puts the old ones back;
- each side's steps are listed once and kept until a piece of that side moves or leaves, because which steps there are
  depends on the own pieces alone: an empty square and an enemy can both be entered. In a tree, where the other side
  moves in between, they are seldom listed anew. Scouts' moves are kept with the squares that they depend on.
- whether the game is over is worked out when it is asked for.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, Self

from arena.rules.actions import Action, Infiltration, Path, PieceMove, Rescue, parse_action
from arena.rules.board import BACK_ROWS, BLUE_BIT, EMPTY, RANKS, RAYS, SQUARE_KEYS, STEPS, Move, code_of
from arena.rules.events import Outcome
from arena.rules.movegen import infiltrations, may_rescue, piece_moves, rescues
from arena.rules.position import Pieces
from arena.rules.repetition import ways_back
from arena.rules.ruleset import Chase, Ruleset, Starts
from arena.rules.setup import check_setup, place
from arena.rules.tables import CANNOT_ATTACK, COLORS, SCOUTS, tables_of
from arena.search.chasing import ChaseState, attacked, guessed, moved, placed, since
from protocol.geometry import NEIGHBOURS
from protocol.notation import SQUARES, Color, Rank, Reason, Survivor

PIECE_MOVES = (Move, Path)
UNKNOWN = (BLUE_BIT - 1, 2 * BLUE_BIT - 1)
"""Per side, the code of a piece whose rank is not known: it stands in the way and may be attacked, and does nothing."""

NOT_ASKED = Outcome(None, Reason.PLY_CAP)
"""Stands for an outcome that has not been worked out; compared by identity."""

BIT = tuple(1 << square for square in range(len(SQUARES)))
NEAR = tuple(sum(BIT[neighbour] for neighbour in neighbours) for neighbours in NEIGHBOURS)
"""Per square, its neighbours as a set of bits."""

STEPS_BY_EXITS: list[tuple[Move, ...]] = [
    tuple(move for number, (_, move) in enumerate(STEPS[square]) if exits >> number & 1)
    for square in range(len(SQUARES))
    for exits in range(16)
]
"""The steps from a square, by 16 times the square plus a bit for each of its neighbours that can be entered."""

FLIPS = tuple(
    tuple(
        (neighbour, 1 << [target for target, _ in STEPS[neighbour]].index(square)) for neighbour in NEIGHBOURS[square]
    )
    for square in range(len(SQUARES))
)
"""Per square, its neighbours, each with the bit that this square has among their exits."""

ALL_EXITS = [16 * square + (1 << len(STEPS[square])) - 1 for square in range(len(SQUARES))]

BLUE_TO_MOVE = 0x5DEECE66D1234567
RESCUED = (0x2545F4914F6CDD1D, 0x369DEA0F31A53F85)

Run = tuple[int, ...]
"""One side's run of moves by one piece: its square, the borders it may not cross next, those of its last moves."""

NO_RUN: Run = (-1, 0)

Slides = tuple[int, int, int, tuple[Move, ...]]
"""A scout's moves with what they depend on: a set of squares, and which pieces of both sides stand on them."""

NO_SLIDES: Slides = (0, 1, 0, ())


class Before(NamedTuple):
    """What a rare action has changed and cannot be worked out from the action."""

    squares: list[tuple[int, int]]
    lost: list[tuple[int, Rank, int]]
    quiet: int
    occupied: list[int]
    steps: list["Steps | None"]
    told: set[int]
    rescued: list[int]
    rescuers: tuple[set[int], set[int]]


Steps = tuple[list[Action], list[int]]
"""All steps of a side but those of its scouts, and where its scouts stand that can move."""

Undone = tuple[Action, Before | None, Run, ChaseState | None, Steps | None, int, int, int, Outcome | None, bool]
"""An action and what was before it: the run, the chase, the steps, the key, the squares of the side, what becomes of
the piece's mark of being told (0 nothing, 1 it moved along, 2 it is new), the outcome, whether the other side moves."""


class Position(Pieces):
    """A position under one ruleset, between two set-ups of its army, in which actions can be played and taken back.

    `Knowledge.position` makes one in the middle of a game. `board` has a code for each square (0 is empty; see
    `rank_at`), `to_move` the side to move, `ply` the number of actions so far, `quiet` those since the last attack,
    `lost` what each side has lost. Treat them as read-only.
    Raises `IllegalSetupError` if a set-up is not one under the ruleset.
    """

    def __init__(self, ruleset: Ruleset, red: Sequence[str], blue: Sequence[str]) -> None:
        board = [EMPTY] * len(SQUARES)
        for color, rows in zip(COLORS, (red, blue), strict=True):
            check_setup(ruleset, rows)
            place(board, color, rows)
        self._begin(ruleset, board)

    def _begin(self, ruleset: Ruleset, board: list[int]) -> None:
        """Begin a game with these pieces."""
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
        self._key = 0
        for square, code in enumerate(board):
            if code:
                self._occupied[code > BLUE_BIT] |= BIT[square]
                self._key ^= SQUARE_KEYS[code][square]
                if self.tables.can_move[code]:
                    self.movers[code > BLUE_BIT].add(square)
        self._exits = (ALL_EXITS[:], ALL_EXITS[:])
        self._exits_of = [0, 0]
        """Per side, which pieces its exits are those of: they are brought up to date when they are needed."""
        self._steps: list[Steps | None] = [None, None]
        self._slides: tuple[dict[int, Slides], dict[int, Slides]] = ({}, {})
        self._runs: list[Run] = [NO_RUN, NO_RUN]
        self._chase = None if self.tables.chasing_is_free else ChaseState()
        self._other_moves = False
        self._outcome: Outcome | None = NOT_ASKED
        self._undo: list[Undone] = []

    def copy(self) -> Self:
        """An independent copy, in which nothing can be undone that was played before."""
        other = object.__new__(type(self))
        other.ruleset, other.tables, other.side = self.ruleset, self.tables, self.side
        other.ply, other.quiet = self.ply, self.quiet
        other.board = self.board[:]
        other.lost = (self.lost[0].copy(), self.lost[1].copy())
        other.rescued = self.rescued[:]
        other.rescuers = (self.rescuers[0].copy(), self.rescuers[1].copy())
        other.movers = (self.movers[0].copy(), self.movers[1].copy())
        other.told = self.told.copy()
        other._occupied = self._occupied[:]
        other._key = self._key
        other._exits = (self._exits[0][:], self._exits[1][:])
        other._exits_of = self._exits_of[:]
        other._steps = self._steps[:]
        other._slides = (self._slides[0].copy(), self._slides[1].copy())
        other._runs = self._runs[:]
        other._chase = self._chase
        other._other_moves = self._other_moves
        other._outcome = self._outcome
        other._undo = []
        return other

    @classmethod
    def of_board(cls, ruleset: Ruleset, board: list[int]) -> Self:
        """A position at the beginning of a game with these pieces, some of which may be `UNKNOWN`."""
        position = object.__new__(cls)
        position._begin(ruleset, board)
        return position

    def filled(self, squares: Sequence[int], ranks: Sequence[Rank]) -> Self:
        """A copy in which the pieces on these squares have these ranks, of which `UNKNOWN` ones had none so far."""
        other = self.copy()
        board, key, can_move = other.board, other._key, self.tables.can_move
        for square, rank in zip(squares, ranks, strict=True):
            side = board[square] > BLUE_BIT
            code = board[square] = rank + BLUE_BIT if side else rank + 0
            key ^= SQUARE_KEYS[code][square]
            if can_move[code]:
                other.movers[side].add(square)
        other._key = key
        other._steps = [None, None]
        other._outcome = NOT_ASKED
        return other

    def identify(self, square: int, rank: Rank) -> None:
        """The piece on a square, `UNKNOWN` so far, has this rank. What was played before cannot be undone any more."""
        side = self.board[square] > BLUE_BIT
        code = self.board[square] = code_of(COLORS[side], rank)
        self._key ^= SQUARE_KEYS[code][square]
        if self.tables.can_move[code]:
            self.movers[side].add(square)
        self._steps[side] = None
        self._outcome = NOT_ASKED
        self.forget()

    def forget(self) -> None:
        """What was played so far cannot be undone any more, and takes up no more memory."""
        self._undo.clear()

    # --- what can be asked ----------------------------------------------------------------------------------------

    @property
    def to_move(self) -> Color:
        """The side to move."""
        return COLORS[self.side]

    @property
    def key(self) -> int:
        """A number for the pieces on their squares, the side to move and the rescues used: for transposition tables.

        Two positions that differ in these have the same key with a chance of 2^-60 (Zobrist 1970). What repetition, the
        caps and what has been told add to a position is not in it.
        """
        return self._key ^ BLUE_TO_MOVE if self.side else self._key

    @property
    def outcome(self) -> Outcome | None:
        """How the game has ended, None while it goes on."""
        if self._outcome is NOT_ASKED:
            self._outcome = self._find_outcome(bool(self._fresh_actions()))
        return self._outcome

    def rank_at(self, square: int) -> Rank | None:
        """The rank of the piece on a square, None if there is none."""
        return RANKS.get(self.board[square])

    def color_at(self, square: int) -> Color | None:
        """The side of the piece on a square, None if there is none."""
        code = self.board[square]
        return COLORS[code > BLUE_BIT] if code else None

    def action(self, text: str) -> Action:
        """The action that is written so, such as `a4-a5`. Raises ValueError if it is none."""
        return parse_action(text)

    # --- what may be played ---------------------------------------------------------------------------------------

    def legal_moves(self) -> list[Action]:
        """Every legal action of the side to move, always in the same order; none when the game is over.

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
        """The actions of the side to move that the rules on repetition let pass, whether or not the game is over."""
        side = self.side
        chase = self._chase
        repeats = self._runs[side][1] or (chase is not None and chase.lengths[side] > 1)
        if not self.tables.plain:
            return self._all_actions(side, bool(repeats))
        moves = self._plain_moves(side)
        return [move for move in moves if isinstance(move, Move) and self._is_fresh(side, move)] if repeats else moves

    def _plain_moves(self, side: int) -> list[Action]:
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
        steps: list[Action] = []
        scouts: list[int] = []
        for origin in sorted(self.movers[side]):
            if board[origin] != scout:
                steps += STEPS_BY_EXITS[exits[origin]]
            elif exits[origin] & 15:
                scouts.append(origin)
        return steps, scouts

    def _slide(self, side: int, origin: int) -> Slides:
        """A scout's moves, and the squares that they go over and end at."""
        board = self.board
        mine, theirs = self._occupied[side], self._occupied[1 - side]
        moves: list[Move] = []
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
        """Legal actions under any ruleset."""
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
        """Whether the rules against repetition let a move pass, with the square and code of a piece that comes back."""
        run, chase = self._runs[side], self._chase
        if run[1] & move.borders and move.origin == run[0]:
            return False
        target = move.target
        if chase is None or chase.lengths[side] < 2 or self.board[target]:
            return True
        if not self._occupied[1 - side] & NEAR[target]:
            return True
        if self.tables.chase is Chase.BOOKLET:
            if len(chase.fled[side]) <= 2:
                return True
            wanted = None
        else:
            last = chase.last[side]
            if last is not None and last.target == move.origin and last.origin == target:
                return True
            wanted = chase.lengths[side] - 1
        keys = SQUARE_KEYS[self.board[move.origin]]
        change = keys[move.origin] ^ keys[target]
        if back:
            change ^= SQUARE_KEYS[back[1]][back[0]]
        return change not in ways_back(self.board, self.told, side, since(chase.changes), wanted)

    def _is_fresh_rescue(self, side: int, action: Rescue) -> bool:
        return self._is_fresh(side, action.move, (action.square, code_of(COLORS[side], action.rank)))

    # --- the end --------------------------------------------------------------------------------------------------

    def _find_outcome(self, can_go_on: bool) -> Outcome | None:
        """How the game has ended; `can_go_on` is whether the side to move has a legal action."""
        side, tables = self.side, self.tables
        stuck = not can_go_on
        other_stuck = not self._other_moves and tables.at_once and not self._is_mobile(1 - side)
        if stuck and tables.draws_unarmed and not (self._has_attacker(0) or self._has_attacker(1)):
            return Outcome(None, Reason.BOTH_IMMOBILE)
        if stuck or other_stuck:
            return self._ends_for(stuck, other_stuck, Reason.NO_MOVE)
        if tables.needs_attacker and not (self._has_attacker(0) and self._has_attacker(1)):
            return self._ends_for(not self._has_attacker(side), not self._has_attacker(1 - side), Reason.NO_ATTACKER)
        if self.ply >= tables.max_plies:
            return Outcome(None, Reason.PLY_CAP)
        return Outcome(None, Reason.QUIET_CAP) if self.quiet >= tables.max_quiet else None

    def _ends_for(self, mover: bool, other: bool, reason: Reason) -> Outcome:
        """The side to move, the other side, or both have lost; both is a draw."""
        if mover and other:
            return Outcome(None, Reason.BOTH_IMMOBILE)
        return Outcome(COLORS[1 - self.side] if mover else COLORS[self.side], reason)

    def _is_mobile(self, side: int) -> bool:
        """Whether a side has anything to do, whatever it did before."""
        if self.tables.plain:
            return bool(self._plain_moves(side))
        return any(True for _ in piece_moves(self, side)) or (
            self.tables.infiltration and any(True for _ in infiltrations(self, side))
        )

    def _has_attacker(self, side: int) -> bool:
        if self.tables.plain:
            return bool(self.movers[side])
        return any(RANKS[self.board[square]] not in CANNOT_ATTACK for square in self.movers[side])

    # --- playing --------------------------------------------------------------------------------------------------

    def play(self, action: Action) -> None:
        """Play an action that is known to be legal. `undo` takes it back."""
        board, tables = self.board, self.tables
        if not tables.quick or type(action) is not Move or board[action.target]:
            self._play_rare(action)
            return
        side, origin, target = self.side, action.origin, action.target
        run, chase, key, occupied = self._runs[side], self._chase, self._key, self._occupied[side]
        told, mark = self.told, 0
        if origin in told:
            told.remove(origin)
            told.add(target)
            mark = 1
        elif action.between:
            told.add(target)
            mark = 2
        self._undo.append(
            (action, None, run, chase, self._steps[side], key, occupied, mark, self._outcome, self._other_moves)
        )
        code = board[origin]
        board[target] = code
        board[origin] = EMPTY
        movers = self.movers[side]
        movers.remove(origin)
        movers.add(target)
        self._steps[side] = None
        self._occupied[side] = occupied ^ BIT[origin] ^ BIT[target]
        keys = SQUARE_KEYS[code]
        self._key = key ^ keys[origin] ^ keys[target]
        self._runs[side] = self._run_after(run, action)
        if chase is not None:
            touches = self._occupied[1 - side] & NEAR[target] != 0
            self._chase = moved(chase, side, action, touches, tables.chase is Chase.BOOKLET)
        self.ply += 1
        self.quiet += 1
        self._outcome = NOT_ASKED
        self._other_moves = True
        self.side = 1 - side

    def _run_after(self, run: Run, move: PieceMove) -> Run:
        """A side's run after one more move."""
        limit = self.ruleset.two_squares
        if not limit:
            return run
        borders = move.borders
        if move.origin != run[0]:
            return (move.target, borders if limit == 1 else 0, borders)
        crossed = (*run[2:], borders)[-limit:]
        closed = 0
        if len(crossed) == limit:
            closed = crossed[0]
            for other in crossed:
                closed &= other
        return (move.target, closed, *crossed)

    def undo(self) -> None:
        """Take the last action back. Raises IndexError if nothing was played here, or since the position was copied."""
        action, before, run, chase, steps, key, occupied, mark, outcome, other_moves = self._undo.pop()
        side = self.side = 1 - self.side
        self.ply -= 1
        self._runs[side] = run
        self._chase = chase
        self._key = key
        self._outcome = outcome
        self._other_moves = other_moves
        if before is not None:
            self._undo_rare(before)
            return
        assert type(action) is Move
        self.quiet -= 1
        self._steps[side] = steps
        self._occupied[side] = occupied
        origin, target, board = action.origin, action.target, self.board
        board[origin] = board[target]
        board[target] = EMPTY
        movers = self.movers[side]
        movers.remove(target)
        movers.add(origin)
        if mark:
            self.told.remove(target)
            if mark == 1:
                self.told.add(origin)

    # --- playing what is rare: attacks, and all that only some rulesets have --------------------------------------

    def _play_rare(self, action: Action) -> None:
        side = self.side
        before = Before(
            [],
            [],
            self.quiet,
            self._occupied[:],
            self._steps[:],
            self.told.copy(),
            self.rescued[:],
            (self.rescuers[0].copy(), self.rescuers[1].copy()) if self.tables.rescues else self.rescuers,
        )
        self._undo.append(
            (action, before, self._runs[side], self._chase, None, self._key, 0, 0, self._outcome, self._other_moves)
        )
        self._outcome = NOT_ASKED
        self._other_moves = False
        self.ply += 1
        if isinstance(action, PIECE_MOVES):
            self._other_moves = not self.board[action.target]
            self._move_piece(before, action, side)
        elif isinstance(action, Rescue):
            self._move_piece(before, action.move, side)
            self._rescue(before, action, side)
        else:
            self._infiltrate(before, action, side)
        self.side = 1 - side

    def _undo_rare(self, before: Before) -> None:
        can_move, movers = self.tables.can_move, self.movers
        for square, code in reversed(before.squares):
            now = self.board[square]
            if can_move[now]:
                movers[now > BLUE_BIT].discard(square)
            self.board[square] = code
            if can_move[code]:
                movers[code > BLUE_BIT].add(square)
        for side, rank, count in before.lost:
            self.lost[side][rank] -= count
        self.quiet = before.quiet
        self._occupied[:] = before.occupied
        self._steps[:] = before.steps
        self.told = before.told
        self.rescued[:] = before.rescued
        self.rescuers = before.rescuers

    def _put(self, before: Before, square: int, code: int) -> None:
        """Put a piece, or none, on a square."""
        now = self.board[square]
        before.squares.append((square, now))
        if now:
            side = now > BLUE_BIT
            self._key ^= SQUARE_KEYS[now][square]
            self._occupied[side] ^= BIT[square]
            self._steps[side] = None
            self.movers[side].discard(square)
        self.board[square] = code
        if code:
            side = code > BLUE_BIT
            self._key ^= SQUARE_KEYS[code][square]
            self._occupied[side] ^= BIT[square]
            self._steps[side] = None
            if self.tables.can_move[code] or code in UNKNOWN:  # what is put on a square has moved there
                self.movers[side].add(square)

    def _lose(self, before: Before, square: int, side: int, rank: Rank) -> None:
        """A piece has left the board."""
        self.told.discard(square)
        self.rescuers[side].discard(square)
        self.lost[side][rank] += 1
        before.lost.append((side, rank, 1))

    def _move_piece(self, before: Before, move: PieceMove, side: int) -> None:
        board, tables = self.board, self.tables
        origin, target = move.origin, move.target
        code, other = board[origin], board[target]
        if tables.fixed_loses and not tables.can_move[code] and code in RANKS:
            self._outcome = Outcome(COLORS[1 - side], Reason.MOVED_FIXED)
            return
        if other:
            self._fight(before, move, code, other)
            return
        self._put(before, origin, EMPTY)
        self._put(before, target, code)
        self._runs[side] = self._run_after(self._runs[side], move)
        if self._chase is not None:
            touches = self._occupied[1 - side] & NEAR[target] != 0
            self._chase = moved(self._chase, side, move, touches, tables.chase is Chase.BOOKLET)
        self._carry(origin, target, side)
        self.quiet += 1
        rank = RANKS.get(code)
        if rank is Rank.FLAG and target in BACK_ROWS[1 - side]:
            self._outcome = Outcome(COLORS[side], Reason.FLAG_HOME)
        if move.between and rank is Rank.SCOUT and tables.shows_a_scout(len(move.between) + 1):
            self.told.add(target)

    def _carry(self, origin: int, target: int, side: int) -> None:
        """What is known of a piece, and that it may not rescue again, goes with it."""
        for marks in (self.told, self.rescuers[side]):
            if origin in marks:
                marks.remove(origin)
                marks.add(target)

    def _fight(self, before: Before, move: PieceMove, code: int, other: int) -> None:
        side, origin, target = self.side, move.origin, move.target
        attacker, defender = RANKS[code], RANKS[other]
        survivor = self.tables.fights[attacker][defender]
        gone = [(origin, code)]
        self._put(before, origin, EMPTY)
        if survivor is not Survivor.DEFENDER:
            gone.append((target, other))
            self._lose(before, target, 1 - side, defender)
            self._put(before, target, code if survivor is Survivor.ATTACKER else EMPTY)
        if survivor is Survivor.ATTACKER:
            self._carry(origin, target, side)
            self.told.add(target)
        else:
            self._lose(before, origin, side, attacker)
            if survivor is Survivor.DEFENDER and not (self.tables.silent and attacker is not Rank.SCOUT):
                self.told.add(target)
        self._runs[side] = self._run_after(self._runs[side], move)
        if self._chase is not None:
            touches = self._occupied[1 - side] & NEAR[target] != 0
            self._chase = attacked(self._chase, side, move, touches, gone if self._pieces_return else None)
        self.quiet = 0
        if defender is Rank.FLAG:
            self._outcome = Outcome(COLORS[side], Reason.FLAG)

    @property
    def _pieces_return(self) -> bool:
        """Whether a position from before a loss can come back."""
        return self.tables.rescues > 0 and self.tables.chase is Chase.BOOKLET

    def _rescue(self, before: Before, action: Rescue, side: int) -> None:
        target = action.move.target
        arrived = self.board[target]
        if arrived == EMPTY or (arrived > BLUE_BIT) != side or self._outcome is not NOT_ASKED:
            return  # the attack that was to bring the piece there has failed, or has ended the game
        self._put(before, action.square, code_of(COLORS[side], action.rank))
        self.lost[side][action.rank] -= 1
        before.lost.append((side, action.rank, -1))
        self.rescued[side] += 1
        self._key ^= RESCUED[side] * self.rescued[side]
        self.rescuers[side].add(target)
        self.told.add(action.square)
        if self._chase is not None:
            self._chase = placed(self._chase, action.square)

    def _infiltrate(self, before: Before, action: Infiltration, side: int) -> None:
        target, code = action.target, self.board[action.target]
        right = RANKS.get(code) is action.rank
        if right:
            self._lose(before, target, 1 - side, action.rank)
            self._put(before, target, EMPTY)
            self.quiet = 0
            if action.rank is Rank.FLAG:
                self._outcome = Outcome(COLORS[side], Reason.FLAG)
        else:
            self.quiet += 1
        self.told.add(action.origin)
        self._runs[side] = (-1, 0, *self._runs[side][2:])
        if self._chase is not None:
            gone = [(target, code)] if right else []
            self._chase = guessed(self._chase, side, gone if self._pieces_return else None)


def _text(action: Action) -> str:
    return action.text
