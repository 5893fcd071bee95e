"""A league on a scheduler and workers of this machine is the league that it is without."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from waiting import until

from arena.league.store import Store
from arena.league.verify import verify
from arena.play.machine import read_reference

ROOT = Path(__file__).parents[3]
ARENA = [sys.executable, "-m", "arena"]
BOTS = ["drifter", "raider", "warden"]
SAME = ["--rules", "duel", "--time", "60s/move", "--rounds", "2"]
PATIENCE = 180
BOT = (ROOT / "tests" / "hostile" / "preamble.py").read_text() + (
    '\nintroduce()\nset_up()\nhear("turn")\nsay("move resign")\nhear("quit")\n'
)


def league(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*ARENA, "league", *arguments], cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def results(store: Path) -> dict[str, object]:
    with Store(store, create=False) as opened:
        return {row.id: (row.players, row.result, row.reason, row.plies) for row in opened.rows()}


def test_a_league_on_a_cluster_has_the_ids_and_results_of_a_league_without_and_goes_on_as_one(tmp_path: Path) -> None:
    plain = league(tmp_path, *BOTS, *SAME, "--store", "plain.sqlite")
    assert plain.returncode == 0, plain.stderr
    far = league(tmp_path, *BOTS, *SAME, "--cluster", "local:2", "--store", "far.sqlite")
    assert far.returncode == 0, far.stderr
    assert "on cluster local:2" in far.stderr
    assert re.search(r"^cluster local:2: \d workers?, \d+ games? at a time", far.stderr, re.MULTILINE)
    assert results(tmp_path / "far.sqlite") == results(tmp_path / "plain.sqlite")
    assert len(results(tmp_path / "far.sqlite")) == 12
    again = league(tmp_path, *BOTS, *SAME, "--store", "far.sqlite")
    assert again.returncode == 0
    assert "12 of them stored already" in again.stderr


def test_a_calibrated_league_resumes_with_its_reference_and_is_sound(tmp_path: Path) -> None:
    for rounds in ("1", "2"):
        calibrated = ["--cluster", "local:1", "--calibrate", "--store", "far.sqlite", "--rounds", rounds]
        far = league(tmp_path, *BOTS, *SAME, *calibrated)
        assert far.returncode == 0, far.stderr
    assert len(results(tmp_path / "far.sqlite")) == 12
    with Store(tmp_path / "far.sqlite", create=False) as opened:
        records = [opened.stored(number).record for number in opened.numbers()]
        assert read_reference(opened.settings()["calibration"])
        assert list(verify(opened, lambda done, of: None)) == []
    assert all(record and record.time_percent for record in records)


def test_entrants_that_cannot_be_sent_or_built_are_named_and_all_others_play(tmp_path: Path) -> None:
    for name, manifest in (("ann", ""), ("bob", ""), ("linked", ""), ("once", f'build = "mkdir {tmp_path}/mark"\n')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.toml").write_text(f'command = ["python3", "main.py"]\n{manifest}')
        (tmp_path / name / "main.py").write_text(BOT)
    (tmp_path / "linked" / "data").symlink_to("../elsewhere")
    done = league(tmp_path, "ann", "bob", "linked", "once", *SAME, "--cluster", "local:2", "--store", "l.sqlite")
    assert done.returncode == 1
    assert "data is a link out of the bot's folder, to ../elsewhere" in done.stderr
    assert "once is not played any more: it cannot be played on worker local-" in done.stderr
    assert "mkdir: cannot create directory" in done.stderr
    assert "Traceback" not in done.stderr
    with Store(tmp_path / "l.sqlite", create=False) as opened:
        pairs = {frozenset(player.name for player in row.players) for row in opened.rows()}
    assert pairs == {frozenset(("ann", "bob"))}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_an_arena_that_ends_leaves_no_process_and_no_file(tmp_path: Path, number: signal.Signals) -> None:
    folder = tmp_path / "tmp"
    folder.mkdir()
    line = [*ARENA, "league", *BOTS, *SAME, "--rounds", "500", "--cluster", "local:2", "--store", "l.sqlite", "-v"]
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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--cluster", "local:0"], "--cluster: expected local:N with N workers, from 1 to 64, got 'local:0'"),
        (["--cluster", "nonsense"], "--cluster: expected tcp://HOST:PORT or tls://HOST:PORT of a dask scheduler"),
        (["--cluster", "tls://host:1"], "TLS needs --tls-ca, --tls-cert, --tls-key as well"),
        (["--calibrate"], "--calibrate: expected --cluster with it"),
        (["--tls-ca", "x"], "--tls-ca: expected --cluster tls://HOST:PORT with it"),
    ],
)
def test_a_cluster_that_makes_no_sense_is_refused_in_one_line(tmp_path: Path, arguments: list[str], said: str) -> None:
    result = league(tmp_path, *BOTS, *arguments)
    assert result.returncode == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1
