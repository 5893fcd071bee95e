"""Submissions through the stages, with real bots: what passes, what fails and why, and what survives kill -9."""

import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
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

from arena.errors import UsageError
from arena.game.time_control import parse_time
from arena.host import pipeline
from arena.host.accounts import Account, Actor
from arena.host.cup_database import FILE
from arena.host.cup_settings import Cup, Submissions
from arena.host.pipeline import ATTEMPTS, Pipeline, child_token, clear_left
from arena.host.submissions import (
    Stage,
    StageName,
    StageResult,
    StageState,
    Submission,
    SubmissionState,
    bot_folder,
    decide,
    get_submission,
    queue,
    received_file,
    stages_of,
    why_waiting,
)
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
        usual = {"tell": lambda submission: None, "complain": lambda text: None}
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


def children(parent: int | None = None) -> list[psutil.Process]:
    """The processes of stages below a process."""
    found = psutil.Process(parent).children()
    return [one for one in found if any("arena.host.job" in word for word in _line_of(one))]


def child_of(hosted: Hosted, submission: Submission, name: StageName, parent: int | None = None) -> bool:
    """Whether a stage is running in a child of this process."""
    stage = stages(hosted, submission).get(name.value)
    return stage is not None and stage.state is StageState.BEGUN and bool(children(parent))


def _line_of(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


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
    run_until(hosted, tell=lambda submission: told.append(submission.state))
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
    sent = hosted.submit(hosted.member("Ann", "Rooks"), "Rook", with_build(spy))
    run_until(hosted)
    assert now(hosted, sent).state is SubmissionState.PROBATION, stages(hosted, sent)
    made = (bot_folder(hosted.folder, sent.id) / "made").read_text()
    assert made.count("No such file or directory") == 3, made
    assert "sandbox: bwrap" in stages(hosted, sent)["check"].log


@in_bwrap
@pytest.mark.parametrize(
    "line", ["head -c 3M /dev/zero > big", "for n in 1 2 3 4; do head -c 900K /dev/zero > $n; done"]
)
def test_a_build_fills_no_disk(folder: Path, line: str) -> None:
    play, limits = msgspec.structs.replace(DUEL, sandbox="bwrap"), Submissions(build_mib=1)
    cup = Cup(title="A test", address="http://127.0.0.1", play=play, submissions=limits)
    hosted = make_hosted(folder / "cup", cup)
    sent = hosted.submit(hosted.member("Ann", "Rooks"), "Rook", with_build(line))
    run_until(hosted)
    assert now(hosted, sent).state is SubmissionState.FAILED
    log = stages(hosted, sent)["build"].log
    assert any(words in log for words in ("File size limit exceeded", "wrote more than the 1M", "1048576 are allowed"))
    assert {one.name for one in bot_folder(hosted.folder, sent.id).iterdir()} == {"bot.toml", "src.sh"}


@pytest.mark.parametrize(
    ("stage", "files", "words"),
    [
        ("unpack", None, "this cannot be unpacked"),
        ("unpack", {"README": "no bot"}, "Rook: expected"),
        ("unpack", {"a.py": "", "b.py": ""}, "expected a bot.toml in this folder"),
        ("unpack", {"bot.toml": "command = 7", "x": ""}, "Rook/bot.toml: command: expected"),
        ("unpack", {"bot.toml": "command = ['/bin/../../../etc/shadow']", "x": ""}, "Rook"),
        ("build", {"bot.toml": "command = ['./out']\nbuild = 'echo no luck >&2; exit 3'"}, "failed with exit code 3"),
        ("build", {"bot.toml": "command = ['./out']\nbuild = 'true'"}, "did not make ./out"),
        ("check", {"bot.sh": BROKEN_BOT}, "the last line on standard error: no luck today"),
    ],
)
def test_a_stage_that_fails_says_what_to_do(
    hosted: Hosted, ann: Account, stage: str, files: dict[str, str] | None, words: str
) -> None:
    sent = hosted.submit(ann, "Rook", tar(files) if files else b"nonsense")
    run_until(hosted)
    failed = now(hosted, sent)
    assert failed.state is SubmissionState.FAILED
    assert words in failed.reason
    assert str(hosted.folder) not in failed.reason + "".join(one.log for one in stages(hosted, sent).values())
    *_, last = stages(hosted, sent).values()
    assert (last.name.value, last.state) == (stage, StageState.FAILED)
    assert why_waiting(hosted.database, hosted.cup, failed).startswith("It has failed: ")


def test_a_bot_that_forfeits_in_its_trial_does_not_get_into_the_ladder(
    hosted: Hosted, ann: Account, folder: Path
) -> None:
    turns_bad = f"\ntest -e {folder}/bad && echo out of paper >&2 && exit 1\n"
    sent = hosted.submit(ann, "Rook", tar({"bot.sh": MOVES.replace("\n", turns_bad, 1)}))

    def tell(submission: Submission) -> None:
        if submission.state is SubmissionState.CHECKED:
            (folder / "bad").touch()

    run_until(hosted, tell=tell)
    assert now(hosted, sent).state is SubmissionState.FAILED
    assert now(hosted, sent).reason.startswith("it forfeits games: Rook forfeited 2 games")
    assert "out of paper" in stages(hosted, sent)["trial"].log


def test_a_stage_whose_process_is_killed_begins_again(hosted: Hosted, ann: Account) -> None:
    sent, complaints = hosted.submit(ann, "Rook", with_build("echo built > made")), list[str]()

    async def main() -> None:
        async with running(hosted, complain=complaints.append):
            for name in StageName:
                await when(partial(child_of, hosted, sent, name), f"{name} is running")
                children()[0].kill()
            await when(lambda: not queue(hosted.database), "the queue is empty")

    trio.run(main)
    assert now(hosted, sent).state is SubmissionState.PROBATION, stages(hosted, sent)
    assert [stage.attempts for stage in stages(hosted, sent).values()] == [2, 2, 2, 2]
    assert complaints == [
        f"#1 (Rook): {name.value}: its process was killed by signal 9 (SIGKILL)" for name in StageName
    ]


def test_a_stage_begins_again_when_the_server_was_killed(hosted: Hosted, ann: Account) -> None:
    sent = hosted.submit(ann, "Rook", with_build("echo built > made"))
    line = [sys.executable, str(HELPERS / "host_pipeline.py"), str(hosted.folder)]
    for name in StageName:
        with subprocess.Popen(line) as server:
            until(partial(child_of, hosted, sent, name, server.pid), f"{name} is running")
            (child,) = children(server.pid)
            server.kill()
            server.wait()
        psutil.wait_procs([child], PATIENCE)
        until(lambda: not left_by(child_token(hosted.folder)), "the stage ends with its server")
    subprocess.run(line, check=True, timeout=PATIENCE)
    assert now(hosted, sent).state is SubmissionState.PROBATION, stages(hosted, sent)
    assert [stage.attempts for stage in stages(hosted, sent).values()] == [2, 2, 2, 2]


def test_what_a_killed_server_and_child_have_left_is_killed_at_the_next_start(
    hosted: Hosted, ann: Account, folder: Path
) -> None:
    hosted.submit(ann, "Rook", waits_in_build(folder))
    with subprocess.Popen([sys.executable, str(HELPERS / "host_pipeline.py"), str(hosted.folder)]) as server:
        until((folder / "building").exists, "the build is running")
        (child,) = children(server.pid)
        server.kill()
        child.kill()
    psutil.wait_procs([child], PATIENCE)
    assert left_by(child_token(hosted.folder))
    (hosted.folder / "incoming").mkdir()
    trio.run(clear_left, hosted.folder)
    assert not left_by(child_token(hosted.folder))
    assert not (hosted.folder / "incoming").exists()


def test_a_stage_that_is_killed_again_and_again_fails(hosted: Hosted, ann: Account, folder: Path) -> None:
    sent, other = hosted.submit(ann, "Rook", waits_in_build(folder)), hosted.submit(ann, "Bishop", b"nonsense")

    async def main() -> None:
        async with running(hosted):
            for attempt in range(1, ATTEMPTS + 1):
                await when((folder / "building").exists, f"build {attempt} is running")
                (folder / "building").unlink()
                (child,) = children()
                child.kill()
            await when(lambda: not queue(hosted.database), "the queue is empty")

    trio.run(main)
    reason = "build was tried 3 times: its process was killed by signal 9 (SIGKILL)"
    assert (now(hosted, sent).state, now(hosted, sent).reason) == (SubmissionState.FAILED, reason)
    assert now(hosted, other).state is SubmissionState.FAILED


def test_a_server_that_stops_ends_the_stage_which_does_not_count(hosted: Hosted, ann: Account, folder: Path) -> None:
    sent = hosted.submit(ann, "Rook", waits_in_build(folder))
    for _ in range(ATTEMPTS + 1):
        run_until(hosted, (folder / "building").exists)
        assert left_by(child_token(hosted.folder)) == []
        assert now(hosted, sent).state is SubmissionState.UNPACKED
        (folder / "building").unlink()
    (folder / "go").touch()
    run_until(hosted, lambda: now(hosted, sent).state is SubmissionState.BUILT)
    assert stages(hosted, sent)["build"].attempts == 1


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_submission_that_is_withdrawn_or_replaced_stops_at_once(
    hosted: Hosted, ann: Account, folder: Path, is_replaced: bool
) -> None:
    sent, other = hosted.submit(ann, "Rook", waits_in_build(folder)), hosted.submit(ann, "Bishop", b"nonsense")

    async def main() -> None:
        async with running(hosted) as made:
            await when((folder / "building").exists, "the build is running")
            assert made.busy == now(hosted, sent)
            if is_replaced:
                hosted.submit(ann, "Rook", b"nonsense")
            else:
                decide(hosted.database, hosted.cup, Actor(ann.id), sent.id, SubmissionState.WITHDRAWN)
            made.wake()
            await when(lambda: not queue(hosted.database), "the queue is empty")
            await when(lambda: made.busy is None, "nothing is running")
            assert made.trouble == ""

    trio.run(main)
    assert now(hosted, sent).state is (SubmissionState.REPLACED if is_replaced else SubmissionState.WITHDRAWN)
    assert now(hosted, other).state is SubmissionState.FAILED


@pytest.mark.parametrize(("lost", "stage"), [("received/1", "unpack"), ("bots/1", "build")])
def test_a_file_that_is_lost_is_no_fault_of_a_bot(
    hosted: Hosted, ann: Account, monkeypatch: pytest.MonkeyPatch, lost: str, stage: str
) -> None:
    monkeypatch.setattr(pipeline, "PAUSE", 0.01)
    sent, complaints = hosted.submit(ann, "Rook", tar({"bot.sh": MOVES})), list[str]()
    place, aside = hosted.folder / lost, hosted.folder / "aside"

    def lose(submission: Submission) -> None:
        if lost == "bots/1" and not complaints:
            place.rename(aside)

    async def main() -> None:
        async with running(hosted, tell=lose, complain=complaints.append) as made:
            await when(lambda: len(complaints) > ATTEMPTS, "it is tried again and again")
            assert made.trouble.startswith("this machine cannot")
            aside.rename(place)
            await when(lambda: stages(hosted, sent)[stage].state is StageState.DONE, "the stage is done")

    if lost == "received/1":
        place.rename(aside)
    trio.run(main)
    assert stages(hosted, sent)[stage].attempts == 1


def test_a_submission_that_comes_later_is_taken(hosted: Hosted, ann: Account) -> None:
    async def main() -> None:
        async with running(hosted) as made:
            await trio.testing.wait_all_tasks_blocked()
            hosted.submit(ann, "Rook", b"nonsense")
            made.wake()
            await when(lambda: not queue(hosted.database), "it was taken")

    trio.run(main)


ANSWERS = "import sys; sys.stdin.read(); {}"
"""A child that answers what a test wants."""


def answering(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    child = [sys.executable, "-c", ANSWERS.format(line)]
    monkeypatch.setattr(pipeline, "own_python", lambda module: child)


def answer_of(**answer: str) -> str:
    return f"print({msgspec.json.encode(StageResult(**answer)).decode()!r})"


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
        f"import os; {answer_of(trouble='the disk is full')} if os.path.exists({str(full)!r}) "
        f"else {answer_of(fault='no bot')}",
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
    sent, complaints = hosted.submit(ann, "Rook", b"nonsense"), list[str]()
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
        (
            "__import__('time').sleep(1000)",
            "unpack was stopped: expected at most 0 minutes for all stages. Make it faster",
        ),
    ],
)
def test_a_child_without_an_answer_is_no_bots_pass(
    hosted: Hosted, ann: Account, monkeypatch: pytest.MonkeyPatch, line: str, words: str
) -> None:
    answering(monkeypatch, line)
    if "sleep" in line:
        monkeypatch.setattr(pipeline, "most_seconds", lambda control: 0.5)
    sent = hosted.submit(ann, "Rook", b"x")
    run_until(hosted)
    assert (now(hosted, sent).state, now(hosted, sent).reason) == (SubmissionState.FAILED, words)


@pytest.mark.parametrize(("text", "seconds"), [("100ms", 1900), ("10s/move", 11_800), ("60+0.6", 3600)])
def test_a_submission_has_the_time_that_slow_games_take(text: str, seconds: float) -> None:
    assert pipeline.most_seconds(parse_time(text)) == seconds


def test_the_time_of_all_stages_and_attempts_is_bound(
    hosted: Hosted, ann: Account, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = hosted.submit(ann, "Rook", waits_in_build(folder))
    monkeypatch.setattr(pipeline, "most_seconds", lambda control: 60.0)

    def used(submission: Submission) -> None:
        hosted.database.run("update stage set seconds = 59.5 where name = 'unpack'")

    run_until(hosted, tell=used)
    assert now(hosted, sent).reason == "build was stopped: expected at most 1 minutes for all stages. Make it faster"


def test_a_child_that_does_not_stop_is_killed(
    hosted: Hosted, ann: Account, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(
        monkeypatch,
        f"import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); open({str(folder / 'deaf')!r}, 'w'); "
        "time.sleep(1000)",
    )
    hosted.submit(ann, "Rook", b"x")
    run_until(hosted, (folder / "deaf").exists)
    assert children() == []


def test_the_files_of_ended_submissions_are_removed(
    hosted: Hosted, ann: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "CLEAN_SECONDS", 0.02)
    sent = hosted.submit(ann, "Rook", b"#!/bin/sh\n", "x.sh")
    run_until(hosted)
    assert bot_folder(hosted.folder, sent.id).is_dir()
    monkeypatch.setattr(pipeline, "FILES_KEPT", 0)
    run_until(hosted, lambda: not bot_folder(hosted.folder, sent.id).exists())
    until(lambda: not received_file(hosted.folder, sent.id).exists(), "both are removed")


def test_settings_under_which_no_bot_can_play_are_refused(hosted: Hosted) -> None:
    cup = msgspec.structs.replace(hosted.cup, play=msgspec.structs.replace(DUEL, rules="no-such-rules"))
    with pytest.raises(UsageError, match="no-such-rules"):
        Pipeline(hosted.folder, cup, hosted.database, tell=print, complain=print)
