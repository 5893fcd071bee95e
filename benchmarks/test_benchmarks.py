"""Each benchmark runs to its end with its smallest numbers. The measurements are not checked."""

import shutil
import sys
from pathlib import Path

import pytest
from commands import run_program

FOLDER = Path(__file__).parent
GOLDEN = FOLDER.parent / "tests" / "golden" / "stores" / "duel.sqlite"
"""A store whose third game has a board to show."""
SMALLEST = (
    ("engine.py", "--games", "1", "--ruleset", "duel"),
    ("kernel.py", "--games", "2", "--batch", "4", "--steps", "5", "--rounds", "1", "--ruleset", "duel"),
    ("learn_records.py", "--games", "2", "--rounds", "1", "--ruleset", "duel"),
    ("ply.py", "--plies", "40", "--rounds", "1"),
    ("leagues.py", "--games", "2", "--rounds", "1", "--jobs", "1", "--only", "short"),
    ("starts.py", "--games", "1", "--rounds", "1", "--keep"),
    ("flat.py", "--games", "2", "--jobs", "1", "--steps", "2"),
    ("fairness.py", "--games", "1", "--sleep", "1", "--seconds", "1.2", "--hostile", "notes"),
    ("fairness.py", "--games", "1", "--sleep", "1", "--seconds", "1.2", "--viewers", "2", "--turns", "1"),
    ("mutants.py", "--code", "protocol/geometry.py", "--tests", "tests/protocol/test_geometry.py", "--count", "1"),
    ("pages.py", "--loads", "3", "--viewers", "1", "--refused", "1"),
    ("host.py", "--teams", "2", "--submissions", "1", "--viewers", "2", "--jobs", "1", "--seconds", "0.1"),
    ("coverage.py", "--matches", "1", "--leagues", "1", "--largest", "2"),
    ("formats.py", "--bots", "5", "--leagues", "1", "--most", "60"),
    ("ratings.py", "--largest", "20"),
    ("scale.py", "--games", "20", "--bots", "10", "--plies", "10"),
    ("startup.py", "--rounds", "1", "--most", "1000"),
    ("search.py", "--plies", "20", "--samples", "1", "--rounds", "1", "--ruleset", "barrage"),
    ("site.py", str(GOLDEN), "--games", "3", "--opened", "1"),
    ("sequential.py", "--tests", "2", "--elo1", "80", "--seed", "2"),
)
"""The name of a script, and its arguments."""
NOT_RUN = {"cluster.py", "host_attacks.py"}
"""Starts clusters of dask, which takes half a minute; the tests of the cluster play the same leagues."""
NEED_NUMBA = {"kernel.py", "learn_records.py"}
NEED_A_COMPILER = {"fairness.py", "flat.py", "leagues.py", "ply.py", "starts.py"}


@pytest.mark.parametrize("line", SMALLEST, ids=" ".join)
def test_a_benchmark_runs_to_its_end_and_prints_what_it_has_measured(line: tuple[str, ...], tmp_path: Path) -> None:
    name, *arguments = line
    if name in NEED_A_COMPILER and not (shutil.which("cc") or shutil.which("gcc")):
        pytest.skip("this needs a C compiler (apt install gcc libc6-dev)")
    if name in NEED_NUMBA:
        pytest.importorskip("numba", reason="needs numba (pip install '.[learn]')")
    done = run_program([sys.executable, FOLDER / name, *arguments], tmp_path)  # as from anywhere
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert done.stderr == ""


def test_no_benchmark_is_left_out() -> None:
    programs = {path.name for path in FOLDER.glob("*.py")} - {Path(__file__).name}
    assert programs == {name for name, *_ in SMALLEST} | NOT_RUN
