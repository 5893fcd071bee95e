"""A game as its host sees it, for display: the whole position, the clocks, and the rule that forbids an action.

It follows the events of the game. The referee judges the game with a position of its own.
"""

import math
from collections.abc import Callable

from arena.errors import IllegalAnswerError
from arena.game import State
from arena.game.clock import MICROSECONDS, GameClock
from arena.game.game_spec import GameSpec
from arena.game.person_seat import ClockState
from arena.game.record import GameRecord, History
from arena.play.game_events import ActionPlayed, GameStarted
from protocol.lines import RemoteProtocolError
from protocol.seats import Color


class HostGame:
    """The position and both clocks. All times are seconds on the clock of the caller."""

    def __init__(self, spec: GameSpec) -> None:
        self._spec = spec
        self.state: State | None = None
        self.start: GameStarted | None = None
        self.played_since: list[ActionPlayed] = []
        """The actions since `start`."""
        self._clock = GameClock(spec.times)
        self._turn_began = 0.0

    @property
    def has_begun(self) -> bool:
        return self.state is not None

    def started(self, event: GameStarted, now: float) -> None:
        spec = event.spec
        self._clock = GameClock(self._spec.times)
        self.start, self.played_since = event, []
        self.state = state = spec.kind.begin(spec.variant, spec.chance_seed, event.setups)
        if event.history:
            self._recall(state, event.history)
        self._turn_began = now

    def _recall(self, state: State, history: History) -> None:
        for ply, (action, taken_us) in enumerate(zip(history.actions, history.times_us, strict=True), start=1):
            self._spend_interrupted(state, history, ply)
            self._clock.charge(state.to_move, taken_us / MICROSECONDS)
            state.play(action)
        self._spend_interrupted(state, history, len(history.actions) + 1)

    def _spend_interrupted(self, state: State, history: History, ply: int) -> None:
        for at, taken_us in history.interrupted:
            if at == ply:
                self._clock.spend(state.to_move, taken_us / MICROSECONDS)

    def played(self, event: ActionPlayed, now: float) -> None:
        assert self.state is not None, "a game has started before anything is played"
        self._clock.charge(event.color, event.taken_us / MICROSECONDS)
        self.state.play(event.action)
        self.played_since.append(event)
        self._turn_began = now

    def finished(self, record: GameRecord) -> None:
        """Apply the end of the game; without a first turn, it is the only event."""
        red, blue = record.setups
        if self.state is None and red is not None and blue is not None:
            self.state = self._spec.kind.begin(self._spec.variant, self._spec.chance_seed, (red, blue))

    def refusal(self, action: str) -> IllegalAnswerError | None:
        """Return what forbids an action of the side to move; None if it is legal."""
        assert self.state is not None, "there is a turn, so there is a game"
        try:
            self._spec.kind.check(self.state, action)
            self._spec.kind.check_move_form(action)
        except IllegalAnswerError as error:
            return error
        except RemoteProtocolError as error:
            return IllegalAnswerError(str(error))
        return None

    def clock(self, color: Color, now: Callable[[], float], *, is_stopped: bool) -> ClockState:
        """Return a side's clock. `now` is called only if the clock runs; none runs if it `is_stopped`."""
        state = self.state
        runs = state is not None and not is_stopped and state.to_move is color and not state.outcome
        time, bank_ms = self._spec.times[color], self._clock.bank_ms(color)
        if time.is_unlimited:
            return ClockState(None, runs=runs)
        used = now() - self._turn_began if runs else 0.0
        left = max(0, math.floor((self._clock.budget(color) - used) * 1000))
        if bank_ms is not None:
            bank_ms = max(0, bank_ms - math.floor(used * 1000))
        return ClockState(left, None if time.move_ms is None else bank_ms, runs)
