"""A game as its host sees it, for display: the whole board, the clocks, and the rule that forbids an action.

It follows the events of the game. The referee judges the game with a position of its own.
"""

import math
from collections.abc import Callable

from arena.game.clock import MICROSECONDS, GameClock
from arena.game.game_spec import GameSpec
from arena.game.record import GameRecord, History
from arena.play.game_events import ActionPlayed, GameStarted
from arena.stratego.person_seat import ClockState
from arena.stratego.rules.events import IllegalActionError
from arena.stratego.state import StrategoState
from protocol.seats import Color


class HostGame:
    """The position and both clocks. All times are seconds on the clock of the caller."""

    def __init__(self, spec: GameSpec) -> None:
        self._spec = spec
        self._state: StrategoState | None = None
        self._clock = GameClock(spec.times)
        self._turn_began = 0.0

    @property
    def has_begun(self) -> bool:
        return self._state is not None

    def started(self, event: GameStarted, now: float) -> None:
        self._clock = GameClock(self._spec.times)
        self._state = state = _started(event.spec, event.setups)
        if event.history:
            self._recall(state, event.history)
        self._turn_began = now

    def _recall(self, state: StrategoState, history: History) -> None:
        for ply, (action, taken_us) in enumerate(zip(history.actions, history.times_us, strict=True), start=1):
            self._spend_interrupted(state, history, ply)
            self._clock.charge(state.to_move, taken_us / MICROSECONDS)
            state.play(action)
        self._spend_interrupted(state, history, len(history.actions) + 1)

    def _spend_interrupted(self, state: StrategoState, history: History, ply: int) -> None:
        for at, taken_us in history.interrupted:
            if at == ply:
                self._clock.spend(state.to_move, taken_us / MICROSECONDS)

    def played(self, event: ActionPlayed, now: float) -> None:
        assert self._state is not None, "a game has started before anything is played"
        self._clock.charge(event.color, event.taken_us / MICROSECONDS)
        self._state.play(event.action)
        self._turn_began = now

    def finished(self, record: GameRecord) -> None:
        """Apply the end of the game; without a first turn, it is the only event."""
        red, blue = record.setups
        if self._state is None and red is not None and blue is not None:
            self._state = _started(self._spec, (red, blue))

    def truth(self) -> tuple[str, ...]:
        return self._state.cells(None) if self._state else ()

    def refusal(self, action: str) -> IllegalActionError | None:
        """Return the rule that forbids an action of the side to move; None if it is legal."""
        assert self._state is not None, "there is a turn, so there is a game"
        try:
            self._spec.kind.check(self._state, action)
        except IllegalActionError as error:
            return error
        return None

    def clock(self, color: Color, now: Callable[[], float], *, stands: bool) -> ClockState:
        """Return a side's clock. `now` is called only if the clock runs; no clock runs if `stands`."""
        state = self._state
        runs = state is not None and not stands and state.to_move is color and not state.outcome
        time, bank_ms = self._spec.times[color], self._clock.bank_ms(color)
        if time.is_unlimited:
            return ClockState(None, runs=runs)
        used = now() - self._turn_began if runs else 0.0
        left = max(0, math.floor((self._clock.budget(color) - used) * 1000))
        if bank_ms is not None:
            bank_ms = max(0, bank_ms - math.floor(used * 1000))
        return ClockState(left, None if time.move_ms is None else bank_ms, runs)


def _started(spec: GameSpec, setups: tuple[str, str]) -> StrategoState:
    state = spec.kind.start(spec.variant, spec.chance_seed, setups)
    assert isinstance(state, StrategoState), "people play Stratego alone"
    return state
