"""Playing and undoing rare actions: attacks, and all that only some rulesets have.

They work as in `arena.stratego.rules.engine.EngineGame`, with a note of each change. Tests compare the two.
"""

from arena.stratego.rules.action_types import PIECE_MOVES, Action, Infiltration, PieceMove, Rescue
from arena.stratego.rules.board import BACK_ROWS, BLUE_BIT, EMPTY, RANKS, SQUARE_KEYS, code_of
from arena.stratego.rules.tables import COLORS
from arena.stratego.search.chasing import ChaseState, attacked, guessed, moved, placed
from arena.stratego.search.listing import BIT, NEAR, NOT_ASKED, UNKNOWN, Listing, Run, Steps
from protocol.notation import Rank, Reason, Survivor
from protocol.seats import Outcome

RESCUED = (0x2545F4914F6CDD1D, 0x369DEA0F31A53F85)

Before = tuple[
    list[tuple[int, int]],
    list[tuple[int, Rank, int]],
    int,
    list[int],
    list[Steps | None],
    set[int],
    list[int],
    tuple[set[int], set[int]],
]
"""The state before a rare action: changed squares with their codes, changed losses with their counts; then `quiet`, the
squares of both sides, their steps, the pieces that have been named, the rescues, and the pieces that earned them."""

Fought = tuple[int, int, Survivor, int, bool, bool, int, Steps | None]
"""A quick attack: both codes and the survivor; then the state before it: `quiet`, which of the two had been named, and
the other side's squares and steps."""

Undone = tuple[
    Action, Before | None, Fought | None, Run, ChaseState | None, Steps | None, int, int, int, Outcome | None, bool
]
"""An action and the state before it: the run, the chase, the steps, the key, the squares of the side, the change of the
piece's mark of being known (see below), the outcome, whether the other side can step back."""

STAYS, GOES_ALONG, NEW, ATTACK = range(4)
"""Changes of the mark: none; it moves with the piece; it is new; or there was an attack."""


class RarePlay(Listing):
    """A position that can play and undo all rare actions."""

    _key: int
    _undo: list[Undone]

    def _run_after(self, run: Run, move: PieceMove) -> Run:
        limit = self._limit
        borders = move.borders
        if move.origin != run[0]:
            return (move.target, borders if limit == 1 else 0, borders)
        if not limit:
            return (move.target, 0)
        crossed = (*run[2:], borders)[-limit:]
        closed = 0
        if len(crossed) == limit:
            closed = crossed[0]
            for other in crossed:
                closed &= other
        return (move.target, closed, *crossed)

    # --- playing what is rare: attacks, and all that only some rulesets have --------------------------------------

    def _play_rare(self, action: Action) -> None:
        if isinstance(action, str):
            raise TypeError(f"play: expected an action, such as position.action({action!r}), got its text")
        side = self.side
        rescuers = self.rescuers
        before: Before = (
            [],
            [],
            self.quiet,
            self._occupied[:],
            self._steps[:],
            self.told.copy(),
            self.rescued[:],
            (rescuers[0].copy(), rescuers[1].copy()) if self.tables.rescues else rescuers,
        )
        outcome, other_moves = self._outcome, self._other_moves
        run, chase = self._runs[side], self._chase
        self._undo.append((action, before, None, run, chase, None, self._key, 0, STAYS, outcome, other_moves))
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
        squares, losses, self.quiet, occupied, steps, self.told, rescued, self.rescuers = before
        for square, code in reversed(squares):
            now = self.board[square]
            if can_move[now]:
                movers[now > BLUE_BIT].discard(square)
            self.board[square] = code
            if can_move[code]:
                movers[code > BLUE_BIT].add(square)
        for side, rank, count in losses:
            self.lost[side][rank] -= count
        self._occupied = occupied
        self._steps = steps
        self.rescued = rescued

    def _put(self, before: Before, square: int, code: int) -> None:
        now = self.board[square]
        before[0].append((square, now))
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
        self.told.discard(square)
        self.rescuers[side].discard(square)
        self.lost[side][rank] += 1
        before[1].append((side, rank, 1))

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
            touches = self._occupied[1 - side] & NEAR[target]
            self._chase = moved(self._chase, side, move, touches, self._booklet)
        self._carry(origin, target, side)
        self.quiet += 1
        rank = RANKS.get(code)
        if rank is Rank.FLAG and target in BACK_ROWS[1 - side]:
            self._outcome = Outcome(COLORS[side], Reason.FLAG_HOME)
        if move.between and rank is Rank.SCOUT and tables.shows_a_scout(len(move.between) + 1):
            self.told.add(target)

    def _carry(self, origin: int, target: int, side: int) -> None:
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
            touches = self._occupied[1 - side] & NEAR[target]
            self._chase = attacked(self._chase, side, move, touches, gone if self._pieces_return else None)
        self.quiet = 0
        if defender is Rank.FLAG:
            self._outcome = Outcome(COLORS[side], Reason.FLAG)

    @property
    def _pieces_return(self) -> bool:
        return self.tables.rescues > 0 and self._booklet

    def _rescue(self, before: Before, action: Rescue, side: int) -> None:
        target = action.move.target
        arrived = self.board[target]
        if arrived == EMPTY or (arrived > BLUE_BIT) != side or self._outcome is not NOT_ASKED:
            return  # the attack that was to bring the piece there has failed, or has ended the game
        self._put(before, action.square, code_of(COLORS[side], action.rank))
        self.lost[side][action.rank] -= 1
        before[1].append((side, action.rank, -1))
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
            gone = [(target, code)] if right else []  # after a wrong guess earlier positions can come back
            self._chase = guessed(self._chase, side, gone if self._pieces_return or not right else None)
