"""The interface of executors: games to play and their outcomes, and the messages to worker processes and back."""

import enum
import pickle
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Protocol, Self

import msgspec
import trio

from arena.bots.languages import language_of
from arena.bots.spec import BotSpec
from arena.errors import ArenaError, UsageError
from arena.game.game_spec import GameSpec
from arena.game.record import GameRecord, History
from arena.play.game_events import ActionPlayed, GameStarted
from arena.processes.runnable import PlaySettings, RefusedBotsError
from arena.sandbox.launch import HostError, SandboxError
from arena.system.concurrency import open_nursery


def sendable(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()


class GameTask(msgspec.Struct, frozen=True):
    """A game to play, by the bots of the settings that are its players.

    One that `can_pause` continues from its `history`, and is interrupted after the ply `pause_after` or on request. A
    second game, `then`, has outcomes of its own and is played in the same processes.
    """

    spec: GameSpec
    can_pause: bool = False
    history: History | None = None
    pause_after: int | None = None
    then: GameSpec | None = None

    @property
    def id(self) -> str:
        return self.spec.id

    @property
    def games(self) -> tuple[GameSpec, ...]:
        return (self.spec,) if self.then is None else (self.spec, self.then)

    @property
    def alone(self) -> "GameTask":
        return msgspec.structs.replace(self, then=None)


class Begun(msgspec.Struct, frozen=True, tag=True):
    id: str


class Played(msgspec.Struct, frozen=True, tag=True):
    record: GameRecord

    @property
    def id(self) -> str:
        return self.record.id


class Paused(msgspec.Struct, frozen=True, tag=True):
    """A game was interrupted. `history` is the part that was played; None before both sides had set up."""

    id: str
    history: History | None


class NotPlayed(msgspec.Struct, frozen=True, tag=True):
    id: str
    why: str


class ErrorKind(enum.Enum):
    REFUSED_BOTS = RefusedBotsError
    SANDBOX = SandboxError
    HOST = HostError
    USAGE = UsageError
    ARENA = ArenaError


class Failed(msgspec.Struct, frozen=True, tag=True):
    """The error that ended a game, or, without an `id`, that keeps a worker from playing."""

    id: str | None
    kind: str
    text: str
    exit_code: int

    @classmethod
    def of(cls, error: ArenaError, game: str | None) -> Self:
        kind = next(kind for kind in ErrorKind if isinstance(error, kind.value))
        return cls(game, kind.name, sendable(str(error)), error.exit_code)

    def error(self) -> ArenaError:
        kind: type[ArenaError] = ErrorKind[self.kind].value
        error = kind.__new__(kind, self.text)  # not called: it would add its hints to the text once more
        error.exit_code = self.exit_code
        return error


class Lost(msgspec.Struct, frozen=True, tag=True):
    id: str


class Notice(msgspec.Struct, frozen=True, tag=True):
    """A line for the user; `again` is the id of a game that is played again."""

    line: str
    again: str | None = None


class Watched(msgspec.Struct, frozen=True, tag=True):
    """Events of games under way, in order and before the game's outcome, and the number of those dropped after them."""

    events: tuple[GameStarted | ActionPlayed, ...]
    dropped: int


Outcome = Begun | Played | Paused | NotPlayed | Failed | Lost | Notice | Watched
"""After `Begun` the id of a game comes once more, at its end."""


class Executor(Protocol):
    """Plays games, several at once. No two of them have the same id."""

    def play(self, tasks: AsyncIterable[GameTask]) -> AsyncIterator[Outcome]:
        """Play these games and yield their outcomes, in order.

        `tasks` is iterated when there is room for a game. Cancelling a wait for an outcome loses none. Raises
        `ArenaError` for errors that prevent all games.
        """
        ...

    def close(self) -> None:
        """Begin no further game; games under way, and those that were `Lost`, are played to their end."""
        ...

    def stop(self) -> None:
        """End the games under way as well: the outcomes end once all their processes have ended."""
        ...

    def interrupt(self, game: str) -> None:
        """Interrupt the game of this id if it can be paused; its outcome is `Paused`."""
        ...


def without_files(bot: BotSpec) -> BotSpec:
    return replace(bot, language=language_of(bot), files={}, look=None, asked=None, build=None)


class WorkerSetup(msgspec.Struct, frozen=True, tag=True):
    """The first message to a worker: its settings, pickled as paths may not be UTF-8, its slots, its CPUs (or all)."""

    pickled: bytes
    slots: int
    cpus: tuple[int, ...]

    @classmethod
    def of(cls, settings: PlaySettings, *, slots: int, cpus: tuple[int, ...]) -> Self:
        bots = tuple(map(without_files, settings.bots))
        return cls(pickle.dumps(replace(settings, bots=bots)), slots, cpus)

    def settings(self) -> PlaySettings:
        settings = pickle.loads(self.pickled)
        assert isinstance(settings, PlaySettings)
        return settings


class Play(msgspec.Struct, frozen=True, tag=True):
    task: GameTask


class SkipSecondGames(msgspec.Struct, frozen=True, tag=True):
    """Play no second game of a pair that has not begun."""


class InterruptGame(msgspec.Struct, frozen=True, tag=True):
    id: str


class StopWorker(msgspec.Struct, frozen=True, tag=True):
    """End the games under way and exit; a fork of the parent may hold a copy of the pipe, and hide its end."""


class WorkerReady(msgspec.Struct, frozen=True, tag=True):
    """The worker can play: its sandbox has been made and tried."""


class SkippedGames(msgspec.Struct, frozen=True, tag=True):
    ids: tuple[str, ...]


ToWorker = WorkerSetup | Play | SkipSecondGames | InterruptGame | StopWorker
FromWorker = WorkerReady | SkippedGames | Begun | Played | Paused | NotPlayed | Failed | Notice | Watched
to_worker: "msgspec.msgpack.Decoder[ToWorker]" = msgspec.msgpack.Decoder(ToWorker)
from_worker: "msgspec.msgpack.Decoder[FromWorker]" = msgspec.msgpack.Decoder(FromWorker)


class OutcomeStream(Executor, ABC):
    """The common part of executors: tasks are requested while there is room, and their outcomes are a stream."""

    def __init__(self) -> None:
        self._waiting: deque[GameTask] = deque()
        self._outcomes: deque[Outcome] = deque()
        self._changed = trio.Event()
        self._error: Exception | None = None
        self._nursery: trio.Nursery
        self._feeding: trio.CancelScope | None = None
        self._is_closed = self._is_stopped = False

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[Self, None]:
        """A context in which games can be played; at its end none is under way. Raises `ArenaError`."""
        async with open_nursery() as self._nursery:
            try:
                await self._begin()
                yield self
            finally:
                self.stop()
                with trio.CancelScope(shield=True):
                    await self._until_gone()

    @abstractmethod
    async def _begin(self) -> None:
        pass

    async def _until_gone(self) -> None:
        """Wait until all of this has ended that is no task of the nursery."""

    @property
    @abstractmethod
    def _is_over(self) -> bool:
        pass

    @abstractmethod
    async def _until_there_is_room(self) -> None:
        pass

    @abstractmethod
    def _take_task(self, task: GameTask) -> None:
        pass

    def play(self, tasks: AsyncIterable[GameTask]) -> AsyncIterator[Outcome]:
        assert self._feeding is None, "one stream of tasks at once"
        self._feeding = trio.CancelScope()
        self._nursery.start_soon(self._feed, tasks, self._feeding)
        return self

    async def _feed(self, tasks: AsyncIterable[GameTask], scope: trio.CancelScope) -> None:
        source = aiter(tasks)
        try:
            with scope:
                while not self._is_closed:
                    await self._until_there_is_room()
                    task = await anext(source)
                    if not self._is_closed:
                        self._take_task(task)
        except StopAsyncIteration:
            pass
        except Exception as error:
            self._fail(error)
        finally:
            if isinstance(source, AsyncGenerator):
                with trio.CancelScope(shield=True):
                    await source.aclose()
            self._feeding = None
            self.changed()

    def _tell(self, outcome: Outcome) -> None:
        self._outcomes.append(outcome)
        self.changed()

    def _fail(self, error: Exception) -> None:
        self._error = self._error or error
        self.stop()

    def changed(self) -> None:
        self._changed.set()
        self._changed = trio.Event()

    async def _wait(self) -> None:
        await self._changed.wait()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Outcome:
        """Wait for the next outcome; a cancelled wait loses none. Raises the error that prevents all games."""
        await trio.lowlevel.checkpoint()
        while not self._outcomes:
            if self._is_over:
                raise self._error or StopAsyncIteration
            await self._wait()
        return self._outcomes.popleft()
