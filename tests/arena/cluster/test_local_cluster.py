"""A league on a scheduler and workers of this machine is the league that it is without."""

import re
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from arena.league.executor.cluster.local_cluster import share
from arena.league.store import Store
from arena.league.verify import verify
from arena.play.played_on import read_reference

ARENA = [sys.executable, "-m", "arena"]
BOTS = ["drifter", "raider", "warden"]
SAME = ["--rules", "duel", "--time", "60s/move", "--rounds", "2"]
CALIBRATED = ["--cluster", "local:1", "--calibrate"]
PATIENCE = 180


def league(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*ARENA, "league", *arguments], cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def results(store: Path) -> dict[str, object]:
    with Store(store, create=False) as opened:
        return {row.id: (row.players, row.result, row.reason, row.plies) for row in opened.rows()}


def left_over(store: Path) -> list[str]:
    """The processes that speak of a store, or are of a cluster that its league has started."""
    return [
        " ".join(process.info["cmdline"] or [])
        for process in psutil.process_iter(["cmdline"])
        if str(store.parent) in " ".join(process.info["cmdline"] or [])
    ]


def test_a_league_on_a_cluster_has_the_ids_and_results_of_a_league_without_and_goes_on_as_one(tmp_path: Path) -> None:
    plain = league(tmp_path, *BOTS, *SAME, "--store", "plain.sqlite")
    assert plain.returncode == 0, plain.stderr
    far = league(tmp_path, *BOTS, *SAME, "--cluster", "local:2", "--store", "far.sqlite")
    assert far.returncode == 0, far.stderr
    assert "on cluster local:2" in far.stderr
    assert re.search(r"^cluster local:2: \d workers?, \d+ games? at a time", far.stderr, re.M)
    assert results(tmp_path / "far.sqlite") == results(tmp_path / "plain.sqlite")
    assert len(results(tmp_path / "far.sqlite")) == 12
    assert left_over(tmp_path / "far.sqlite") == []
    again = league(tmp_path, *BOTS, *SAME, "--store", "far.sqlite")
    assert again.returncode == 0
    assert "12 of them stored already" in again.stderr


def test_a_calibrated_league_goes_on_by_the_same_reference_and_is_sound(
    tmp_path: Path,
) -> None:
    for rounds in ("1", "2"):
        far = league(tmp_path, *BOTS, *SAME, *CALIBRATED, "--store", "far.sqlite", "--rounds", rounds)
        assert far.returncode == 0, far.stderr
    assert len(results(tmp_path / "far.sqlite")) == 12
    with Store(tmp_path / "far.sqlite", create=False) as opened:
        records = [opened.stored(number).record for number in opened.numbers()]
        assert read_reference(opened.settings()["calibration"])
        assert list(verify(opened, lambda done, of: None)) == []
    assert all(record and record.time_percent for record in records)
    without = league(tmp_path, *BOTS, *SAME, "--store", "far.sqlite")
    assert without.returncode == 2
    assert "(in the store), no (asked for)" in without.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--cluster", "local:0"], "--cluster: expected local:N with N workers, from 1 to 64, got 'local:0'"),
        (["--cluster", "nonsense"], "--cluster: expected tcp://HOST:PORT or tls://HOST:PORT of a dask scheduler"),
        (["--cluster", "tcp://host:99999"], "got 'tcp://host:99999'"),
        (["--cluster", "tls://host:1"], "TLS needs --tls-ca, --tls-cert, --tls-key as well"),
        (["--calibrate"], "--calibrate: expected --cluster with it"),
        (["--tls-ca", "x"], "--tls-ca: expected --cluster tls://HOST:PORT with it"),
        (["--cluster", "local:2", "--tls-ca", "x"], "--tls-ca: --cluster local:2 makes keys of its own"),
        (["--cluster", "local:2", "--cluster-wait", "soon"], "--cluster-wait: expected a time"),
    ],
)
def test_a_cluster_that_makes_no_sense_is_refused_in_one_line(tmp_path: Path, arguments: list[str], said: str) -> None:
    result = league(tmp_path, *BOTS, *arguments)
    assert result.returncode == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_where_nothing_listens_it_is_said_which_address(tmp_path: Path) -> None:
    result = league(tmp_path, *BOTS, "--cluster", "tcp://127.0.0.1:9", "--cluster-wait", "1s")
    assert result.returncode == 1
    assert "no dask scheduler answers at tcp://127.0.0.1:9 within 1 s" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_cpus_are_shared_out() -> None:
    assert [share([0, 1, 2, 3], number, 2) for number in range(2)] == [(0, 2), (1, 3)]
    assert share([0, 1], 2, 4) == ()
