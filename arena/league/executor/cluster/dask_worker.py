"""The functions that dask runs on a worker.

`prepare` unpacks and builds the bots of a run and starts a `LocalExecutor` in a thread. `play` passes it a batch and
waits. A run ends when dask drops the result of its `prepare`: the arena has released it, or is gone.
"""

import logging
import pickle
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

from arena.bots.asked import AskedBot
from arena.bots.loading import load_bot
from arena.bots.spec import BotSpec
from arena.errors import UsageError
from arena.game.record import encode_record
from arena.league.executor.cluster.cluster_protocol import (
    BatchPlayed,
    Calibration,
    Prepared,
    Refused,
    RunInfo,
    SentBot,
    Unprepared,
    WorkerAnswer,
    load_now,
    measure,
    scaled_task,
    this_arena,
)
from arena.league.executor.cluster.packing import unpack
from arena.league.executor.local import local_executor
from arena.league.executor.task import (
    Begun,
    Failed,
    GameTask,
    Notice,
    NotPlayed,
    Outcome,
    Played,
    sendable,
)
from arena.play.machine import percent_of
from arena.processes.build import build_all
from arena.processes.runnable import RefusedBotsError
from arena.sandbox.launch import known_fault
from arena.sandbox.programs import HostPrograms
from arena.system.concurrency import background
from arena.system.printable import printable

POLL_SECONDS = 0.5

_log = logging.getLogger("distributed.worker")
_runs: dict[str, "WorkerRun"] = {}


def dask_setup(worker: Any) -> None:
    _log.info("stratego-arena %s: worker %s plays %d games at once", this_arena(), worker.name, worker.state.nthreads)


def dask_teardown(worker: Any) -> None:
    for run in list(_runs.values()):
        run.stop()


def hold(pack: bytes) -> bytes:
    """Return a bot's pack, so that dask keeps it and sends it to the workers that need it."""
    return pack


def prepare(version: str, data: bytes, packs: dict[str, bytes]) -> WorkerAnswer:
    """Make a run ready to play; `data` is a pickled `RunInfo`, `packs` are the files of its bots by key."""
    worker, key = _here()
    return WorkerAnswer(worker.address, _prepared(worker, key, version, data, packs))


def _prepared(worker: Any, key: str, version: str, data: bytes, packs: dict[str, bytes]) -> Prepared | Refused:
    if version != this_arena():
        return Refused(f"it runs stratego-arena {this_arena()}, and this is {version}")
    info: RunInfo = pickle.loads(data)
    folder = Path(tempfile.mkdtemp(prefix="bots-", dir=worker.local_directory))
    folder.chmod(0o755)  # a sandbox may run bots as another user
    try:
        bots = _load_all(info, packs, folder)
        calibration = measure()
        slots = min(worker.state.nthreads, info.jobs or worker.state.nthreads)
        run = WorkerRun(info, bots, folder, calibration, slots=slots, is_held=lambda: key in worker.state.tasks)
        run.start()
    except Exception as error:
        shutil.rmtree(folder, ignore_errors=True)
        fault = known_fault(error)
        if fault is None:
            raise
        return Refused(sendable(str(fault)))
    return Prepared(calibration)


def play(run_id: str, tasks: tuple[GameTask, ...]) -> WorkerAnswer:
    worker, _ = _here()
    run = _runs.get(run_id)
    return WorkerAnswer(worker.address, run.play(tasks) if run else Unprepared())


def _here() -> tuple[Any, str]:
    dask = import_module("distributed.worker")
    return dask.get_worker(), dask.thread_state.key


def _load_all(info: RunInfo, packs: dict[str, bytes], folder: Path) -> list[BotSpec]:
    loaded: list[BotSpec] = []
    problems: dict[str, str] = {}
    for number, sent in enumerate(info.bots):
        try:
            loaded.append(_load(sent, packs, folder / str(number)))
        except UsageError as error:
            problems[sent.bot.name] = str(error)
    host = HostPrograms(info.settings.interpreters, loaded)
    bots = build_all(loaded, info.settings.level, info.build, host, partial(print, file=sys.stderr, flush=True))
    broken = {sent.bot.name for sent in info.bots if sent.bot.fault is not None}
    problems |= {bot.name: bot.fault for bot in bots if bot.fault is not None and bot.name not in broken}
    if problems:
        raise RefusedBotsError("\n".join(problems.values()))
    meant = {sent.bot.name: sent.bot for sent in info.bots}
    # The digest is that of the files that were sent, even if the build has changed them.
    return [replace(bot, digest=meant[bot.name].digest) for bot in bots]


def _load(sent: SentBot, packs: dict[str, bytes], place: Path) -> BotSpec:
    meant = sent.bot
    if not sent.key:
        return meant
    place.mkdir(0o755)
    unpack(packs[sent.key], place)
    path = place / sent.file
    asked = AskedBot(f"{meant.asked.prefix if meant.asked else ''}{path}", arguments=meant.arguments)
    found = load_bot(path, asked)
    if found.digest != meant.digest:
        raise UsageError(f"{printable(meant.name)}: expected the digest {meant.digest[:16]}, got {found.digest[:16]}")
    return replace(
        found,
        name=meant.name,
        entered_as=meant.entered_as,
        language=meant.language,
        not_sent=meant.not_sent,
    )


class _Batch:
    def __init__(self, tasks: tuple[GameTask, ...]) -> None:
        self.open = {game.id for task in tasks for game in task.games}
        self.records: list[bytes] = []
        self.others: list[NotPlayed | Failed | Notice] = []
        self.seconds: list[float] = []
        self.is_over = trio.Event()


class WorkerRun:
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
        self._info, self._bots, self._folder, self._slots, self._is_held = info, bots, folder, slots, is_held
        self._percent = percent_of(calibration.work_us, info.reference_us) if info.reference_us else None
        self._batches: dict[str, _Batch] = {}
        self._begun_at: dict[str, float] = {}
        self._ready = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._main, name="arena", daemon=True)

    def start(self) -> None:
        _runs[self._info.id] = self
        self._thread.start()
        self._ready.wait()
        if self._error:
            raise self._error

    def play(self, tasks: tuple[GameTask, ...]) -> BatchPlayed | Refused | Unprepared:
        try:
            return trio.from_thread.run(self._play, tasks, trio_token=self._token)
        except (trio.RunFinishedError, trio.Cancelled):
            self._thread.join()
            return Refused(sendable(str(self._error))) if self._error else Unprepared()

    def stop(self) -> None:
        with suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._scope.cancel)
        self._thread.join()

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
        settings = replace(self._info.settings, bots=tuple(self._bots))
        self._token = trio.lowlevel.current_trio_token()
        self._send, tasks = trio.open_memory_channel[GameTask](sys.maxsize)
        with trio.CancelScope() as self._scope:
            async with local_executor(settings, self._slots) as executor, background(self._watch):
                self._ready.set()
                async for outcome in executor.play(tasks):
                    self._note(outcome)

    async def _watch(self) -> None:
        while self._is_held():  # noqa: ASYNC110  (dask has no event for it)
            await trio.sleep(POLL_SECONDS)
        self._scope.cancel()

    async def _play(self, tasks: tuple[GameTask, ...]) -> BatchPlayed:
        batch, load = _Batch(tasks), load_now()
        self._batches |= dict.fromkeys(batch.open, batch)
        for task in tasks:
            self._send.send_nowait(scaled_task(task, self._percent))
        await batch.is_over.wait()
        seconds = statistics.fmean(batch.seconds) if batch.seconds else 0.0
        return BatchPlayed(tuple(batch.records), tuple(batch.others), seconds, load)

    def _note(self, outcome: Outcome) -> None:
        match outcome:
            case Begun(id):
                self._begun_at[id] = trio.current_time()
            case Played():
                batch = self._batches[outcome.id]
                batch.records.append(encode_record(outcome.record))
                batch.seconds.append(trio.current_time() - self._begun_at[outcome.id])
                self._end(outcome.id)
            case NotPlayed(id) | Failed(id):
                assert id is not None
                self._batches[id].others.append(outcome)
                self._end(id)
            case Notice() if self._batches:
                next(iter(self._batches.values())).others.append(outcome)

    def _end(self, game: str) -> None:
        self._begun_at.pop(game, None)
        batch = self._batches.pop(game)
        batch.open.discard(game)
        if not batch.open:
            batch.is_over.set()
