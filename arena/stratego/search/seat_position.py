"""A position to search in: legal actions, play, undo, copies and a key, all at a cost independent of the game's length.

Tests compare it with the engine's game in lockstep under every ruleset. For speed, the state of repetition is
immutable, so that `undo` restores the old value; legal actions are cached (see `listing`); and the outcome is
computed on demand.
"""

from collections.abc import Sequence
from typing import Self

from arena.stratego.rules.action_types import Action, parse_action
from arena.stratego.rules.board import BLUE_BIT, EMPTY, RANKS, SQUARE_KEYS, StraightMove, code_of
from arena.stratego.rules.ruleset import Ruleset
from arena.stratego.rules.setup import place_both
from arena.stratego.rules.tables import COLORS
from arena.stratego.search.chasing import attacked, moved
from arena.stratego.search.listing import BIT, NEAR, NOT_ASKED
from arena.stratego.search.rare import ATTACK, GOES_ALONG, NEW, STAYS, Fought, RarePlay
from protocol.notation import SQUARES, Color, Rank, Reason, Survivor
from protocol.seats import Outcome

BLUE_TO_MOVE = 0x5DEECE66D1234567


class Position(RarePlay):
    """A position under one ruleset, between two set-ups of its army, in which actions can be played and taken back.

    `Knowledge.position` makes one in the middle of a game. `board` has a code for each square (0 is empty; see
    `rank_at`), `to_move` the side to move, `ply` the number of actions so far, `quiet` those since the last attack,
    `lost` what each side has lost. Treat them as read-only.
    Raises `IllegalSetupError` if a set-up is not one under the ruleset.
    """

    def __init__(self, ruleset: Ruleset, red: Sequence[str], blue: Sequence[str]) -> None:
        board = [EMPTY] * len(SQUARES)
        place_both(board, ruleset, red, blue)
        self._begin(ruleset, board)

    def _begin(self, ruleset: Ruleset, board: list[int]) -> None:
        super()._begin(ruleset, board)
        self._key = 0
        for square, code in enumerate(board):
            self._key ^= SQUARE_KEYS[code][square]
        self._undo = []

    def copy(self) -> Self:
        """Return an independent copy, without the undo history."""
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
        other._limit, other._booklet = self._limit, self._booklet
        other._refused, other._refused_after = self._refused, None
        other._other_moves = self._other_moves
        other._outcome = self._outcome
        other._undo = []
        return other

    @classmethod
    def of_board(cls, ruleset: Ruleset, board: list[int]) -> Self:
        """Make a position at the beginning of a game with these pieces, some of which may be `UNKNOWN`."""
        position = object.__new__(cls)
        position._begin(ruleset, board)
        return position

    def filled(self, squares: Sequence[int], ranks: Sequence[Rank]) -> Self:
        """Return a copy in which these squares' pieces, until now `UNKNOWN`, have these ranks."""
        other = self.copy()
        board, key, steps, can_move = other.board, other._key, other._steps, self.tables.can_move
        for square, rank in zip(squares, ranks, strict=True):
            side = board[square] > BLUE_BIT
            code = board[square] = rank + BLUE_BIT if side else int(rank)
            key ^= SQUARE_KEYS[code][square]
            steps[side] = None
            if can_move[code]:
                other.movers[side].add(square)
        other._key = key
        other._outcome = NOT_ASKED
        return other

    def identify(self, square: int, rank: Rank) -> None:
        """Set the rank of an `UNKNOWN` piece. Earlier actions cannot be undone any more."""
        side = self.board[square] > BLUE_BIT
        code = self.board[square] = code_of(COLORS[side], rank)
        self._key ^= SQUARE_KEYS[code][square]
        if self.tables.can_move[code]:
            self.movers[side].add(square)
        self._steps[side] = None
        self._outcome = NOT_ASKED
        self.forget()

    def forget(self) -> None:
        """Drop the undo history, to save memory."""
        self._undo.clear()

    # --- what can be asked ----------------------------------------------------------------------------------------

    @property
    def key(self) -> int:
        """A number for the pieces on their squares, the side to move and the rescues used: for transposition tables.

        Two positions that differ in these have the same key with a chance of 2^-64 (Zobrist 1970). Repetition, caps and
        known ranks are not part of it.
        """
        return self._key ^ BLUE_TO_MOVE if self.side else self._key

    def rank_at(self, square: int) -> Rank | None:
        """Return the rank of the piece on a square, None if there is none."""
        return RANKS.get(self.board[square])

    def color_at(self, square: int) -> Color | None:
        """Return the side of the piece on a square, None if there is none."""
        code = self.board[square]
        return COLORS[code > BLUE_BIT] if code else None

    def action(self, text: str) -> Action:
        """Parse an action such as `a4-a5`, legal or not. Raises ValueError for other texts, `resign` included."""
        return parse_action(text)

    # --- playing --------------------------------------------------------------------------------------------------

    def play(self, action: Action) -> None:
        """Play an action that is known to be legal. `undo` takes it back."""
        board, tables = self.board, self.tables
        if not tables.quick or type(action) is not StraightMove:
            self._play_rare(action)
            return
        if board[action.target]:
            self._attack(action)
            return
        side, origin, target = self.side, action.origin, action.target
        run, chase, key, occupied = self._runs[side], self._chase, self._key, self._occupied[side]
        told, mark = self.told, STAYS
        if origin in told:
            told.remove(origin)
            told.add(target)
            mark = GOES_ALONG
        elif action.between:
            told.add(target)
            mark = NEW
        self._undo.append(
            (action, None, None, run, chase, self._steps[side], key, occupied, mark, self._outcome, self._other_moves)
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
        if origin != run[0] and self._limit != 1:
            self._runs[side] = (target, 0, action.borders)
        else:
            self._runs[side] = self._run_after(run, action)
        if chase is not None:
            touches = self._occupied[1 - side] & NEAR[target]
            self._chase = moved(chase, side, action, touches, self._booklet)
        self.ply += 1
        self.quiet += 1
        self._outcome = NOT_ASKED
        self._other_moves = True
        self.side = 1 - side

    def undo(self) -> None:
        """Undo the last action. Raises IndexError without an action played here since the position was copied."""
        action, before, fought, run, chase, steps, key, occupied, mark, outcome, other_moves = self._undo.pop()
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
        assert type(action) is StraightMove
        self._steps[side] = steps
        self._occupied[side] = occupied
        if fought is not None:
            self._undo_attack(action, fought)
            return
        self.quiet -= 1
        origin, target, board = action.origin, action.target, self.board
        board[origin] = board[target]
        board[target] = EMPTY
        movers = self.movers[side]
        movers.remove(target)
        movers.add(origin)
        if mark:
            self.told.remove(target)
            if mark == GOES_ALONG:
                self.told.add(origin)

    # --- attacks under plain rulesets, which a search plays often ---------------------------------------------------

    def _attack(self, move: StraightMove) -> None:
        side, origin, target, board = self.side, move.origin, move.target, self.board
        enemy, code, other, told = 1 - side, board[origin], board[target], self.told
        attacker, defender = RANKS[code], RANKS[other]
        survivor = self.tables.fights[attacker][defender]
        occupied, steps, key = self._occupied, self._steps, self._key
        fought = (code, other, survivor, self.quiet, origin in told, target in told, occupied[enemy], steps[enemy])
        run, chase = self._runs[side], self._chase
        outcome, other_moves = self._outcome, self._other_moves
        before = (move, None, fought, run, chase, steps[side], key, occupied[side], ATTACK, outcome, other_moves)
        self._undo.append(before)
        board[origin] = EMPTY
        self.movers[side].remove(origin)
        told.discard(origin)
        occupied[side] ^= BIT[origin]
        steps[side] = None
        key ^= SQUARE_KEYS[code][origin]
        if survivor is not Survivor.DEFENDER:
            self.lost[enemy][defender] += 1
            self.movers[enemy].discard(target)
            told.discard(target)
            occupied[enemy] ^= BIT[target]
            steps[enemy] = None
            key ^= SQUARE_KEYS[other][target]
            board[target] = EMPTY
        if survivor is Survivor.ATTACKER:
            board[target] = code
            self.movers[side].add(target)
            told.add(target)
            occupied[side] ^= BIT[target]
            key ^= SQUARE_KEYS[code][target]
        else:
            self.lost[side][attacker] += 1
            if survivor is Survivor.DEFENDER and not (self.tables.silent and attacker is not Rank.SCOUT):
                told.add(target)
        self._key = key
        self._runs[side] = self._run_after(run, move)
        if chase is not None:
            self._chase = attacked(chase, side, move, occupied[enemy] & NEAR[target], None)
        self.ply += 1
        self.quiet = 0
        self._outcome = Outcome(COLORS[side], Reason.FLAG) if defender is Rank.FLAG else NOT_ASKED
        self._other_moves = False
        self.side = enemy

    def _undo_attack(self, action: Action, fought: Fought) -> None:
        assert type(action) is StraightMove
        code, other, survivor, self.quiet, was_told, other_was_told, occupied, steps = fought
        side, origin, target, board = self.side, action.origin, action.target, self.board
        enemy, told = 1 - side, self.told
        board[origin] = code
        board[target] = other
        self.movers[side].add(origin)
        told.discard(target)
        if was_told:
            told.add(origin)
        if other_was_told:
            told.add(target)
        if survivor is Survivor.ATTACKER:
            self.movers[side].remove(target)
        else:
            self.lost[side][RANKS[code]] -= 1
        if survivor is not Survivor.DEFENDER:
            self.lost[enemy][RANKS[other]] -= 1
            if self.tables.can_move[other]:
                self.movers[enemy].add(target)
        self._occupied[enemy] = occupied
        self._steps[enemy] = steps
