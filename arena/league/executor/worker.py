"""The program of a worker process: plays the games that its parent sends, several at once, and sends their outcomes.

A worker starts only bots, so each of its orphans is a bot's. It has a session of its own, without signals from a
terminal, and ends with its parent.
"""

import contextlib
import gc
import math
import os
import sys
from collections.abc import AsyncGenerator
from dataclasses import replace
from functools import cache, partial

import trio

from arena.bots.spec import BotSpec
from arena.game import Game
from arena.game.game_spec import GameSpec, Player
from arena.game.record import GameRecord
from arena.league.executor.child_process import Connection, begin, until_gone
from arena.league.executor.task import (
    Begun,
    Failed,
    GameTask,
    InterruptGame,
    Notice,
    NotPlayed,
    Paused,
    Play,
    Played,
    SkippedGames,
    SkipSecondGames,
    StopWorker,
    ToWorker,
    Watched,
    WorkerReady,
    WorkerSetup,
    sendable,
    to_worker,
)
from arena.play.game_events import ActionPlayed, GameEvent, GameFinished, GameStarted
from arena.play.game_options import MOST_TRIES, GameOptions, Interrupt, Keeper, VoidGameError
from arena.play.retry import play_on_with_retries, play_with_retries
from arena.processes.starting import Sandbox
from arena.sandbox.launch import known_fault
from arena.sandbox.reaper import own_every_orphan
from arena.sandbox.rlimits import ask_for_short_slices, use_all_descriptors
from arena.system.concurrency import background, open_nursery

SWITCH_SECONDS = 0.0005
"""How long a thread, such as one that reads the memory of bots, may delay the games."""
LAST_WORDS_SECONDS = 10.0
"""How long a worker that ends writes outcomes that the parent does not read."""
MOST_WAITING = 256
"""The most queued events: some 40 KB, which are written in half a millisecond."""
BATCH_SECONDS = 0.01


class EventStream:
    """The queued events of a worker's games; run `send` in a task of its own.

    No outcome waits behind more than one batch: events that do not fit are dropped, and counted.
    """

    def __init__(self, outlet: Connection) -> None:
        self._outlet = outlet
        self._waiting: list[GameStarted | ActionPlayed] = []
        self._dropped = 0
        self._has_some = trio.Event()

    def tell(self, event: GameEvent) -> None:
        if isinstance(event, GameFinished):
            return  # its outcome says so
        if len(self._waiting) >= MOST_WAITING:
            self._dropped += 1
            return
        self._waiting.append(event if isinstance(event, ActionPlayed) else GameStarted(event.spec, event.setups, None))
        self._has_some.set()

    async def send(self) -> None:
        while True:
            await self._has_some.wait()
            self._has_some = trio.Event()  # only here: the next event has to set the one that is waited for
            await trio.sleep(BATCH_SECONDS)
            if self._outlet.flush():
                self.flush()
            else:
                self._has_some.set()

    def flush(self) -> None:
        """Send queued events now; if the pipe is full, only their number."""
        if self._waiting and not self._outlet.flush():
            self._dropped += len(self._waiting)
            self._waiting.clear()
        if self._waiting or self._dropped:
            self._outlet.send(Watched(tuple(self._waiting), self._dropped))
            self._waiting.clear()
            self._dropped = 0


class WorkerGames:
    def __init__(self, connection: Connection, held: Sandbox, nursery: trio.Nursery) -> None:
        self._connection, self._nursery = connection, nursery
        settings = held.settings
        self._events = EventStream(connection) if settings.is_watched else None
        if self._events:
            nursery.start_soon(self._events.send)
        self._options = GameOptions(
            held.start, settings.pondering, held.try_out, self._events.tell if self._events else None
        )
        self._bots: dict[Player, BotSpec] = {bot.player: bot for bot in settings.bots}
        self._interrupts: dict[str, Interrupt] = {}
        self._second: dict[str, GameSpec] = {}

    def handle(self, message: ToWorker) -> None:
        match message:
            case Play(task):
                if task.can_pause:
                    self._interrupts[task.id] = Interrupt(task.pause_after, can_pause=True)
                self._nursery.start_soon(self._play_pair if task.then else self._play, task)
            case SkipSecondGames():
                skipped = tuple(game.id for game in self._second.values())
                self._second.clear()
                self._connection.send(SkippedGames(skipped))
            case InterruptGame(id):
                if id in self._interrupts:
                    self._interrupts[id].request()
            case _:
                raise AssertionError("handled before the games")

    async def _play_pair(self, task: GameTask) -> None:
        """Play two games in the same processes, the second one unless it is skipped before it has begun."""
        assert task.then is not None
        keeper = Keeper()
        options = replace(self._options, keeper=keeper)
        self._second[task.id] = task.then
        try:
            await self._play(task.alone, options)
            keeper.expects_another = False
            if second := self._second.pop(task.id, None):
                await self._play(GameTask(second), options)
        finally:
            await keeper.end()

    async def _play(self, task: GameTask, options: GameOptions | None = None) -> None:
        self._connection.send(Begun(task.id))
        try:
            outcome = await self._outcome(task, options or self._options)
        except VoidGameError as error:
            outcome = NotPlayed(task.id, sendable(f"game {task.id} was not played, in {MOST_TRIES} tries: {error}"))
        except Exception as error:
            fault = known_fault(error)
            if fault is None:
                raise
            outcome = Failed.of(fault, task.id)
        self._interrupts.pop(task.id, None)
        if self._events:
            self._events.flush()
        self._connection.send(outcome)

    async def _outcome(self, task: GameTask, options: GameOptions) -> Played | Paused | NotPlayed | Failed:
        red, blue = (self._bots[player] for player in task.spec.players)
        interrupt = self._interrupts.get(task.id)
        if interrupt is None:
            return Played(await play_with_retries(task.spec, (red, blue), options, partial(self._say, again=task.id)))
        played = await play_on_with_retries(
            task.spec, (red, blue), task.history, interrupt, options=options, say=self._say
        )
        return Played(played) if isinstance(played, GameRecord) else Paused(task.id, played)

    def _say(self, line: str, *, again: str | None = None) -> None:
        self._connection.send(Notice(sendable(line), again))


async def serve(incoming: int, outgoing: int, parent: int) -> None:
    """Play the games that the process `parent` sends, until it says stop or is gone."""
    connection = Connection(incoming, outgoing, to_worker)
    async with _writing(connection):
        try:
            send, messages = trio.open_memory_channel[ToWorker](math.inf)
            async with background() as nursery:
                nursery.start_soon(_hear, connection, send, nursery.cancel_scope)
                nursery.start_soon(until_gone, parent, nursery.cancel_scope)
                await _serve(connection, messages)
        except Exception as error:
            fault = known_fault(error)
            if fault is None:
                raise
            connection.send(Failed.of(fault, None))


@contextlib.asynccontextmanager
async def _writing(connection: Connection) -> AsyncGenerator[None, None]:
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


async def _hear(connection: Connection, send: "trio.MemorySendChannel[ToWorker]", serving: trio.CancelScope) -> None:
    while messages := await connection.receive():
        if StopWorker() in messages:
            break
        for message in messages:
            send.send_nowait(message)
    serving.cancel()


async def _serve(connection: Connection, messages: "trio.MemoryReceiveChannel[ToWorker]") -> None:
    setup = await messages.receive()
    assert isinstance(setup, WorkerSetup)
    ask_for_short_slices()
    if setup.cpus:
        os.sched_setaffinity(0, setup.cpus)
    with Sandbox(setup.settings()) as held:
        await held.try_out()
        connection.send(WorkerReady())
        async with trio.open_nursery() as nursery:
            worker = WorkerGames(connection, held, nursery)
            async for message in messages:
                if isinstance(message, Play):
                    _load(message.task.spec.kind)
                worker.handle(message)


@cache
def _load(game: Game) -> None:
    """Import what a game needs, and exempt all imports from garbage collection, which takes as long as many plies."""
    game.load()
    gc.freeze()


def main(incoming: int, outgoing: int, parent: int) -> None:
    begin(incoming, outgoing)
    own_every_orphan()
    use_all_descriptors()
    sys.setswitchinterval(SWITCH_SECONDS)
    trio.run(serve, incoming, outgoing, parent)
