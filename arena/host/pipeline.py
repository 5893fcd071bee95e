"""The pipeline: teams take turns, and in each turn one stage of a submission runs in a child process.

A stage is written before it begins and after it ends, so that it begins again if the server is killed meanwhile. After
three attempts in which the child has died, alone or with the server, the submission has failed. A fault of the machine,
such as a full disk, counts for nobody: the stage is tried again after a pause.
"""

import hashlib
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import trio

import arena.host.submissions as sent
from arena.bots.spec import TOKEN_VARIABLE
from arena.errors import ArenaError
from arena.game.time_control import TimeControl
from arena.host.cup_database import CupDatabase
from arena.host.cup_settings import Cup
from arena.host.guarded import INCOMING
from arena.host.job import Job
from arena.host.seasons import SeasonState
from arena.host.unpack import remove_tree
from arena.league.executor.child_process import own_python
from arena.league.option_values import check_values, time_control
from arena.sandbox.killing import kill_left_by
from arena.sandbox.reaper import killed_words
from arena.system.concurrency import background
from arena.system.printable import printable
from arena.web.guard import Complain

ATTEMPTS = 3
SECONDS = 1800.0
"""The most seconds of all stages of a submission, without the thinking time of its games."""
CHECK_MOVES, CHECK_GAMES = 1000, 30
"""More than a check has when it is done twice: its time grows with that of a move, or with the bank of a game."""
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
    for name in (INCOMING, sent.TEMPORARY):
        await trio.to_thread.run_sync(remove_tree, folder / name)


def most_seconds(control: TimeControl) -> float:
    thinking_ms = (control.bank_ms or 0) * CHECK_GAMES if control.move_ms is None else control.move_ms * CHECK_MOVES
    return SECONDS + thinking_ms / 1000


class Pipeline:
    """Runs in a task: calls `changed` after each change of a submission's state, and complains to the host.

    `busy` is the submission in a stage now, and `trouble` what stops the queue, in words.
    """

    def __init__(
        self, folder: Path, cup: Cup, database: CupDatabase, *, changed: Callable[[], None], complain: Complain
    ) -> None:
        """Raises `UsageError` for settings under which no bot could play."""
        options = cup.play.options(folder)
        check_values(options)
        self._most_seconds = most_seconds(time_control(options))
        self._folder, self._cup, self._database = folder.resolve(), cup, database
        self._changed, self._complain = changed, complain
        self._news, self._running = trio.Event(), trio.CancelScope()
        self._again: dict[int, float] = {}
        """When the stages of submissions that have met a fault of the machine are tried again."""
        self.busy: sent.Submission | None = None
        self.trouble = ""

    def wake(self) -> None:
        """Look at the queue: a submission was received, or one was withdrawn, whose stage is stopped."""
        self._news.set()
        if self.busy and sent.get_submission(self._database, self.busy.id).state not in sent.IN_PIPELINE:
            self._running.cancel()

    async def run(self) -> None:
        for name in (sent.BOTS, sent.RECEIVED):
            (self._folder / name).mkdir(mode=0o700, exist_ok=True)
        with suppress(ArenaError):  # where the disk is full, nothing is counted
            sent.count_killed(self._database)
        async with background(self._clean):
            while True:
                self._news = trio.Event()
                waiting = sent.queue(self._database)
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
                    self._note_trouble(submission, sent.STAGE_OF[submission.state], str(error))

    async def _take(self, submission: sent.Submission) -> None:
        name, database = sent.STAGE_OF[submission.state], self._database
        stages = {stage.name: stage for stage in sent.stages_of(database, submission.id)}
        before = stages.get(name)
        seconds = self._most_seconds - sum(stage.seconds for stage in stages.values())
        sent.begin_stage(database, submission.id, name)
        self.busy, result = submission, sent.StageResult(trouble="it was interrupted")
        try:
            with trio.CancelScope() as self._running:
                if before and before.attempts > ATTEMPTS:
                    result = sent.StageResult(fault=f"{name.value} was tried {ATTEMPTS} times: {before.text}")
                else:
                    cup, is_again = self._cup, before is not None
                    job = Job(name, str(self._folder), submission, cup.submissions, cup.play, is_again, os.getpid())
                    result = await self._answer(job, seconds)
        finally:
            self.busy = None
            sent.end_stage(database, self._cup, submission.id, name, result)
        if self._running.cancelled_caught:  # it was withdrawn or replaced
            return
        if result.died:
            self._complain(f"{submission.label}: {name.value}: {result.died}")
        elif result.trouble:
            self._note_trouble(submission, name, result.trouble)
        else:
            self._again.pop(submission.id, None)
            self.trouble = ""
            self._changed()

    def _note_trouble(self, submission: sent.Submission, name: sent.StageName, trouble: str) -> None:
        self._again[submission.id] = trio.current_time() + PAUSE
        self.trouble = printable(trouble.partition("\n")[0], 300)
        self._complain(f"{submission.label}: {name.value} is tried again: {printable(trouble)}")

    async def _answer(self, job: Job, seconds: float) -> sent.StageResult:
        """Run the child of a stage to its end. Whatever it leaves behind is killed."""
        token, temporary = f"{child_token(self._folder)}.job", self._folder / sent.TEMPORARY
        try:
            await trio.to_thread.run_sync(remove_tree, temporary)
            temporary.mkdir(mode=0o700, exist_ok=True)
            with trio.move_on_after(seconds):
                done = await trio.run_process(
                    own_python("arena.host.job"),
                    stdin=msgspec.json.encode(job),
                    capture_stdout=True,
                    capture_stderr=True,
                    check=False,
                    deliver_cancel=_kill,
                    cwd="/",
                    env={**os.environ, TOKEN_VARIABLE: token, "TMPDIR": str(temporary)},
                    start_new_session=True,
                )
                return _result_of(done)
        except OSError as error:
            return sent.StageResult(trouble=f"this machine cannot start a process: {error.strerror}")
        finally:
            with trio.CancelScope(shield=True):
                await kill_left_by(token)
        most = self._most_seconds / 60
        return sent.StageResult(
            fault=f"{job.stage.value} was stopped: expected at most {most:.0f} minutes for all stages. Make it faster"
        )

    async def _clean(self) -> None:
        """Remove the files of submissions that have ended, unless a final may still be played with them."""
        while True:
            season = self._database.value("select state from season order by number desc limit 1")
            if season not in (SeasonState.FROZEN.value, SeasonState.FINAL.value):
                ended = sent.in_states(self._database, sent.ENDED, "and changed < ?", time.time() - FILES_KEPT)
                await trio.to_thread.run_sync(self._remove, ended)
            await trio.sleep(CLEAN_SECONDS)

    def _remove(self, ended: Sequence[sent.Submission]) -> None:
        for one in ended:
            remove_tree(sent.bot_folder(self._folder, one.id))
            sent.received_file(self._folder, one.id).unlink(missing_ok=True)


async def _kill(process: trio.Process) -> None:
    process.kill()


def _result_of(done: "subprocess.CompletedProcess[bytes]") -> sent.StageResult:
    try:
        return msgspec.json.decode(done.stdout, type=sent.StageResult)
    except msgspec.DecodeError:
        how = killed_words(-done.returncode) if done.returncode < 0 else f"exited with code {done.returncode}"
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        last = f": {printable(lines[-1], 300)}" if lines else ""
        return sent.StageResult(died=f"its process {how}{last}")
