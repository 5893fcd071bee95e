"""Submissions through the stages, with real bots: what passes, what fails and why, and what survives kill -9."""

import os
import resource
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal

import msgspec
import psutil
import pytest
import trio
from hosted import BROKEN_BOT, DUEL, Hosted, make_hosted, tar
from made_bots import MOVES
from sandboxes import in_bwrap
from waiting import PATIENCE, until

from arena.game.time_control import parse_time
from arena.host import job, pipeline
from arena.host.accounts import Account, Actor
from arena.host.cup_database import FILE
from arena.host.cup_settings import Cup, Submissions
from arena.host.job import Job, do
from arena.host.pipeline import ATTEMPTS, Pipeline, child_token, clear_left
from arena.host.submissions import (
    Stage,
    StageName,
    StageResult,
    StageState,
    Submission,
    SubmissionState,
    begin_stage,
    bot_folder,
    decide,
    end_stage,
    get_submission,
    queue,
    received_file,
    stages_of,
    why_waiting,
)
from arena.host.unpack import unpack
from arena.sandbox import procfs
from arena.sandbox.reaper import left_by

HELPERS = Path(__file__).parents[2] / "helpers"


@pytest.fixture
def hosted(folder: Path) -> Iterator[Hosted]:
    made = make_hosted(folder / "cup")
    yield made
    assert left_by(child_token(made.folder)) == []


@pytest.fixture
def ann(hosted: Hosted) -> Account:
    return hosted.member("Ann", "Rooks")


@asynccontextmanager
async def running(hosted: Hosted, **options: Any) -> AsyncIterator[Pipeline]:
    async with trio.open_nursery() as nursery:
        usual = {"changed": lambda: None, "complain": lambda text: None}
        made = Pipeline(hosted.folder, hosted.cup, hosted.database, **usual | options)
        nursery.start_soon(made.run)
        yield made
        nursery.cancel_scope.cancel()


async def when(is_so: Callable[[], object], what: str) -> None:
    """Wait until this is so; `what` says in words what is waited for."""
    with trio.move_on_after(PATIENCE):
        while not is_so():  # noqa: ASYNC110  (other processes bring it about)
            await trio.sleep(0.005)
        return
    raise AssertionError(f"never: {what}")


def run_until(hosted: Hosted, is_so: Callable[[], object] | None = None, **options: Any) -> None:
    """Run the pipeline until this is so, or its queue is empty."""

    async def main() -> None:
        async with running(hosted, **options):
            await when(is_so or (lambda: not queue(hosted.database)), "the queue is empty")

    trio.run(main)


def now(hosted: Hosted, submission: Submission) -> Submission:
    return get_submission(hosted.database, submission.id)


def stages(hosted: Hosted, submission: Submission) -> dict[str, Stage]:
    return {stage.name.value: stage for stage in stages_of(hosted.database, submission.id)}


def children(parent: int) -> list[psutil.Process]:
    """The processes of stages below a process."""
    found = map(psutil.Process, procfs.children(parent))
    return [one for one in found if any("arena.host.job" in word for word in one.cmdline())]


def child_of(hosted: Hosted, submission: Submission, name: StageName, parent: int) -> bool:
    """Whether a stage is running in a child of this process."""
    stage = stages(hosted, submission).get(name.value)
    with suppress(psutil.Error):  # it is over meanwhile
        return stage is not None and stage.state is StageState.BEGUN and bool(children(parent))
    return False


def submit_at(hosted: Hosted, account: Account, data: bytes, first: StageName) -> Submission:
    """Submit a bot of which the stages before this one are done."""
    sent = hosted.submit(account, "Rook", data)
    with received_file(hosted.folder, sent.id).open("rb") as file:
        unpack(file, bot_folder(hosted.folder, sent.id), sent.bot, hosted.cup.submissions)
    for name in takewhile(lambda name: name is not first, StageName):
        begin_stage(hosted.database, sent.id, name)
        end_stage(hosted.database, hosted.cup, sent.id, name, StageResult())
    return now(hosted, sent)


def job_of(hosted: Hosted, submission: Submission, stage: StageName) -> Job:
    limits, play = hosted.cup.submissions, hosted.cup.play
    return Job(stage, str(hosted.folder), submission, limits, play, is_again=False, parent=os.getpid())


def with_build(line: str, folder: str = "", packed: Literal["gz", "xz"] = "gz") -> bytes:
    settings = f'command = ["sh", "src.sh"]\nbuild = "{line}"\n'
    return tar({f"{folder}bot.toml": settings, f"{folder}src.sh": MOVES}, packed)


def waits_in_build(folder: Path) -> bytes:
    """A bot whose build makes a file with its number, and then sleeps, unless there is a file `go`."""
    folder.chmod(0o777)
    return with_build(f"echo $$ > {folder}/building; test -e {folder}/go || sleep 1000")


def test_a_good_bot_goes_through_all_stages_into_the_ladder_and_is_built_once(
    hosted: Hosted, ann: Account, folder: Path
) -> None:
    build, told = f"echo built >> {folder}/times", list[SubmissionState]()
    sent = hosted.submit(ann, "Rook", with_build(build, "mine/"))
    run_until(hosted, changed=lambda: told.append(now(hosted, sent).state))
    assert told == [
        SubmissionState.UNPACKED,
        SubmissionState.BUILT,
        SubmissionState.CHECKED,
        SubmissionState.PROBATION,
    ]
    found = stages(hosted, sent)
    assert list(found) == [name.value for name in StageName]
    assert all(stage.state is StageState.DONE and stage.attempts == 1 for stage in found.values())
    assert "ready for duel" in found["check"].log
    assert "Rook - drifter" in found["trial"].log
    assert str(hosted.folder) not in "".join(stage.log + stage.text for stage in found.values())
    assert (bot_folder(hosted.folder, sent.id) / "src.sh").read_text() == MOVES
    assert (folder / "times").read_text() == "built\n"
    again = hosted.submit(ann, "Rook", with_build(build, "other/", "xz"))
    run_until(hosted, lambda: now(hosted, again).state is SubmissionState.UNPACKED)
    assert now(hosted, again).digest == now(hosted, sent).digest


@in_bwrap
def test_bots_are_built_checked_and_tried_in_the_sandbox(folder: Path) -> None:
    cup = Cup(title="A test", address="http://127.0.0.1", play=msgspec.structs.replace(DUEL, sandbox="bwrap"))
    hosted = make_hosted(folder / "cup", cup)
    (hosted.folder / "secret.key").write_text("the secret")
    spy = f"(cat {hosted.folder}/secret.key ../../secret.key; ls {hosted.folder}) > made 2>&1; true"
    sent = submit_at(hosted, hosted.member("Ann", "Rooks"), with_build(spy), StageName.BUILD)
    run_until(hosted)
    assert now(hosted, sent).state is SubmissionState.PROBATION, stages(hosted, sent)
    made = (bot_folder(hosted.folder, sent.id) / "made").read_text()
    assert made.count("No such file or directory") == 3, made
    assert "sandbox: bwrap" in stages(hosted, sent)["check"].log


@in_bwrap
def test_a_build_fills_no_disk(folder: Path) -> None:
    play, limits = msgspec.structs.replace(DUEL, sandbox="bwrap"), Submissions(build_mib=1)
    cup = Cup(title="A test", address="http://127.0.0.1", play=play, submissions=limits)
    hosted = make_hosted(folder / "cup", cup)
    line = "for n in 1 2 3 4; do head -c 900K /dev/zero > $n; done"
    sent = submit_at(hosted, hosted.member("Ann", "Rooks"), with_build(line), StageName.BUILD)
    run_until(hosted)
    assert now(hosted, sent).state is SubmissionState.FAILED
    log = stages(hosted, sent)["build"].log
    assert any(words in log for words in ("File size limit exceeded", "wrote more than the 1M", "1048576 are allowed"))
    assert {one.name for one in bot_folder(hosted.folder, sent.id).iterdir()} == {"bot.toml", "src.sh"}


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"README": "no bot"}, "Rook: expected"),
        ({"a.py": "", "b.py": ""}, "expected a bot.toml in this folder"),
        ({"bot.toml": "command = 7", "x": ""}, "Rook/bot.toml: command: expected"),
        ({"bot.toml": "command = ['/bin/../../../etc/shadow']", "x": ""}, "Rook"),
    ],
)
def test_files_that_are_no_bot_do_not_pass_the_first_stage(
    hosted: Hosted, ann: Account, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], words: str
) -> None:
    monkeypatch.setattr(job, "UNPACK_MEMORY", resource.RLIM_INFINITY)  # this process may have more
    sent = hosted.submit(ann, "Rook", tar(files))
    result = do(job_of(hosted, sent, StageName.UNPACK))
    assert words in result.fault
    assert result.fault in result.log
    assert str(hosted.folder) not in result.log


@pytest.mark.parametrize(
    ("stage", "files", "words"),
    [
        ("unpack", None, "this cannot be unpacked"),
        ("build", {"bot.toml": "command = ['./out']\nbuild = 'echo no luck >&2; exit 3'"}, "failed with exit code 3"),
        ("build", {"bot.toml": "command = ['./out']\nbuild = 'true'"}, "did not make ./out"),
        (
            "build",
            {"bot.toml": "command = ['../../run.sh']"},
            "its own files: Rook/../../run.sh is neither",
        ),
        ("check", {"bot.sh": BROKEN_BOT}, "the last line on standard error: no luck today"),
        ("trial", {"bot.sh": MOVES.replace("\n", "\necho out of paper >&2; exit 1\n", 1)}, "it forfeits games: Rook"),
    ],
)
def test_a_stage_that_fails_says_what_to_do(
    hosted: Hosted, ann: Account, stage: str, files: dict[str, str] | None, words: str
) -> None:
    (hosted.folder / "run.sh").touch(0o755)
    sent = submit_at(hosted, ann, tar(files), StageName(stage)) if files else hosted.submit(ann, "Rook", b"nonsense")
    run_until(hosted)
    failed = now(hosted, sent)
    assert failed.state is SubmissionState.FAILED
    assert words in failed.reason
    assert str(hosted.folder) not in failed.reason + "".join(one.log for one in stages(hosted, sent).values())
    *_, last = stages(hosted, sent).values()
    assert (last.name.value, last.state) == (stage, StageState.FAILED)
    assert why_waiting(hosted.database, hosted.cup, failed).startswith("It has failed: ")
    if stage == "trial":
        assert "out of paper" in last.log


def test_a_stage_whose_process_is_killed_begins_again(hosted: Hosted, ann: Account) -> None:
    sent, complaints = hosted.submit(ann, "Rook", with_build("echo built > made")), list[str]()

    async def main() -> None:
        async with running(hosted, complain=complaints.append):
            for name in StageName:
                await when(partial(child_of, hosted, sent, name, os.getpid()), f"{name} is running")
                children(os.getpid())[0].kill()
            await when(lambda: not queue(hosted.database), "the queue is empty")

    trio.run(main)
    assert now(hosted, sent).state is SubmissionState.PROBATION, stages(hosted, sent)
    assert [stage.attempts for stage in stages(hosted, sent).values()] == [2, 2, 2, 2]
    assert complaints == [
        f"#1 (Rook): {name.value}: its process was killed by signal 9 (SIGKILL)" for name in StageName
    ]


def test_a_stage_begins_again_when_the_server_was_killed(hosted: Hosted, ann: Account) -> None:
    sent = submit_at(hosted, ann, tar({"bot.sh": MOVES}), StageName.TRIAL)
    line = [sys.executable, str(HELPERS / "host_pipeline.py"), str(hosted.folder)]
    with subprocess.Popen(line) as server:
        until(partial(child_of, hosted, sent, StageName.TRIAL, server.pid), "the trial is running")
        server.kill()
    until(lambda: not left_by(child_token(hosted.folder)), "the stage ends with its server")
    subprocess.run(line, check=True, timeout=PATIENCE)
    assert now(hosted, sent).state is SubmissionState.PROBATION, stages(hosted, sent)
    assert [stage.attempts for stage in stages(hosted, sent).values()] == [1, 1, 1, 2]


def test_what_a_killed_server_and_child_have_left_is_killed_at_the_next_start(
    hosted: Hosted, ann: Account, folder: Path
) -> None:
    submit_at(hosted, ann, waits_in_build(folder), StageName.BUILD)
    with subprocess.Popen([sys.executable, str(HELPERS / "host_pipeline.py"), str(hosted.folder)]) as server:
        until((folder / "building").exists, "the build is running")
        (child,) = children(server.pid)
        server.kill()
        child.kill()
    until(lambda: child.pid not in left_by(child_token(hosted.folder)), "the process of the stage is dead")
    assert left_by(child_token(hosted.folder))
    (hosted.folder / "incoming").mkdir()
    trio.run(clear_left, hosted.folder)
    assert not left_by(child_token(hosted.folder))
    assert not (hosted.folder / "incoming").exists()


def test_a_server_that_stops_ends_the_stage_which_does_not_count(hosted: Hosted, ann: Account, folder: Path) -> None:
    sent = submit_at(hosted, ann, waits_in_build(folder), StageName.BUILD)
    run_until(hosted, (folder / "building").exists)
    assert left_by(child_token(hosted.folder)) == []
    assert now(hosted, sent).state is SubmissionState.UNPACKED
    (folder / "go").touch()
    run_until(hosted, lambda: now(hosted, sent).state is SubmissionState.BUILT)
    assert stages(hosted, sent)["build"].attempts == 1


@pytest.mark.parametrize(("lost", "stage"), [("received/1", StageName.UNPACK), ("bots/1", StageName.BUILD)])
def test_a_file_that_is_lost_is_no_fault_of_a_bot(hosted: Hosted, ann: Account, lost: str, stage: StageName) -> None:
    sent = submit_at(hosted, ann, tar({"bot.sh": MOVES}), stage)
    (hosted.folder / lost).rename(hosted.folder / "aside")
    result = do(job_of(hosted, sent, stage))
    assert result.trouble.startswith("this machine cannot")
    assert not result.fault


ANSWERS = "import os, sys, time; sys.stdin.read(); {}"
"""A child that answers what a test wants."""


def answering(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    child = [sys.executable, "-c", ANSWERS.format(line)]
    monkeypatch.setattr(pipeline, "own_python", lambda module: child)


def answer_of(**answer: str) -> str:
    return f"print({msgspec.json.encode(StageResult(**answer)).decode()!r})"


NO_BOT = answer_of(fault="no bot")


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_submission_that_is_withdrawn_or_replaced_stops_at_once(
    hosted: Hosted, ann: Account, folder: Path, monkeypatch: pytest.MonkeyPatch, is_replaced: bool
) -> None:
    sent, other = hosted.submit(ann, "Rook", b"x"), hosted.submit(ann, "Bishop", b"x")
    begun, may_end = folder / "begun", folder / "may-end"
    waits = f"open({str(begun)!r}, 'w'); os.path.exists({str(may_end)!r}) or time.sleep(1000)"
    answering(monkeypatch, f"{waits}; {NO_BOT}")

    async def main() -> None:
        async with running(hosted) as made:
            await when(begun.exists, "the stage is running")
            assert made.busy == now(hosted, sent)
            may_end.touch()
            if is_replaced:
                hosted.submit(ann, "Rook", b"x")
            else:
                decide(hosted.database, hosted.cup, Actor(ann.id), sent.id, SubmissionState.WITHDRAWN)
            made.wake()
            await when(lambda: not queue(hosted.database), "the queue is empty")
            await when(lambda: made.busy is None, "nothing is running")
            assert made.trouble == ""

    trio.run(main)
    assert now(hosted, sent).state is (SubmissionState.REPLACED if is_replaced else SubmissionState.WITHDRAWN)
    assert now(hosted, other).state is SubmissionState.FAILED


def test_a_fault_of_the_machine_is_nobodys_and_stops_no_other(
    hosted: Hosted, ann: Account, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk, say. The stage is tried again until it works."""
    monkeypatch.setattr(pipeline, "PAUSE", 0.01)
    sent, other = hosted.submit(ann, "Rook", b"x"), hosted.submit(ann, "Bishop", b"x")
    full = folder / "full"
    full.touch()
    answering(
        monkeypatch,
        f"{answer_of(trouble='the disk is full')} if os.path.exists({str(full)!r}) else {NO_BOT}",
    )
    complaints: list[str] = []

    async def main() -> None:
        async with running(hosted, complain=complaints.append) as made:
            await when(lambda: len(complaints) > 2 * ATTEMPTS, "it is tried again and again")
            assert made.trouble == "the disk is full"
            for one in (sent, other):
                words = why_waiting(hosted.database, hosted.cup, now(hosted, one), made.trouble)
                assert "waits until the host has mended the server: the disk is full." in words
            full.unlink()
            await when(lambda: not queue(hosted.database), "the queue is empty")
            assert made.trouble == ""

    trio.run(main)
    assert {now(hosted, one).reason for one in (sent, other)} == {"no bot"}
    assert any(line.startswith("#2 (Bishop): unpack is tried again") for line in complaints)


def test_a_database_that_cannot_be_written_stops_the_queue_until_it_can(
    hosted: Hosted, ann: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "PAUSE", 0.01)
    answering(monkeypatch, NO_BOT)
    sent, complaints = hosted.submit(ann, "Rook", b"x"), list[str]()
    hosted.database.run("pragma busy_timeout = 0")
    other = sqlite3.connect(hosted.folder / FILE, isolation_level=None)
    other.execute("begin immediate")

    async def main() -> None:
        async with running(hosted, complain=complaints.append) as made:
            await when(lambda: len(complaints) >= 3, "it is tried again and again")
            assert made.trouble == "the database of the competition cannot be written: database is locked"
            other.close()
            await when(lambda: not queue(hosted.database), "the queue is empty")

    trio.run(main)
    assert now(hosted, sent).state is SubmissionState.FAILED


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("print('hello')", "unpack was tried 3 times: its process exited with code 0"),
        ("sys.exit('no memory')", "unpack was tried 3 times: its process exited with code 1: no memory"),
        ("os.kill(os.getpid(), 9)", "unpack was tried 3 times: its process was killed by signal 9 (SIGKILL)"),
        ("time.sleep(1000)", "unpack was stopped: expected at most 0 minutes for all stages. Make it faster"),
    ],
)
def test_a_child_without_an_answer_is_no_bots_pass(
    hosted: Hosted, ann: Account, monkeypatch: pytest.MonkeyPatch, line: str, words: str
) -> None:
    answering(monkeypatch, line)
    if "sleep" in line:
        monkeypatch.setattr(pipeline, "most_seconds", lambda control: 0.2)
    sent, other = hosted.submit(ann, "Rook", b"x"), hosted.submit(ann, "Bishop", b"x")
    run_until(hosted)
    for one in (sent, other):
        assert (now(hosted, one).state, now(hosted, one).reason) == (SubmissionState.FAILED, words)


@pytest.mark.parametrize(("text", "seconds"), [("100ms", 1900), ("10s/move", 11_800), ("60+0.6", 3600)])
def test_a_submission_has_the_time_that_slow_games_take(text: str, seconds: float) -> None:
    assert pipeline.most_seconds(parse_time(text)) == seconds


def test_the_time_of_all_stages_and_attempts_is_bound(
    hosted: Hosted, ann: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, "time.sleep(1000)")
    monkeypatch.setattr(pipeline, "most_seconds", lambda control: 60.0)
    sent = submit_at(hosted, ann, tar({"bot.sh": MOVES}), StageName.BUILD)
    hosted.database.run("update stage set seconds = 59.8 where name = 'unpack'")
    run_until(hosted)
    assert now(hosted, sent).reason == "build was stopped: expected at most 1 minutes for all stages. Make it faster"


def test_a_child_that_does_not_stop_is_killed(
    hosted: Hosted, ann: Account, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(
        monkeypatch,
        f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); open({str(folder / 'deaf')!r}, 'w'); "
        "time.sleep(1000)",
    )
    hosted.submit(ann, "Rook", b"x")
    run_until(hosted, (folder / "deaf").exists)
    assert children(os.getpid()) == []


def test_the_files_of_ended_submissions_are_removed(hosted: Hosted, ann: Account) -> None:
    """The files of a submission that has just ended are kept, because games with it may still be played."""
    sent, recent = (submit_at(hosted, ann, tar({"bot.sh": MOVES}), StageName.BUILD) for _ in range(2))
    decide(hosted.database, hosted.cup, Actor(ann.id), recent.id, SubmissionState.WITHDRAWN)
    assert now(hosted, sent).state is SubmissionState.REPLACED
    hosted.database.run("update submission set changed = changed - ? where id = ?", 2 * pipeline.FILES_KEPT, sent.id)
    run_until(hosted, lambda: not received_file(hosted.folder, sent.id).exists())
    assert not bot_folder(hosted.folder, sent.id).exists()
    assert bot_folder(hosted.folder, recent.id).is_dir()
    assert received_file(hosted.folder, recent.id).exists()
