"""A bot of the arena as the opponent in an environment: its process plays one game after another."""

import contextlib
import threading
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, Unpack

import trio

from arena.api.keywords import AnyPath, BotKeywords
from arena.api.opened_bot import OpenBot, open_bot
from arena.errors import UsageError
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import Ruleset
from protocol.messages import End
from protocol.seats import Color, Outcome, Reason, SeatResult

USUAL_SECONDS = 10.0


Start = Callable[[], AbstractAsyncContextManager[OpenBot]]
Token = trio.lowlevel.TrioToken


async def _serve(start: Start, scope: trio.CancelScope, begun: Future[Token], opened: Future[OpenBot]) -> None:
    begun.set_result(trio.lowlevel.current_trio_token())
    try:
        async with start() as bot:
            with scope:
                await bot.hello()
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

    The bot is told the time control `time`, and has `seconds` for each answer. Raises `ArenaError` for a
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
        self._start = partial(open_bot, path, rules=ruleset, **options)
        self._open()

    def _open(self) -> None:
        self._color: Color | None = None
        begun: Future[Token] = Future()
        opened: Future[OpenBot] = Future()
        scope = trio.CancelScope()
        served = _serve, self._start, scope, begun, opened
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
