"""The arena's own child processes: their start, their end with the parent, and messages over pipes."""

import contextlib
import os
import signal
import struct
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import msgspec
import trio

from arena.league.executor.task import Watched
from arena.play.game_events import ActionPlayed, EventsDropped, GameStarted, WatchedEvent
from arena.system.concurrency import readable, writable

IGNORED = tuple(signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
POLL_SECONDS = 0.05
LENGTH = struct.Struct("<I")
READ_SIZE = 65536
LONGEST = 2**30
"""The most bytes of a message; a game of a million plies has some 64 MiB."""


def own_python(module: str, *numbers: int) -> list[str]:
    """Return the command that calls the `main` of a module of the arena with these numbers.

    It finds modules in this process's folders, independent of the current folder and the environment. Folders relative
    to the current one are left out, as bots may be there.
    """
    # What it imports is no garbage: to look for some takes a fifth of the time of a process that does little.
    program = (
        f"import gc, sys\ngc.disable()\nsys.path[:] = sys.argv[1:]\nfrom {module} import main\n"
        f"gc.freeze()\ngc.enable()\nmain(*{numbers})"
    )
    flags = ["-I", "-X", f"utf8={sys.flags.utf8_mode}", *(["-B"] if sys.flags.dont_write_bytecode else [])]
    here = str(Path(__file__).absolute().parents[3])
    known = [os.path.abspath(folder) for folder in sys.path if os.path.isabs(folder) or os.path.abspath(folder) == here]
    return [sys.executable, *flags, "-c", program, *dict.fromkeys([*known, here])]


def begin(*descriptors: int) -> None:
    """Ignore signals that are for the parent, and close these descriptors in programs that this process starts."""
    for number in IGNORED:
        if signal.getsignal(number) is not signal.SIG_IGN:  # which bots would inherit
            signal.signal(number, lambda *_: None)
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)


def own_output() -> IO[bytes]:
    """Return standard output for messages alone: no child inherits it, and what is printed goes to standard error."""
    output = os.dup(1)
    os.dup2(2, 1)
    return open(output, "wb")


async def until_gone(parent: int, serving: trio.CancelScope) -> None:
    """Cancel the scope when the parent dies. The end of the pipe is not enough, as a fork may have a copy of it."""
    if os.getppid():  # else the parent is in another namespace
        await until_dead(parent, lambda: os.getppid() == parent)
        serving.cancel()


async def until_dead(pid: int, is_there: Callable[[], bool]) -> None:
    """Wait until a process is dead; if it is not there any more, its number may be another's."""
    with contextlib.suppress(OSError, AttributeError):  # no descriptor is left, it may not, or this is not Linux
        descriptor = os.pidfd_open(pid)
        try:
            if is_there():
                await readable(descriptor)
        finally:
            os.close(descriptor)
    while is_there():  # noqa: ASYNC110  (there is no event for it elsewhere)
        await trio.sleep(POLL_SECONDS)


class WireError(Exception):
    pass


_encode = msgspec.msgpack.Encoder().encode


def frame(message: msgspec.Struct) -> bytes:
    data = _encode(message)
    return LENGTH.pack(len(data)) + data


class Frames:
    def __init__(self, decoder: "msgspec.msgpack.Decoder[Any]", longest: int = LONGEST) -> None:
        self._decoder = decoder
        self._longest = longest
        self._data = bytearray()

    def feed(self, data: bytes) -> list[Any]:
        self._data += data
        messages, at = [], 0
        try:
            while len(self._data) >= at + LENGTH.size:
                (length,) = LENGTH.unpack_from(self._data, at)
                if length > self._longest:
                    raise WireError(f"expected a message of at most {self._longest} bytes, got {length}")
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
    """One end of two pipes. Sending never waits: run `write` in a task of its own. Owns the descriptors."""

    def __init__(self, incoming: int, outgoing: int, decoder: "msgspec.msgpack.Decoder[Any]") -> None:
        self._incoming, self._outgoing = incoming, outgoing
        for descriptor in (incoming, outgoing):
            os.set_blocking(descriptor, False)
        self._frames = Frames(decoder)
        self._unsent = bytearray()
        self._has_news = trio.Event()
        self._is_finished = self._is_closed = False

    def send(self, message: msgspec.Struct) -> None:
        """Queue a message; ignored after `finish`."""
        if not self._is_finished:
            self._unsent += frame(message)
            self._has_news.set()

    async def write(self) -> None:
        """Write queued messages until all that were sent before `finish` are written."""
        with contextlib.suppress(trio.ClosedResourceError):  # closed while the pipe was full
            while not self._is_closed:
                if not self.flush():
                    await writable(self._outgoing)
                elif self._is_finished:
                    self._close_outgoing()
                else:
                    self._has_news = trio.Event()
                    await self._has_news.wait()

    def flush(self) -> bool:
        try:
            written = os.write(self._outgoing, self._unsent) if self._unsent else 0
        except BlockingIOError:
            return False
        except OSError:  # the reader is gone
            written = len(self._unsent)
        del self._unsent[:written]
        return not self._unsent

    async def receive(self) -> list[Any]:
        """Wait for messages; an empty list is the end. Cancelling loses none. Raises `WireError`."""
        while True:
            try:
                data = os.read(self._incoming, READ_SIZE)
            except BlockingIOError:
                await readable(self._incoming)
                continue
            if not data:
                return []
            messages = self._frames.feed(data)
            await trio.lowlevel.cancel_shielded_checkpoint()
            if messages:
                return messages

    def receive_rest(self) -> list[Any]:
        """Return the messages that are there now, the last ones of a dead process. Raises `WireError`."""
        messages = []
        with contextlib.suppress(BlockingIOError):  # another process has a copy of the pipe's end
            while data := os.read(self._incoming, READ_SIZE):
                messages += self._frames.feed(data)
        return messages

    def finish(self) -> None:
        """Close the outgoing pipe once the queue is written. Messages can still be received."""
        if not self._is_finished:
            self._is_finished = True
            self._has_news.set()
            if self.flush():
                self._close_outgoing()

    def close(self) -> None:
        self._is_finished = True
        self._close_outgoing()
        os.close(self._incoming)

    def _close_outgoing(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            trio.lowlevel.notify_closing(self._outgoing)
            os.close(self._outgoing)
            self._has_news.set()


MOST_WAITING = 20_000
"""Events on the list, some megabytes: one or two seconds of very fast bots."""
MOST_SENT = 500
BATCH_SECONDS = 0.05


class FrameWriter:
    """Writes messages to a pipe in a thread, so that games never wait for the reader: too many moves are dropped."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._waiting: deque[msgspec.Struct] = deque()
        self._dropped = 0
        self._wake = threading.Event()
        self.is_ending = False
        self._thread = threading.Thread(target=self._write_until_over, daemon=True)
        self._thread.start()

    def watch(self, event: WatchedEvent) -> None:
        if isinstance(event, EventsDropped):
            self._dropped += event.count
        elif isinstance(event, GameStarted | ActionPlayed):
            if len(self._waiting) >= MOST_WAITING:
                self._dropped += 1
            else:
                self.put(event)

    def put(self, message: msgspec.Struct) -> None:
        self._waiting.append(message)
        self._wake.set()

    def end(self, seconds: float | None = None) -> None:
        """Write what waits, and close the pipe, within so many seconds."""
        self.is_ending = True
        self._wake.set()
        self._thread.join(seconds)

    def _write_until_over(self) -> None:
        try:
            while not (self.is_ending and not self._waiting):
                self._wake.wait()
                if not self.is_ending:
                    time.sleep(BATCH_SECONDS)
                self._wake.clear()
                while self._waiting:
                    self._pipe.write(self._batch())
                    self._pipe.flush()
        except (OSError, ValueError):  # the reader is dead or has closed the pipe
            self.is_ending = True
        with contextlib.suppress(OSError, ValueError):
            self._pipe.close()

    def _batch(self) -> bytes:
        events: list[GameStarted | ActionPlayed] = []
        while self._waiting and len(events) < MOST_SENT:
            if events and not isinstance(self._waiting[0], GameStarted | ActionPlayed):
                break
            match self._waiting.popleft():
                case GameStarted() | ActionPlayed() as event:
                    events.append(event)
                case message:
                    return frame(message)
        dropped, self._dropped = self._dropped, 0
        return frame(Watched(tuple(events), dropped))
