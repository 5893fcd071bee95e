"""A Gymnasium environment: one agent plays against a bot of the arena or against a policy.

Importing this module registers `arena/Stratego-v0`.
"""

import contextlib
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, Unpack

import gymnasium
import numpy as np
import trio
from gymnasium import spaces
from numpy.typing import NDArray

from arena.api.keywords import AnyPath, BotKeywords
from arena.api.opened_bot import OpenBot, check_seconds, open_bot
from arena.errors import UsageError
from arena.learn.action_codes import action_code, action_text, code_count
from arena.learn.one_game import (
    MOST_TRIES,
    RENDER_MODES,
    Observed,
    OneGame,
    OneGameEnv,
    check_option,
    check_reset_options,
    observation_space,
)
from arena.learn.placement import setup_numbers, setup_rows
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import Ruleset
from protocol.messages import End
from protocol.seats import COLOR_BY_WORD, RESIGN, Color, Outcome, Reason, SeatResult

USUAL_SECONDS = 10.0


Start = Callable[[], AbstractAsyncContextManager[OpenBot]]
Token = trio.lowlevel.TrioToken


async def _serve(
    start: Start, seconds: float, scope: trio.CancelScope, begun: Future[Token], opened: Future[OpenBot]
) -> None:
    begun.set_result(trio.lowlevel.current_trio_token())
    try:
        async with start() as bot:
            with scope:
                await bot.hello(within=seconds)
                opened.set_result(bot)
                await trio.sleep_forever()
    except BaseException as error:  # handed to the caller, who waits
        if not opened.done():
            opened.set_exception(error)


def _end(thread: threading.Thread, token: Token, scope: trio.CancelScope) -> None:
    with contextlib.suppress(trio.RunFinishedError):
        token.run_sync_soon(scope.cancel)
    if threading.current_thread() is not thread:  # in which garbage may be collected, too
        thread.join()


class BotOpponent:
    """A bot's process, which runs in the background until `close`.

    The bot receives the time control `time`, and has `seconds` for its start and each answer. Raises `ArenaError` for a
    bot that does not start, does not answer or breaks the protocol; that ends its process, and the next `set_up` starts
    another.
    """

    def __init__(
        self,
        path: AnyPath,
        ruleset: Ruleset,
        *,
        time: str = "100ms",
        seconds: float = USUAL_SECONDS,
        **options: Unpack[BotKeywords],
    ) -> None:
        check_seconds("seconds", seconds)
        self._ruleset, self._time, self._seconds = ruleset, time, seconds
        here = os.path.abspath(path) if os.path.lexists(path) else path  # the program may change its folder
        self._start = partial(open_bot, here, rules=ruleset, **options)
        self._open()

    def _open(self) -> None:
        self._color: Color | None = None
        begun: Future[Token] = Future()
        opened: Future[OpenBot] = Future()
        scope = trio.CancelScope()
        served = _serve, self._start, self._seconds, scope, begun, opened
        thread = threading.Thread(target=trio.run, args=served, name="arena bot", daemon=True)
        thread.start()
        self._token = begun.result()
        self.close = weakref.finalize(self, _end, thread, self._token, scope)
        """End the bot's process; so does the end of the interpreter, or of this object."""
        try:
            self._bot = opened.result()
        except BaseException:
            self.close()
            raise

    def _call(self, function: Any, *arguments: Any, **options: Any) -> Any:
        if not self.close.alive:
            raise UsageError("the bot's process has been ended. Call reset first.")
        called = partial(function, *arguments, within=self._seconds, **options)
        try:
            return trio.from_thread.run(called, trio_token=self._token)
        except BaseException:  # also an interrupt: the bot's answer would come later
            self.close()
            raise

    def set_up(self, color: Color, seed: int) -> tuple[str, ...]:
        """Begin a game of the bot on this side, and return the rows of its set-up."""
        if not self.close.alive:
            self._open()
        if self._color is not None:  # the game before was given up
            self.end(Outcome(self._color, Reason.RESIGN))
        self._color = color
        rows: tuple[str, ...] = self._call(self._bot.set_up, color, time=self._time, seed=seed)
        return rows

    def start(self, red: Sequence[str], blue: Sequence[str]) -> None:
        self._game = EngineGame(self._ruleset, red, blue)
        self._call(self._bot.start, self._game)

    def choose(self) -> str:
        """Return the bot's action as text."""
        action: str = self._call(self._bot.turn)
        return action

    def tell(self, action: str) -> None:
        """Tell the bot of an action of either side."""
        self._call(self._bot.tell, self._game.apply(action))

    def end(self, outcome: Outcome) -> None:
        """Tell the bot that its game is over."""
        result = SeatResult.WIN if outcome.winner is self._color else SeatResult.LOSS
        self._call(self._bot.send, End(SeatResult.DRAW if outcome.winner is None else result, outcome.reason))
        self._color = None


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
        elif opponent is not None and self._policy is None:
            raise UsageError(f"opponent: expected a function, a bot's path or name, or None, got {opponent!r}")
        elif bot_options:
            raise UsageError(f"bot_options: expected a bot's path or name as opponent, got {opponent!r}")

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observed, dict[str, Any]]:
        super().reset(seed=seed)
        check_reset_options(options, "setups")
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
