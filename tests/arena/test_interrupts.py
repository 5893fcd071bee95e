"""Ctrl-C and the other signals that ask the arena to stop, at each moment of a command's life."""

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from commands import UNHURRIED, invoke
from left_behind import processes_in
from made_bots import PLAIN
from waiting import until

from arena.league.store import Store

MAIN = "from arena.cli.entry import main; main()"
PATIENCE = 120

WAITING_BOT = """
import pathlib, sys, time, uuid
for line in sys.stdin:
    words = line.split()
    if words[0] == "hello": print("ready", flush=True)
    if words[0] == "setup": print("setup FBBS2339M./........../........../2.........", flush=True)
    if words[0] == "turn":
        pathlib.Path(f"thinking-{uuid.uuid4()}").touch()
        while not pathlib.Path("go").exists():
            time.sleep(0.01)
        print("move resign", flush=True)
    if words[0] == "quit": break
"""
"""Thinks until there is a file `go`."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("alpha.py", "beta.py"):
        (tmp_path / name).write_text(f"{PLAIN}# {name}\n")
    for name in ("wait.py", "watch.py"):
        (tmp_path / name).write_text(f"{WAITING_BOT}# {name}\n")
    return tmp_path


Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    """`start(*arguments, before=...)`: the command, after a piece of Python, or behind other words."""
    started = []

    def begin(*arguments: str, before: str = "", behind: Sequence[str] = ()) -> "subprocess.Popen[str]":
        started.append(
            subprocess.Popen(
                [*behind, sys.executable, "-c", f"{before}\n{MAIN}", *arguments],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        )
        return started[-1]

    yield begin
    for process in started:
        with process:
            process.kill()
    for left in processes_in(folder):
        left.kill()


def read_until(process: "subprocess.Popen[str]", words: str) -> str:
    """What the process writes to standard error, up to the line with these words."""
    assert process.stderr is not None
    seen = ""
    for line in process.stderr:
        seen += line
        if words in line:
            break
    assert words in seen, seen
    return seen


def thinking(folder: Path) -> int:
    return len(list(folder.glob("thinking-*")))


PLAN = ["--rules", "duel", "--rounds", "2", "-j", "2", *UNHURRIED, "--store", "l.sqlite"]
LEAGUE = ["league", "wait.py", "watch.py", *PLAN]
"""Four games, two at a time, each of which goes on until there is a file `go`."""
STOP_SOON = "finishing 2 games under way; Ctrl-C again to stop at once"


def stored(folder: Path) -> int:
    with Store(folder / "l.sqlite", create=False) as store:
        return len({row.id for row in store.rows()})


def ended(folder: Path, process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    """The exit code of a command and what it has said, once it is over; nothing of it may be left."""
    output, errors = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in errors
    assert not processes_in(folder)
    return process.returncode, output, errors.strip()


@pytest.fixture
def league(folder: Path, start: Start) -> Start:
    """`league(*more, behind=...)`: the league with its first two games under way."""

    def begin(*more: str, behind: Sequence[str] = ()) -> "subprocess.Popen[str]":
        running = start(*LEAGUE, *more, behind=behind)
        until(lambda: thinking(folder) == 2)
        return running

    return begin


def test_the_first_ctrl_c_finishes_the_games_under_way_and_prints_the_table(folder: Path, league: Start) -> None:
    running = league()
    running.send_signal(signal.SIGINT)
    read_until(running, STOP_SOON)
    (folder / "go").touch()
    code, output, errors = ended(folder, running)
    assert (code, "Crosstable" in output) == (130, True)
    assert "stopped: 2 of 4 games are stored in l.sqlite\nresume with: arena league wait.py" in errors
    assert stored(folder) == thinking(folder) == 2
    printed = re.search(r"resume with: arena (.*)", errors)
    assert printed
    again = invoke(folder, *printed[1].split())
    assert again.returncode == 0
    assert "4 games, 2 of them stored already" in again.stderr
    assert stored(folder) == 4


def test_another_ctrl_c_stops_at_once_and_still_prints_table_and_command(folder: Path, league: Start) -> None:
    running = league()
    running.send_signal(signal.SIGINT)
    read_until(running, STOP_SOON)
    running.send_signal(signal.SIGINT)
    code, output, errors = ended(folder, running)
    assert (code, "no game has been played yet" in output) == (130, True)
    assert "stopped: 0 of 4 games are stored in l.sqlite; the 2 games under way were dropped\nresume with:" in errors


def test_a_league_whose_games_are_taken_away_stops_and_says_how_many_were_there(folder: Path) -> None:
    """One of its bots puts another file in the place of the store."""
    thief = "import pathlib\nif pathlib.Path('other').exists(): pathlib.Path('other').replace('l.sqlite')\n"
    (folder / "beta.py").write_text(f"{thief}{PLAIN}")
    league = ("league", "alpha.py", "beta.py", "--rules", "duel", "--store", "l.sqlite", "--rounds")
    assert invoke(folder, *league, "1").returncode == 0
    with Store(folder / "other", create=True):
        pass
    done = invoke(folder, *league, "2", "-j", "1")
    assert done.returncode == 1
    assert "another file is there now; every game that was stored before is in the file that was here" in done.stderr
    assert re.search(r"stopped: 2 of 4 games had been stored before.*finished game", done.stderr)
    assert "resume with" not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_service_manager_stops_at_once(folder: Path, league: Start) -> None:
    running = league()
    running.send_signal(signal.SIGTERM)
    code, _, errors = ended(folder, running)
    assert (code, "finishing" in errors, "resume with:" in errors) == (130, False, True)


def test_signals_that_were_ignored_at_the_start_stay_ignored(folder: Path, league: Start) -> None:
    """As `nohup` and the `&` of a script have it."""
    running = league("--rounds", "1", behind=["sh", "-c", "trap '' INT HUP; exec \"$@\"", "sh"])
    for number in (signal.SIGINT, signal.SIGHUP):
        running.send_signal(number)
    (folder / "go").touch()
    code, output, errors = ended(folder, running)
    assert (code, "Crosstable" in output) == (0, True), errors
    assert stored(folder) == 2


# --- before and after the games -------------------------------------------------------------------------------------

INTERRUPTED = (130, "", "arena: interrupted")
INTERRUPT = "os.kill(os.getpid(), signal.SIGINT)"
AT_IMPORT = """
import os, signal, sys
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == {module!r}:
            {interrupt}
sys.meta_path.insert(0, Finder)
"""


@pytest.mark.parametrize(
    ("arguments", "module"),
    [(LEAGUE, "arena.league.store.store"), (["standings", "l.sqlite"], "click")],
    ids=["league", "standings"],
)
def test_ctrl_c_during_the_imports_is_one_line(
    arguments: Sequence[str], module: str, folder: Path, start: Start
) -> None:
    with Store(folder / "l.sqlite", create=True):
        pass
    running = start(*arguments, before=AT_IMPORT.format(module=module, interrupt=INTERRUPT))
    assert ended(folder, running) == INTERRUPTED


@pytest.mark.parametrize("place", ["arena.league.plan.entrants", "arena.league.league.Store"])
def test_ctrl_c_before_the_first_game_is_one_line(place: str, folder: Path, start: Start) -> None:
    """While bots are looked for, the sandbox is tried and the store opened."""
    before = f"import os, signal, arena.cli.play_games, arena.league.league\n{place} = lambda *a, **k: {INTERRUPT}"
    assert ended(folder, start(*LEAGUE, before=before)) == INTERRUPTED


@pytest.mark.parametrize(
    ("number", "behind"), [(signal.SIGINT, ()), (signal.SIGHUP, ("sh", "-c", "trap '' INT; exec \"$@\"", "sh"))]
)
def test_a_signal_during_a_build_leaves_nothing_of_it_even_where_ctrl_c_is_ignored(
    number: int, behind: Sequence[str], folder: Path, start: Start
) -> None:
    """As in a script that starts the arena with `&`: trio sees to nothing there by itself."""
    (folder / "built").mkdir()
    (folder / "built" / "bot.toml").write_text('command = ["./bot"]\nbuild = "touch started; sleep 600 & sleep 600"\n')
    running = start("league", "alpha.py", "beta.py", "built", behind=behind)
    until((folder / "built" / "started").exists)
    running.send_signal(number)
    code, output, errors = ended(folder, running)
    assert (code, output, errors.splitlines()[-1]) == INTERRUPTED
    assert not processes_in(folder / "built")


def test_ctrl_c_while_the_table_is_made_does_not_lose_it(folder: Path, start: Start) -> None:
    before = (
        "import os, signal, arena.cli.play_games as play\nmake = play.make_table\n"
        f"play.make_table = lambda *a, **b: ({INTERRUPT}, make(*a, **b))[1]"
    )
    code, output, errors = ended(folder, start("match", "alpha.py", "beta.py", "--rules", "duel", before=before))
    assert (code, "Crosstable" in output) == (0, True), errors


def test_results_that_nobody_reads_can_be_left_with_ctrl_c(folder: Path, start: Start) -> None:
    """The pipe is full and stays so. What was played is stored."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while os.write(writer, b"x" * 4096):
            pass
    os.set_blocking(writer, True)
    words = ("match", "alpha.py", "beta.py", "--rules", "duel", "--store", "l.sqlite", "-v")
    command = [sys.executable, "-c", MAIN, *words]
    with subprocess.Popen(command, cwd=folder, stdout=writer, stderr=subprocess.PIPE, text=True) as running:
        os.close(writer)
        read_until(running, "[2/2]")
        assert running.stderr is not None
        while not select.select([running.stderr], [], [], 0.2)[0]:  # until it has something to say
            running.send_signal(signal.SIGINT)
        errors = running.stderr.read()
    os.close(reader)
    assert running.returncode == 130
    assert "stopped: 2 of 2 games are stored in l.sqlite" in errors
    assert "Traceback" not in errors
    assert stored(folder) == 2


# --- a game that is to be saved -------------------------------------------------------------------------------------


def test_ctrl_c_while_a_game_is_saved_does_not_lose_it(folder: Path, start: Start) -> None:
    before = (
        "import os, signal, arena.league.saved as saved\nsave = saved.save_game\n"
        f"saved.save_game = lambda *a: ({INTERRUPT}, {INTERRUPT}, save(*a))[2]"
    )
    running = start(
        "match", *LEAGUE[1:3], *PLAN[:2], *UNHURRIED, "--store", "l.sqlite", "--pause", "g.json", before=before
    )
    until(lambda: thinking(folder) == 1)
    running.send_signal(signal.SIGINT)
    code, _, errors = ended(folder, running)
    assert code == 130
    assert "paused after 0 plies; resume with: arena resume g.json" in errors
    (folder / "go").touch()
    resumed = invoke(folder, "resume", "g.json")
    assert resumed.returncode == 0, resumed.stderr
    assert "resign" in resumed.stdout
    assert stored(folder) == 1
    assert not processes_in(folder)
