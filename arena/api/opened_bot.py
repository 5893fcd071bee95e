"""A conversation with one bot, for its tests: `arena.open_bot`."""

import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, SupportsIndex, TypeVar, Unpack

import trio

from arena.api.keywords import AnyPath, BotKeywords, GameWord, Rules, bot_word, plain_errors, play_options
from arena.api.threads import BackgroundCall, in_thread_of_trio
from arena.bots.spec import BotSpec
from arena.errors import ArenaError, IllegalAnswerError, UsageError
from arena.game import State, Variant, displayed
from arena.game.live import introduction
from arena.game.time_control import parse_time
from arena.league.league_options import PlayOptions, variant_of
from arena.league.option_values import check_options, option_value, usual_limits
from arena.league.plan import prepared
from arena.processes.folders import BotFolders
from arena.processes.process import QUIT_GRACE, BotProcess
from arena.processes.runnable import PlaySettings
from arena.processes.starting import Sandbox
from arena.sandbox.killing import killed_with_us
from arena.sandbox.launch import StartError
from arena.sandbox.levels import Level
from arena.system.concurrency import background, readable
from protocol import messages
from protocol.codec import decode_from_bot, encode_for_bot, encode_line, legal_lines
from protocol.lines import LineBuffer, LocalProtocolError, RemoteProtocolError
from protocol.messages import PROTOCOL_VERSION, Ability, ArenaMessage, BotMessage, Want
from protocol.seats import COLOR_BY_WORD, Color

START_SECONDS = 10.0
ANSWER_SECONDS = 5.0
STDERR_LINES = 5

M = TypeVar("M", messages.Ready, messages.Setup, messages.Move)


def check_seconds(name: str, value: float) -> None:
    if not isinstance(value, int | float) or not value > 0:
        raise UsageError(f"{name}: expected a number of seconds above 0, got {value!r}")


def _check_numbers(**numbers: int) -> None:
    for name, value in numbers.items():
        if not isinstance(value, SupportsIndex) or value < 0:
            raise UsageError(f"{name}: expected a whole number from 0, got {value!r}")


@dataclass(frozen=True)
class BotIntroduction:
    """The names that a bot declared; empty where it declared none."""

    name: str
    author: str
    wants: tuple[Want, ...]
    cannot: tuple[Ability, ...] = ()


class OpenBot:
    """A running bot: see `open_bot`. Methods that wait have a time limit in seconds.

    They raise `ArenaError` after it, and for a fault of the bot: a line that is no message, an unexpected message, its
    exit, more memory or processes than its limits.
    """

    def __init__(self, bot: BotSpec, variant: Variant, process: BotProcess) -> None:
        self.name = bot.name
        self.variant = variant
        self.game = variant.kind
        self.notes: list[str] = []
        """Notes that came while `hello`, `set_up` and `turn` waited for another message."""
        self._process = process
        self._buffer = LineBuffer()
        self._lines: deque[bytes] = deque()
        self._fault = ""
        self._wants: tuple[Want, ...] = ()
        self._color: Color | None = None
        self._rows: tuple[str, ...] = ()
        self._state: State | None = None

    @property
    def stderr(self) -> str:
        """The end of the bot's standard error, made printable."""
        self._process.read_stderr_now()
        return self._process.stderr_tail

    # --- messages ---------------------------------------------------------------------------------------------------

    async def send(self, *messages: ArenaMessage, within: float = ANSWER_SECONDS) -> None:
        """Send messages (`protocol.messages`). Raises `ArenaError` if the bot does not read them."""
        await self._write(encode_for_bot, messages, within)

    async def _write(self, encode: Callable[[Any], bytes], items: Sequence[object], within: float) -> None:
        check_seconds("within", within)
        try:
            data = b"".join(map(encode, items))
        except (LocalProtocolError, KeyError) as error:
            raise UsageError(f"this cannot be sent to a bot: {error}") from None
        with trio.move_on_after(within) as limit:
            await self._process.write(data)
        if limit.cancelled_caught:
            raise self._error(f"has not read what it was sent within {within:g} s")

    async def receive(self, within: float = ANSWER_SECONDS) -> BotMessage:
        """Return the bot's next message, of any kind. Raises `ArenaError` if none comes within this number of
        seconds.
        """
        check_seconds("within", within)
        return await self._receive_until(trio.current_time() + within, within)

    async def _receive_until(self, end: float, within: float) -> BotMessage:
        with trio.move_on_at(end):
            while True:
                message = self._next()
                if message is not None:
                    return message
                await self._read()
        raise self._error(f"sent no message within {within:g} s")

    def _next(self) -> BotMessage | None:
        while self._lines:
            line = self._lines.popleft()
            try:
                message = decode_from_bot(line, self.game)
            except RemoteProtocolError as error:
                raise self._error(f"sent an invalid message: {error}") from None
            if message is not None:
                return message
        return None

    async def _read(self) -> None:
        data = self._process.read_now()
        if data is None:
            await readable(self._process.stdout)
            return
        if not data:
            await self._process.wait_exit()
            raise self._error(self._fault or self._process.exit_words())
        try:
            self._lines.extend(self._buffer.feed(data))
        except RemoteProtocolError as error:
            raise self._error(f"sent an invalid message: {error}") from None

    async def watch(self) -> None:
        """Stop the bot when it uses more than its limits."""
        self._fault = (await self._process.watch()).words
        self._process.kill_now()

    def _error(self, what: str) -> ArenaError:
        lines = self.stderr.strip().splitlines()[-STDERR_LINES:]
        return ArenaError("\n".join([f"{self.name} {what}", *(f"    {self.name} stderr: {line}" for line in lines)]))

    # --- a game -----------------------------------------------------------------------------------------------------

    async def hello(self, within: float = START_SECONDS) -> BotIntroduction:
        """Say hello, and wait for the bot's introduction and its `ready`."""
        said: list[BotMessage] = []
        await self.send(messages.Hello(PROTOCOL_VERSION), within=within)
        introduces = (messages.Name, messages.Author, messages.Wants, messages.Cannot)
        await self._wait_for(messages.Ready, within, said.append, allowed=introduces)
        name = next((message.text for message in said if isinstance(message, messages.Name)), "")
        author = next((message.text for message in said if isinstance(message, messages.Author)), "")
        self._wants = tuple(want for message in said if isinstance(message, messages.Wants) for want in message.wants)
        cannot = tuple(one for message in said if isinstance(message, messages.Cannot) for one in message.abilities)
        return BotIntroduction(name, author, self._wants, cannot)

    async def set_up(
        self, color: Color | str = Color.RED, *, time: str = "100ms", seed: int = 1, within: float = ANSWER_SECONDS
    ) -> tuple[str, ...]:
        """Begin a game on this side and return the parts of the bot's set-up, in Stratego its rows, its own back row
        first; none in a game without set-ups.

        Raises `ArenaError` if the rules do not allow the set-up.
        """
        if not isinstance(color, Color) and not (isinstance(color, str) and color in COLOR_BY_WORD):
            raise UsageError(f"expected {' or '.join(COLOR_BY_WORD)}, got {color!r}")
        side = color if isinstance(color, Color) else COLOR_BY_WORD[color]
        if not isinstance(time, str):
            raise UsageError(f"time: expected a string such as '100ms', got {time!r}")
        _check_numbers(seed=seed)
        control = option_value("time", parse_time, time)
        await self.send(*introduction(self.variant, control, seed, side), within=within)
        self._color = side
        if self.game.has_setups:
            self._rows = (await self._wait_for(messages.Setup, within, self._note, allowed=(messages.Note,))).rows
            try:
                self.game.check_setup(self.variant, side, "/".join(self._rows))
            except IllegalAnswerError as error:
                raise self._error(f"sent an illegal set-up: {error}") from None
        return self._rows

    async def start(self, game: Any, within: float = ANSWER_SECONDS) -> None:
        """Start a game in which both sides have set up: a state of the game, in Stratego an `arena.Game`.

        The bot receives what its side may know of the beginning, and before its turns the lines that it wants. The
        caller plays the game: see `tell`.
        """
        if self._color is None:
            raise UsageError("expected set_up before the game starts")
        self._state = state = self._state_of(game, self._color)
        await self._write(encode_line, state.first_lines(self._color), within)

    async def tell(self, told: Any, within: float = ANSWER_SECONDS) -> None:
        """Tell the bot of an action, also of its own: `told` is what `state.play` returned for both sides.

        In Stratego it is the events that `game.apply` returned.
        """
        if self._state is None or self._color is None:
            raise UsageError("expected start() before tell()")
        await self._write(encode_line, self._lines_of(told, self._color), within)

    def _state_of(self, game: Any, color: Color) -> State:
        if not isinstance(game, State):
            raise UsageError(f"expected a state of {self.game.name} (arena.game.State), got {game!r:.60}")
        return game

    def _lines_of(self, told: Any, color: Color) -> Sequence[str]:
        if not (isinstance(told, tuple) and len(told) == len(Color) and all(isinstance(one, tuple) for one in told)):
            raise UsageError(f"expected the lines for both sides, as state.play returns them, got {told!r:.60}")
        lines: Sequence[str] = told[color]
        return lines

    async def turn(
        self, *, ply: int | None = None, own_ms: int = 100, enemy_ms: int = 100, within: float = ANSWER_SECONDS
    ) -> str:
        """Give the bot the turn, with these milliseconds on the clocks, and return its action, such as `a4-a5`.

        Only the form of the action is checked; the game judges it. Without a game (see `start`) the ply is 1 by
        default, and the caller has to `send` the lines that the bot wants.
        """
        _check_numbers(ply=1 if ply is None else ply, own_ms=own_ms, enemy_ms=enemy_ms)
        state, color, due = self._state, self._color, list[ArenaMessage]()
        if state is not None and color is not None:
            ply = state.ply + 1 if ply is None else ply
            if Want.BOARD in self._wants and (board := state.board_line(color)) is not None:
                await self._write(encode_line, (board,), within)
            if Want.LEGAL in self._wants and (actions := state.legal_actions()) is not None:
                due.extend(legal_lines(tuple(actions)))
        await self.send(*due, messages.Turn(1 if ply is None else ply, own_ms, enemy_ms), within=within)
        return (await self._wait_for(messages.Move, within, self._note, allowed=(messages.Note,))).action

    def _note(self, message: BotMessage) -> None:
        if isinstance(message, messages.Note):
            self.notes.append(message.text)

    async def _wait_for(
        self, kind: type[M], within: float, other: Callable[[BotMessage], None], allowed: tuple[type, ...]
    ) -> M:
        end = trio.current_time() + within
        while True:
            message = await self._receive_until(end, within)
            if isinstance(message, kind):
                return message
            if not isinstance(message, allowed):
                raise self._error(f"was to send {kind.__name__.lower()}, and sent {message!r}")
            other(message)


@contextlib.asynccontextmanager
async def open_bot(
    path: AnyPath, *, rules: Rules = "", game: GameWord = "", **options: Unpack[BotKeywords]
) -> AsyncIterator[Any]:
    """Start one bot, built and isolated as in a game, as an `OpenBot` within an `async with` statement, under trio.

    `rules` and `game` are those of `arena.play`. At the end the bot and all its processes are gone; if this process is
    killed, so is the bot. Raises `UsageError` for wrong arguments, and other `ArenaError`.
    """
    if not trio.lowlevel.in_trio_run():
        raise UsageError("arena.open_bot: expected to be used under trio, as in trio.run(main); asyncio will not do")
    with plain_errors():
        chosen = play_options(BotKeywords, options, open_bot, rules=rules, game=game)
        variant = variant_of(chosen)
    with contextlib.ExitStack() as stack:
        folders = stack.enter_context(BotFolders())
        level, bot = await in_thread_of_trio(partial(_prepare, bot_word(path), chosen, folders))
        settings = PlaySettings([bot], level, usual_limits(chosen), interpreters=chosen.interpreters)
        held = stack.enter_context(Sandbox(settings))
        with plain_errors():
            await held.try_out()
        try:
            process = held.start(bot)
        except StartError as error:
            raise ArenaError(f"{bot.name} cannot be started: {error}") from None
        opened = displayed(variant.kind.displays.opened, OpenBot)(bot, variant, process)
        try:
            with killed_with_us(process.pid):
                async with background(process.drain_stderr, opened.watch):
                    yield opened
            process.write_now(encode_for_bot(messages.Quit()))
        finally:
            await process.end(QUIT_GRACE)


def _prepare(
    path: str, options: PlayOptions, folders: BotFolders, call: BackgroundCall[tuple[Level, BotSpec]]
) -> tuple[Level, BotSpec]:
    check_options(options)
    level, bot = prepared(path, options, folders, call.remark, call.run)
    if bot.fault is not None:
        raise UsageError(bot.fault)
    return level, bot
