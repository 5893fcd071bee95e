"""A league on a cluster with entrants that are broken and hostile: all others are played, each of them is named with
the reason, and nothing counts that was played with changed files."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from waiting import until

from arena.league.store import Store

ROOT = Path(__file__).parents[3]
ARENA = [sys.executable, "-m", "arena"]
SAME = ["--rules", "duel", "--time", "60s/move", "--start-time", "60s", "--rounds", "1"]
PATIENCE = 180
BOT = (ROOT / "tests" / "hostile" / "preamble.py").read_text() + (
    '\nintroduce()\nset_up()\nhear("turn")\nsay("move resign")\nhear("quit")\n'
)
WRITES_TO_BOB = """
import glob
for path in glob.glob("../../*/bot/bob.py"):
    open(path, "a").write("# more\\n")
"""


def put(folder: Path, name: str, program: str = BOT, manifest: str = "") -> Path:
    """A bot that is a folder."""
    (folder / name).mkdir()
    (folder / name / "bot.toml").write_text(f'command = ["python3", "main.py"]\n{manifest}')
    (folder / name / "main.py").write_text(program)
    return folder / name


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two bots that play, and those that do not."""
    folder = tmp_path_factory.mktemp("entrants")
    for name, program in (("ann", BOT), ("bob", BOT), ("evil", WRITES_TO_BOB + BOT)):
        (folder / f"{name}.py").write_text(program)
    (put(folder, "linked") / "data").symlink_to("../elsewhere")
    put(folder, "unsteady", manifest='build = "date +%s%N > stamp"\n')
    put(folder, "once", manifest=f'build = "mkdir {folder}/mark"\n')
    return folder


@pytest.fixture(scope="module")
def done(folder: Path) -> "subprocess.CompletedProcess[str]":
    """A league of all of them on two workers."""
    bots = ["ann.py", "bob.py", "evil.py", "linked", "unsteady", "once"]
    line = [*ARENA, "league", *bots, *SAME, "--cluster", "local:2", "-j", "2", "--store", "l.sqlite"]
    environment = {**os.environ, "ARENA_CLUSTER_CACHE": str(folder / "cache")}
    return subprocess.run(
        line, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


@pytest.fixture(scope="module")
def games(folder: Path, done: object) -> set[frozenset[str]]:
    """Who has met whom, in both colours."""
    with Store(folder / "l.sqlite", create=False) as opened:
        met = Counter(frozenset(player.name for player in row.players) for row in opened.rows())
    assert set(met.values()) <= {1, 2}
    return {pair for pair, count in met.items() if count == 2}


def test_an_entrant_that_cannot_be_sent_is_broken_and_forfeits(
    done: "subprocess.CompletedProcess[str]", games: set[frozenset[str]]
) -> None:
    broken = [line for line in done.stderr.splitlines() if line.startswith("broken: ")]
    assert len(broken) == 1
    assert broken[0].startswith("broken: linked: data is a link out of the bot's folder, to ../elsewhere")
    assert {"linked", "ann"} in games
    assert {"linked", "unsteady"} in games


def test_a_bot_whose_build_makes_other_files_each_time_plays(games: set[frozenset[str]]) -> None:
    assert {"unsteady", "ann"} in games


def test_a_bot_that_builds_nowhere_is_not_played_and_named_with_what_it_printed_and_where(
    done: "subprocess.CompletedProcess[str]", games: set[frozenset[str]]
) -> None:
    assert "once is not played any more: it cannot be played on worker local-" in done.stderr
    assert "mkdir: cannot create directory" in done.stderr
    assert not [pair for pair in games if "once" in pair]


def test_what_was_played_with_changed_files_does_not_count_and_who_changes_them_is_played_no_more(
    done: "subprocess.CompletedProcess[str]", games: set[frozenset[str]], folder: Path
) -> None:
    assert "bob.py (changed); what was played there is played again" in done.stderr
    assert "evil is not played any more: 3 times" in done.stderr
    assert {"ann", "bob"} in games
    assert not [pair for pair in games if "evil" in pair and "linked" not in pair]
    assert (folder / "bob.py").read_text() == BOT


def test_it_ends_in_order_says_how_to_go_on_and_leaves_no_copy(
    done: "subprocess.CompletedProcess[str]", folder: Path
) -> None:
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    last = done.stderr.splitlines()[-5:]
    assert [line.split(" is not played any more")[0] for line in last[:-2:2]]
    assert "how the games ended" in done.stdout.lower(), "the table of the others is printed"
    assert "resume with: " in last[-1]
    until(lambda: not list((folder / "cache").glob("play-*/")), "the workers remove their copies")
