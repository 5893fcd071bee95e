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
from arena.errors import ArenaError
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import Ruleset
from protocol.messages import End
from protocol.seats import Color, Outcome, Reason, SeatResult

USUAL_SECONDS = 10.0


class BotOpponent:
    """A bot's process, which runs in the background until `close`.

    `time` is the time control that the bot is told, `seconds` how long an answer may take. Raises `ArenaError` for a
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
        self._ruleset, self._time, self._seconds = ruleset, time, seconds
        self._path, self._options = path, options
        self._open()

    def _open(self) -> None:
        self._game: EngineGame | None = None
        self._color: Color | None = None
        self._opened: Future[tuple[OpenBot, trio.lowlevel.TrioToken]] = Future()
        self._closing = trio.Event()
        self._thread = threading.Thread(target=self._run, name="arena bot", daemon=True)
        self._thread.start()
        self._bot, self._token = self._opened.result()

    def _run(self) -> None:
        try:
            trio.run(self._serve)
        except BaseException as error:  # handed to the caller, who waits
            if not self._opened.done():
                self._opened.set_exception(error)

    async def _serve(self) -> None:
        async with open_bot(self._path, rules=self._ruleset, **self._options) as bot:
            await bot.hello()
            self._opened.set_result((bot, trio.lowlevel.current_trio_token()))
            await self._closing.wait()

    def _call(self, function: Any, *arguments: Any, **options: Any) -> Any:
        called = partial(function, *arguments, within=self._seconds, **options)
        try:
            return trio.from_thread.run(called, trio_token=self._token)
        except ArenaError:
            self.close()
            raise

    def set_up(self, color: Color, seed: int) -> tuple[str, ...]:
        """Begin a game of the bot on this side, and return the rows of its set-up."""
        if not self._thread.is_alive():
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
        assert self._game is not None
        self._call(self._bot.tell, self._game.apply(action))

    def end(self, outcome: Outcome) -> None:
        """Tell the bot that its game is over."""
        result = SeatResult.WIN if outcome.winner is self._color else SeatResult.LOSS
        self._call(self._bot.send, End(SeatResult.DRAW if outcome.winner is None else result, outcome.reason))
        self._color = None

    def close(self) -> None:
        """End the bot's process."""
        if self._thread.is_alive():
            with contextlib.suppress(trio.RunFinishedError):
                trio.from_thread.run_sync(self._closing.set, trio_token=self._token)
            self._thread.join()
