"""A Gymnasium environment: one agent plays against a bot of the arena or against a policy.

Importing this module registers `arena/Stratego-v0`.
"""

import os
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from arena.errors import UsageError
from arena.learn.action_codes import action_code, action_text, code_count
from arena.learn.bot_opponent import BotOpponent
from arena.learn.one_game import (
    MOST_TRIES,
    RENDER_MODES,
    Observed,
    OneGame,
    OneGameEnv,
    check_option,
    observation_space,
)
from arena.learn.placement import setup_numbers, setup_rows
from arena.stratego.rules.ruleset import Ruleset
from protocol.notation import Color, Reason
from protocol.seats import COLOR_BY_WORD, RESIGN

Policy = Callable[[Observed], int]
"""A function that returns a legal code for what a seat observes, in the set-up phase, too."""
MOST_SEED = 2**32


class StrategoEnv(OneGameEnv, gymnasium.Env[Any, Any]):
    """The agent has one seat, `opponent` the other: a bot's path, a `Policy`, or None for random legal actions.

    `seat` is red, blue, or None to draw it for each game. `bot_options` are those of `BotOpponent`, others those of
    `OneGameEnv`; a bot makes its own set-up. A bot that resigns or plays an illegal action loses; one that fails raises
    `ArenaError`, and is started again by the next `reset`.
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": 4}  # noqa: RUF012

    def __init__(
        self,
        ruleset: Ruleset | str = "barrage",
        opponent: str | os.PathLike[str] | Policy | None = None,
        *,
        seat: str | None = None,
        bot_options: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(ruleset, **options)
        check_option("seat", seat, [None, *COLOR_BY_WORD])
        self._fixed_seat = None if seat is None else COLOR_BY_WORD[seat]
        self.observation_space = observation_space(self.ruleset, self.facts)
        self.action_space = spaces.Discrete(code_count(self.ruleset))
        self._policy = opponent if callable(opponent) else None
        self._bot: BotOpponent | None = None
        if isinstance(opponent, str | os.PathLike):
            self._bot = BotOpponent(opponent, self.ruleset, **(bot_options or {}))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observed, dict[str, Any]]:
        super().reset(seed=seed)
        for _ in range(MOST_TRIES):
            self._begin(options)
            if not self.game.is_over:
                return self._observed(self.seat), {"seat": self.seat.word}
        raise UsageError(f"reset: {MOST_TRIES} games in a row ended before the agent's first turn")

    def _begin(self, options: dict[str, Any] | None) -> None:
        """Begin a game, up to the agent's first turn."""
        drawn = Color(int(self.np_random.integers(len(Color))))
        self.seat = drawn if self._fixed_seat is None else self._fixed_seat
        setups = self._first_setups(options, self.np_random)
        self._bot_choices: list[int] = []
        if self._bot:
            if options and "setups" in options:
                raise UsageError("setups: a bot makes its own set-up")
            rows = self._bot.set_up(self.seat.opponent, int(self.np_random.integers(MOST_SEED)))
            self._bot_choices = setup_numbers(rows).tolist()
            if setups is not None:
                setups[0, self.seat.opponent] = self._bot_choices
        self._game = OneGame(self.ruleset, setups)
        self._start_bot()
        self._opponent_acts()

    def step(self, action: int) -> tuple[Observed, float, bool, bool, dict[str, Any]]:
        was_placing = self.game.placement is not None
        if self.seat not in self.game.acting:  # also after a bot has failed
            raise UsageError("step: the game is over. Call reset first.")
        code = self.game.act_anyhow(self.seat, action, self.illegal, self.np_random)
        if self._bot and code >= 0 and not was_placing:
            self._bot.tell(action_text(code, self.seat))
        self._opponent_acts()
        if self.render_mode == "human":
            self.render()
        info = {"seat": self.seat.word, "action": code, **self.game.result()}
        return self._observed(self.seat), self.game.reward(self.seat), self.game.is_over, False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which codes are legal, as sb3-contrib asks for it."""
        return self.game.mask(self.seat).astype(np.bool_)

    def close(self) -> None:
        """End the process of a bot."""
        if self._bot:
            self._bot.close()

    def _opponent_acts(self) -> None:
        """Let the opponent act until it is the agent's turn."""
        enemy = self.seat.opponent
        while self.game.acting and self.seat not in self.game.acting:
            if self._policy:
                self.game.act(enemy, self._policy(self._observed(enemy)))
            elif self._bot is None:
                self.game.act(enemy, self.np_random.choice(np.flatnonzero(self.game.mask(enemy))))
            elif self.game.placement:
                self.game.act(enemy, self._bot_choices[self.game.placement.square])
                self._start_bot()
            else:
                self._bot_moves(self._bot, enemy)
        if self._bot and self.game.outcome:
            self._bot.end(self.game.outcome)

    def _bot_moves(self, bot: BotOpponent, enemy: Color) -> None:
        text = bot.choose()
        try:
            code = action_code(text, enemy)
        except ValueError:  # it resigned, or its action has no code
            code = -1
        if self.game.is_legal(enemy, code):
            self.game.act(enemy, code)
            bot.tell(text)
        else:
            self.game.lose(enemy, Reason.RESIGN if text == RESIGN else Reason.ILLEGAL_ACTION)

    def _start_bot(self) -> None:
        if self._bot and self.game.setups is not None:
            red, blue = self.game.setups[0]
            self._bot.start(setup_rows(red), setup_rows(blue))


gymnasium.register(
    "arena/Stratego-v0",
    entry_point="arena.learn.gym_env:StrategoEnv",
    vector_entry_point="arena.learn.vector_env:StrategoVectorEnv",
)
