"""The messages between an executor and its worker processes.

The settings are pickled, because a worker is a child of the arena, and paths may not be UTF-8.
"""

import pickle
from dataclasses import replace
from typing import Self

import msgspec

from arena.bots.language import language_of
from arena.bots.spec import BotSpec
from arena.league.executor.event_stream import Happened
from arena.league.executor.task import (
    Begun,
    Failed,
    GameTask,
    Notice,
    NotPlayed,
    Paused,
    Played,
    PlaySettings,
)


def without_files(bot: BotSpec) -> BotSpec:
    """Return the part of a bot that playing needs: its language for hints, but no files."""
    return replace(bot, language=language_of(bot), files={}, look=None, asked=None, build=None)


class WorkerSetup(msgspec.Struct, frozen=True, tag=True):
    """The first message to a worker: pickled settings, the number of parallel games, and its CPUs (empty: all)."""

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
    """End the games under way and exit.

    The end of the input means the same, but is not seen while a fork of the parent holds a copy of the pipe.
    """


class WorkerReady(msgspec.Struct, frozen=True, tag=True):
    """The worker can play: its sandbox has been made and tried."""


class SkippedGames(msgspec.Struct, frozen=True, tag=True):
    ids: tuple[str, ...]


Downward = WorkerSetup | Play | SkipSecondGames | InterruptGame | StopWorker
Upward = WorkerReady | SkippedGames | Begun | Played | Paused | NotPlayed | Failed | Notice | Happened
to_worker: "msgspec.msgpack.Decoder[Downward]" = msgspec.msgpack.Decoder(Downward)
from_worker: "msgspec.msgpack.Decoder[Upward]" = msgspec.msgpack.Decoder(Upward)
