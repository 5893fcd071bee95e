"""A saved game that somebody else may have written: what it does not decide."""

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from commands import invoke

from arena.bots.limits import Limits
from arena.errors import UsageError
from arena.league import trust
from arena.league.resumed import ResumeOptions, resume_game
from arena.league.store import Store
from arena.play.saved_game import SavedGame, load_saved
from arena.sandbox.levels import Level

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a game that was saved after three plies, in `g.json`."""
    for name in ("alpha.py", "beta.py"):
        shutil.copy(ROOT / "bots" / "drifter.py", tmp_path / name)
    command = ("match", "alpha.py", "beta.py", "--rules", "duel", "--store", "c.sqlite", "--pause", "g.json")
    done = invoke(tmp_path, *command, "--pause-after", "3")
    assert done.returncode == 0, done.stderr
    return tmp_path


def saved(folder: Path) -> dict[str, Any]:
    content = json.loads((folder / "g.json").read_text())
    assert isinstance(content, dict)
    return content


def forge(folder: Path, **fields: Any) -> None:
    """Write other values into the file; without a checksum, as a file of the first version, so that none is missed."""
    content = {**saved(folder), **fields}
    del content["checksum"]
    (folder / "g.json").write_text(json.dumps(content))


def test_without_a_sandbox_only_bots_that_played_from_there_or_are_named_go_on(folder: Path) -> None:
    forge(folder, store=str(folder / "new.sqlite"))
    done = invoke(folder, "resume", "g.json", "--pause-after", "5")
    assert done.returncode == 2
    assert not (folder / "new.sqlite").exists()
    for color, name in zip(("red", "blue"), saved(folder)["spec"]["players"], strict=True):
        words = f"{color}: {name['name']} is {folder / name['name']}.py; without a sandbox it could use your files"
        assert words in done.stderr
        assert f"--bot {color}=PATH or --sandbox basic to run it without a sandbox" in done.stderr
    one = invoke(folder, "resume", "g.json", "--pause-after", "5", "--bot", "alpha=alpha.py")
    assert one.returncode == 2
    assert "alpha is" not in one.stderr
    both = invoke(folder, "resume", "g.json", "--pause-after", "5", "--bot", "alpha=alpha.py", "--bot", "beta=beta.py")
    assert both.returncode == 0, both.stderr
    known = invoke(folder, "resume", "g.json")
    assert known.returncode == 0, "the store knows from where they have played"


def test_a_bot_that_has_moved_is_named_on_the_command_line(folder: Path) -> None:
    (folder / "alpha.py").rename(folder / "moved.py")
    gone = invoke(folder, "resume", "g.json")
    assert gone.returncode == 2
    color = "red" if saved(folder)["spec"]["players"][0]["name"] == "alpha" else "blue"
    assert f"if it has moved, say where with --bot {color}=PATH" in gone.stderr
    done = invoke(folder, "resume", "g.json", "--bot", "alpha=moved.py")
    assert done.returncode == 0, done.stderr


def test_a_file_does_not_lower_the_level_at_which_its_store_was_played_with(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paused = load_saved(folder / "g.json")
    asked: list[str] = []

    def level_of(saved: SavedGame, options: ResumeOptions) -> str:
        with pytest.raises(UsageError), resume_game(saved, folder / "g.json", options, lambda line: None):
            pass
        return asked[-1]

    def choose(level: str) -> Level:
        asked.append(level)
        raise UsageError("no such level")

    monkeypatch.setattr(trust, "choose", choose)
    assert level_of(paused, ResumeOptions()) == "basic"
    with Store(folder / "c.sqlite", create=True) as store:
        assert store.kept().sandbox == "basic"
        store.keep(sandbox="cgroup")
    assert level_of(paused, ResumeOptions()) == "cgroup"
    assert level_of(paused, ResumeOptions(sandbox="basic")) == "basic"
    assert level_of(msgspec.structs.replace(paused, sandbox="bwrap"), ResumeOptions(sandbox="basic")) == "basic"
    stronger = msgspec.structs.replace(paused, sandbox="bwrap", store=str(folder / "new.sqlite"))
    assert level_of(stronger, ResumeOptions()) == "bwrap"


def test_a_file_gives_no_bot_more_than_its_store_or_the_usual_limits(folder: Path) -> None:
    huge = {"memory": 2**40, "processes": 10**6, "tmp": 2**40}
    forge(folder, limits=[huge, huge], store=str(folder / "new.sqlite"))
    done = invoke(folder, "resume", "g.json", "--sandbox", "basic")
    assert done.returncode == 0, done.stderr
    assert (
        "had memory 1024G, 1000000 processes, 1024G of /tmp by the saved game, which is more than the usual"
        in done.stderr
    )
    with Store(folder / "new.sqlite", create=False) as store:
        assert store.record("1")[1].confinement == (f"basic: {Limits().text}",) * 2
        assert set(store.limits().values()) == {Limits()}
