"""The program beside a dask worker that plays: bots unpacked and built, then the worker processes of this machine.

It is told what to do over one pipe and answers over another, and ends with its parent, as a worker process does: then
the bots are killed. It serves one run.
"""

import contextlib
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar, TypeVarTuple

import trio

from arena.bots.sandbox import reaper
from arena.bots.sandbox.levels import Level
from arena.bots.sandbox.rlimits import use_all_descriptors
from arena.bots.starting import RefusedBotsError
from arena.errors import ArenaError
from arena.league.executor import child_process
from arena.league.executor.cluster.cache import Cache, FullError, cache_folder
from arena.league.executor.cluster.calibration import measure
from arena.league.executor.cluster.carrying import settings_of
from arena.league.executor.cluster.copies import Copies
from arena.league.executor.cluster.messages import (
    Answered,
    Asked,
    Missing,
    Prepare,
    Refused,
    RunInfo,
    Unable,
    to_station,
)
from arena.league.executor.cluster.ready_bots import Preparation, ReadyBots
from arena.league.executor.cluster.station import SpoiltError, Station
from arena.league.executor.cluster.trimming import make_room, trim
from arena.league.executor.local import local_executor, usable_cpus
from arena.league.executor.pipes import Connection
from arena.league.executor.task import sendable
from arena.league.executor.worker import known_fault
from arena.nursery import background

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class _GoneError(Exception):
    """The parent is gone."""


class Program:
    """The life of a station: it is prepared, and then it plays."""

    def __init__(self, incoming: int, outgoing: int, parent: int) -> None:
        self._connection = Connection(incoming, outgoing, to_station)
        self._parent = parent
        self._early: list[Asked] = []
        """What has been asked and not been looked at yet."""

    async def _next(self) -> Asked:
        while not self._early:
            self._early += await self._connection.receive()
            if not self._early:
                raise _GoneError
        return self._early.pop(0)

    def _run(self, function: "Callable[[*Ts], Awaitable[T]]", /, *arguments: *Ts) -> T:
        """Run something to its end, unless the parent is gone before."""

        async def watched() -> T:
            results: list[T] = []
            async with background() as nursery:
                nursery.start_soon(child_process.until_gone, self._parent, nursery.cancel_scope)
                nursery.start_soon(self._connection.write)
                results.append(await function(*arguments))
            if not results:
                raise _GoneError
            return results[0]

        return trio.run(watched)

    def main(self) -> None:
        cache = Cache(cache_folder())
        while True:
            asked = self._run(self._next)
            if isinstance(asked.request, Prepare):
                answer = self._prepare_and_serve(cache, asked.request.run, asked.number)
                if answer is None:
                    break
            else:
                answer = Refused("it is not ready to play")
            self._connection.send(Answered(asked.number, answer))
        self._connection.flush_all()

    def _prepare_and_serve(
        self, cache: Cache, run: RunInfo, number: int, *, has_made_room: bool = False
    ) -> "Missing | Unable | Refused | None":
        """Play a run to its end; or else why that cannot be done. None: it has to be prepared again by another one."""
        say = partial(print, file=sys.stderr, flush=True)
        try:
            with Copies(cache) as copies:
                ready = Preparation(cache, copies, run, say=say, run=self._run).prepare()
                if not isinstance(ready, ReadyBots):
                    return ready
                trim(cache)
                self._run(self._serve, run, ready, number)
        except RefusedBotsError as error:
            return Unable({sendable(name): sendable(why) for name, why in error.problems.items()})
        except SpoiltError:
            return None
        except FullError as error:
            if not has_made_room and make_room(cache):
                return self._prepare_and_serve(cache, run, number, has_made_room=True)
            return Refused(str(error))
        except Exception as error:
            if isinstance(error, _GoneError):
                raise
            return Refused(str(_told(error)))
        return None

    async def _serve(self, run: RunInfo, ready: ReadyBots, number: int) -> None:
        is_ready = False
        try:
            calibration = await trio.to_thread.run_sync(measure)  # while nothing else is done here
            is_confined = run.level is not Level.DEFAULT
            async with local_executor(settings_of(run, ready.bots), run.jobs or len(usable_cpus())) as executor:
                station = Station(self._connection, executor, ready, calibration, is_confined=is_confined)
                await station.handle(Asked(number, Prepare(run)))
                is_ready = True
                async with background(station.play):
                    while True:
                        await station.handle(await self._next())
        except Exception as error:
            if isinstance(error, _GoneError | SpoiltError) or not is_ready:
                raise
            refused = Refused(str(_told(error)))
            while True:  # the parent has the last word
                self._connection.send(Answered(number, refused))
                number = (await self._next()).number


def _told(error: Exception) -> ArenaError:
    """The error as one for users, if it is one; else it is raised."""
    fault = known_fault(error)
    if fault is None:
        raise error
    return fault


def main(incoming: int, outgoing: int, parent: int) -> None:
    """Run a station that is told what to do over one descriptor and answers over another."""
    child_process.begin(incoming, outgoing)
    use_all_descriptors()
    reaper.claim_all_orphans()
    with contextlib.suppress(_GoneError):
        Program(incoming, outgoing, parent).main()
