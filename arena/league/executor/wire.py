"""What goes between an executor and a worker process: messages in bytes of msgspec, each behind its length.

Strings may hold halves of surrogate pairs, which is how Python shows a path that is not UTF-8. msgspec writes UTF-8
only, so that all that is a path, or may have one in it, crosses as bytes (`packed`).
"""

import contextlib
import itertools
import os
import struct
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import msgspec
import trio

from arena.bots import BotSpec
from arena.bots.language import language_of
from arena.bots.limits import Limits
from arena.bots.sandbox.levels import Level
from arena.game.dialects import Dialect
from arena.game.hints.values import Language
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

LENGTH = struct.Struct("<I")
READ_SIZE = 65536
MOST_PARTS = 64
"""Messages that are written at a time."""
LONGEST = 2**30
"""Bytes of a message; a game of a million plies has some 64 MiB."""


class WireError(Exception):
    """What came over a pipe is no message; the text says why."""


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
    dialect: Dialect = Dialect.ARENA_1
    interpreters: tuple[bytes, ...] = ()
    language: Language = Language.UNKNOWN
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
            bot.dialect,
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
            dialect=self.dialect,
            interpreters=tuple(map(unpacked, self.interpreters)),
            language=self.language,
            not_sent=unpacked(self.not_sent),
        )


class Setup(msgspec.Struct, frozen=True, tag=True):
    """The first message to a worker: the settings of the run, and what of it is this worker's.

    `slots` is how many games it plays at a time, `cpus` are those that it and its bots run on (none named: all), and
    `prefix` is how the tokens of its bots begin (`arena.bots.sandbox.reaper`).
    """

    bots: tuple[WireBot, ...]
    level: Level
    usual: Limits
    limits: dict[bytes, Limits]
    interpreters: tuple[bytes, ...]
    pondering: bool
    slots: int
    cpus: tuple[int, ...]
    prefix: str
    is_watched: bool

    @classmethod
    def of(cls, settings: PlaySettings, *, slots: int, cpus: tuple[int, ...], prefix: str) -> Self:
        return cls(
            tuple(map(WireBot.of, settings.bots)),
            settings.level,
            settings.usual,
            {packed(name): limits for name, limits in settings.limits.items()},
            tuple(map(packed, settings.interpreters)),
            settings.pondering,
            slots,
            cpus,
            prefix,
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
_encode = msgspec.msgpack.Encoder().encode


def frame(message: msgspec.Struct) -> bytes:
    """A message as it goes over a pipe."""
    data = _encode(message)
    return LENGTH.pack(len(data)) + data


class Frames:
    """Cuts what comes over a pipe into messages."""

    def __init__(self, decoder: "msgspec.msgpack.Decoder[Any]") -> None:
        self._decoder = decoder
        self._data = bytearray()

    def feed(self, data: bytes) -> list[Any]:
        """The messages that end in this part. Raises `WireError`."""
        self._data += data
        messages, at = [], 0
        try:
            while len(self._data) >= at + LENGTH.size:
                (length,) = LENGTH.unpack_from(self._data, at)
                if length > LONGEST:
                    raise WireError(f"expected a message of at most {LONGEST} bytes, got {length}")
                end = at + LENGTH.size + length
                if len(self._data) < end:
                    break
                messages.append(self._decoder.decode(self._data[at + LENGTH.size : end]))
                at = end
        except msgspec.MsgspecError as error:
            raise WireError(f"expected a message: {error}") from None
        del self._data[:at]
        return messages


class Connection:
    """One end of the two pipes: nothing here ever blocks, and to send waits for nobody.

    Run `write` beside everything else. The descriptors are this object's from here on.
    """

    def __init__(self, incoming: int, outgoing: int, decoder: "msgspec.msgpack.Decoder[Any]") -> None:
        self._incoming, self._outgoing = incoming, outgoing
        for descriptor in (incoming, outgoing):
            os.set_blocking(descriptor, False)
        self._frames = Frames(decoder)
        self._unsent: deque[memoryview] = deque()
        self._has_news = trio.Event()
        """Whether something has been put into the queue, or its end has been reached."""
        self._is_finished = self._is_closed = False

    def send(self, message: msgspec.Struct) -> None:
        """Put a message behind those that wait to be written; after `finish` nothing happens."""
        if not self._is_finished:
            self._unsent.append(memoryview(frame(message)))
            self._has_news.set()

    async def write(self) -> None:
        """Write what is sent, until all that was sent before `finish` is written."""
        with contextlib.suppress(trio.ClosedResourceError):  # closed while the pipe was full
            while not self._is_closed:
                if not self.flush():
                    await trio.lowlevel.wait_writable(self._outgoing)
                elif self._is_finished:
                    self._close_outgoing()
                else:
                    self._has_news = trio.Event()
                    await self._has_news.wait()

    def flush(self) -> bool:
        """Write what the pipe takes at once; returns whether that was all."""
        try:
            parts = list(itertools.islice(self._unsent, MOST_PARTS))
            written = os.writev(self._outgoing, parts) if parts else 0
        except BlockingIOError:
            return False
        except OSError:  # nobody reads it
            self._unsent.clear()
            return True
        while self._unsent and written >= len(self._unsent[0]):
            written -= len(self._unsent.popleft())
        if written:
            self._unsent[0] = self._unsent[0][written:]  # a view: what is left of a long message is not copied
        return not self._unsent

    def flush_all(self) -> None:
        """Write all that is sent, and wait as long as that takes; for when nothing else runs any more."""
        os.set_blocking(self._outgoing, True)
        while not self.flush():
            pass

    async def receive(self) -> list[Any]:
        """The next messages, at least one; none at the end. To cancel this loses no message. Raises `WireError`."""
        while True:
            try:
                data = os.read(self._incoming, READ_SIZE)
            except BlockingIOError:
                await trio.lowlevel.wait_readable(self._incoming)
                continue
            if not data:
                return []
            messages = self._frames.feed(data)
            await trio.lowlevel.cancel_shielded_checkpoint()
            if messages:
                return messages

    def receive_rest(self) -> list[Any]:
        """The messages that are there now: all that are still to come from a process that is dead. Raises
        `WireError`."""
        messages = []
        with contextlib.suppress(BlockingIOError):  # somebody else has a copy of the dead one's end
            while data := os.read(self._incoming, READ_SIZE):
                messages += self._frames.feed(data)
        return messages

    def finish(self) -> None:
        """Send nothing any more: once the rest is written, the other side sees the end. It may still be heard."""
        if not self._is_finished:
            self._is_finished = True
            self._has_news.set()
            if self.flush():
                self._close_outgoing()

    def close(self) -> None:
        """Close both pipes, whatever is left to be written. Nothing may be asked of it afterwards."""
        self._is_finished = True
        self._close_outgoing()
        os.close(self._incoming)

    def _close_outgoing(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            trio.lowlevel.notify_closing(self._outgoing)
            os.close(self._outgoing)
            self._has_news.set()
