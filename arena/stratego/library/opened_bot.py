"""A conversation with one bot that plays Stratego, for its tests: `arena.open_bot`."""

import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar, Unpack

import trio

from arena.api.keywords import AnyPath, BotKeywords, bot_word, plain_errors, play_options
from arena.api.threads import BackgroundCall, in_thread_of_trio
from arena.bots.finding import find_bots
from arena.bots.folders import BotFolders
from arena.bots.process import QUIT_GRACE, BotProcess
from arena.bots.spec import BotSpec
from arena.bots.starting import Sandbox
from arena.errors import ArenaError, UsageError
from arena.game.live import introduction
from arena.game.time_control import parse_time
from arena.league.entrants import built
from arena.league.league_options import PlayOptions
from arena.league.option_values import check_options, option_value, usual_limits
from arena.sandbox.launch import StartError
from arena.sandbox.levels import Level, choose
from arena.stratego.game import variant_of
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.events import Event
from arena.stratego.rules.ruleset import Ruleset
from arena.stratego.rules.rulesets import as_ruleset
from arena.stratego.rules.setup import IllegalSetupError, check_setup
from arena.stratego.seat_view import begun_view, enemy_squares, legal_actions, told_to
from arena.system.concurrency import background, readable
from protocol import messages
from protocol.actions import STRATEGO_FORMS
from protocol.codec import decode_from_bot, encode_for_bot, legal_lines
from protocol.lines import LineBuffer, LocalProtocolError, RemoteProtocolError
from protocol.messages import PROTOCOL_VERSION, Ability, ArenaMessage, BotMessage, Want
from protocol.notation import COLOR_BY_WORD, Color
from protocol.view import View

START_SECONDS = 10.0
ANSWER_SECONDS = 5.0
STDERR_LINES = 5

M = TypeVar("M", messages.Ready, messages.Setup, messages.Move)


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

    def __init__(self, bot: BotSpec, ruleset: Ruleset, process: BotProcess) -> None:
        self.name = bot.name
        self.ruleset = ruleset
        self.notes: list[str] = []
        """Notes that came while `hello`, `set_up` and `turn` waited for another message."""
        self._process = process
        self._buffer = LineBuffer()
        self._lines: deque[bytes] = deque()
        self._fault = ""
        self._wants: tuple[Want, ...] = ()
        self._color: Color | None = None
        self._rows: tuple[str, ...] | None = None
        self._game: EngineGame | None = None
        self._view: View | None = None

    @property
    def stderr(self) -> str:
        """The end of the bot's standard error, made printable."""
        self._process.read_stderr_now()
        return self._process.stderr_tail

    # --- messages ---------------------------------------------------------------------------------------------------

    async def send(self, *messages: ArenaMessage, within: float = ANSWER_SECONDS) -> None:
        """Send messages (`protocol.messages`). Raises `ArenaError` if the bot does not read them."""
        try:
            data = b"".join(map(encode_for_bot, messages))
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
                message = decode_from_bot(line, STRATEGO_FORMS)
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
        """Begin a game on this side and return the bot's set-up: four rows of ten characters, its own back row first.

        Raises `ArenaError` if the set-up is not one of the ruleset.
        """
        if not isinstance(color, Color) and not (isinstance(color, str) and color in COLOR_BY_WORD):
            raise UsageError(f"expected {' or '.join(COLOR_BY_WORD)}, got {color!r}")
        side = color if isinstance(color, Color) else COLOR_BY_WORD[color]
        if not isinstance(time, str):
            raise UsageError(f"time: expected a string such as '100ms', got {time!r}")
        control = option_value("time", parse_time, time)
        await self.send(*introduction(variant_of(self.ruleset), control, seed, side), within=within)
        setup = await self._wait_for(messages.Setup, within, self._note, allowed=(messages.Note,))
        try:
            check_setup(self.ruleset, setup.rows)
        except IllegalSetupError as error:
            raise self._error(f"sent an illegal set-up: {error}") from None
        self._color, self._rows = side, setup.rows
        return setup.rows

    async def start(self, game: EngineGame, within: float = ANSWER_SECONDS) -> None:
        """Start a game (`arena.Game`) in which both sides have set up.

        The bot receives the squares of the enemy's pieces, if armies do not fill their rows, and before its turns the
        lines that it wants. The caller plays the game: see `tell`.
        """
        if not isinstance(game, EngineGame):
            raise UsageError(f"expected a game (arena.Game), got {game!r:.60}")
        if self._color is None or self._rows is None:
            raise UsageError("expected set_up before the game starts")
        self._game = game
        self._view = begun_view(game.ruleset, self._color, self._rows, enemy_squares(game, self._color))
        if not game.ruleset.fills_rows:
            await self.send(messages.Enemy(enemy_squares(game, self._color)), within=within)

    async def tell(self, events: Iterable[Event], within: float = ANSWER_SECONDS) -> None:
        """Tell the bot what its side may know of the events that `game.apply` returned, also for its own action."""
        if self._game is None or self._view is None:
            raise UsageError("expected start() before tell()")
        if not isinstance(events, Iterable) or isinstance(events, Event):
            raise UsageError(f"expected events, as game.apply returns them in a sequence, got {events!r:.60}")
        events = list(events)
        for event in events:
            if not isinstance(event, Event):
                raise UsageError(f"expected events, as game.apply returns them, got {event!r:.60}")
        told = told_to(events, self._game.tables, self._color)
        for message in told:
            self._view.apply(message)
        await self.send(*told, within=within)

    async def turn(
        self, *, ply: int | None = None, own_ms: int = 100, enemy_ms: int = 100, within: float = ANSWER_SECONDS
    ) -> str:
        """Give the bot the turn, with these milliseconds on the clocks, and return its action, such as `a4-a5`.

        Only the form of the action is checked; `game.apply` judges it. Without a game (see `start`) the ply is 1 by
        default, and the caller has to `send` the lines that the bot wants.
        """
        due: list[ArenaMessage] = []
        if self._game is not None and self._view is not None:
            ply = self._game.ply + 1 if ply is None else ply
            if Want.BOARD in self._wants:
                self._view.close_action()
                due.append(messages.BoardLine(self._view.cells()))
            if Want.LEGAL in self._wants:
                due.extend(legal_lines(legal_actions(self._game)))
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
    path: AnyPath, *, rules: str | Ruleset = "isf", **options: Unpack[BotKeywords]
) -> AsyncIterator[OpenBot]:
    """Start one bot of Stratego, built and isolated as in a game, for use within an `async with` statement, under trio.

    At the end the bot and all its processes are gone. Raises `UsageError` for wrong arguments, and other `ArenaError`.
    """
    if not trio.lowlevel.in_trio_run():
        raise UsageError("arena.open_bot: expected to be used under trio, as in trio.run(main); asyncio will not do")
    with plain_errors():
        ruleset = as_ruleset(rules)
    chosen = play_options(BotKeywords, options, open_bot)
    with contextlib.ExitStack() as stack:
        folders = stack.enter_context(BotFolders())
        level, bot = await in_thread_of_trio(partial(_prepare, bot_word(path), chosen, folders))
        held = stack.enter_context(Sandbox(level, [bot], usual_limits(chosen), {}, chosen.interpreters))
        with plain_errors():
            await held.try_out()
        try:
            process = held.start(bot)
        except StartError as error:
            raise ArenaError(f"{bot.name} cannot be started: {error}") from None
        opened = OpenBot(bot, ruleset, process)
        try:
            async with background(process.drain_stderr, opened.watch):
                yield opened
            process.write_now(encode_for_bot(messages.Quit()))
        finally:
            await process.end(QUIT_GRACE)


def _prepare(
    path: str, options: PlayOptions, folders: BotFolders, call: BackgroundCall[tuple[Level, BotSpec]]
) -> tuple[Level, BotSpec]:
    check_options(options)
    level = choose(options.sandbox)
    (bot,) = built(find_bots([path]), level, options, call.remark, folders=folders, run=call.run)
    if bot.fault is not None:
        raise UsageError(bot.fault)
    return level, bot
