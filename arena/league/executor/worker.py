"""The program of a worker process: plays the games that it is sent, several at a time, and times them.

All that belongs to the process that bots are children of is made here: the orphans' reaper, control groups, the table
of arrivals. It says what happens over one pipe and is told what to do over another. **The end of that one is the end of
the parent**, or its wish to stop: then the bots are killed, and the worker exits.

Signals are the parent's affair. A worker is in a session of its own, where no terminal sends it any, and passes over
what a service manager sends to all processes at once.
"""

import contextlib
import os
import signal
import sys
from collections import deque
from dataclasses import replace

import trio

from arena.bots import BotSpec
from arena.bots.sandbox import reaper, tokens
from arena.bots.sandbox.launch import host_fault
from arena.bots.sandbox.levels import Level
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
    to_worker,
)
from arena.play.fairly import play_fairly, play_on_fairly
from arena.play.keeping import Keeper
from arena.play.runner import MOST_TRIES, ArenaStoppedError, GameOptions, Interrupt

SWITCH_SECONDS = 0.0005
"""How long a thread, which reads how much memory a bot uses, may keep the games waiting at a time."""
PASSED_OVER = tuple(signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Worker:
    """The games of one worker process."""

    def __init__(self, connection: Connection, setup: Setup, held: Sandbox, nursery: trio.Nursery) -> None:
        settings = setup.settings()
        self._connection = connection
        self._nursery = nursery
        self._events = EventStream(connection) if settings.is_watched else None
        watch = None
        if self._events:
            nursery.start_soon(self._events.send)
            watch = self._events.tell
        self._options = GameOptions(held.start, settings.pondering, held.try_out, watch)
        self._bots: dict[Player, BotSpec] = {bot.player: bot for bot in settings.bots}
        self._free = setup.slots
        self._queued: deque[GameTask] = deque()
        self._interrupts: dict[str, Interrupt] = {}
        """Of the games under way, what interrupts them."""
        self._second: dict[str, GameSpec] = {}
        """By the ids of first games that are under way, the second ones."""

    def heed(self, message: Downward) -> None:
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
            case Setup():
                raise AssertionError("a worker is set up once")

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
        try:
            outcome = await self._outcome(task, interrupt, options)
        except ArenaStoppedError as error:
            why = f"game {task.id} was not played, in {MOST_TRIES} tries: {error}"
            outcome = NotPlayed(task.id, sendable(why))
        except Exception as error:
            fault = _known(error)
            if fault is None:
                raise
            outcome = Failed.of(fault, task.id)
        del self._interrupts[task.id]
        if self._events:
            self._events.flush()
        self._connection.send(outcome)

    async def _outcome(
        self, task: GameTask, interrupt: Interrupt, options: GameOptions
    ) -> Played | Paused | NotPlayed | Failed:
        red, blue = (self._bots[player] for player in task.players)
        if not task.can_pause:
            return Played(await play_fairly(task.spec, (red, blue), options, self._say))
        played = await play_on_fairly(task.spec, (red, blue), task.history, interrupt, options=options, say=self._say)
        return Played(played) if isinstance(played, GameRecord) else Paused(task.id, played)

    def _say(self, line: str) -> None:
        self._connection.send(Said(sendable(line)))


def _known(error: Exception) -> ArenaError | None:
    """The error as one that a user can act on; None if it is a mistake in the arena."""
    return error if isinstance(error, ArenaError) else host_fault(error)


async def serve(incoming: int, outgoing: int) -> None:
    """Play what is asked for, until there is nobody any more who asks."""
    connection = Connection(incoming, outgoing, to_worker)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(connection.write)
        try:
            await _serve(connection)
        except Exception as error:
            fault = _known(error)
            if fault is None:
                raise
            connection.send(Failed.of(fault, None))  # the machine has run out of something outside of a game
        finally:
            connection.flush()  # a game that is over is not lost because the parent has no more use for others
            nursery.cancel_scope.cancel()


async def _serve(connection: Connection) -> None:
    messages = deque(await connection.receive())
    if not messages:
        return
    setup = messages.popleft()
    assert isinstance(setup, Setup)
    reaper.claim_all_orphans()  # by now the parent has given this process its mark
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
            while await connection.receive():  # the parent has the last word
                pass
            return
        connection.send(Ready())
        async with trio.open_nursery() as nursery:
            worker = Worker(connection, setup, held, nursery)
            while True:
                for message in messages:
                    worker.heed(message)
                messages = deque(await connection.receive())
                if not messages:
                    break
            nursery.cancel_scope.cancel()


def main(incoming: int, outgoing: int) -> None:
    """Run a worker that is told what to do over one descriptor and answers over another."""
    for number in PASSED_OVER:
        if signal.getsignal(number) is not signal.SIG_IGN:  # which bots would inherit
            signal.signal(number, lambda *_: None)
    use_all_descriptors()
    sys.setswitchinterval(SWITCH_SECONDS)
    trio.run(serve, incoming, outgoing)
