"""A bot of the arena as the opponent in an environment: its process plays one game after another."""

import contextlib
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, Unpack

import trio

from arena.api.keywords import AnyPath, BotKeywords
from arena.api.opened_bot import OpenBot, open_bot
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import Ruleset
from protocol.messages import End
from protocol.seats import Color, Reason, SeatResult

USUAL_SECONDS = 10.0


class BotOpponent:
    """A bot's process, which runs in the background until `close`.

    `time` is the time control that the bot is told, `seconds` how long an answer may take. Raises `ArenaError` for a
    bot that does not start, does not answer or breaks the protocol.
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
        self._ruleset, self._time, self._seconds = ruleset, time, seconds
        self._game: EngineGame | None = None
        self._color: Color | None = None
        self._opened: Future[tuple[OpenBot, trio.lowlevel.TrioToken]] = Future()
        self._closing = trio.Event()
        self._thread = threading.Thread(target=self._run, args=(path, options), name="arena bot", daemon=True)
        self._thread.start()
        self._bot, self._token = self._opened.result()

    def _run(self, path: AnyPath, options: BotKeywords) -> None:
        try:
            trio.run(self._serve, path, options)
        except BaseException as error:  # handed to the caller, who waits
            if not self._opened.done():
                self._opened.set_exception(error)

    async def _serve(self, path: AnyPath, options: BotKeywords) -> None:
        async with open_bot(path, rules=self._ruleset, **options) as bot:
            await bot.hello()
            self._opened.set_result((bot, trio.lowlevel.current_trio_token()))
            await self._closing.wait()

    def _call(self, function: Any, *arguments: Any, **options: Any) -> Any:
        called = partial(function, *arguments, within=self._seconds, **options)
        return trio.from_thread.run(called, trio_token=self._token)

    def set_up(self, color: Color, seed: int) -> tuple[str, ...]:
        """Begin a game of the bot on this side, and return the rows of its set-up."""
        self.end(Reason.RESIGN)
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
        assert self._game is not None
        self._call(self._bot.tell, self._game.apply(action))

    def end(self, reason: Reason) -> None:
        """Tell the bot that its game is over: as it was played, or won by this reason if it was given up."""
        if self._color is None:
            return
        outcome = self._game.outcome if self._game else None
        result = SeatResult.WIN
        if outcome is not None:
            reason = outcome.reason
            won = outcome.winner is self._color
            result = SeatResult.DRAW if outcome.winner is None else SeatResult.WIN if won else SeatResult.LOSS
        self._call(self._bot.send, End(result, reason))
        self._game = self._color = None

    def close(self) -> None:
        """End the bot's process."""
        if self._thread.is_alive():
            with contextlib.suppress(trio.RunFinishedError):
                trio.from_thread.run_sync(self._closing.set, trio_token=self._token)
            self._thread.join()
