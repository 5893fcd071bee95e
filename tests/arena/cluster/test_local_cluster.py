"""A league on a scheduler and workers of this machine is the league that it is without."""

import signal
from pathlib import Path

import psutil
import pytest
from clusters import ARENA, League
from commands import run_program
from waiting import until

from arena.league.store import Store
from arena.league.verify import verify
from arena.play.machine import read_reference

from .conftest import Bots, results

ROOT = Path(__file__).parents[3]
BOT = (ROOT / "tests" / "hostile" / "preamble.py").read_text() + (
    '\nintroduce()\nset_up()\nhear("turn")\nsay("move resign")\nhear("quit")\n'
)


def test_an_arena_that_is_killed_or_interrupted_leaves_no_process_and_no_file_and_its_calibrated_league_resumes(
    bots: Bots, plain: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = tmp_path / "tmp"
    files.mkdir()
    monkeypatch.setenv("TMPDIR", str(files))
    line = [*ARENA, "league", *bots.arguments, "-j", "1", "--calibrate", "--store", "l.sqlite", "-v", "--cluster"]

    def until_nothing_is_left(processes: list[psutil.Process]) -> None:
        assert processes
        until(lambda: not any(map(psutil.Process.is_running, processes)), "all processes end")
        until(lambda: not list(files.iterdir()), "all files are removed")

    bots.hold()
    killed = League([*line, "local:1"], tmp_path)
    bots.until_held(1)
    bots.hold()
    killed.until_said("[1/")
    bots.until_held(1)
    children = psutil.Process(killed.process.pid).children(recursive=True)
    killed.process.kill()
    killed.end()
    until_nothing_is_left(children)
    assert len(results(tmp_path / "l.sqlite")) == 1

    bots.hold()
    interrupted = League([*line, "local:2"], tmp_path)
    bots.until_held(1)
    children = psutil.Process(interrupted.process.pid).children(recursive=True)
    interrupted.process.send_signal(signal.SIGINT)
    interrupted.until_said("finishing the game under way")
    bots.let_go()
    interrupted.end()
    until_nothing_is_left(children)
    assert results(tmp_path / "l.sqlite") == plain
    with Store(tmp_path / "l.sqlite", create=False) as opened:
        records = [opened.stored(number).record for number in opened.numbers()]
        assert read_reference(opened.settings()["calibration"])
        assert list(verify(opened, lambda done, of: None)) == []
    assert all(record and record.time_percent for record in records)


def test_a_bot_that_is_built_on_no_worker_stops_the_league_with_what_was_printed(tmp_path: Path) -> None:
    for name, manifest in (("ann", ""), ("linked", ""), ("once", f'build = "mkdir {tmp_path}/mark"\n')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.toml").write_text(f'command = ["python3", "main.py"]\n{manifest}')
        (tmp_path / name / "main.py").write_text(BOT)
    (tmp_path / "linked" / "data").symlink_to("../elsewhere")
    settings = ("--rules", "duel", "-j", "1", "--cluster", "local:1", "--store", "l.sqlite")
    done = run_program([*ARENA, "league", "ann", "linked", "once", *settings], tmp_path)
    assert done.returncode == 1
    assert "data is a link out of the bot's folder, to ../elsewhere" in done.stderr
    assert "no worker can play:" in done.stderr
    assert "mkdir: cannot create directory" in done.stderr
    assert "Traceback" not in done.stderr
