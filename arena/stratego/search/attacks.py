"""Fast attacks, and undoing them, under plain rulesets: a search plays many of them.

`arena.stratego.search.rare` has attacks under any ruleset.
"""

from arena.stratego.rules.action_types import Action
from arena.stratego.rules.board import EMPTY, RANKS, SQUARE_KEYS, StraightMove
from arena.stratego.rules.tables import COLORS
from arena.stratego.search.bits import BIT, NEAR
from arena.stratego.search.chasing import attacked
from arena.stratego.search.listing import NOT_ASKED
from arena.stratego.search.rare import ATTACK, Fought, RarePlay
from protocol.notation import Rank, Reason, Survivor
from protocol.seats import Outcome


class AttackPlay(RarePlay):
    """A position with fast attacks under a plain ruleset."""

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
