"""What goes between an executor and a worker process: the messages; how they cross the pipes is `pipes`' affair.

Strings may hold halves of surrogate pairs, which is how Python shows a path that is not UTF-8. msgspec writes UTF-8
only, so that all that is a path, or may have one in it, crosses as bytes (`packed`).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Self

import msgspec

from arena.bots import BotSpec
from arena.bots.language import language_of
from arena.bots.limits import Limits
from arena.bots.sandbox.levels import Level
from arena.game.hints.seen import ProgramLanguage
from arena.league.executor.event_stream import Happened
from arena.league.executor.task import (
    Begun,
    Failed,
    GameTask,
    NotPlayed,
    Paused,
    Played,
    PlaySettings,
    Said,
)


def packed(text: str) -> bytes:
    """Any string as bytes, from which `unpacked` makes the same string."""
    return text.encode("utf-8", "surrogatepass")


def unpacked(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


# --- to a worker ------------------------------------------------------------------------------------------------------


class WireBot(msgspec.Struct, frozen=True):
    """What is needed of a `BotSpec` to play: nothing that only tells whether its files have changed. Its language is
    worked out from them before, for hints."""

    name: bytes
    path: bytes
    command: tuple[bytes, ...]
    folder: bytes
    digest: bytes
    environment: dict[bytes, bytes]
    fault: bytes | None
    entered_as: bytes
    is_of_2012: bool = False
    interpreters: tuple[bytes, ...] = ()
    language: ProgramLanguage = ProgramLanguage.UNKNOWN
    not_sent: bytes = b""

    @classmethod
    def of(cls, bot: BotSpec) -> Self:
        return cls(
            packed(bot.name),
            packed(str(bot.path)),
            tuple(map(packed, bot.command)),
            packed(str(bot.folder)),
            packed(bot.digest),
            {packed(name): packed(value) for name, value in bot.environment.items()},
            None if bot.fault is None else packed(bot.fault),
            packed(bot.entered_as),
            bot.is_of_2012,
            tuple(map(packed, bot.interpreters)),
            language_of(bot),
            packed(bot.not_sent),
        )

    def bot(self) -> BotSpec:
        return BotSpec(
            name=unpacked(self.name),
            path=Path(unpacked(self.path)),
            command=tuple(map(unpacked, self.command)),
            folder=Path(unpacked(self.folder)),
            digest=unpacked(self.digest),
            environment={unpacked(name): unpacked(value) for name, value in self.environment.items()},
            fault=None if self.fault is None else unpacked(self.fault),
            entered_as=unpacked(self.entered_as),
            is_of_2012=self.is_of_2012,
            interpreters=tuple(map(unpacked, self.interpreters)),
            language=self.language,
            not_sent=unpacked(self.not_sent),
        )


class Setup(msgspec.Struct, frozen=True, tag=True):
    """The first message to a worker: the settings of the run, and what of it is this worker's.

    `slots` is how many games it plays at a time, and `cpus` are those that it and its bots run on (none named: all).
    """

    bots: tuple[WireBot, ...]
    level: Level
    usual: Limits
    limits: dict[bytes, Limits]
    interpreters: tuple[bytes, ...]
    pondering: bool
    slots: int
    cpus: tuple[int, ...]
    is_watched: bool

    @classmethod
    def of(cls, settings: PlaySettings, *, slots: int, cpus: tuple[int, ...]) -> Self:
        return cls(
            tuple(map(WireBot.of, settings.bots)),
            settings.level,
            settings.usual,
            {packed(name): limits for name, limits in settings.limits.items()},
            tuple(map(packed, settings.interpreters)),
            settings.pondering,
            slots,
            cpus,
            settings.is_watched,
        )

    def settings(self) -> PlaySettings:
        """The settings without what the worker does not need to know."""
        limits: Mapping[str, Limits] = {unpacked(name): limits for name, limits in self.limits.items()}
        return PlaySettings(
            tuple(bot.bot() for bot in self.bots),
            self.level,
            self.usual,
            limits,
            tuple(map(unpacked, self.interpreters)),
            self.pondering,
            is_watched=self.is_watched,
        )


class Play(msgspec.Struct, frozen=True, tag=True):
    """Play this game as soon as there is a slot for it."""

    task: GameTask


class GiveBack(msgspec.Struct, frozen=True, tag=True):
    """Give back the games that have not been begun. `is_last`: no other will be asked for, so that second games whose
    first ones are under way come back as well."""

    is_last: bool = False


class InterruptGame(msgspec.Struct, frozen=True, tag=True):
    """Interrupt a game."""

    id: str


class Stop(msgspec.Struct, frozen=True, tag=True):
    """End the games under way, and exit. The end of the input says the same, but is not seen while some other process
    has a copy of the parent's end of the pipe, as a child has that the parent's program forks."""


# --- from a worker ----------------------------------------------------------------------------------------------------


class Ready(msgspec.Struct, frozen=True, tag=True):
    """The worker can play: what holds the bots has been made and tried."""


class GaveBack(msgspec.Struct, frozen=True, tag=True):
    """The answer to `GiveBack`: the games that have not been and will not be begun."""

    ids: tuple[str, ...]


Downward = Setup | Play | GiveBack | InterruptGame | Stop
Upward = Ready | GaveBack | Begun | Played | Paused | NotPlayed | Failed | Said | Happened
to_worker: "msgspec.msgpack.Decoder[Downward]" = msgspec.msgpack.Decoder(Downward)
from_worker: "msgspec.msgpack.Decoder[Upward]" = msgspec.msgpack.Decoder(Upward)
