"""One arena at a time plays with a store; another is told who does, and whoever only reads is never kept waiting."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commands import ARENA, AS_USUAL, invoke

from arena.errors import UsageError
from arena.league.store import Store, StoreError, StoreInUseError, sole_use

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent.parent
GOLDEN = ROOT / "tests" / "golden" / "stores"
BOTS = [str(bot) for bot in sorted((GOLDEN / "bots").glob("*.py"))]
LEAGUE = ("league", *BOTS, "--rules", "duel", "--time", "2s/move", *AS_USUAL, "--rounds", "1", "--store", "l.sqlite")
PATIENCE = 120
HOLDS = """
import sys
from pathlib import Path
from arena.league.store import sole_use
with sole_use(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return Path(shutil.copy(GOLDEN / "duel.sqlite", tmp_path / "l.sqlite"))


@contextmanager
def another(path: Path) -> "Iterator[subprocess.Popen[str]]":
    """Another process that plays with a store."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(path)], cwd=ROOT, stdin=pipe, stdout=pipe, text=True
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def lock_of(path: Path) -> Path:
    return path.with_name(path.name + "-lock")


def test_a_second_arena_is_refused_and_told_who_plays_and_readers_are_not(path: Path) -> None:
    with another(path) as process:
        refused = invoke(path.parent, *LEAGUE)
        assert refused.returncode == 1
        assert refused.stdout == ""
        assert f"l.sqlite: another arena is playing with this store (process {process.pid} on " in refused.stderr
        assert "Traceback" not in refused.stderr
        for command in (("standings",), ("verify",)):
            read = invoke(path.parent, command[0], path.name, *command[1:])
            assert (read.returncode, read.stderr) == (0, "")
    played = invoke(path.parent, *LEAGUE)
    assert played.returncode == 0
    assert "12 of them stored already" in played.stderr


def test_two_leagues_begun_at_once_play_no_game_twice(tmp_path: Path) -> None:
    """One of them plays all; the other is refused, or comes so late that nothing is left to play."""
    command = [*ARENA, *LEAGUE, "-v"]
    pipe = subprocess.PIPE
    both = [subprocess.Popen(command, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True) for _ in range(2)]
    said = [process.communicate(timeout=PATIENCE)[1] for process in both]
    played = sum(line.startswith("[") for text in said for line in text.splitlines())
    assert played == 12, said
    for process, text in zip(both, said, strict=True):
        is_refused = "another arena is playing with this store" in text
        assert process.returncode == (1 if is_refused else 0), text
    with Store(tmp_path / "l.sqlite", create=False) as store:
        assert len(store.rows()) == 12


def test_the_lock_goes_with_a_killed_process_and_what_it_leaves_hinders_nobody(path: Path) -> None:
    with another(path) as process:
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE)
        assert lock_of(path).exists()
        with sole_use(path):
            assert lock_of(path).read_text().startswith(f"process {os.getpid()} on ")
    assert not lock_of(path).exists(), "who has done with the store leaves nothing behind"


def test_another_thread_of_the_same_program_is_refused_too(path: Path) -> None:
    raised: list[BaseException] = []

    def plays() -> None:
        try:
            with sole_use(path):
                pass
        except StoreError as error:
            raised.append(error)

    with sole_use(path):
        thread = threading.Thread(target=plays)
        thread.start()
        thread.join()
    assert [type(error) for error in raised] == [StoreInUseError]
    with sole_use(path):
        pass


@pytest.mark.parametrize("kind", ["a link", "a folder"])
def test_what_is_no_file_in_the_place_of_the_lock_is_named_and_left_alone(path: Path, kind: str) -> None:
    other = path.with_name("mine")
    other.write_text("precious")
    make = {"a link": lambda at: at.symlink_to(other), "a folder": os.mkdir}
    make[kind](lock_of(path))
    with pytest.raises(UsageError, match="cannot be locked by a file"), sole_use(path):
        pass
    assert other.read_text() == "precious"
    assert os.path.lexists(lock_of(path))


@pytest.mark.parametrize("text", [b"\0" * 80, b"process 12 on h\xc3\xb6st, since 2026-01-02 03:04:05 UTC\n"])
def test_what_a_killed_arena_or_a_power_cut_leaves_hinders_nobody(path: Path, text: bytes) -> None:
    lock_of(path).write_bytes(text)
    with sole_use(path):
        assert lock_of(path).read_text().startswith(f"process {os.getpid()} on ")
    assert not lock_of(path).exists()


FORKS = """
import os, signal, sys
from pathlib import Path
from arena.league.store import sole_use
with sole_use(Path(sys.argv[1])):
    parent = os.getpid()
    ready, done = os.pipe()
    if os.fork() == 0:
        os.write(done, b"x")
        sys.stdin.readline()
        os._exit(0)
    os.read(ready, 1)
    os.kill(parent, signal.SIGKILL)
"""


def test_a_child_that_a_program_has_forked_does_not_keep_the_lock(path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", FORKS, str(path)], cwd=ROOT, stdin=subprocess.PIPE) as process:
        assert process.wait(PATIENCE) == -signal.SIGKILL  # its child waits for input
        assert lock_of(path).exists()
        with sole_use(path):
            pass


@pytest.mark.parametrize("text", ["my notes\n", ""])
def test_a_file_of_the_locks_name_that_no_arena_has_made_stays_as_it_is(path: Path, text: str) -> None:
    foreign = lock_of(path)
    foreign.write_text(text)
    if text:
        with pytest.raises(UsageError, match=r"l\.sqlite-lock: expected no file of this name"), sole_use(path):
            pass
    else:  # nobody can say whose an empty file is; it can be locked without a change
        with sole_use(path), pytest.raises(StoreInUseError), sole_use(path):
            pass
    assert foreign.read_text() == text
