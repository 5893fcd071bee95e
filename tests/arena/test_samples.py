"""The sample bots by their bare names, in a clone and where the arena is installed; and `python -m arena`."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from commands import invoke, run_program, unhurried

from arena.bots.finding import find_entrants
from arena.bots.loading import load_bot
from arena.bots.samples import SAMPLES, samples_folder
from arena.errors import UsageError
from arena.sandbox.levels import Level, choose

ROOT = Path(__file__).parent.parent.parent
BOTS = ROOT / "bots"
SANDBOXES = sorted({Level.BASIC, choose("auto")}, key=lambda level: level.value)


def run(python: Path | str, folder: Path, *words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return run_program([python, "-m", "arena", *unhurried(words)], folder, **environment)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment in which the packages lie as a wheel puts them, sample bots included."""
    folder = tmp_path_factory.mktemp("installed") / "env"
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    words = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip())
    for name, place in (("arena", "arena"), ("protocol", "protocol"), ("bots", "arena/samples")):
        shutil.copytree(ROOT / name, packages / place)  # with what is compiled already
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))  # whose own .pth files do not count there
    return python


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bot of one's own in the current folder."""
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copy(BOTS / "drifter.py", tmp_path / "mine.py"))


# --- a bare name ------------------------------------------------------------------------------------------------------


def test_the_names_are_those_of_the_files_in_the_clones_folder() -> None:
    assert {file.name for file in BOTS.glob("*.py")} == {f"{name}.py" for name in SAMPLES}
    assert samples_folder() == BOTS


@pytest.mark.parametrize("name", SAMPLES)
def test_a_bare_name_is_the_sample_bot_of_that_name_digest_and_all(name: str, mine: Path) -> None:
    (bot,) = find_entrants([name]).bots
    meant = load_bot(BOTS / f"{name}.py")
    assert bot == meant
    assert bot.name == name
    assert find_entrants([name]).bots == (meant,)


def test_a_path_that_exists_plays_and_it_is_said_that_the_sample_bot_does_not(mine: Path) -> None:
    mine.rename("warden")
    found = find_entrants(["warden", "raider"])
    assert found.bots[0].folder == mine.parent
    assert found.remarks == ("warden: what is here by that name plays, and not the sample bot",)


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("wardn", "did you mean warden?"),
        ("min", "did you mean mine.py?"),
        ("zzz", f"nor a sample bot of that name: they are {', '.join(SAMPLES)}"),
        ("./warden", "for the sample bot write warden"),
        ("bots/warden.py", "(nor the folder bots); for the sample bot write warden"),
    ],
)
def test_what_is_neither_here_nor_a_sample_bot_comes_with_a_hint(word: str, hint: str, mine: Path) -> None:
    with pytest.raises(UsageError) as told:
        find_entrants([word]).sound()
    assert "there is no such file or folder" in str(told.value)
    assert str(told.value).endswith(hint)


@pytest.mark.parametrize("level", SANDBOXES)
def test_where_the_arena_is_installed_they_play_at_each_level(level: Level, installed: Path, mine: Path) -> None:
    line = ["match", "mine.py", "warden", "--rules", "duel", "--sandbox", level.value, "--store", "m.sqlite"]
    done = run(installed, mine.parent, *line, "--json")
    assert done.returncode == 0, done.stderr
    table = json.loads(done.stdout)["standings"]
    assert {row["name"] for row in table} == {"mine", "warden"}
    assert sum(row["forfeits"] for row in table) == 0
    again = invoke(mine.parent, *line)  # from the clone: the same bots, whose games are stored
    assert "2 of them stored already" in again.stderr


def test_a_saved_game_names_a_sample_bot_by_its_place_and_says_what_to_do_when_that_is_gone(
    installed: Path, mine: Path
) -> None:
    line = ["match", "mine.py", "warden", "--rules", "duel", "--store", "m.sqlite", "--pause", "g.json"]
    assert run(installed, mine.parent, *line, "--pause-after", "1").returncode == 0
    file = mine.parent / "g.json"
    saved = json.loads(file.read_text())
    assert saved["bots"][1].endswith("/arena/samples/warden.py")
    assert os.path.isabs(saved["bots"][1])
    gone = saved["bots"][1].replace("/env/", "/removed/")
    file.write_text(json.dumps({**saved, "bots": [saved["bots"][0], gone]}))
    done = run(installed, mine.parent, "resume", "g.json")
    assert done.returncode == 2
    assert f"arena: {gone}: there is no such file or folder" in done.stderr
    assert "for the sample bot write warden" in done.stderr
    assert 'under "bots"' in done.stderr
    file.write_text(json.dumps({**saved, "bots": [saved["bots"][0], "warden"]}))
    assert run(installed, mine.parent, "resume", "g.json").returncode == 0


# --- python -m arena --------------------------------------------------------------------------------------------------


def test_usage_and_commands_to_go_on_with_call_it_as_it_was_called(mine: Path) -> None:
    assert run(sys.executable, mine.parent, "match").stderr.startswith("Usage: python -m arena match ")
    line = ["match", "mine.py", "raider", "--rules", "duel", "--store", "m.sqlite", "--pause", "g.json"]
    done = run(sys.executable, mine.parent, *line, "--pause-after", "5", PATH=os.defpath)
    go_on = done.stderr.splitlines()[-1].partition("resume with: ")[2]
    assert go_on == f"{sys.executable} -m arena resume g.json"
    assert subprocess.run(["sh", "-c", go_on], check=False, capture_output=True).returncode == 0


def test_what_lies_in_the_current_folder_is_not_imported(mine: Path) -> None:
    for name in ("click", "trio", "protocol", "json"):
        Path(f"{name}.py").write_text("raise SystemExit('strangers code')")
    done = run(sys.executable, mine.parent, "rules", "duel", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
