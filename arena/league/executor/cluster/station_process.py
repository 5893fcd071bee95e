"""The station as the dask worker has it: a child process that is asked over one pipe and answers over another."""

import contextlib
import itertools
import logging
import os
import select
import signal
import subprocess
import threading
from concurrent.futures import Future

from arena.league.executor.cluster.messages import Answer, Answered, Asked, Batch, Close, Collect, Prepare, from_station
from arena.league.executor.pipes import Frames, WireError, frame
from arena.league.executor.process import popen_module
from arena.league.executor.stopped import LOOK_SECONDS, Stops

STATION = "arena.league.executor.cluster.station_main"
READ_SIZE = 1 << 20
END_SECONDS = 30.0
"""A station has so long to end its bots and to exit; it takes well under a second. Then it is killed."""


class StationGoneError(Exception):
    """The station has ended; the text says how."""


class Wish:
    """A request that waits for its answer. `is_begun` is set when a batch has no game left to begin, or is over."""

    def __init__(self) -> None:
        self.answer: Future[Answer] = Future()
        self.is_begun = threading.Event()

    def end(self, answer: Answer) -> None:
        self.answer.set_result(answer)
        self.is_begun.set()

    def fail(self, error: Exception) -> None:
        self.answer.set_exception(error)
        self.is_begun.set()


class StationProcess:
    """The process beside this one that plays the games of one run. Safe to use from any thread."""

    def __init__(self, run: str) -> None:
        self.run = run
        down, up = os.pipe(), os.pipe()
        try:
            self._popen = popen_module(STATION, down[0], up[1], None)
        except OSError:
            for descriptor in (*down, *up):
                os.close(descriptor)
            raise
        os.close(down[0])
        os.close(up[1])
        self._outgoing, self._incoming = down[1], up[0]
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._numbers = itertools.count(1)
        self._wishes: dict[int, Wish] = {}
        self._is_gone = False
        threading.Thread(target=self._hear, name="station", daemon=True).start()

    def ask(self, request: Prepare | Close | Batch | Collect) -> Wish:
        """Send it a request."""
        wish = Wish()
        with self._lock:
            if self._is_gone:
                wish.fail(StationGoneError("it has ended"))
                return wish
            number = next(self._numbers)
            self._wishes[number] = wish
        data = memoryview(frame(Asked(number, request)))
        with contextlib.suppress(OSError), self._writing:  # it has ended, which the other thread tells
            while data:
                data = data[os.write(self._outgoing, data) :]
        return wish

    def end(self) -> None:
        """Have it stop its games and exit: it sees the end of its input. Returns when it is dead."""
        with contextlib.suppress(ProcessLookupError):
            self._popen.send_signal(signal.SIGCONT)  # one that is stopped could do nothing, and not be written to
        if not self._writing.acquire(timeout=END_SECONDS):  # it reads nothing
            self._popen.kill()
            self._writing.acquire()
        if self._outgoing >= 0:
            os.close(self._outgoing)
            self._outgoing = -1
        self._writing.release()
        try:
            self._popen.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()

    def _hear(self) -> None:
        frames, stops, why = Frames(from_station), Stops(), ""
        poll = select.poll()
        poll.register(self._incoming, select.POLLIN)
        try:
            while True:
                while not poll.poll(LOOK_SECONDS * 1000):
                    why = self._keep_going(stops) or why
                if not (data := os.read(self._incoming, READ_SIZE)):
                    break
                for answered in frames.feed(data):
                    self._note(answered)
        except WireError:
            self._popen.kill()
        os.close(self._incoming)
        code = self._popen.wait()
        with self._lock:
            self._is_gone = True
            left = list(self._wishes.values())
            self._wishes.clear()
        for wish in left:
            wish.fail(StationGoneError(f"it {why}" if code < 0 and why else f"it exited with code {code}"))

    def _keep_going(self, stops: Stops) -> str:
        """See that it is not stopped; returns what was done about that, in words behind its name."""
        words = stops.act(self._popen.pid, self._popen.send_signal)
        if words:
            logging.getLogger("distributed.worker").warning("the process that plays %s", words)
        return words

    def _note(self, answered: Answered) -> None:
        if not answered.is_last:
            with self._lock:
                wish = self._wishes.get(answered.number)
            if wish:
                wish.is_begun.set()
            return
        with self._lock:
            wish = self._wishes.pop(answered.number, None)
        if wish:
            wish.end(answered.answer)

    @property
    def is_gone(self) -> bool:
        return self._is_gone

    @property
    def has_ended_well(self) -> bool:
        return self._popen.returncode == 0
