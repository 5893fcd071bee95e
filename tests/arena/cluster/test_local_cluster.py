"""A league on a scheduler and workers of this machine is the league that it is without."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from commands import AS_USUAL, invoke, run_program
from waiting import until

from arena.league.store import Store
from arena.league.verify import verify
from arena.play.machine import read_reference

from .conftest import results

ROOT = Path(__file__).parents[3]
ARENA = [sys.executable, "-m", "arena"]
BOTS = ["drifter", "raider"]
SAME = ["--rules", "duel", "--time", "60s/move", "-j", "1"]
BOT = (ROOT / "tests" / "hostile" / "preamble.py").read_text() + (
    '\nintroduce()\nset_up()\nhear("turn")\nsay("move resign")\nhear("quit")\n'
)


def league(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return run_program([*ARENA, "league", *arguments], folder)


def test_a_calibrated_league_has_the_results_of_one_without_a_cluster_resumes_and_is_sound(tmp_path: Path) -> None:
    plain = invoke(tmp_path, "league", *BOTS, *SAME, *AS_USUAL, "--rounds", "2", "--store", "plain.sqlite")
    assert plain.returncode == 0, plain.stderr
    for rounds in ("1", "2"):
        calibrated = ["--cluster", "local:1", "--calibrate", "--store", "far.sqlite", "--rounds", rounds]
        far = league(tmp_path, *BOTS, *SAME, *calibrated)
        assert far.returncode == 0, far.stderr
    assert results(tmp_path / "far.sqlite") == results(tmp_path / "plain.sqlite")
    with Store(tmp_path / "far.sqlite", create=False) as opened:
        records = [opened.stored(number).record for number in opened.numbers()]
        assert read_reference(opened.settings()["calibration"])
        assert list(verify(opened, lambda done, of: None)) == []
    assert len(records) == 4
    assert all(record and record.time_percent for record in records)


def test_a_bot_that_is_built_on_no_worker_stops_the_league_with_what_was_printed(tmp_path: Path) -> None:
    for name, manifest in (("ann", ""), ("linked", ""), ("once", f'build = "mkdir {tmp_path}/mark"\n')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.toml").write_text(f'command = ["python3", "main.py"]\n{manifest}')
        (tmp_path / name / "main.py").write_text(BOT)
    (tmp_path / "linked" / "data").symlink_to("../elsewhere")
    done = league(tmp_path, "ann", "linked", "once", *SAME, "--cluster", "local:1", "--store", "l.sqlite")
    assert done.returncode == 1
    assert "data is a link out of the bot's folder, to ../elsewhere" in done.stderr
    assert "no worker can play:" in done.stderr
    assert "mkdir: cannot create directory" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("number", "cluster"), [(signal.SIGKILL, "local:1"), (signal.SIGINT, "local:2")])
def test_an_arena_that_ends_leaves_no_process_and_no_file(tmp_path: Path, number: signal.Signals, cluster: str) -> None:
    folder = tmp_path / "tmp"
    folder.mkdir()
    line = [*ARENA, "league", *BOTS, *SAME, "--rounds", "500", "--cluster", cluster, "--store", "l.sqlite", "-v"]
    with subprocess.Popen(
        line, cwd=tmp_path, env={**os.environ, "TMPDIR": str(folder)}, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stderr is not None
        while b"[1/" not in process.stderr.readline():
            assert process.poll() is None
        children = psutil.Process(process.pid).children(recursive=True)
        assert children
        process.send_signal(number)
        process.stderr.read()
    until(lambda: not any(map(psutil.Process.is_running, children)), "all processes end")
    until(lambda: not list(folder.iterdir()), "all files are removed")
