"""The process that serves the pages of a running league, and the messages to it, for which the league never waits."""

import contextlib
import os
import subprocess
import threading
from collections.abc import Callable

import msgspec

from arena.league.executor.child_process import FrameWriter, own_python
from arena.league.executor.task import Watched
from arena.play.game_events import WatchedEvent
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


END_SECONDS = 7.0
MOST_SAID = 20


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
