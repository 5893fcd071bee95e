"""What dask runs on a worker.

`prepare` unpacks and builds the bots of a run and starts a `LocalExecutor` in a thread of its own, which plays a game
at a time for each of dask's threads. `play` hands it a batch and waits. The bots are children of the arena's worker
processes, never of dask's.

A run ends when dask drops the result of its `prepare`: the arena has released it, or is gone.
"""

import logging
import os
import shutil
import statistics
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import trio

from arena.bots import BotSpec, load_bot
from arena.bots.asked import AskedBot
from arena.bots.build import build_all
from arena.bots.sandbox.programs import HostPrograms
from arena.bots.starting import RefusedBotsError
from arena.errors import UsageError
from arena.game.record import encode_record
from arena.league.executor.cluster.calibration import Calibration, load_now, measure, scaled_task
from arena.league.executor.cluster.messages import (
    Answer,
    BatchPlayed,
    CarriedBot,
    Prepared,
    Refused,
    RunInfo,
    Unable,
    Unprepared,
    decode_run,
    decode_tasks,
    encode,
    this_arena,
)
from arena.league.executor.cluster.packing import PackError, unpack
from arena.league.executor.local import local_executor
from arena.league.executor.task import (
    Begun,
    Failed,
    GameTask,
    Lost,
    NotPlayed,
    Outcome,
    Paused,
    Played,
    PlaySettings,
    Said,
    Watched,
    sendable,
)
from arena.league.executor.wire import packed, unpacked
from arena.league.executor.worker import known_fault
from arena.play.machine import percent_of
from arena.system.concurrency import background
from arena.system.printable import printable

POLL_SECONDS = 0.5
"""How often a run looks whether dask still holds it."""

_log = logging.getLogger("distributed.worker")
_runs: dict[str, "Run"] = {}


def dask_setup(worker: Any) -> None:
    """Called by dask when the worker starts."""
    _log.info("stratego-arena %s: worker %s plays %d games at a time", this_arena(), worker.name, worker.state.nthreads)


def dask_teardown(worker: Any) -> None:
    """Called by dask when the worker stops: end all bots."""
    for run in list(_runs.values()):
        run.stop()


# --- dask tasks -------------------------------------------------------------------------------------------------------


def hold(pack: bytes) -> bytes:
    """Return a bot's pack, so that dask keeps it and sends it to the workers that need it."""
    return pack


def prepare(data: bytes, packs: dict[str, bytes]) -> bytes:
    """Make a run ready to play; `data` is a `RunInfo`, `packs` are the files of its bots by key."""
    worker, key = _here()
    return encode(Answer(worker.address, _prepared(worker, key, decode_run(data), packs)))


def _prepared(worker: Any, key: str, info: RunInfo, packs: dict[str, bytes]) -> Prepared | Unable | Refused:
    if info.arena != this_arena():
        return Refused(f"it runs stratego-arena {this_arena()}, and this is {info.arena}")
    folder = Path(tempfile.mkdtemp(prefix="bots-", dir=worker.local_directory))
    folder.chmod(0o755)  # a sandbox may run bots as another user
    try:
        bots = _load_all(info, packs, folder)
        calibration = measure()
        slots = min(worker.state.nthreads, info.jobs or worker.state.nthreads)
        run = Run(info, bots, folder, calibration, slots=slots, is_held=lambda: key in worker.state.tasks)
        run.start()
    except Exception as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, RefusedBotsError):
            return Unable({sendable(name): sendable(why) for name, why in error.problems.items()})
        fault = error if isinstance(error, PackError) else known_fault(error)
        if fault is None:
            raise
        return Refused(sendable(str(fault)))
    return Prepared(calibration)


def play(run_id: str, data: bytes) -> bytes:
    """Play a batch of games of a run, and return when all are over; `data` is a tuple of `GameTask`s."""
    worker, _ = _here()
    run = _runs.get(run_id)
    return encode(Answer(worker.address, run.play(decode_tasks(data)) if run else Unprepared()))


def close(run_id: str) -> None:
    """Begin no further game of a run. Dask calls this beside the tasks."""
    if run := _runs.get(run_id):
        run.close()


def _here() -> tuple[Any, str]:
    """The dask worker of this thread, and the key of the task that it runs."""
    dask = import_module("distributed.worker")
    return dask.get_worker(), dask.thread_state.key


# --- bots -------------------------------------------------------------------------------------------------------------


def _load_all(info: RunInfo, packs: dict[str, bytes], folder: Path) -> list[BotSpec]:
    """Unpack, load and build the bots. Raises `RefusedBotsError` with all problems, `PackError` and `ArenaError`."""
    sent: list[tuple[CarriedBot, BotSpec]] = []
    problems: dict[str, str] = {}
    for number, carried in enumerate(info.bots):
        try:
            sent.append((carried, _load(carried, packs, folder / str(number))))
        except UsageError as error:
            problems[unpacked(carried.bot.name)] = str(error)
    specs = [spec for _, spec in sent]
    host = HostPrograms(tuple(map(unpacked, info.interpreters)), specs)
    say = partial(print, file=sys.stderr, flush=True)
    bots = []
    for (carried, _), made in zip(sent, build_all(specs, info.level, info.build, host, say), strict=True):
        meant = carried.bot.bot()
        if made.fault is not None and meant.fault is None:
            problems[made.name] = made.fault
        # The digest is that of the files that were sent, whatever the build has made of them.
        bots.append(
            replace(
                made,
                digest=meant.digest,
                entered_as=meant.entered_as,
                language=meant.language,
                not_sent=meant.not_sent,
            )
        )
    if problems:
        raise RefusedBotsError(problems)
    return bots


def _load(carried: CarriedBot, packs: dict[str, bytes], place: Path) -> BotSpec:
    """Load a bot as it was sent. Raises `UsageError` if it cannot be run here, `PackError` and `OSError`."""
    if not carried.key:
        return carried.bot.bot()
    place.mkdir(0o755)
    unpack(packs[carried.key], place)
    path = place / os.fsdecode(carried.file)
    found = load_bot(path, AskedBot(f"{carried.prefix}{path}", arguments=tuple(map(unpacked, carried.arguments))))
    if packed(found.digest) != carried.bot.digest:
        name = printable(unpacked(carried.bot.name))
        raise UsageError(f"{name}: expected the digest {unpacked(carried.bot.digest)[:16]}, got {found.digest[:16]}")
    return replace(found, name=unpacked(carried.bot.name))


# --- a run ------------------------------------------------------------------------------------------------------------


class _Batch:
    """Games that a dask thread waits for."""

    def __init__(self, tasks: tuple[GameTask, ...]) -> None:
        self.open = {game.id for task in tasks for game in task.games}
        self.records: list[bytes] = []
        self.others: list[NotPlayed | Failed | Said] = []
        self.seconds: list[float] = []
        self.load = load_now()
        self.is_over = threading.Event()


class Run:
    """The games of one run on this worker: a thread with a `LocalExecutor`, from `start` to `stop`."""

    def __init__(
        self,
        info: RunInfo,
        bots: list[BotSpec],
        folder: Path,
        calibration: Calibration,
        *,
        slots: int,
        is_held: Callable[[], bool],
    ) -> None:
        """`slots` is how many games are played at a time, `is_held()` whether dask still holds the run."""
        self._info, self._bots, self._folder, self._slots, self._is_held = info, bots, folder, slots, is_held
        self._percent = percent_of(calibration.work_us, info.reference_us) if info.reference_us else None
        self._batches: dict[str, _Batch] = {}
        """The batch of each open game, by id. Touched by the run's thread alone."""
        self._begun_at: dict[str, float] = {}
        self._is_closed = False
        self._ready = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._main, name="arena", daemon=True)

    def start(self) -> None:
        """Return when games can be played. Raises what keeps them from being played."""
        _runs[self._info.id] = self
        self._thread.start()
        self._ready.wait()
        if self._error:
            raise self._error

    def play(self, tasks: tuple[GameTask, ...]) -> BatchPlayed | Refused | Unprepared:
        """Play games and wait until all are over, or the run is."""
        batch = _Batch(tasks)
        with suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._add, batch, tasks)
            while not batch.is_over.wait(POLL_SECONDS) and self._thread.is_alive():
                pass
        if self._error:
            return Refused(sendable(str(self._error)))
        if not batch.is_over.is_set():
            return Unprepared()
        seconds = statistics.fmean(batch.seconds) if batch.seconds else 0.0
        return BatchPlayed(tuple(batch.records), tuple(batch.others), seconds, batch.load)

    def close(self) -> None:
        """Begin no game any more: batches return when the games under way are over."""
        with suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._executor.close)

    def stop(self) -> None:
        """End the games under way, and return when all is gone."""
        with suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._scope.cancel)
        self._thread.join()

    # --- in the run's thread ------------------------------------------------------------------------------------------

    def _main(self) -> None:
        try:
            trio.run(self._serve)
        except BaseException as error:
            fault = known_fault(error) if isinstance(error, Exception) else None
            self._error = fault or error
            if fault is None:
                _log.exception("a run of stratego-arena has failed")
        finally:
            _runs.pop(self._info.id, None)
            shutil.rmtree(self._folder, ignore_errors=True)
            self._ready.set()

    async def _serve(self) -> None:
        info = self._info
        settings = PlaySettings(
            tuple(self._bots),
            info.level,
            info.usual,
            {unpacked(name): limits for name, limits in info.limits.items()},
            tuple(map(unpacked, info.interpreters)),
            info.pondering,
            info.is_pinned,
        )
        self._token = trio.lowlevel.current_trio_token()
        self._send, tasks = trio.open_memory_channel[GameTask](sys.maxsize)
        with trio.CancelScope() as self._scope:
            async with local_executor(settings, self._slots) as self._executor, background(self._watch):
                self._ready.set()
                async for outcome in self._executor.play(tasks):
                    self._note(outcome)
                self._is_closed = True
                for batch in set(self._batches.values()):
                    batch.is_over.set()  # the games that are still open were not begun
                self._batches.clear()
                await trio.sleep_forever()

    async def _watch(self) -> None:
        while self._is_held():  # noqa: ASYNC110  (dask has no event for it)
            await trio.sleep(POLL_SECONDS)
        self._scope.cancel()

    def _add(self, batch: _Batch, tasks: tuple[GameTask, ...]) -> None:
        if self._is_closed:
            batch.is_over.set()
            return
        for game in batch.open:
            self._batches[game] = batch
        for task in tasks:
            self._send.send_nowait(scaled_task(task, self._percent))

    def _note(self, outcome: Outcome) -> None:
        match outcome:
            case Begun(id):
                self._begun_at[id] = trio.current_time()
            case Lost(id):
                self._begun_at.pop(id, None)
            case Played():
                batch = self._batches[outcome.id]
                batch.records.append(encode_record(outcome.record))
                batch.seconds.append(trio.current_time() - self._begun_at.pop(outcome.id))
                self._end(outcome.id)
            case NotPlayed(id) | Failed(id):
                assert id is not None
                self._batches[id].others.append(outcome)
                self._begun_at.pop(id, None)
                self._end(id)
            case Said():
                for batch in set(self._batches.values()):
                    batch.others.append(outcome)
                    break
            case Watched() | Paused():
                pass

    def _end(self, game: str) -> None:
        batch = self._batches.pop(game)
        batch.open.discard(game)
        if not batch.open:
            batch.is_over.set()
