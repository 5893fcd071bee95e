"""What runs in a dask worker: it hands on what comes to the station beside it, and back what that answers.

Dask calls two functions, by their names: `handle` beside the tasks, and `play` as a task. Both take bytes and return
bytes. The station ends with this process, however that ends.
"""

import asyncio
import threading
import time
from collections.abc import Callable

from arena.errors import ArenaError
from arena.league.executor.cluster.cache import Cache, FullError, cache_folder
from arena.league.executor.cluster.dask import distributed
from arena.league.executor.cluster.messages import (
    Answer,
    Batch,
    Busy,
    Close,
    Collect,
    Done,
    End,
    Prepare,
    PutBot,
    Refused,
    Request,
    RunInfo,
    Unprepared,
    decode_request,
    encode,
)
from arena.league.executor.cluster.source import this_arena
from arena.league.executor.cluster.station_process import StationGoneError, StationProcess, Wish
from arena.league.executor.cluster.trimming import make_room
from arena.league.executor.pipes import WireError

KEPT_SECONDS = 30.0
"""For so long after it was heard last a run keeps its worker. An arena that has games on a worker speaks to it three
times as often (`arena.league.executor.cluster.batches.BEAT_SECONDS`)."""


class Service:
    """What one dask worker has: at most one station. That is one run's for as long as it is heard of: arenas that would
    take a worker from one another would play the same games again and again."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._lock = threading.Lock()
        self._station: StationProcess | None = None
        self._store = ""
        """What stands for the store of the station's run."""
        self._clock = clock
        self._heard_at = 0.0
        """When the station's run was heard last."""
        self._is_closed = False
        """Whether its worker is ending: nothing is prepared any more."""
        self._preparing = 0
        """How many threads wait until the station has made bots ready, which may take long."""

    def handle(self, request: Request) -> Answer:
        """Do what is asked for, which may take long. Raises nothing but mistakes in the arena."""
        try:
            match request:
                case Prepare(run):
                    if run.version != this_arena():
                        return Refused(f"it runs stratego-arena {this_arena()}, and this is {run.version}")
                    return self._prepared(request)
                case PutBot():
                    return self._put(request)
                case Close(run) | Collect(run):
                    return self._asked(run, request)
                case End(run):
                    return self._end(run)
                case Batch():
                    raise AssertionError("a batch is a task of dask")
        except StationGoneError as error:
            return Refused(f"the process that plays has failed ({error}); the worker's own output says why")
        except (ArenaError, OSError) as error:
            return Refused(str(error))

    def _put(self, request: PutBot) -> Answer:
        """Keep a part of a pack. Raises `ArenaError`."""
        cache = Cache(cache_folder())
        try:
            cache.put(request.key, request.part, request.at, request.size)
        except FullError:
            if request.at or not make_room(cache):
                raise
            cache.put(request.key, request.part, request.at, request.size)
        return Done()

    def _asked(self, run: str, request: Close | Collect) -> Answer:
        station = self._known(run)
        try:
            return station.ask(request).answer.result() if station else Unprepared()
        except StationGoneError:  # what became of its batches is told in answer to them
            return Unprepared()

    def _prepared(self, request: Prepare) -> Answer:
        """Have a station be prepared. Raises `StationGoneError`."""
        while True:
            station = self._station_for(request.run)
            if station is None:
                return Busy()
            try:
                return station.ask(request).answer.result()
            except StationGoneError:
                with self._lock:
                    if self._station is not station or not station.has_ended_well:
                        raise
                # else its bots had to be made ready again, by another one, and it was just about to end
            finally:
                with self._lock:
                    self._preparing -= 1
                    self._heard_at = self._clock()

    def begin(self, batch: Batch) -> Wish | None:
        """Have a batch played; None if this worker is not prepared for its run."""
        station = self._known(batch.run)
        return station.ask(batch) if station else None

    def _known(self, run: str) -> StationProcess | None:
        with self._lock:
            station = self._station
            if not station or station.run != run or station.is_gone:
                return None
            self._heard_at = self._clock()
            return station

    def _station_for(self, run: RunInfo) -> StationProcess | None:
        """The station of a run, about to be prepared; None while another run has this worker."""
        with self._lock:
            if self._is_closed:
                return None
            old = self._station
            follows = bool(run.store) and run.store == self._store  # whatever had that store is over
            if old and old.run != run.id and not old.is_gone and self._is_kept and not follows:
                return None
            if old and (old.run != run.id or old.is_gone):
                old.end()
                self._station = old = None
            if old is None:
                self._station = StationProcess(run.id)
                self._store = run.store
            assert self._station is not None
            self._preparing += 1
            self._heard_at = self._clock()
            return self._station

    @property
    def _is_kept(self) -> bool:
        return self._preparing > 0 or self._clock() - self._heard_at < KEPT_SECONDS

    def close(self) -> None:
        """End the station, whatever it plays, and begin none any more."""
        with self._lock:
            self._is_closed = True
            if self._station:
                self._station.end()
                self._station = None

    def _end(self, run: str) -> Answer:
        with self._lock:
            if self._station and self._station.run == run:
                self._station.end()
                self._station = None
                return Done()
        return Unprepared()


SERVICE = Service()


async def handle(data: bytes) -> bytes:
    """A request, answered in a thread: the worker's loop goes on. Called by dask."""
    return await asyncio.get_running_loop().run_in_executor(None, _handled, data)


def _handled(data: bytes) -> bytes:
    try:
        request = decode_request(data)
    except WireError as error:
        return encode(Refused(f"it runs stratego-arena {this_arena()}, to which this arena is a stranger: {error}"))
    return encode(SERVICE.handle(request))


def play(data: bytes) -> bytes:
    """A batch, played to its end. Called by dask as a task, in a thread.

    As soon as no game of it is left to begin, the worker may take its next task: no slot is free for long.
    """
    batch = decode_request(data)
    assert isinstance(batch, Batch)
    wish = SERVICE.begin(batch)
    if wish is None:
        return encode(Unprepared())
    wish.is_begun.wait()
    if not wish.answer.done():
        distributed().secede()
    try:
        return encode(wish.answer.result())
    except StationGoneError:
        return encode(Unprepared())
