"""The process that serves pages, as the league sees it, and the messages between the two.

The process holds no lock, writes no file and ends with the league. Events go on a list, from which a thread writes to
a pipe; the league never waits for it. Events that do not fit on the list are dropped and counted. A process that dies,
or takes nothing, costs the league its pages and nothing else.
"""

import contextlib
import os
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable

import msgspec

from arena.bots.sandbox.child import killed_words
from arena.league.executor.child_process import frame, own_python
from arena.league.executor.event_stream import Happened, WireAction, WireStart
from arena.play.game_events import ActionPlayed, EventsDropped, GameStarted, WatchedEvent
from arena.system.printable import printable
from arena.web.address import Listening

LONGEST = 2**24
"""Bytes of a message; a batch of events has some kilobytes."""


class LiveSetup(msgspec.Struct, frozen=True, tag=True):
    """What is to be served, said first. `listening` is the descriptor of a socket that listens at `host`.

    `reader` is who the pages of finished games are for, `shows_all` whether running games are shown with all ranks;
    what happens in them is shown `delay` seconds later.
    """

    store: bytes
    listening: int
    host: str
    reader: str
    shows_all: bool
    delay: float
    known_as: tuple[str, ...]
    language: str
    numbering: str


class GameStored(msgspec.Struct, frozen=True, tag=True):
    """A game is over and in the store under this number; `text` says in a line what came of it."""

    game: str
    number: int
    text: str


class LeagueProgress(msgspec.Struct, frozen=True, tag=True):
    """How many games are over, of how many if that is known, and the seconds that the others will take, about."""

    done: int
    planned: int | None
    seconds_left: float | None


class Over(msgspec.Struct, frozen=True, tag=True):
    """The league has ended: there is no more to be told."""


Told = LiveSetup | Happened | GameStored | LeagueProgress | Over
to_server = msgspec.msgpack.Decoder(Told)


PROGRAM = """
import sys
sys.path[:] = sys.argv[2:]
from arena.web.live_process import main
main(int(sys.argv[1]))
"""
MOST_WAITING = 20_000
"""Events on the list, some megabytes: what bots do in a second or two if they are very fast."""
MOST_SENT = 500
"""Events that are written at a time."""
BATCH_SECONDS = 0.05
"""How long events wait for others to go with them."""
END_SECONDS = 3.0
"""What the process has to end; then it is killed."""
MOST_SAID = 20
"""Lines that it may say."""


class ServerBeside:
    """The process that serves the pages of a league. Made by `start`; must be ended with `end`.

    `say` is told, by other threads, what the host should know.
    """

    def __init__(self, popen: "subprocess.Popen[bytes]", say: Callable[[str], None]) -> None:
        self._popen = popen
        self._say = say
        self._waiting: deque[WatchedEvent | GameStored | LeagueProgress] = deque()
        self._dropped = 0
        self._wake = threading.Event()
        self._is_ending = False
        self._writer = threading.Thread(target=self._write_until_over, daemon=True)
        self._listener = threading.Thread(target=self._hear, daemon=True)
        self._writer.start()
        self._listener.start()

    @classmethod
    def start(cls, setup: LiveSetup, listening: Listening, say: Callable[[str], None]) -> "ServerBeside":
        """Start it; the socket is its own from here on. Raises `OSError`."""
        popen = subprocess.Popen(
            own_python(PROGRAM, str(os.getpid())),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=(listening.socket.fileno(),),
            start_new_session=True,
        )
        listening.close()
        assert popen.stdin is not None
        with contextlib.suppress(OSError):
            popen.stdin.write(frame(setup))
            popen.stdin.flush()
        return cls(popen, say)

    @property
    def pid(self) -> int:
        return self._popen.pid

    # --- what is told -------------------------------------------------------------------------------------------------

    def watch(self, event: WatchedEvent) -> None:
        """Something has happened in a game. Returns at once."""
        if isinstance(event, EventsDropped):
            self._dropped += event.count
        elif isinstance(event, GameStarted | ActionPlayed):
            if len(self._waiting) >= MOST_WAITING:
                self._dropped += 1
            else:
                self._put(event)

    def stored(self, game: str, number: int, text: str) -> None:
        """A game is over and stored."""
        self._put(GameStored(game, number, text))

    def progress(self, done: int, planned: int | None, seconds_left: float | None) -> None:
        """How far the league is."""
        self._put(LeagueProgress(done, planned, seconds_left))

    def _put(self, what: WatchedEvent | GameStored | LeagueProgress) -> None:
        self._waiting.append(what)
        self._wake.set()

    # --- the threads --------------------------------------------------------------------------------------------------

    def _write_until_over(self) -> None:
        pipe = self._popen.stdin
        assert pipe is not None
        try:
            while not (self._is_ending and not self._waiting):
                self._wake.wait()
                if not self._is_ending:
                    time.sleep(BATCH_SECONDS)
                self._wake.clear()
                while self._waiting:
                    pipe.write(self._batch())
                    pipe.flush()
            pipe.write(frame(Over()))
            pipe.flush()
        except (OSError, ValueError):  # it is dead, or the pipe closed: whoever listens to it says so
            self._is_ending = True
        with contextlib.suppress(OSError, ValueError):
            pipe.close()

    def _batch(self) -> bytes:
        """The next things that wait, in their order: a message, or as many events as go into one."""
        events: list[WireStart | WireAction] = []
        while self._waiting and len(events) < MOST_SENT:
            if isinstance(self._waiting[0], GameStored | LeagueProgress) and events:
                break
            match self._waiting.popleft():
                case GameStored() | LeagueProgress() as message:
                    return frame(message)
                case GameStarted(spec, setups):
                    events.append(WireStart(spec, setups))
                case ActionPlayed() as event:
                    events.append(WireAction.of(event))
        dropped, self._dropped = self._dropped, 0
        return frame(Happened(tuple(events), dropped))

    def _hear(self) -> None:
        """Pass on what it says, and tell if it ends before the league."""
        assert self._popen.stderr is not None
        for number, line in enumerate(self._popen.stderr):
            if number < MOST_SAID:
                self._say(f"pages: {printable(line.decode('utf-8', 'replace').rstrip())}")
        code = self._popen.wait()
        if not self._is_ending:
            self._is_ending = True
            self._wake.set()
            how = killed_words(-code) if code < 0 else f"exited with code {code}"
            self._say(f"the pages are not served any more: their process {how}; the games go on")

    def end(self) -> None:
        """The league is over: have viewers told so, and the process end. If this is interrupted, it is killed."""
        self._is_ending = True
        self._wake.set()
        try:
            self._writer.join(END_SECONDS)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(END_SECONDS)
        finally:
            if self._popen.poll() is None:
                self._popen.kill()
                self._popen.wait()
        self._writer.join(END_SECONDS)
        self._listener.join(END_SECONDS)
        assert self._popen.stderr is not None
        self._popen.stderr.close()
