"""The pipeline: teams take turns, and in each turn one stage of a submission runs in a child process.

A stage is written before it begins and after it ends, so that it begins again if the server is killed meanwhile. An
attempt counts if the child has died by itself, or with the server; after three of them the submission has failed, as
it has when its stages took too long together. A fault of the machine, such as a full disk, counts for nobody: the stage
is tried again after a pause.
"""

import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import trio

from arena.bots.spec import TOKEN_VARIABLE
from arena.errors import ArenaError
from arena.game.time_control import TimeControl
from arena.host.cup_database import CupDatabase
from arena.host.cup_settings import Cup
from arena.host.guarded import INCOMING
from arena.host.job import Job
from arena.host.submissions import (
    BOTS,
    IN_PIPELINE,
    NEXT,
    RECEIVED,
    TEMPORARY,
    StageName,
    StageResult,
    Submission,
    begin_stage,
    bot_folder,
    count_killed,
    end_stage,
    ended_before,
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
SECONDS = 1800.0
"""The most seconds of all stages of a submission, without the thinking time of its games."""
CHECK_MOVES, CHECK_GAMES = 1000, 30
"""More than a check has when it is done twice: its time grows with that of a move, or with the bank of a game."""
LONGEST_ANSWER = 1 << 20
STDERR_KEPT = 4096
PAUSE = 60.0
"""Seconds until a stage that has met a fault of the machine is tried again."""
FILES_KEPT = 3600.0
"""Seconds for which the files of a submission stay after its end: games with them may still be played."""
CLEAN_SECONDS = 60.0


def child_token(folder: Path) -> str:
    """Return the token of all children of this competition's server, and so of their bots (`arena.sandbox.reaper`)."""
    return hashlib.sha256(b"host " + os.fsencode(os.path.realpath(folder))).hexdigest()[:16]


async def clear_left(folder: Path) -> None:
    """Kill the processes of a server that was killed, and remove its temporary files and unfinished uploads."""
    await kill_left_by(child_token(folder))
    for name in (INCOMING, TEMPORARY):
        shutil.rmtree(folder / name, ignore_errors=True)


def most_seconds(control: TimeControl) -> float:
    """Return the most seconds of all stages of a submission under a time control."""
    thinking_ms = (control.bank_ms or 0) * CHECK_GAMES if control.move_ms is None else control.move_ms * CHECK_MOVES
    return SECONDS + thinking_ms / 1000


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
        options = cup.play.options(folder)
        check_values(options)
        self._most_seconds = most_seconds(time_control(options))
        self._folder, self._cup, self._database = folder.resolve(), cup, database
        self._tell, self._complain = tell, complain
        self._news, self._running = trio.Event(), trio.CancelScope()
        self._again: dict[int, float] = {}
        """When the stages of submissions that have met a fault of the machine are tried again."""
        self.busy: Submission | None = None
        self.trouble = ""

    def wake(self) -> None:
        """Look at the queue: a submission was received, or one was withdrawn, whose stage is stopped."""
        self._news.set()
        if self.busy and get_submission(self._database, self.busy.id).state not in IN_PIPELINE:
            self._running.cancel()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        for name in (BOTS, RECEIVED):
            (self._folder / name).mkdir(mode=0o700, exist_ok=True)
        with suppress(ArenaError):  # where the disk is full, nothing is counted
            count_killed(self._database)
        async with background(self._clean):
            task_status.started()
            while True:
                self._news = trio.Event()
                waiting = queue(self._database)
                self.trouble = self.trouble if waiting else ""
                due = {one.id: self._again.get(one.id, 0.0) for one in waiting}
                submission = next((one for one in waiting if due[one.id] <= trio.current_time()), None)
                if submission is None:
                    with trio.move_on_at(min(due.values(), default=float("inf"))):
                        await self._news.wait()
                    continue
                try:
                    await self._take(submission)
                except ArenaError as error:  # the database cannot be written
                    self._note_trouble(submission, NEXT[submission.state], str(error))

    async def _take(self, submission: Submission) -> None:
        """Do the next stage of a submission, and write how it went."""
        name, database = NEXT[submission.state], self._database
        stages = {stage.name: stage for stage in stages_of(database, submission.id)}
        before = stages.get(name)
        seconds = self._most_seconds - sum(stage.seconds for stage in stages.values())
        begin_stage(database, submission.id, name)
        self.busy, result = submission, StageResult(trouble="it was interrupted")
        try:
            with trio.CancelScope() as self._running:
                if before and before.attempts > ATTEMPTS:
                    result = StageResult(fault=f"{name.value} was tried {ATTEMPTS} times: {before.text}")
                else:
                    limits, play = self._cup.submissions, self._cup.play
                    job = Job(name, str(self._folder), submission, limits, play, is_again=before is not None)
                    result = await self._answer(job, seconds)
        finally:
            self.busy = None
            ended = end_stage(database, self._cup, submission.id, name, result)
        if self._running.cancelled_caught:  # it was withdrawn or replaced
            return
        if result.died:
            self._complain(f"{submission.label}: {name.value}: {result.died}")
        elif result.trouble:
            self._note_trouble(submission, name, result.trouble)
        else:
            self._again.pop(submission.id, None)
            self.trouble = ""
            self._tell(ended)

    def _note_trouble(self, submission: Submission, name: StageName, trouble: str) -> None:
        self._again[submission.id] = trio.current_time() + PAUSE
        self.trouble = printable(trouble.partition("\n")[0], 300)
        self._complain(f"{submission.label}: {name.value} is tried again: {printable(trouble)}")

    async def _answer(self, job: Job, seconds: float) -> StageResult:
        """Run the child of a stage to its end. Whatever it leaves behind is killed."""
        token, temporary = f"{child_token(self._folder)}.job", self._folder / TEMPORARY
        try:
            shutil.rmtree(temporary, ignore_errors=True)
            temporary.mkdir(mode=0o700, exist_ok=True)
            process = await trio.lowlevel.open_process(
                own_python(PROGRAM),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd="/",
                env={**os.environ, TOKEN_VARIABLE: token, "TMPDIR": str(temporary)},
                start_new_session=True,
            )
        except OSError as error:
            return StageResult(trouble=f"this machine cannot start a process: {error.strerror}")
        try:
            with trio.move_on_after(seconds):
                return await _talk(process, job)
        finally:
            with trio.CancelScope(shield=True):
                process.kill()
                await process.wait()
                await kill_left_by(token)
                for stream in (process.stdin, process.stdout, process.stderr):
                    assert stream is not None
                    await stream.aclose()
        most = self._most_seconds / 60
        return StageResult(
            fault=f"{job.stage.value} was stopped: expected at most {most:.0f} minutes for all stages. Make it faster"
        )

    async def _clean(self) -> None:
        """Remove the files of submissions that have ended, unless a final may still be played with them."""
        while True:
            season = self._database.value("select state from season order by number desc limit 1")
            if season not in ("frozen", "final"):
                await trio.to_thread.run_sync(self._remove, ended_before(self._database, time.time() - FILES_KEPT))
            await trio.sleep(CLEAN_SECONDS)

    def _remove(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            shutil.rmtree(bot_folder(self._folder, number), ignore_errors=True)
            received_file(self._folder, number).unlink(missing_ok=True)


async def _talk(process: trio.Process, job: Job) -> StageResult:
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
                return StageResult(died="its process gave an answer that is too long")
        code = await process.wait()
    try:
        return msgspec.json.decode(data, type=StageResult)
    except msgspec.DecodeError:
        how = f"its process {killed_words(-code) if code < 0 else f'exited with code {code}'}"
        lines = tail.decode("utf-8", "replace").strip().splitlines()
        return StageResult(died=f"{how}: {printable(lines[-1], 300)}" if lines else how)
