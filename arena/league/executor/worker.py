"""The games of one worker process: it plays those that it is sent, several at a time, and says what comes of them."""

from collections import deque
from dataclasses import replace
from functools import partial

import trio

from arena.bots import BotSpec
from arena.bots.sandbox.launch import host_fault
from arena.bots.starting import Sandbox
from arena.errors import ArenaError
from arena.game.record import GameRecord
from arena.game.spec import GameSpec, Player
from arena.league.executor.event_stream import EventStream
from arena.league.executor.pipes import Connection
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
from arena.league.executor.wire import Downward, GaveBack, GiveBack, InterruptGame, Play, Setup, Stop
from arena.play.game_options import MOST_TRIES, ArenaStoppedError, GameOptions, Interrupt, Keeper
from arena.play.retry import play_on_with_retries, play_with_retries


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
        try:
            outcome = await self._outcome(task, interrupt, options)
        except ArenaStoppedError as error:
            why = f"game {task.id} was not played, in {MOST_TRIES} tries: {error}"
            outcome = NotPlayed(task.id, sendable(why))
        except Exception as error:
            fault = known_fault(error)
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
            return Played(await play_with_retries(task.spec, (red, blue), options, partial(self._say, again=task.id)))
        played = await play_on_with_retries(
            task.spec, (red, blue), task.history, interrupt, options=options, say=self._say
        )
        return Played(played) if isinstance(played, GameRecord) else Paused(task.id, played)

    def _say(self, line: str, *, again: str | None = None) -> None:
        self._connection.send(Said(sendable(line), again))


def known_fault(error: Exception) -> ArenaError | None:
    """The error as one that a user can act on; None if it is a mistake in the arena."""
    return error if isinstance(error, ArenaError) else host_fault(error)
