"""PettingZoo environments: the seats act in turn, or fill their set-ups at the same time."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv

from arena.errors import UsageError
from arena.learn.action_codes import code_count
from arena.learn.one_game import RENDER_MODES, Observed, OneGame, OneGameEnv, check_count, observation_space
from arena.stratego.rules.ruleset import Ruleset
from protocol.notation import Color

AGENTS = {color.word: color for color in Color}


class _ZooGame(OneGameEnv):
    """The part that both environments share."""

    agents: list[str]

    def __init__(self, ruleset: Ruleset | str = "isf", *, max_cycles: int | None = None, **options: Any) -> None:
        super().__init__(ruleset, **options)
        if max_cycles is not None:
            check_count("max_cycles", max_cycles)
        self.max_cycles = max_cycles
        self.possible_agents = list(AGENTS)
        self.agents = []
        self.observation_spaces = {agent: observation_space(self.ruleset, self.facts) for agent in AGENTS}
        self.action_spaces = {agent: spaces.Discrete(code_count(self.ruleset)) for agent in AGENTS}
        self.rng = np.random.default_rng()

    def observation_space(self, agent: str) -> spaces.Dict:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete[Any]:
        return self.action_spaces[agent]

    def observe(self, agent: str) -> Observed:
        return self._observed(AGENTS[agent])

    def close(self) -> None:
        """Do nothing: there is no window. PettingZoo asks for this of all that render."""

    def _refuse_over(self) -> None:
        if not self.agents:
            raise UsageError("no game is being played. Call reset first.")

    def _begin(self, seed: int | None, options: Mapping[str, Any] | None) -> None:
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self._game = OneGame(self.ruleset, self._first_setups(options, self.rng))
        self.turns = 0
        self.agents = self.possible_agents[:]


class StrategoAECEnv(_ZooGame, AECEnv[str, Observed, int | None]):  # type: ignore[misc]
    """The agents red and blue act in turn; in the set-up phase each fills its next square.

    `max_cycles` ends a game after so many turns of each agent; other options are those of `OneGameEnv`.
    `reset(options={"setups": {"red": ROWS, "blue": ROWS}})` begins with given set-ups.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "arena_stratego_v0",
        "render_modes": RENDER_MODES,
        "is_parallelizable": False,
        "render_fps": 4,
    }

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        self._begin(seed, options)
        self.rewards: dict[str, float] = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards: dict[str, float] = dict.fromkeys(AGENTS, 0.0)
        self.terminations: dict[str, bool] = dict.fromkeys(AGENTS, False)
        self.truncations: dict[str, bool] = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self._skip_agent_selection = None
        self._select()

    def last(self, observe: bool = True) -> Any:
        self._refuse_over()
        return super().last(observe)

    def step(self, action: int | None) -> None:
        self._refuse_over()
        game, agent = self.game, self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise UsageError(f"{agent}: expected a code, got None: the agent has to act")
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self.infos[agent] = {"action": game.act_anyhow(AGENTS[agent], action, self.illegal, self.rng)}
        self.turns += 1
        if game.is_over:
            for name, color in AGENTS.items():
                self.rewards[name], self.terminations[name] = game.reward(color), True
                self.infos[name] |= game.result()
        elif self.max_cycles is not None and self.turns >= self.max_cycles * len(AGENTS):
            self.truncations = dict.fromkeys(AGENTS, True)
        self._accumulate_rewards()
        self._select()
        if self.render_mode == "human":
            self.render()

    def _select(self) -> None:
        """Select the agent that has to act; at the end each has to note it, with the action None."""
        self.agent_selection = self.game.acting[0].word if self.game.acting else self.agents[0]
        self._deads_step_first()


class StrategoParallelEnv(_ZooGame, ParallelEnv[str, Observed, int]):  # type: ignore[misc]
    """Both agents fill a square of their set-ups in a step; afterwards a step is the move of one.

    An agent whose mask is empty waits: its action, if there is one, is ignored. Options are those of `StrategoAECEnv`;
    `max_cycles` ends a game after so many steps.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "arena_stratego_parallel_v0",
        "render_modes": RENDER_MODES,
        "render_fps": 4,
    }

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Observed], dict[str, dict[str, Any]]]:
        self._begin(seed, options)
        return {agent: self.observe(agent) for agent in AGENTS}, {agent: {} for agent in AGENTS}

    def step(
        self, actions: Mapping[str, int]
    ) -> tuple[dict[str, Observed], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        self._refuse_over()
        for color in self.game.acting:
            if color.word not in actions:
                raise UsageError(f"{color.word}: expected an action: the agent has to act")
        infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        for color in self.game.acting:
            if not self.game.is_over:
                code = self.game.act_anyhow(color, actions[color.word], self.illegal, self.rng)
                infos[color.word]["action"] = code
        self.turns += 1
        over = self.game.is_over
        cut = not over and self.max_cycles is not None and self.turns >= self.max_cycles
        if over or cut:
            self.agents = []
        if self.render_mode == "human":
            self.render()
        return (
            {agent: self.observe(agent) for agent in AGENTS},
            {agent: self.game.reward(color) for agent, color in AGENTS.items()},
            dict.fromkeys(AGENTS, over),
            dict.fromkeys(AGENTS, cut),
            {agent: info | self.game.result() for agent, info in infos.items()},
        )
