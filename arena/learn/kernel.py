"""A batch of games in lockstep: reset, step, legal moves, observations and outcomes as numpy arrays."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arena.errors import UsageError, extra_named
from arena.learn.action_codes import SQUARE_COUNT, code_count
from arena.learn.kernel_tables import GOING_ON, HOME_COUNT, REASONS, most_codes, moves_kept, rule_numbers
from arena.learn.observation import FACT_COUNT, PLANE_COUNT, Observation
from arena.learn.placement import Setups, army_choices
from arena.stratego.rules.ruleset import Ruleset
from arena.stratego.rules.rulesets import as_ruleset
from protocol.notation import BOARD_SIZE, Color, army_text
from protocol.seats import Outcome

with extra_named("learn"):
    from arena.learn import compiled

NOT_PLAYED = len(REASONS)
"""The reason of a game that has not begun, or waits in a step."""
STATE = ("games", "mask", "codes", "counts", "planes", "facts", "_history")
"""The arrays of which a copy has its own."""


class Kernel:
    """A batch of games under one ruleset, each under way or over, all moved on by one call.

    Every call changes the arrays in place; copy what is to be kept. By game: `mask` has the legal codes, `codes` the
    same as a list of which the first `counts` count; `planes` and `facts` are what the seat to move observes (see
    `arena.learn.observation`), or that of the seat whose turn it would be when the game is over. `games` is the
    whole state as records. `copy`, `deepcopy` and `pickle` give games in arrays of their own.

    Raises `UnsupportedRuleError` for rules that it does not have.
    """

    def __init__(self, ruleset: Ruleset | str, games: int, *, observes: bool = True) -> None:
        """`observes` is whether a step writes `planes` and `facts`; without it they are empty."""
        self.ruleset = as_ruleset(ruleset)
        self._rules = rule_numbers(self.ruleset)
        self._numbers, self._observes = np.arange(games), observes
        self.games: NDArray[np.void] = np.zeros(games, compiled.GAME)
        self.games["reason"] = NOT_PLAYED
        self.mask = np.zeros((games, code_count(self.ruleset)), np.bool_)
        self.codes = np.zeros((games, most_codes(self.ruleset)), np.int16)
        self.counts = np.zeros(games, np.int32)
        seen = games if observes else 0
        self._planes = np.zeros((seen, PLANE_COUNT, SQUARE_COUNT), np.int8)
        self.planes = self._planes.reshape(seen, PLANE_COUNT, BOARD_SIZE, BOARD_SIZE)
        self.facts = np.zeros((seen, FACT_COUNT), np.int32)
        self._space = tuple(np.zeros(SQUARE_COUNT, kind) for kind in (np.uint8, np.uint16, np.uint16, np.uint16))
        kept = moves_kept(self.ruleset)
        self._history = np.zeros((games, kept, 2), np.uint8)
        self._batch = self._rules, self.games, self._history, np.zeros(kept, np.uint64)
        self._legal = self.codes, self.counts, self.mask

    def copy(self) -> "Kernel":
        return _restored(*self.__reduce__()[1])

    def __deepcopy__(self, memo: object) -> "Kernel":
        return self.copy()

    def __reduce__(self) -> Any:
        return _restored, (self.ruleset, self._observes, [getattr(self, name) for name in STATE])

    # --- playing --------------------------------------------------------------------------------------------------

    def reset(self, setups: Setups, which: ArrayLike | None = None) -> None:
        """Begin all games, or those of some numbers, with a pair of set-ups each. Raises `UsageError`."""
        numbers = self._numbers_of(which)
        setups = self._checked(setups, numbers)
        compiled.start_games(self._batch, self._legal, numbers, setups)
        self._observe(numbers)

    def step(self, actions: ArrayLike, waiting: NDArray[np.bool_] | None = None) -> None:
        """Play a flat code in each game under way, but not in those that are `waiting`. Raises `UsageError`."""
        actions = np.asarray(actions)
        if actions.shape != self.games.shape or actions.dtype.kind not in "iu":
            raise UsageError(
                f"actions: expected {len(self.games)} whole numbers, one a game, got {actions.dtype} {actions.shape}"
            )
        reasons = self.games["reason"]
        held: Any = [] if waiting is None else np.flatnonzero(waiting & (reasons == GOING_ON))
        reasons[held] = NOT_PLAYED
        try:
            bad = compiled.play_all(self._batch, self._legal, _own(actions, np.int64))
            if bad >= 0:
                raise UsageError(
                    f"game {bad}: expected one of its {self.counts[bad]} legal codes (see mask), got {actions[bad]}"
                )
        finally:
            reasons[held] = GOING_ON
        self._observe(self._numbers)

    def _observe(self, numbers: NDArray[np.int64]) -> None:
        """Bring `planes` and `facts` of some games up to date."""
        if self._observes:
            seats = self.games["to_move"][numbers].astype(np.int64)
            compiled.observe_games(self._batch, (self._planes, self.facts, self._space), numbers, seats, numbers)

    def sample(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return a random legal code for each game, each as likely as the others; 0 for a game that is over."""
        places = (rng.random(len(self.games)) * self.counts).astype(np.int64)
        return np.where(self.counts > 0, self.codes[self._numbers, places], 0).astype(np.int64)

    def observe(self, seats: ArrayLike, which: ArrayLike | None = None) -> Observation:
        """Return new arrays of what a seat (0 red, 1 blue) observes in each game, or in those of some numbers."""
        numbers = self._numbers_of(which)
        seats = _own(np.broadcast_to(np.asarray(seats, np.int64), numbers.shape), np.int64)
        if (seats & ~1).any():
            raise UsageError(f"seats: expected 0 for red or 1 for blue, got {seats[seats & ~1 != 0][0]}")
        planes = np.zeros((len(numbers), PLANE_COUNT, SQUARE_COUNT), np.int8)
        facts = np.zeros((len(numbers), FACT_COUNT), np.int32)
        compiled.observe_games(self._batch, (planes, facts, self._space), numbers, seats, np.arange(len(numbers)))
        return Observation(planes.reshape(len(numbers), PLANE_COUNT, BOARD_SIZE, BOARD_SIZE), facts)

    # --- reading --------------------------------------------------------------------------------------------------

    @property
    def to_move(self) -> NDArray[np.int8]:
        """The seat to move by game: 0 red, 1 blue."""
        return np.asarray(self.games["to_move"])

    @property
    def is_over(self) -> NDArray[np.bool_]:
        return np.asarray(self.games["reason"] != GOING_ON)

    @property
    def winner(self) -> NDArray[np.int8]:
        """The winner by game: 0 red, 1 blue, 2 for a draw or a game under way."""
        return np.asarray(self.games["winner"])

    @property
    def ply(self) -> NDArray[np.int32]:
        return np.asarray(self.games["ply"])

    def outcome(self, number: int) -> Outcome | None:
        """Return how a game ended, in the engine's words; None for one under way or not begun."""
        game = self.games[number]
        reason = None if game["reason"] == NOT_PLAYED else REASONS[game["reason"]]
        winner = None if game["winner"] == compiled.DRAWN else Color(game["winner"])
        return None if reason is None else Outcome(winner, reason)

    def _numbers_of(self, which: ArrayLike | None) -> NDArray[np.int64]:
        """Return numbers of games, by default all. Raises `UsageError`: compiled code would write elsewhere."""
        if which is None:
            return self._numbers
        numbers = np.asarray(which)
        if numbers.size and (numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() >= len(self.games)):
            got = numbers.dtype if numbers.dtype.kind not in "iu" else f"{numbers.min()} to {numbers.max()}"
            raise UsageError(f"which: expected numbers of games from 0 to {len(self.games) - 1}, got {got}")
        return _own(numbers, np.int64)

    def _checked(self, setups: Setups, numbers: NDArray[np.int64]) -> Setups:
        setups = _own(setups, np.uint8)
        expected = (len(numbers), 2, HOME_COUNT)
        if setups.shape != expected:
            raise UsageError(f"setups: expected the shape {expected}, got {setups.shape}")
        wrong = np.argwhere((np.sort(setups, axis=2) != army_choices(self.ruleset)).any(axis=2))
        if len(wrong):
            place, side = wrong[0]
            ranks, counts = np.unique(setups[place, side], return_counts=True)
            got = ", ".join(f"{count} x {rank}" for rank, count in zip(ranks, counts, strict=True))
            raise UsageError(
                f"setups: game {numbers[place]}, {Color(side).word}: expected the numbers of the army "
                f"{army_text(self.ruleset.army)} and 0 for empty squares, got {got}"
            )
        return setups


def _own(array: ArrayLike, kind: type[Any]) -> NDArray[Any]:
    """Copy an array: numba would compile all once more for one that is read-only or laid out otherwise."""
    return np.array(array, kind, order="C")


def _restored(ruleset: Ruleset, observes: bool, arrays: list[NDArray[Any]]) -> Kernel:
    kernel = Kernel(ruleset, len(arrays[0]), observes=observes)
    for name, array in zip(STATE, arrays, strict=True):
        getattr(kernel, name)[:] = array
    return kernel
