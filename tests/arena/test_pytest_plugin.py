"""The pytest plugin as authors meet it: pytest in a process of its own, in a folder with their bot and their tests."""

import importlib.metadata
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook
from commands import invoke, run_program
from heap_bots import GAME_FILE, heap_bot

import arena
import protocol
from arena.league.store import Store
from arena.pytest_plugin import OPTIONS, describe

if TYPE_CHECKING:
    import subprocess

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "pytest.md").read_text(encoding="utf-8")
IS_REGISTERED = any(point.value == "arena.pytest_plugin" for point in importlib.metadata.entry_points(group="pytest11"))
"""False in an environment in which the arena was installed before the plugin came."""

CRASHES = """
import sys
for line in sys.stdin:
    words = line.split()
    if words[0] == "hello": print("want legal\\nready", flush=True)
    if words[0] == "setup": raise ValueError("no idea where to put the flag")
"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n((?:.*\n)*?)^```$", PAGE, re.MULTILINE)


def prepare(folder: Path) -> None:
    """Put the bots `mine` and `crashes.py` into a folder, and pytest's settings."""
    shutil.copy(ROOT / "bots" / "warden.py", folder / "mine")
    (folder / "crashes.py").write_text(CRASHES)
    # anyio comes with the extra "web", and imports trio. The plugin of hypothesis takes as long as all others together.
    plugins = "-p no:cacheprovider -p no:anyio -p no:hypothesispytest"
    (folder / "pytest.ini").write_text(f"[pytest]\naddopts = -W error {plugins}\n")


def run_pytest(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    plugin = [] if IS_REGISTERED else ["-p", "arena.pytest_plugin"]
    ours = [name for name in os.environ if name.startswith("PYTEST_")]
    words = ["env", *(f"--unset={name}" for name in ours), sys.executable, "-m", "pytest", *plugin]
    return run_program([*words, f"--basetemp={folder / 'temporary'}", *arguments], folder, COLUMNS="120")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """`run(text, *arguments)`: run pytest on this module."""
    prepare(tmp_path)

    def run_module(text: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
        (tmp_path / "test_mine.py").write_text(text)
        return run_pytest(tmp_path, *arguments)

    return run_module


QUICK = 'rules="duel", games=2, jobs=1, time="60s"'


def module(call: str, claim: str = "") -> str:
    return f"def test_it(arena_play):\n    result = arena_play({call})\n    assert {claim or 'result'}\n"


MISTAKES = {
    f'"./mine", "wardn", {QUICK}': "wardn: there is no such file or folder; did you mean warden?",
    '"./mine", "drifter", rules="dul"': "unknown ruleset 'dul'; did you mean duel",
    '"./mine", "drifter", time="soon"': "expected a time",
    '"./mine", "drifter", games=0': "games: expected a whole number from 1 to 1000000, got 0",
    '"./mine", "drifter", sandbox="none"': "sandbox",
    '"./mine", "drifter", openings="gone.txt"': "gone.txt: cannot be read",
}
MODULES = {
    "test_1_imports": """
import sys

def test_it():
    assert 'arena.pytest_plugin' in sys.modules
    rooms = ('api', 'rules', 'game', 'bots', 'play', 'league', 'report', 'cli')
    slow = {f'arena.{room}' for room in rooms} | {'protocol', 'trio', 'msgspec', 'click', 'psutil', 'rich'}
    assert not slow & set(sys.modules)
""",
    "test_2_match": module(
        f'"./mine", "drifter", {QUICK}',
        "(result.score, result.wins, result.draws, result.losses, len(result.records)) == (1.0, 2, 0, 0, 2)",
    ),
    "test_3_fails": module(f'"./mine", "crashes.py", {QUICK}', "result.score < 0.5"),
    "test_4_fixture": f"""
import pytest

@pytest.fixture(scope='module')
def result(arena_play):
    return arena_play('mine', 'drifter', {QUICK})

def test_one(result):
    assert result.wins == 0

def test_two(result):
    assert result.losses == 2
""",
    "test_5_mistakes": "".join(
        f"def test_{number}(arena_play):\n    arena_play({call})\n\n" for number, call in enumerate(MISTAKES)
    ),
    "test_6_other_game": module(
        f'"./most.py", "./least.py", game={str(GAME_FILE)!r}, rules="quick", games=2, jobs=1, time="20s"',
        '{record.game for record in result.records} == {"heap 1"}',
    ),
}


def test_matches_are_played_shown_where_a_test_fails_and_told_what_is_wrong_with_a_call(tmp_path: Path) -> None:
    """One run of all these modules, the first of which sees that nothing slow is imported before a match."""
    prepare(tmp_path)
    heap_bot(tmp_path / "most.py")
    heap_bot(tmp_path / "least.py", "self.legal[0]")
    for name, text in MODULES.items():
        (tmp_path / f"{name}.py").write_text(text)
    whole = run_pytest(tmp_path, "-rp")
    assert (whole.returncode, whole.stderr) == (1, "")
    for name in ("test_1_imports", "test_2_match", "test_6_other_game"):
        assert f"PASSED {name}.py::test_it" in whole.stdout, whole.stdout
    assert "- arena: ./mine against crashes.py -" in whole.stdout
    assert "score 1.000 in 2 games: 2 won, 0 drawn, 0 lost" in whole.stdout
    assert "first forfeit of crashes, game 1: " in whole.stdout
    assert "stderr: ValueError: no idea where to put the flag" in whole.stdout
    line = whole.stdout.partition("to see a game: arena ")[2].partition("\n")[0]
    shown = invoke(ROOT, *line.split())
    assert shown.returncode == 0, shown.stderr
    assert "no idea where to put the flag" in shown.stdout
    assert whole.stdout.count("- arena: mine against drifter -") == 2, "for each test that fails with the fixture"
    _, _, failures = whole.stdout.partition(" test_0 ")
    told = [line for line in failures.splitlines() if line.startswith("E ")]
    assert len(told) == len(MISTAKES)
    for line, words in zip(told, MISTAKES.values(), strict=True):
        assert line.startswith("E       Failed: arena_play: ")
        assert words in line
    places = re.findall(r"^(\S+\.py):(\d+): ", failures, re.MULTILINE)
    assert places == [("test_5_mistakes.py", str(3 * number + 2)) for number in range(len(MISTAKES))]


def test_a_forfeit_is_named_by_its_number_in_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Games need not end in the order of the schedule, in which `records` are: here the second was stored first."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "tests" / "golden" / "stores" / "bots" / "steady.py", "steady.py")
    Path("breaks.py").write_text(CRASHES)
    played = arena.match("steady.py", "breaks.py", games=2, rules="duel", store="one.sqlite")
    with Store(Path("one.sqlite"), create=False) as old, Store(Path("two.sqlite"), create=True) as new:
        new.agree(old.settings())
        new.add_all(played.records[::-1])
    result = arena.match("steady.py", "breaks.py", games=2, rules="duel", store="two.sqlite")
    assert (result.records, result.numbers) == (played.records, (2, 1))
    told = describe(result, Path("two.sqlite"))
    assert f"first forfeit of breaks, game 1: {result.records[1].verdict.detail}" in told


def test_what_a_call_does_not_say_is_as_in_the_options_and_else_as_in_the_configuration(
    run: Run, tmp_path: Path
) -> None:
    text = (
        "def test_it(arena_play):\n"
        '    records = arena_play("mine", "drifter", seed=7).records\n'
        '    print("PLAYED", len(records), records[0].ruleset, records[0].time.move_ms)\n'
    )
    with (tmp_path / "pytest.ini").open("a") as file:
        file.write("arena_games = 2\narena_rules = duel\n")
    done = run(text, "-s", "--arena-rules=barrage", "--arena-time=200ms", "--arena-jobs=1")
    assert "PLAYED 2 barrage 200\n" in done.stdout


def test_the_help_lists_the_options_and_the_settings(run: Run) -> None:
    shown = run("", "--help").stdout
    for name in OPTIONS:
        assert f"--arena-{name}" in shown
        assert f"arena_{name} (string):" in shown


@pytest.mark.parametrize("package", [arena, protocol])
def test_pytest_does_not_complain_of_a_program_that_has_imported_the_arena_before(
    package: ModuleType, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it imports by the names of an installed plugin's packages it wants to rewrite, unless they are marked."""
    warned: list[str] = []
    hook = AssertionRewritingHook(pytestconfig)
    monkeypatch.setattr(hook, "_warn_already_imported", warned.append)
    monkeypatch.setattr(package, "__loader__", None)  # it may have been imported by pytest here
    hook.mark_rewrite(package.__name__)
    assert not warned
    monkeypatch.setattr(package, "__doc__", "no mark")
    hook.mark_rewrite(package.__name__)
    assert warned == [package.__name__]


@pytest.mark.skipif(not IS_REGISTERED, reason="the arena was installed here before the plugin came: install it again")
def test_the_plugin_can_be_left_out(run: Run) -> None:
    done = run(module(f'"mine", "drifter", {QUICK}'), "-p", "no:arena")
    assert "fixture 'arena_play' not found" in done.stdout


def test_the_pages_example_passes_with_its_configuration_and_its_command(run: Run, tmp_path: Path) -> None:
    """With fewer games, and more time: that of the page is what nobody needs on a machine that is not busy."""
    (test,), (settings,) = ([block.replace("50ms", "60s") for block in blocks(kind)] for kind in ("python", "toml"))
    (command,) = blocks("sh")
    test = re.sub(r"games=\d+", "games=2", test)
    (tmp_path / "pytest.ini").unlink()
    (tmp_path / "pyproject.toml").write_text(settings)
    program, *arguments = command.split()
    assert program == "pytest"
    done = run(test, *arguments)
    assert "2 passed" in done.stdout, done.stdout


def test_the_page_has_a_row_for_each_option() -> None:
    for name in OPTIONS:
        assert f"| `{name}` | `--arena-{name}` | `arena_{name}` |" in PAGE
