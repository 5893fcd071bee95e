"""Kill -9 at any moment, of the arena, of a worker, of a bot: nothing that was reported is missing, nothing is stored
twice, and no process is left.

`ARENA_KILLS=100` kills more often than the suite does.
"""

import contextlib
import enum
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import psutil
import pytest
from left_behind import UNTOLD
from sandboxes import in_bwrap
from waiting import PATIENCE, until

from arena.league.store import Store
from arena.sandbox.levels import Level

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere bots outlive a worker that is killed")

PREAMBLE = Path(__file__).parent.parent / "hostile" / "preamble.py"
KILLS = int(os.environ.get("ARENA_KILLS", "3"))
GAMES = 4
LINE = [sys.executable, "-c", "from arena.cli.entry import main; main()", "match", "ann.py", "bob.py"]
LINE += ["--rules", "duel", "--games", str(GAMES), "-j", "2", "--time", "60s", "--store", "l.sqlite", "--verbose"]


class Victim(enum.Enum):
    """Who is killed."""

    ARENA = enum.auto()
    STOPPED_ARENA = enum.auto()
    """One that had been stopped some time before, so that its workers have nobody to tell anything."""
    WORKER = enum.auto()
    BOT = enum.auto()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    for name in ("ann.py", "bob.py"):
        (tmp_path / name).write_text(f"{PREAMBLE.read_text()}\n\nintroduce()\nset_up()\nplay()")
    yield tmp_path
    for process in left_of(tmp_path):
        with contextlib.suppress(psutil.Error):
            process.kill()


def left_of(folder: Path) -> list[psutil.Process]:
    """Processes that live and run in this folder or have its name in their command."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(*UNTOLD):
            if process.status() != psutil.STATUS_ZOMBIE and process.pid != os.getpid():
                where = [process.cwd(), *process.cmdline()]
                if any(str(folder) in word for word in where):
                    found.append(process)
    return found


def reported(folder: Path) -> int:
    """How many games have been reported as over since the errors' file was made."""
    return sum(line.startswith("[") for line in (folder / "errors").read_text().splitlines())


def stored(folder: Path) -> list[str]:
    """The ids of the games in the store."""
    if not (folder / "l.sqlite").exists():
        return []
    with Store(folder / "l.sqlite", create=False) as store:
        return [row.id for row in store.rows()]


@contextmanager
def match(folder: Path, level: Level) -> Iterator["subprocess.Popen[bytes]"]:
    """A running match, whose messages are in the file `errors`."""
    with (folder / "errors").open("w") as errors:
        line = [*LINE, "--sandbox", level.value]
        with subprocess.Popen(line, cwd=folder, stdout=subprocess.DEVNULL, stderr=errors) as running:
            try:
                yield running
            finally:
                running.kill()


def kill(victim: Victim, arena: int, choice: Random) -> bool:
    process = psutil.Process(arena)
    if victim is Victim.ARENA:
        process.kill()
        return True
    if victim is Victim.STOPPED_ARENA:
        process.send_signal(signal.SIGSTOP)
        time.sleep(choice.uniform(0, 0.5))  # the moment is to be any
        process.kill()
        return True
    with contextlib.suppress(psutil.Error, IndexError):
        worker = choice.choice(process.children())
        choice.choice([worker] if victim is Victim.WORKER else worker.children(recursive=True)).kill()
        return True
    return False


@pytest.mark.parametrize(
    ("victim", "level"),
    [
        *((victim, Level.BASIC) for victim in Victim),
        *(pytest.param(victim, Level.BWRAP, marks=in_bwrap) for victim in (Victim.ARENA, Victim.BOT)),
    ],
    ids=str,
)
def test_whoever_is_killed_nothing_is_lost_stored_twice_or_left(victim: Victim, level: Level, folder: Path) -> None:
    seed = time.time_ns()
    choice = Random(seed)
    for count in range(max(1, KILLS // len(Victim))):
        (folder / "l.sqlite").unlink(missing_ok=True)
        with match(folder, level) as running:
            start = choice.randrange(GAMES)
            until(lambda start=start: running.poll() is not None or reported(folder) >= start)  # type: ignore[misc]
            time.sleep(choice.uniform(0, 0.1))  # the moment is to be any
            was_there = running.poll() is None and kill(victim, running.pid, choice)
            code = running.wait(PATIENCE)
        until(lambda: not left_of(folder))
        ids, told = stored(folder), reported(folder)
        words = (seed, count, victim, (folder / "errors").read_text())
        assert len(set(ids)) == len(ids) >= told, words
        if code == 0:
            assert len(ids) == told == GAMES, words
        else:
            assert was_there, words
            assert code == -signal.SIGKILL, words
            assert "ARENA" in victim.name, words
            with match(folder, level) as again:
                assert again.wait(PATIENCE) == 0, (folder / "errors").read_text()
            until(lambda: not left_of(folder))
            assert len(set(stored(folder))) == len(stored(folder)) == GAMES, words
