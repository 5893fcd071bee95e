"""The process that serves the pages of a running league, and the messages to it, for which the league never waits."""

import contextlib
import os
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import IO

import msgspec

from arena.league.executor.child_process import frame, own_python
from arena.league.executor.task import Watched
from arena.play.game_events import ActionPlayed, EventsDropped, GameStarted, WatchedEvent
from arena.sandbox.reaper import killed_words
from arena.system.printable import printable
from arena.web.address import Listening

LONGEST = 2**24


class LiveSetup(msgspec.Struct, frozen=True, tag=True):
    """The first message. `listening` is a descriptor; running games are shown with all ranks if `shows_all`."""

    store: bytes
    listening: int
    host: str
    reader: str
    shows_all: bool
    delay: float
    known_as: tuple[str, ...]


class GameStored(msgspec.Struct, frozen=True, tag=True):
    """A game was stored; its `number` is 0 if it has no page."""

    game: str
    number: int
    text: str


class LeagueProgress(msgspec.Struct, frozen=True, tag=True):
    """The finished games, the planned ones if known, and the estimated seconds left."""

    done: int
    planned: int | None
    seconds_left: float | None


class Over(msgspec.Struct, frozen=True, tag=True):
    pass


Told = LiveSetup | Watched | GameStored | LeagueProgress | Over
to_server = msgspec.msgpack.Decoder(Told)


MOST_WAITING = 20_000
"""Events on the list, some megabytes: one or two seconds of very fast bots."""
MOST_SENT = 500
BATCH_SECONDS = 0.05
END_SECONDS = 7.0
MOST_SAID = 20


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
                case GameStarted(spec, setups):
                    events.append(GameStarted(spec, setups, None))
                case ActionPlayed() as event:
                    events.append(event)
                case message:
                    return frame(message)
        dropped, self._dropped = self._dropped, 0
        return frame(Watched(tuple(events), dropped))


class ServerBeside:
    """The process that serves the pages of a league until `end`; `say` is called from other threads."""

    def __init__(self, setup: LiveSetup, listening: Listening, say: Callable[[str], None]) -> None:
        self._popen = subprocess.Popen(
            own_python("arena.web.live_process", os.getpid()),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=(listening.socket.fileno(),),
            start_new_session=True,
        )
        listening.close()
        self._say, self._is_ending = say, False
        assert self._popen.stdin is not None
        self._writer = FrameWriter(self._popen.stdin)
        self.tell(setup)
        self._listener = threading.Thread(target=self._hear, daemon=True)
        self._listener.start()

    @property
    def pid(self) -> int:
        return self._popen.pid

    def watch(self, event: WatchedEvent) -> None:
        self._writer.watch(event)

    def tell(self, message: Told) -> None:
        self._writer.put(message)

    def _hear(self) -> None:
        assert self._popen.stderr is not None
        for number, line in enumerate(self._popen.stderr):
            if number < MOST_SAID:
                self._say(f"pages: {printable(line.decode('utf-8', 'replace').rstrip())}")
        code = self._popen.wait()
        if not self._is_ending:
            how = killed_words(-code) if code < 0 else f"exited with code {code}"
            self._say(f"the pages are not served any more: their process {how}; the league continues")

    def end(self) -> None:
        """Tell viewers that the league is over, and end the process. If this is interrupted, kill it."""
        self._is_ending = True
        self.tell(Over())
        try:
            self._writer.end(END_SECONDS)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(END_SECONDS)
        finally:
            if self._popen.poll() is None:
                self._popen.kill()
                self._popen.wait()
        self._writer.end(END_SECONDS)
        self._listener.join(END_SECONDS)
        assert self._popen.stderr is not None
        self._popen.stderr.close()
