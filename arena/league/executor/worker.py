"""The program of a worker process: plays the games that it is sent, several at a time, and times them.

All that belongs to the process that bots are children of is made here: the orphans' reaper, control groups, the table
of arrivals. It says what happens over one pipe and is told what to do over another. **It ends with its parent**: as
that says so, as the pipe ends, or as that process dies; then the bots are killed.

Signals are the parent's affair. A worker is in a session of its own, where no terminal sends it any, and passes over
what a service manager sends to all processes at once.
"""

import contextlib
import math
import os
import signal
import sys
from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import replace
from functools import partial

import trio

from arena.bots import BotSpec
from arena.bots.process import BotProcess
from arena.bots.sandbox import reaper, tokens
from arena.bots.sandbox.launch import host_fault
from arena.bots.sandbox.levels import Level
from arena.bots.sandbox.own_limits import LimitsChangedError, OwnLimits
from arena.bots.sandbox.prctl import open_to_others
from arena.bots.sandbox.rlimits import use_all_descriptors
from arena.bots.starting import Sandbox
from arena.errors import ArenaError
from arena.game.record import GameRecord
from arena.game.spec import GameSpec, Player
from arena.league.executor.event_stream import EventStream
from arena.league.executor.task import (
    Begun,
    Failed,
    GameTask,
    NotPlayed,
    Paused,
    Played,
    Said,
    sendable,
)
from arena.league.executor.wire import (
    Connection,
    Downward,
    GaveBack,
    GiveBack,
    InterruptGame,
    Play,
    Ready,
    Setup,
    Stop,
    to_worker,
)
from arena.nursery import background, open_nursery
from arena.play.fairly import play_fairly, play_on_fairly
from arena.play.keeping import Keeper
from arena.play.options import MOST_TRIES, ArenaStoppedError, GameOptions, Interrupt
from protocol.notation import Reason

SWITCH_SECONDS = 0.0005
"""How long a thread, which reads how much memory a bot uses, may keep the games waiting at a time."""
LAST_WORDS_SECONDS = 10.0
"""How long a worker that ends goes on to write what has become of games, if the parent does not read it."""
PASSED_OVER = tuple(signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Worker:
    """The games of one worker process."""

    def __init__(
        self, connection: Connection, setup: Setup, held: Sandbox, nursery: trio.Nursery, limits: OwnLimits
    ) -> None:
        settings = setup.settings()
        self._connection = connection
        self._nursery = nursery
        self._events = EventStream(connection) if settings.is_watched else None
        watch = None
        if self._events:
            nursery.start_soon(self._events.send)
            watch = self._events.tell
        self._held = held
        self._limits = limits
        self._options = GameOptions(self._start, settings.pondering, held.try_out, watch)
        self._bots: dict[Player, BotSpec] = {bot.player: bot for bot in settings.bots}
        self._free = setup.slots
        self._queued: deque[GameTask] = deque()
        self._interrupts: dict[str, Interrupt] = {}
        """Of the games under way, what interrupts them."""
        self._under_way: dict[str, str] = {}
        """Of the games under way, who plays, in words."""
        self._second: dict[str, GameSpec] = {}
        """By the ids of first games that are under way, the second ones."""

    def handle(self, message: Downward) -> None:
        """Do what the parent says."""
        match message:
            case Play(task):
                self._queued.append(task)
                self._begin_games()
            case GiveBack(is_last):
                back = [task.id for task in self._queued]
                self._queued.clear()
                if is_last:
                    back += [game.id for game in self._second.values()]
                    self._second.clear()
                self._connection.send(GaveBack(tuple(back)))
            case InterruptGame(id):
                self._interrupt(id)
            case Setup() | Stop():
                raise AssertionError("a worker is set up once, and ended from outside")

    def _begin_games(self) -> None:
        while self._free and self._queued:
            self._free -= 1
            self._nursery.start_soon(self._play_task, self._queued.popleft())

    def _interrupt(self, game: str) -> None:
        if game in self._interrupts:
            self._interrupts[game].request()
        for task in [task for task in self._queued if task.id == game]:
            self._queued.remove(task)
            self._connection.send(Paused(game, task.history))

    async def _play_task(self, task: GameTask) -> None:
        if task.then is None:
            await self._play(task, self._options)
        else:
            await self._play_pair(task, task.then)
        self._free += 1
        self._begin_games()

    async def _play_pair(self, task: GameTask, second: GameSpec) -> None:
        """Play two games in the same processes, unless the second one is given back before it has begun."""
        keeper = Keeper()
        options = replace(self._options, keeper=keeper)
        self._second[task.id] = second
        try:
            await self._play(task.alone, options)
            keeper.expects_another = False
            if self._second.pop(task.id, None):
                await self._play(GameTask(second), options)
        finally:
            await keeper.end()

    async def _play(self, task: GameTask, options: GameOptions) -> None:
        """Play a game and say what came of it."""
        self._connection.send(Begun(task.id))
        interrupt = self._interrupts[task.id] = Interrupt(task.pause_after)
        self._under_way[task.id] = task.spec.names
        try:
            outcome = await self._outcome(task, interrupt, options)
        except ArenaStoppedError as error:
            why = f"game {task.id} was not played, in {MOST_TRIES} tries: {error}"
            outcome = NotPlayed(task.id, sendable(why))
        except Exception as error:
            fault = _known(error)
            if fault is None:
                raise
            self._check_limits()
            outcome = Failed.of(fault, task.id)
        if isinstance(outcome, Played) and outcome.record.verdict.reason is Reason.NO_START:
            self._check_limits()
        try:
            self._mend_limits()  # while it is known who played
        finally:
            del self._interrupts[task.id]
            del self._under_way[task.id]
            if self._events:
                self._events.flush()
            self._connection.send(outcome)

    async def _outcome(
        self, task: GameTask, interrupt: Interrupt, options: GameOptions
    ) -> Played | Paused | NotPlayed | Failed:
        red, blue = (self._bots[player] for player in task.players)
        if not task.can_pause:
            return Played(await play_fairly(task.spec, (red, blue), options, partial(self._say, again=task.id)))
        played = await play_on_fairly(task.spec, (red, blue), task.history, interrupt, options=options, say=self._say)
        return Played(played) if isinstance(played, GameRecord) else Paused(task.id, played)

    # --- the limits of this process -----------------------------------------------------------------------------------

    def _start(self, bot: BotSpec, cpus: frozenset[int] = frozenset()) -> BotProcess:
        """Start a bot under the limits that this process began with, or not at all: a bot inherits them."""
        self._mend_limits()
        try:
            return self._held.start(bot, cpus)
        finally:
            self._check_limits()  # changed since: the bot may have them, and an error be their doing

    def _mend_limits(self) -> None:
        """Put back the limits that were lowered. Raises `LimitsChangedError` if that cannot be done."""
        try:
            if words := self._limits.mend():
                self._say(f"{self._changed(words)}; they are as they were again")
        except LimitsChangedError as error:
            raise LimitsChangedError(self._changed(str(error))) from None

    def _check_limits(self) -> None:
        """Raise `LimitsChangedError` if the limits are not what they were: this worker is to be replaced."""
        if lowered := self._limits.lowered():
            raise LimitsChangedError(self._changed(self._limits.words(lowered)))

    def _changed(self, words: str) -> str:
        games = ", ".join(self._under_way.values())
        return f"the limits of this worker process were changed ({words}), while {games} played"

    def _say(self, line: str, *, again: str | None = None) -> None:
        self._connection.send(Said(sendable(line), again))


def _known(error: Exception) -> ArenaError | None:
    """The error as one that a user can act on; None if it is a mistake in the arena."""
    return error if isinstance(error, ArenaError) else host_fault(error)


async def serve(incoming: int, outgoing: int, parent: int, limits: OwnLimits) -> None:
    """Play what is asked for, until there is nobody any more who asks. `parent` is the number of that process."""
    connection = Connection(incoming, outgoing, to_worker)
    async with _writing(connection):
        try:
            await _serve_until_the_end(connection, parent, limits)
        except Exception as error:
            fault = _known(error)
            if fault is None or _changed_limits(error):
                raise
            if lowered := limits.lowered():
                words = f"the limits of this process were changed ({limits.words(lowered)})"
                raise LimitsChangedError(words) from error
            connection.send(Failed.of(fault, None))  # the machine has run out of something outside of a game


@contextlib.asynccontextmanager
async def _writing(connection: Connection) -> AsyncGenerator[None, None]:
    """Write beside the body what is sent, and after it what is left, for some time: a game that is over is not lost
    because there will be no others."""
    finishing = trio.CancelScope(shield=True)

    async def write() -> None:
        with finishing:
            await connection.write()

    async with open_nursery() as nursery:
        nursery.start_soon(write)
        try:
            yield
        finally:
            connection.finish()
            finishing.deadline = trio.current_time() + LAST_WORDS_SECONDS


async def _serve_until_the_end(connection: Connection, parent: int, limits: OwnLimits) -> None:
    """Do what the parent says until it says `Stop`, or is gone, whatever is being done at that moment."""
    send, messages = trio.open_memory_channel[Downward](math.inf)
    async with background() as nursery:
        nursery.start_soon(_hear, connection, send, nursery.cancel_scope)
        nursery.start_soon(_watch, parent, nursery.cancel_scope)
        await _serve(connection, messages, limits)


async def _hear(connection: Connection, send: "trio.MemorySendChannel[Downward]", serving: trio.CancelScope) -> None:
    """Pass on what the parent says, and cancel everything at the end."""
    while messages := await connection.receive():
        if Stop() in messages:
            break
        for message in messages:
            send.send_nowait(message)
    serving.cancel()


async def _watch(parent: int, serving: trio.CancelScope) -> None:
    """Cancel everything if the parent dies: some other process may have a copy of its end of the pipe."""
    if not os.getppid():  # it is in another namespace, where its number is another
        return
    try:
        descriptor = os.pidfd_open(parent)
    except ProcessLookupError:
        serving.cancel()
        return
    except (OSError, AttributeError):  # it may not, or it is not Linux: there is still the end of the input
        return
    try:
        if os.getppid() == parent:  # if not, it was dead before, and its number may be another's now
            await trio.lowlevel.wait_readable(descriptor)
        serving.cancel()
    finally:
        os.close(descriptor)


async def _serve(connection: Connection, messages: "trio.MemoryReceiveChannel[Downward]", limits: OwnLimits) -> None:
    setup = await messages.receive()
    assert isinstance(setup, Setup)
    reaper.claim_all_orphans()  # by now the parent has given this process its mark
    limits.accept()  # which is one of them
    tokens.begin_tokens_with(setup.prefix)
    if setup.cpus:
        os.sched_setaffinity(0, setup.cpus)
    settings = setup.settings()
    if settings.level is not Level.DEFAULT:
        open_to_others()  # no bot sees this process there, and what starts one reads its filter from it
    with contextlib.ExitStack() as stack:
        try:
            held = stack.enter_context(
                Sandbox(settings.level, settings.bots, settings.usual, settings.limits, settings.interpreters)
            )
            await held.try_out()
        except Exception as error:
            fault = _known(error)
            if fault is None:
                raise
            connection.send(Failed.of(fault, None))
            await trio.sleep_forever()  # the parent has the last word
        connection.send(Ready())
        async with trio.open_nursery() as nursery:
            worker = Worker(connection, setup, held, nursery, limits)
            async for message in messages:
                worker.handle(message)


def main(incoming: int, outgoing: int, parent: int) -> None:
    """Run a worker that is told what to do over one descriptor and answers over another."""
    for number in PASSED_OVER:
        if signal.getsignal(number) is not signal.SIG_IGN:  # which bots would inherit
            signal.signal(number, lambda *_: None)
    for descriptor in (incoming, outgoing):
        os.set_inheritable(descriptor, False)
    use_all_descriptors()
    sys.setswitchinterval(SWITCH_SECONDS)
    limits = OwnLimits()
    try:
        trio.run(serve, incoming, outgoing, parent, limits)
    except Exception as error:
        changed = _changed_limits(error)
        if changed is None:
            raise
        sys.exit(str(changed))  # the parent reads the last line, and has the games played by another worker


def _changed_limits(error: Exception) -> LimitsChangedError | None:
    """The one in a group of errors, if there is one."""
    if isinstance(error, ExceptionGroup):
        return next((found for inner in error.exceptions if (found := _changed_limits(inner))), None)
    return error if isinstance(error, LimitsChangedError) else None
