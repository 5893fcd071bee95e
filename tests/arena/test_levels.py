"""The levels of sandbox: a host gets the one it asked for or is told why not, and `arena doctor` tells all."""

import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import made_bots
import pytest
import trio
from bot_games import play
from commands import invoke
from made_files import put
from sandboxes import at_every_level

from arena.bots.limits import GIB, MIB, Limits
from arena.bots.loading import load_bot
from arena.bots.spec import BotSpec
from arena.cli.cmd_doctor import health_report
from arena.cli.process_setup import level_line
from arena.errors import UsageError
from arena.game.record import GameRecord
from arena.play.game_options import GameOptions
from arena.processes.runnable import PlaySettings
from arena.processes.starting import Sandbox
from arena.sandbox import bwrap_check
from arena.sandbox.levels import AUTO, Health, Level, choose, examine
from arena.system.terminal_text import drawn, unpainted

REASON = "the kernel of this machine is made of cheese: install another one"


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """`only(level, ...)`: from now on just these work here."""

    def keep(*working: Level) -> None:
        monkeypatch.setattr(Level, "why_not", lambda level: None if level in working else REASON)

    return keep


@pytest.fixture
def bots() -> Iterator[list[BotSpec]]:
    """Two bots, ann and bob, that every user can read: the folders of pytest are closed to others."""
    with tempfile.TemporaryDirectory(prefix="levels-") as name:
        folder = Path(name).resolve()
        folder.chmod(0o755)
        for bot in ("ann", "bob"):
            (folder / f"{bot}.py").write_text(made_bots.PLAIN)
        yield [load_bot(folder / f"{bot}.py") for bot in ("ann", "bob")]


# --- which level ----------------------------------------------------------------------------------------------------


def test_without_a_sandbox_a_safer_level_is_named_where_its_program_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert level_line(Level.BASIC, False) == "sandbox: basic (bots can use your files and network)"
    put(tmp_path / "bwrap")
    assert level_line(Level.BASIC, False).endswith("; safer: --sandbox bwrap)")
    assert level_line(Level.BWRAP, True) == "sandbox: bwrap (strongest available; see arena doctor)"


@pytest.mark.parametrize("asked", ["bwrap", "cgroup"])
def test_a_level_that_does_not_work_is_refused_with_the_reason_and_where_to_look(
    asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bwrap_check, "why_not", lambda: REASON)
    with pytest.raises(UsageError) as caught:
        choose(asked)
    said = str(caught.value)
    assert f"--sandbox {asked}" in said
    assert REASON in said
    assert "arena doctor" in said
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("working", "strongest"),
    [
        ((Level.BASIC, Level.BWRAP, Level.CGROUP), Level.CGROUP),
        ((Level.BASIC, Level.BWRAP), Level.BWRAP),
        ((Level.BASIC,), Level.BASIC),
    ],
    ids=["all", "no groups", "nothing else"],
)
def test_auto_takes_the_strongest_that_works(
    working: tuple[Level, ...], strongest: Level, only: Callable[..., None]
) -> None:
    only(*working)
    assert choose(AUTO) is strongest


# --- what bots play under -------------------------------------------------------------------------------------------


@at_every_level
def test_the_record_says_how_each_bot_was_held_and_what_it_used(level: Level, bots: list[BotSpec]) -> None:
    ann, bob = bots
    usual, own = Limits(memory=300 * MIB), Limits(memory=GIB, processes=7)
    with Sandbox(PlaySettings(bots, level, usual, {"ann": own})) as sandbox:

        async def one_game() -> GameRecord:
            return await play(ann, bob, ruleset="duel", conditions=GameOptions(sandbox.start))

        record = trio.run(one_game)
    assert record.actions
    assert record.confinement == (f"{level.value}: {own.text}", f"{level.value}: {usual.text}")
    assert own.text != usual.text
    assert len(record.cpu_us) == len(record.actions)
    assert min(record.cpu_us) >= 0
    assert record.used is not None
    first_is_blue = dict(record.rules).get("starts") == "blue"
    for side, use in enumerate(record.used):
        in_its_turns = sum(record.cpu_us[side ^ first_is_blue :: 2])
        assert 0 < in_its_turns < use.cpu_us, "starting Python alone takes longer than a few moves"
        assert use.cpu_us < record.seconds * 1e6 * (os.cpu_count() or 1)


# --- arena doctor ---------------------------------------------------------------------------------------------------


def printed(health: Health, width: int) -> str:
    return "\n".join(map(unpainted, drawn(health_report(health), width)))


def in_one_line(text: str) -> str:
    return " ".join(text.split())


def test_doctor_says_of_each_level_whether_it_works_here_and_why_not(tmp_path: Path) -> None:
    done = invoke(tmp_path, "doctor")
    assert (done.returncode, done.stderr) == (0, "")
    trials = {trial["level"]: trial for trial in json.loads(invoke(tmp_path, "doctor", "--json").stdout)["trials"]}
    for level in Level:
        reason = level.why_not() or ""
        state = "does not work here" if reason else "works"
        assert re.search(rf"^--sandbox {level.value}: {state}$", done.stdout, re.MULTILINE)
        assert in_one_line(reason) in in_one_line(done.stdout)
        assert (trials[level.value]["reason"], trials[level.value]["works"]) == (reason, not reason)


@pytest.mark.parametrize("working", [Level, (Level.BASIC, Level.BWRAP), (Level.BASIC,)], ids=str)
def test_doctor_loses_no_word_in_80_columns(working: tuple[Level, ...], only: Callable[..., None]) -> None:
    only(*working)
    health = examine()
    report = printed(health, 80)
    assert max(len(line) for line in report.splitlines()) <= 80
    assert "…" not in report
    for trial in health.trials:
        assert in_one_line(" ".join((trial.reason, *trial.gaps[:1]))).strip() in in_one_line(report)


@pytest.mark.parametrize("command", ["league a b", "match a b", "resume game.json", "doctor"])
def test_on_windows_a_user_is_told_where_bots_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    from arena.cli import main

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(sys, "argv", ["arena", *command.split()])
    assert main.cli.run() == 2  # main() would take over the streams and the signals of the tests
    assert "bots run on Linux and macOS; on Windows run arena in WSL 2" in capsys.readouterr().err
