"""A Gymnasium vector environment on the kernel: many games at once, one agent against a policy or against itself."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from arena.errors import UsageError
from arena.learn.action_codes import code_count
from arena.learn.kernel import NOT_PLAYED, Kernel
from arena.learn.kernel_tables import REASONS
from arena.learn.one_game import MOST_TRIES, Observed, check_count, check_option, check_reset_options, observation_space
from arena.learn.placement import Setups, random_setups
from arena.stratego.rules.ruleset import Ruleset
from protocol.seats import COLOR_BY_WORD, Color

BatchPolicy = Callable[[Observed], ArrayLike]
"""A function that returns a legal code for each game of a batch of observations."""
MakeSetups = Callable[[Ruleset, int, np.random.Generator], Setups]
Numbers = NDArray[Any]


class StrategoVectorEnv(VectorEnv[Observed, Numbers, Numbers]):
    """Games of one kernel. `opponent` plays the other seat; without one the agent plays both, ply by ply.

    `seat` is the agent's: red, blue, or None to draw it for each game. Playing itself, the agent gets the observation
    of the seat to move (`infos["seat"]`) and the reward of the seat that has just moved. There is no set-up phase:
    `setups(ruleset, games, rng)` makes the set-ups of both seats (by default `random_setups`). Illegal actions raise
    `UsageError`. With `copy=False` the arrays of an observation change in the next step.
    """

    def __init__(
        self,
        ruleset: Ruleset | str = "barrage",
        num_envs: int = 1,
        opponent: BatchPolicy | None = None,
        *,
        seat: str | None = None,
        setups: MakeSetups = random_setups,
        facts: bool = True,
        autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP,
        copy: bool = True,
    ) -> None:
        check_option("seat", seat, [None, *COLOR_BY_WORD])
        if opponent is not None and not callable(opponent):
            raise UsageError(f"opponent: expected a function, got {opponent!r}. Bots need vectorization_mode='async'.")
        if opponent is None and seat is not None:
            raise UsageError(f"seat: expected an opponent for the other seat, as the agent plays both, got {seat!r}")
        if not callable(setups):
            raise UsageError(f"setups: expected a function, got {setups!r}")
        check_option("facts", facts, [True, False])
        check_count("num_envs", num_envs)
        self.kernel = Kernel(ruleset, num_envs)
        self.num_envs, self.opponent, self.facts, self.copy = num_envs, opponent, facts, copy
        self.metadata = {"render_modes": [], "autoreset_mode": AutoresetMode(autoreset_mode)}
        self.single_observation_space = observation_space(self.kernel.ruleset, facts)
        self.single_action_space = spaces.Discrete(code_count(self.kernel.ruleset))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._fixed_seat = None if seat is None else COLOR_BY_WORD[seat]
        self._make_setups = setups
        self._seats = np.zeros(num_envs, np.int8)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observed, dict[str, Any]]:
        """Begin all games, or those of `options["reset_mask"]`."""
        super().reset(seed=seed)
        check_reset_options(options, "reset_mask")
        which = np.ones(self.num_envs, np.bool_)
        if options and "reset_mask" in options:
            which = np.asarray(options["reset_mask"])
            if which.dtype != np.bool_ or which.shape != (self.num_envs,) or not which.any():
                raise UsageError(
                    f"reset_mask: expected {self.num_envs} of True and False, at least one True, "
                    f"got {which.dtype} {which.shape}"
                )
        self._begin(which)
        return self._observed(), self._infos()

    def step(self, actions: Numbers) -> tuple[Observed, Numbers, Numbers, Numbers, dict[str, Any]]:
        if (self.kernel.games["reason"] == NOT_PLAYED).any():
            raise UsageError("a game has not begun. Call reset first.")
        mode, over = self.metadata["autoreset_mode"], self.kernel.is_over
        if mode is AutoresetMode.DISABLED and over.any():
            raise UsageError(f"game {over.argmax()}: it is over. Call reset with a reset_mask first.")
        if self.opponent is None:
            self._seats = self.kernel.to_move.copy()
        self.kernel.step(actions)
        self._opponent_moves()
        if over.any():  # under NEXT_STEP: these games were over before the step
            self._begin(over)
        done = self.kernel.is_over
        rewards = np.where(self.kernel.winner == self._seats, 1.0, -1.0) * (done & (self.kernel.winner < len(Color)))
        infos: dict[str, Any] = {}
        if mode is AutoresetMode.SAME_STEP and done.any():
            infos = self._final(done)
            self._begin(done)
        return self._observed(), rewards, done, np.zeros(self.num_envs, np.bool_), {**self._infos(), **infos}

    # --- games --------------------------------------------------------------------------------------------------------

    def _begin(self, which: Numbers) -> None:
        """Begin games, up to the agent's first turn: again, if the opponent wins before it."""
        for _ in range(MOST_TRIES):
            numbers = np.flatnonzero(which)
            self.kernel.reset(self._make_setups(self.kernel.ruleset, len(numbers), self.np_random), numbers)
            drawn = self.np_random.integers(len(Color), size=len(numbers))
            self._seats[numbers] = drawn if self._fixed_seat is None else self._fixed_seat
            self._opponent_moves()
            which = which & self.kernel.is_over
            if not which.any():
                return
        raise UsageError(f"game {which.argmax()}: {MOST_TRIES} games in a row ended before the agent's first turn")

    def _opponent_moves(self) -> None:
        if self.opponent is None:
            return
        which = ~self.kernel.is_over & (self.kernel.to_move != self._seats)
        if which.any():
            actions = np.zeros(self.num_envs, np.int64)
            answer = self.opponent({name: array[which] for name, array in self._arrays().items()})
            if answer is None:
                raise UsageError("opponent: expected a code for each game, got None")
            actions[which] = answer
            self.kernel.step(actions, ~which)

    # --- what is returned ---------------------------------------------------------------------------------------------

    def _arrays(self) -> Observed:
        """Return what the seat to move observes in each game, in arrays of the kernel."""
        kept: Observed = {"observation": self.kernel.planes, "action_mask": self.kernel.mask.view(np.int8)}
        return {**kept, "facts": self.kernel.facts} if self.facts else kept

    def _observed(self) -> Observed:
        """Return what the agent observes; of a game that is over, from the seat of its last turn."""
        kernel, over = self.kernel, np.flatnonzero(self.kernel.is_over)
        if len(over):
            kernel.planes[over], kernel.facts[over] = kernel.observe(self._seats[over], over)
        return deepcopy(self._arrays()) if self.copy else self._arrays()

    def _infos(self) -> dict[str, Any]:
        """Return the seat of each observation; of games that are over also the winner (2: none) and the reason."""
        done = self.kernel.is_over
        infos: dict[str, Any] = {"seat": np.where(done, self._seats, self.kernel.to_move)}
        return {**infos, **self._results(done)} if done.any() else infos

    def _results(self, done: Numbers) -> dict[str, Any]:
        reasons = np.full(self.num_envs, None, object)
        for number in np.flatnonzero(done):
            reason = REASONS[self.kernel.games["reason"][number]]
            reasons[number] = reason and reason.value
        return {"winner": np.where(done, self.kernel.winner, 0), "_winner": done, "reason": reasons, "_reason": done}

    def _final(self, done: Numbers) -> dict[str, Any]:
        """Return what Gymnasium has for games that end and begin in one step."""
        numbers = np.flatnonzero(done)
        planes, facts = self.kernel.observe(self._seats[numbers], numbers)
        final = np.full(self.num_envs, None, object)
        for place, number in enumerate(numbers):
            seen = {"observation": planes[place], "action_mask": np.zeros_like(self.kernel.mask[number], np.int8)}
            final[number] = {**seen, "facts": facts[place]} if self.facts else seen
        return {"final_obs": final, "_final_obs": done, "final_info": self._results(done), "_final_info": done}
