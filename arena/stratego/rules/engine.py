"""A game in progress: playing actions, and the end of the game.

`EngineGame.apply` takes an action's text and returns the public events it causes, or raises `IllegalActionError`
(judged by the module `legality`). `EngineGame.legal_moves` lists the legal actions (see `movegen`). Programs that
search use `legal_moves` and `play`, which checks nothing.
"""

from collections.abc import Sequence

from arena.errors import UsageError
from arena.stratego.rules.action_types import (
    PIECE_MOVES,
    Action,
    BrokenRule,
    Event,
    IllegalActionError,
    Infiltration,
    NoActionError,
    PieceMove,
    Rescue,
    parse_action,
)
from arena.stratego.rules.board import BACK_ROWS, BLUE_BIT, EMPTY, RANKS, StraightMove, code_of
from arena.stratego.rules.legality import check
from arena.stratego.rules.movegen import is_mobile, legal_actions, plain_actions
from arena.stratego.rules.position import EnginePosition
from arena.stratego.rules.ruleset import Ruleset
from arena.stratego.rules.tables import CANNOT_ATTACK, COLORS
from protocol.messages import Battle, Guess, Moved, Rescued, Reveal
from protocol.notation import RESIGN, SQUARES, Rank, Reason, Survivor
from protocol.seats import Outcome


class EngineGame(EnginePosition):
    """One game, from both set-ups to its outcome: a position that actions can be played in."""

    def __init__(self, ruleset: Ruleset, red: Sequence[str], blue: Sequence[str]) -> None:
        super().__init__(ruleset, red, blue)
        self._look_for_end()

    # --- what may be played ---------------------------------------------------------------------------------------

    def legal_moves(self) -> Sequence[Action]:
        """Return every legal action of the side to move, in no particular order; empty when the game is over.

        Resigning is always possible and not in the list; nor is a move that loses the game by itself.
        """
        if self.tables.plain and not self.outcome:
            return plain_actions(self, self.to_move)
        return list(legal_actions(self))

    def parse(self, text: str) -> Action:
        """Parse an action's text. Raises `IllegalActionError` if the text is no action."""
        try:
            return parse_action(text)
        except NoActionError as error:
            raise IllegalActionError(BrokenRule.FORM, str(error)) from None

    def check(self, action: Action) -> None:
        """Raise `IllegalActionError` if the action is illegal for the side to move."""
        check(self, action)

    # --- playing --------------------------------------------------------------------------------------------------

    def apply(self, action: str | Action) -> tuple[Event, ...]:
        """Check and play an action for the side to move, given as text or as listed by `legal_moves`.

        Returns the public events. Raises `IllegalActionError`.
        """
        text = action if isinstance(action, str) else _text_of(action)
        if text == RESIGN:
            return self.resign()
        parsed = self.parse(text)
        check(self, parsed)
        return self.play(parsed)

    def resign(self) -> tuple[Event, ...]:
        """Resign for the side to move."""
        if self.outcome:
            raise IllegalActionError(BrokenRule.OVER, "resign: the game is over")
        side = self.to_move
        self.ply += 1
        self.outcome = Outcome(COLORS[1 - side], Reason.RESIGN)
        return (Moved(COLORS[side], RESIGN),)

    def play(self, action: Action) -> tuple[Event, ...]:
        """Play an action that is known to be legal. Returns the public events."""
        if self.tables.quick and isinstance(action, StraightMove) and not self.board[action.target]:
            return self._step(action)
        side = self.to_move
        self.ply += 1
        moved = Moved(COLORS[side], action.text)
        events: tuple[Event, ...]
        quiet_move = False
        if isinstance(action, PIECE_MOVES):
            quiet_move = not self.board[action.target]
            event = self._move_piece(action, side)
            events = (moved, event) if event else (moved,)
        elif isinstance(action, Rescue):
            told = (self._move_piece(action.move, side), self._rescue(action, side))
            events = (moved, *(event for event in told if event))
        else:
            events = (moved, *self._infiltrate(action, side))
        self.to_move = COLORS[1 - side]
        if self.outcome is None:
            self._look_for_end(other_is_mobile=quiet_move)
        return events

    def _step(self, move: StraightMove) -> tuple[Event, ...]:
        """Play a move to an empty square under rules without additions: the fast path of `play`."""
        side, board = self.to_move, self.board
        origin, target = move.origin, move.target
        board[target] = board[origin]
        board[origin] = EMPTY
        movers = self.movers[side]
        movers.remove(origin)
        movers.add(target)
        self.runs[side].played(move)
        chase, told = self.chase, self.told
        if chase:
            chase.moved(board, side, move)
        if origin in told:
            told.remove(origin)
            told.add(target)
        elif move.between:
            told.add(target)
        self.ply += 1
        self.quiet += 1
        self.to_move = COLORS[1 - side]
        self._look_for_end(True)
        if move.between:
            return Moved(side, move.text), Reveal(SQUARES[target], Rank.SCOUT)
        return (Moved(side, move.text),)

    def _move_piece(self, move: PieceMove, side: int) -> Battle | Reveal | None:
        board, tables = self.board, self.tables
        origin, target = move.origin, move.target
        code, other = board[origin], board[target]
        if tables.fixed_loses and not tables.can_move[code]:
            self.outcome = Outcome(COLORS[1 - side], Reason.MOVED_FIXED)
            return None
        if other:
            return self._fight(move, code, other, side)
        board[target], board[origin] = code, EMPTY
        movers = self.movers[side]
        movers.remove(origin)
        movers.add(target)
        self.runs[side].played(move)
        if self.chase:
            self.chase.moved(board, side, move)
        if origin in self.told:
            self.told.remove(origin)
            self.told.add(target)
        self.quiet += 1
        if not tables.plain:
            self._carry_mark(origin, target, side)
            if tables.flag_moves and RANKS[code] is Rank.FLAG and target in BACK_ROWS[1 - side]:
                self.outcome = Outcome(COLORS[side], Reason.FLAG_HOME)
        if move.between and RANKS[code] is Rank.SCOUT and tables.shows_a_scout(len(move.between) + 1):
            self.told.add(target)
            return Reveal(SQUARES[target], Rank.SCOUT)
        return None

    def _fight(self, move: PieceMove, code: int, other: int, side: int) -> Battle:
        board, movers = self.board, self.movers
        origin, target = move.origin, move.target
        attacker, defender = RANKS[code], RANKS[other]
        survivor = self.tables.fights[attacker][defender]
        board[origin] = EMPTY
        movers[side].remove(origin)
        self.told.discard(origin)
        if survivor is not Survivor.DEFENDER:
            self.told.discard(target)
            movers[1 - side].discard(target)
            self.rescuers[1 - side].discard(target)
            self.lost[1 - side][defender] += 1
            board[target] = EMPTY
            if survivor is Survivor.ATTACKER:
                board[target] = code
                movers[side].add(target)
        battle = Battle(SQUARES[target], attacker, defender, survivor)
        if survivor is Survivor.ATTACKER or (survivor is Survivor.DEFENDER and not self.tables.hides_defender(battle)):
            self.told.add(target)
        if survivor is Survivor.ATTACKER:
            self._carry_mark(origin, target, side)
        else:
            self.lost[side][attacker] += 1
            self.rescuers[side].discard(origin)
        self.runs[side].played(move)
        if self.chase:
            self.chase.attacked(board, side, move, (code, other))
        self.quiet = 0
        if defender is Rank.FLAG:
            self.outcome = Outcome(COLORS[side], Reason.FLAG)
        return battle

    def _carry_mark(self, origin: int, target: int, side: int) -> None:
        if origin in self.rescuers[side]:
            self.rescuers[side].remove(origin)
            self.rescuers[side].add(target)

    def _rescue(self, action: Rescue, side: int) -> Rescued | None:
        arrived = self.board[action.move.target]
        if arrived == EMPTY or (arrived > BLUE_BIT) != side or self.outcome:
            return None  # the attack that was to bring the piece there has failed, or has ended the game
        code = code_of(COLORS[side], action.rank)
        self.board[action.square] = code
        self.movers[side].add(action.square)
        self.lost[side][action.rank] -= 1
        self.rescued[side] += 1
        self.rescuers[side].add(action.move.target)
        if self.chase:
            self.chase.placed(action.square)
        self.told.add(action.square)
        return Rescued(COLORS[side], SQUARES[action.square], action.rank)

    def _infiltrate(self, action: Infiltration, side: int) -> tuple[Event, ...]:
        code = self.board[action.target]
        right = RANKS[code] is action.rank
        if right:
            self.board[action.target] = EMPTY
            self.told.discard(action.target)
            self.movers[1 - side].discard(action.target)
            self.rescuers[1 - side].discard(action.target)
            self.lost[1 - side][action.rank] += 1
            self.quiet = 0
            if action.rank is Rank.FLAG:
                self.outcome = Outcome(COLORS[side], Reason.FLAG)
        else:
            self.quiet += 1
        self.runs[side].broken()
        if self.chase:
            self.chase.guessed(side, action.target, code if right else EMPTY)
        self.told.add(action.origin)
        guess = Guess(SQUARES[action.target], action.rank, right)
        return guess, Reveal(SQUARES[action.origin], Rank.INFILTRATOR)

    # --- the end --------------------------------------------------------------------------------------------------

    def _look_for_end(self, other_is_mobile: bool = False) -> None:
        """End the game if a side cannot move or a cap is reached.

        A piece that has just moved to an empty square can step back, so its side need not be checked. For that side the
        rules against repetition do not count, as it is not to move.
        """
        side, tables, chase = self.to_move, self.tables, self.chase
        if self.runs[side].closed or (chase and chase.length[side] > 1):
            stuck = not any(True for _ in legal_actions(self))
        else:
            stuck = not is_mobile(self, side)
        other_stuck = not other_is_mobile and tables.at_once and not is_mobile(self, 1 - side)
        if stuck or other_stuck:
            unarmed = tables.needs_attacker and not (self._has_attacker(0) or self._has_attacker(1))
            self._ends_for(stuck or unarmed, other_stuck or unarmed, Reason.NO_MOVE)
        elif tables.needs_attacker and not (self._has_attacker(0) and self._has_attacker(1)):
            self._ends_for(not self._has_attacker(side), not self._has_attacker(1 - side), Reason.NO_ATTACKER)
        elif self.ply >= tables.max_plies:
            self.outcome = Outcome(None, Reason.PLY_CAP)
        elif self.quiet >= tables.max_quiet:
            self.outcome = Outcome(None, Reason.QUIET_CAP)

    def _ends_for(self, mover: bool, other: bool, reason: Reason) -> None:
        """End the game with a loss of the side to move, the other side, or both (a draw)."""
        if mover and other:
            self.outcome = Outcome(None, Reason.BOTH_IMMOBILE)
        else:
            self.outcome = Outcome(COLORS[1 - self.to_move] if mover else COLORS[self.to_move], reason)

    def _has_attacker(self, side: int) -> bool:
        return any(RANKS[self.board[square]] not in CANNOT_ATTACK for square in self.movers[side])


def _text_of(action: object) -> str:
    """Return the text of an action, to be parsed again: any caller can make an `Action` with impossible squares."""
    if not isinstance(action, Action):
        raise UsageError(f"expected an action such as 'a4-a5', got {action!r:.60}")
    return action.text
