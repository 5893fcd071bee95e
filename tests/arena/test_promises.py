"""What a host is promised (docs/hosting.md), each promise with a test that tries to break it.

What holds at every level is tried at every level that this machine allows; where one is left out, the test says why.
"""

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import commands
import made_bots
import psutil
import pytest
import trio
from bot_games import play
from sandboxes import LEVELS
from waiting import PATIENCE, until

import arena.processes.pipes
from arena.bots.limits import MIB
from arena.bots.spec import BotSpec
from arena.errors import UsageError
from arena.game.faults import GameResult
from arena.game.time_control import TimeControl
from arena.league.store import Store
from arena.play.game_options import VoidGameError
from arena.processes.arrivals import Arrivals
from arena.sandbox.levels import Level
from arena.sandbox.procfs import read_file
from protocol.notation import Reason

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these promises are kept on Linux")

ARENA = [sys.executable, "-c", "from arena.cli.main import main; main()"]
FLOOD = 512 * MIB
MakeBot = Callable[..., BotSpec]


def league_folder(folder: Path) -> Path:
    folder.chmod(0o755)
    for name in ("alpha.py", "beta.py"):
        (folder / name).write_text(made_bots.PLAIN)
    return folder


def a_league(folder: Path, level: Level) -> "subprocess.Popen[str]":
    """A league under way, with so many rounds that it does not end by itself."""
    words = f"league alpha.py beta.py --rounds 5000 --rules duel --sandbox {level.value} --store l.sqlite"
    line = [*ARENA, *words.split()]
    return subprocess.Popen(line, cwd=folder, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True)


def has_a_game(folder: Path) -> bool:
    with suppress(UsageError), Store(folder / "l.sqlite", create=False) as store:
        return bool({row.id for row in store.rows()})
    return False


@pytest.mark.parametrize("level", LEVELS[1:])
def test_a_league_that_is_stopped_leaves_no_process_in_a_sandbox(tmp_path: Path, level: Level) -> None:
    folder = league_folder(tmp_path)
    with a_league(folder, level) as league:
        until(lambda: has_a_game(folder), "a game is stored")
        bots = psutil.Process(league.pid).children(recursive=True)
        league.send_signal(signal.SIGTERM)
        assert league.wait(PATIENCE) == 130
    assert [bot for bot in bots if bot.is_running()] == []


def peak_memory() -> int:
    """The most memory that this process has had since `forget_peak`, in bytes."""
    line = next(line for line in read_file("/proc/self/status").splitlines() if line.startswith(b"VmHWM"))
    return int(line.split()[1]) * 1024


def forget_peak() -> int:
    """Begin to measure anew; returns what is in use now, in bytes."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak_memory()


@pytest.mark.parametrize("descriptor", [1, 2], ids=["stdout", "stderr"])
def test_half_a_gigabyte_of_output_costs_the_arena_less_than_five_megabytes(
    make_bot: MakeBot, monkeypatch: pytest.MonkeyPatch, descriptor: int
) -> None:
    """On standard output a line that is too long ends the game; standard error is all read, and its end is kept."""
    monkeypatch.setattr(arena.processes.pipes, "STDERR_PAUSE", 0)
    flood = f"data = b'x' * 65536\nfor _ in range({FLOOD // 65536}): os.write({descriptor}, data)\n"
    last = "os.write(2, b'all of it')\nplay(1)\nhear('turn')\nsay('move resign')\nhear('end')"
    flooder = make_bot(f"introduce()\nset_up()\n{flood}{last}")
    good = make_bot("introduce()\nset_up()\nplay()")
    trio.run(play, make_bot("introduce()\nset_up()\nhear('turn')\nsay('move resign')\nhear('end')"), good)
    before = forget_peak()
    record = trio.run(play, good, flooder)
    assert peak_memory() - before < 5_000_000
    assert record.verdict.result is GameResult.RED
    assert record.verdict.reason is (Reason.PROTOCOL if descriptor == 1 else Reason.RESIGN)
    if descriptor == 2:
        assert record.stderr[1].endswith("all of it")
        assert (
            f"[{FLOOD + len('all of it') - arena.processes.pipes.STDERR_KEPT} bytes before this were dropped]"
            in record.stderr[1]
        )


ENDINGS = {
    "memory": ("arena.league.executor.child_process.Frames.feed", "MemoryError()", "no memory left for the arena"),
    "processes": (
        "subprocess.Popen.__init__",
        "BlockingIOError(11, 'no processes')",
        "cannot start another bot: no proc",
    ),
    "threads": (
        "trio.to_thread.run_sync",
        'RuntimeError("can\'t start new thread")',
        "no room for another thread",
    ),
}


OPTIONS = ["alpha.py", "beta.py", "--rules", "duel", "--store", "l.sqlite", "-j", "1"]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two bots and the store of their two games."""
    folder = league_folder(tmp_path_factory.mktemp("played"))
    assert commands.invoke(folder, "league", *OPTIONS, "--rounds", "1").returncode == 0
    return folder


@pytest.mark.parametrize("what", ENDINGS)
def test_a_machine_that_runs_out_stops_the_league_with_one_message(tmp_path: Path, played: Path, what: str) -> None:
    """After two games, what the arena needs most is no longer to be had."""
    name, error, words = ENDINGS[what]
    folder = Path(shutil.copytree(played, tmp_path / "league"))
    module, _, attribute = name.rpartition(".")
    script = f"import pkgutil, arena.cli.play_games\ndef fail(*_, **__): raise {error}\n"
    script += f"setattr(pkgutil.resolve_name({module!r}), {attribute!r}, fail)\nfrom arena.cli.main import main; main()"
    line = [sys.executable, "-c", script, "league", *commands.UNHURRIED, *OPTIONS, "--rounds", "3"]
    done = commands.run_program(line, folder)
    assert done.returncode == 1, done.stderr
    assert words in done.stderr
    assert "stopped: 2 of 6 games are stored in l.sqlite" in done.stderr
    assert "resume with: " in done.stderr
    assert "Traceback" not in done.stderr


def test_a_full_disk_stops_the_league_with_one_message(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=160k", "tmpfs", disk], check=False, capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"only root can make a small disk: {mounted.stderr.strip()}")
    try:
        folder = league_folder(tmp_path)
        options = ("--rules", "duel", "--rounds", "400", "--store", "disk/l.sqlite")
        done = commands.run_program([*ARENA, "league", "alpha.py", "beta.py", *options], folder)
        assert done.returncode == 1, done.stderr
        assert "disk/l.sqlite: the disk is full; every game that was stored before is still there" in done.stderr
        assert "resume with: " in done.stderr
        assert "Traceback" not in done.stderr
        with Store(disk / "l.sqlite", create=False) as store:
            stored = len({row.id for row in store.rows()})
        assert stored > 0
        assert f"stopped: {stored} of 800 games are stored" in done.stderr
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_turn_that_overruns_is_stopped_at_its_deadline(make_bot: MakeBot) -> None:
    """The bot itself says how long its turn has lasted, again and again for as long as it lives: where the machine does
    not keep the arena waiting, no more than a tenth longer than it may."""
    program = """
import time
introduce()
set_up()
hear("turn")
begun = time.monotonic()
while True:
    os.write(2, b"%.4f\\n" % (time.monotonic() - begun))
    time.sleep(0.001)
"""
    control = TimeControl(move_ms=300, setup_ms=60_000, start_ms=60_000, margin_ms=0)
    good = "introduce()\nset_up()\nplay()"
    lasted = []

    async def one_turn() -> None:
        with suppress(VoidGameError):  # the machine kept the bot waiting: this turn does not count
            record = await play(make_bot(program), make_bot(good), time=control)
            assert record.verdict.reason is Reason.TIMEOUT
            if not Arrivals.of_this_run().stops:
                lasted.append(float(record.stderr[0].split()[-1]) / 0.3)

    while not lasted or (min(lasted) >= 1.1 and len(lasted) < 20):
        trio.run(one_turn)
    assert min(lasted) < 1.1, lasted
