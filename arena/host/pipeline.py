"""The pipeline: takes submissions from stage to stage, one at a time, each stage in a child process.

A stage is written before it begins and after it ends, so that it begins again if the server is killed meanwhile. An
attempt counts if the child has died by itself, or with the server; after three of them the submission has failed. A
fault of the machine, such as a full disk, counts for nobody: the stage is tried again after growing pauses.
"""

import hashlib
import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec
import trio

from arena.bots.spec import TOKEN_VARIABLE
from arena.errors import ArenaError
from arena.game.time_control import TimeControl
from arena.host.cup_database import CupDatabase
from arena.host.cup_settings import Cup
from arena.host.guarded import INCOMING
from arena.host.job import Job, JobAnswer
from arena.host.submissions import (
    BOTS,
    IN_PIPELINE,
    KEPT,
    NEXT,
    RECEIVED,
    StageName,
    StageState,
    Submission,
    begin_stage,
    bot_folder,
    end_attempt,
    end_stage,
    get_submission,
    queue,
    received_file,
    stages_of,
)
from arena.league.executor.child_process import own_python
from arena.league.option_values import check_values, time_control
from arena.sandbox.killing import kill_left_by
from arena.sandbox.reaper import killed_words
from arena.system.concurrency import background
from arena.system.printable import printable
from arena.web.guard import Complain

PROGRAM = """
import sys
sys.path[:] = sys.argv[1:]
from arena.host.job import main
main()
"""
ATTEMPTS = 3
SECONDS = {StageName.UNPACK: 120.0, StageName.BUILD: 900.0, StageName.CHECK: 1800.0, StageName.TRIAL: 1200.0}
"""The most seconds of each stage. Builds and trials have limits of their own, which come first."""
CHECK_MOVES, CHECK_GAMES = 1000, 30
"""More than a check has when it is done twice: its time grows with that of a move, or with the bank of a game."""
GRACE = 15.0
"""Seconds in which a child ends the bots that it has started, before it is killed."""
LONGEST_ANSWER = 1 << 20
STDERR_KEPT = 4096
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 300.0
FILES_KEPT = 3600.0
"""Seconds for which the files of a submission stay after its end: games with them may still be played."""
CLEAN_SECONDS = 60.0


def child_token(folder: Path) -> str:
    """Return the token of all children of this competition's server, and so of their bots (`arena.sandbox.reaper`)."""
    return hashlib.sha256(b"host " + os.fsencode(os.path.realpath(folder))).hexdigest()[:16]


async def clear_left(folder: Path) -> None:
    """Kill the processes of a server that was killed, and remove its unfinished uploads."""
    await kill_left_by(child_token(folder))
    shutil.rmtree(folder / INCOMING, ignore_errors=True)


@dataclass(frozen=True)
class Died:
    """The end of a child without an answer, in words. `is_late`: it was stopped for taking too long."""

    words: str
    is_late: bool = False


def seconds_of(stage: StageName, time: TimeControl) -> float:
    """Return the most seconds of a stage under a time control."""
    if stage is not StageName.CHECK:
        return SECONDS[stage]
    thinking_ms = (time.bank_ms or 0) * CHECK_GAMES if time.move_ms is None else time.move_ms * CHECK_MOVES
    return SECONDS[stage] + thinking_ms / 1000


class Pipeline:
    """Runs in a task. `tell` is called with each submission whose state has changed, `complain` with lines for the
    host.

    `busy` is the submission in a stage now, and `trouble` what stops the queue, in words.
    """

    def __init__(
        self,
        folder: Path,
        cup: Cup,
        database: CupDatabase,
        *,
        tell: Callable[[Submission], None] = lambda submission: None,
        complain: Complain = lambda text: None,
    ) -> None:
        """Raises `UsageError` for settings under which no bot could play."""
        check_values(cup.play.options(folder))
        self._folder, self._cup, self._database = folder, cup, database
        self._tell, self._complain = tell, complain
        self._news = trio.Event()
        self._troubles: Counter[int] = Counter()
        self._in_a_row, self._retry_at = 0, 0.0
        self._running: trio.CancelScope | None = None
        self.busy: Submission | None = None
        self.trouble = ""

    def wake(self) -> None:
        """Look at the queue: a submission was received, or one was withdrawn, whose stage is stopped."""
        self._news.set()
        busy = self.busy and get_submission(self._database, self.busy.id)
        if busy is not None and busy.state not in IN_PIPELINE and self._running is not None:
            self._running.cancel()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        for name in (BOTS, RECEIVED):
            (self._folder / name).mkdir(mode=0o700, exist_ok=True)
        async with background(self._clean):
            task_status.started()
            while True:
                self._news = trio.Event()
                waiting = queue(self._database)
                if not waiting:
                    await self._news.wait()
                    continue
                submission = min(waiting, key=lambda one: (self._troubles[one.id], one.id))
                if self._troubles[submission.id] and trio.current_time() < self._retry_at:
                    with trio.move_on_at(self._retry_at):
                        await self._news.wait()
                else:
                    await self._try_next(submission)

    async def _try_next(self, submission: Submission) -> None:
        try:
            await self._do_next(submission)
        except ArenaError as error:  # the database cannot be written
            self._note_trouble(submission, NEXT[submission.state], str(error))

    async def _do_next(self, submission: Submission) -> None:
        """Do the next stage of a submission, and write how it went."""
        name, database = NEXT[submission.state], self._database
        before = {stage.name: stage for stage in stages_of(database, submission.id)}.get(name)
        is_again = before is not None and before.state is StageState.BEGUN
        if before is not None and is_again and before.attempts >= ATTEMPTS:
            why = before.text or "the server stopped while it was running"
            self._end(submission, name, JobAnswer(fault=f"{name.value} was tried {ATTEMPTS} times: {why}"))
            return
        begin_stage(database, submission.id, name)
        self.busy, is_ended = submission, False
        try:
            with trio.CancelScope() as self._running:
                answer = await self._answer(self._job(submission, name, is_again=is_again))
                is_ended = True
        finally:
            self.busy = self._running = None
            if not is_ended:
                end_attempt(database, submission.id, name, "", is_counted=False)
        if not is_ended:  # it was withdrawn
            return
        if isinstance(answer, Died) and not answer.is_late:
            end_attempt(database, submission.id, name, f"its process {answer.words}", is_counted=True)
            self._complain(f"{submission.label}: the process of {name.value} {answer.words}")
        elif isinstance(answer, Died):
            self._end(submission, name, JobAnswer(fault=f"{name.value} {answer.words}"))
        elif answer.trouble:
            end_attempt(database, submission.id, name, answer.trouble, is_counted=False)
            self._note_trouble(submission, name, answer.trouble)
        else:
            self._end(submission, name, answer)

    def _end(self, submission: Submission, name: StageName, answer: JobAnswer) -> None:
        ended = end_stage(
            self._database,
            self._cup,
            submission.id,
            name,
            fault=answer.fault,
            text=answer.text,
            log=answer.log,
            digest=answer.digest,
        )
        self._troubles.pop(submission.id, None)
        self._in_a_row, self.trouble = 0, ""
        self._tell(ended)

    def _note_trouble(self, submission: Submission, name: StageName, trouble: str) -> None:
        self._troubles[submission.id] += 1
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(self._in_a_row, 10))
        self._in_a_row += 1
        self._retry_at = trio.current_time() + pause
        self.trouble = printable(trouble.partition("\n")[0], 300)
        self._complain(f"{submission.label}: {name.value} is tried again: {printable(trouble)}")

    def _job(self, submission: Submission, name: StageName, *, is_again: bool) -> Job:
        limits = self._cup.submissions
        return Job(
            stage=name,
            folder=str(bot_folder(self._folder, submission.id).resolve()),
            file=str(received_file(self._folder, submission.id).resolve()),
            sent_as=submission.sent_as,
            bot=submission.bot,
            most_files=limits.files,
            most_bytes=limits.unpacked_mib << 20,
            play=self._cup.play,
            is_again=is_again,
        )

    async def _answer(self, job: Job) -> JobAnswer | Died:
        """Run the child of a stage to its end. Whatever it leaves behind is killed."""
        token = f"{child_token(self._folder)}.job"
        seconds = seconds_of(job.stage, time_control(job.play.options(self._folder)))
        try:
            process = await trio.lowlevel.open_process(
                own_python(PROGRAM),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd="/",
                env={**os.environ, TOKEN_VARIABLE: token},
                start_new_session=True,
            )
        except OSError as error:
            return JobAnswer(trouble=f"this machine cannot start a process: {error.strerror}")
        try:
            with trio.move_on_after(seconds):
                return await _talk(process, job)
        finally:
            with trio.CancelScope(shield=True):
                await _stop(process)
                await kill_left_by(token)
        return Died(f"took longer than {seconds:g} s", is_late=True)

    async def _clean(self) -> None:
        """Remove the files of submissions that have ended, unless a final may still be played with them."""
        while True:
            season = self._database.value("select state from season order by number desc limit 1")
            for number in self._numbers() if season not in ("frozen", "final") else ():
                state = "select state from submission where id = ? and changed < ?"
                ended = self._database.value(state, number, time.time() - FILES_KEPT)
                if ended is not None and ended not in {one.value for one in KEPT}:
                    await trio.to_thread.run_sync(self._remove, number)
            await trio.sleep(CLEAN_SECONDS)

    def _numbers(self) -> set[int]:
        folders = (self._folder / BOTS, self._folder / RECEIVED)
        return {int(path.name) for folder in folders for path in folder.iterdir() if path.name.isdecimal()}

    def _remove(self, number: int) -> None:
        shutil.rmtree(bot_folder(self._folder, number), ignore_errors=True)
        received_file(self._folder, number).unlink(missing_ok=True)


async def _talk(process: trio.Process, job: Job) -> JobAnswer | Died:
    """Give a child its job, and return its answer, or how it died."""
    assert process.stdin is not None
    assert process.stdout is not None
    tail = bytearray()

    async def read_stderr() -> None:
        assert process.stderr is not None
        async for piece in process.stderr:
            tail.extend(piece)
            del tail[:-STDERR_KEPT]

    data = bytearray()
    async with background(read_stderr):
        with suppress(trio.BrokenResourceError):
            await process.stdin.send_all(msgspec.json.encode(job) + b"\n")
        async for piece in process.stdout:
            data += piece
            if len(data) > LONGEST_ANSWER:
                return Died("gave an answer that is too long")
        code = await process.wait()
    try:
        return msgspec.json.decode(data, type=JobAnswer)
    except msgspec.DecodeError:
        how = killed_words(-code) if code < 0 else f"exited with code {code}"
        lines = tail.decode("utf-8", "replace").strip().splitlines()
        return Died(f"{how}: {printable(lines[-1], 300)}" if lines else how)


async def _stop(process: trio.Process) -> None:
    """End a child: it ends its bots at SIGTERM, and is killed with its group if that takes too long."""
    if process.returncode is None:
        process.terminate()
        with trio.move_on_after(GRACE):
            await process.wait()
    if process.returncode is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            await stream.aclose()
