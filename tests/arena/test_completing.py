"""A shell is offered rulesets, bots, and the games and names of the store on the line; nothing is started."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.shell_completion import ZshComplete
from waiting import PATIENCE

from arena.bots.samples import SAMPLES
from arena.cli.catalog import COMPLETION_VARIABLE as VARIABLE
from arena.cli.cmd_completion import SHELLS
from arena.cli.main import cli
from arena.cli.shared_options import MOST_GAMES
from arena.league.peek import peek_games, peek_names
from arena.stratego.rules.rulesets import ruleset_names, switch_names

STORES = Path(__file__).parent.parent / "golden" / "stores"
STORE = "own store.sqlite"
NAMES = ["breaker", "dead", "steady", "waiter"]
ENTRY = "from arena.cli.entry import main; main()"
FILES = ("", "file")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a store, in which nothing is changed or new afterwards."""
    shutil.copy(STORES / "own.sqlite", tmp_path / STORE)
    monkeypatch.chdir(tmp_path)
    before = (tmp_path / STORE).read_bytes()
    yield tmp_path
    assert (tmp_path / STORE).read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} <= {STORE, "pipe", "big.sqlite", "old.sqlite"}


def offered(*words: str) -> list[tuple[str, str]]:
    """What is offered for the last word: values and types. Nothing may be started for it."""
    *args, incomplete = words
    with pytest.MonkeyPatch.context() as patched:
        for where, name in ((os, "fork"), (os, "posix_spawn"), (subprocess, "Popen")):
            patched.setattr(where, name, _refuse)
        found = ZshComplete(cli, {}, "arena", VARIABLE).get_completions(args, incomplete)
    return [(item.value, item.type) for item in found]


def _refuse(*_: object, **__: object) -> None:
    raise AssertionError("a completion has started a program")


def values(*words: str) -> list[str]:
    return [value for value, kind in offered(*words) if kind == "plain"]


def test_commands_are_offered_without_being_imported() -> None:
    assert values("ma") == ["match"]
    assert set(cli.all_commands()) == set(values(""))
    code = f"import sys; {ENTRY.partition(';')[0]}\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    environment = {**os.environ, VARIABLE: "bash_complete", "COMP_WORDS": "arena s", "COMP_CWORD": "1"}
    done = run([sys.executable, "-c", code], environment)
    assert done.stdout.split() == ["plain,standings", "plain,serve", "plain,show", "plain,submit"]
    assert not {"arena.cli.cmd_league", "arena.cli.cmd_show", "trio", "rich", "msgspec"} & set(done.stderr.split())


def test_rulesets_are_offered_and_behind_a_plus_the_switches_that_are_not_there_yet() -> None:
    for words in (("league", "--rules"), ("match", "a.py", "b.py", "--rules"), ("compare", "--rules"), ("rules",)):
        assert values(*words, "") == ruleset_names()
        assert values(*words, "vintage/b") == ["vintage/barrage"]
        behind = values(*words, "isf+rescue+")
        assert sorted(behind) == sorted(f"isf+rescue+{name}" for name in switch_names() if name != "rescue")
    assert offered("league", "--rules", "./") == [("./", "file")]


def test_games_to_play_are_installed_ones_or_files() -> None:
    for words in (("league", "--game"), ("show", STORE, "1", "--game"), ("rules", "--game")):
        assert offered(*words, "") == [FILES, ("stratego", "plain")]
        assert values(*words, "x") == []


def test_bots_are_files_or_sample_bots() -> None:
    for words in (("league",), ("league", "a.py"), ("match",), ("match", "a.py"), ("compare", "a.py"), ("check",)):
        assert offered(*words, "") == [FILES, *((name, "plain") for name in SAMPLES)]
    assert values("match", "wa") == ["warden"]


LAST_FIRST = [str(number) for number in range(12, 0, -1)]
OF_STORE: list[tuple[str, list[str], list[str]]] = [
    *((f"{name} STORE", LAST_FIRST, ["12", "11", "10", "1"]) for name in ("show", "log", "rerun")),
    *((f"games STORE {option}", NAMES, []) for option in ("--bot", "--against", "--lost-by")),
    *((words, NAMES, []) for words in ("bots STORE --bot", "standings STORE --anchor", "export STORE --bot")),
    ("rerun STORE 1 --bot", NAMES, []),
    ("export STORE --view", ["all", "red", "blue", "public", "bot:"], []),
]


@pytest.mark.parametrize(("line", "expected", "with_1"), OF_STORE, ids=[line for line, *_ in OF_STORE])
def test_games_and_names_are_those_of_the_store_earlier_on_the_line(
    line: str, expected: list[str], with_1: list[str]
) -> None:
    words = [STORE if word == "STORE" else word for word in line.split()]
    assert values(*words, "") == expected
    assert values(*words, "1") == with_1
    assert values(*words, "w") == (["waiter"] if expected == NAMES else [])


def test_reasons_are_those_that_occur_in_the_store_and_bots_stand_behind_bot() -> None:
    assert values("games", STORE, "--reason", "f") == ["forfeit"]
    assert set(values("games", STORE, "--reason", "")) > {"forfeit"}
    assert values("export", STORE, "--view", "b") == ["blue", "bot:"]
    assert values("export", STORE, "--view", "bot:w") == ["bot:waiter"]
    assert values("show", "none.sqlite", "") == []


def test_whatever_takes_a_file_is_offered_files() -> None:
    for name in cli.all_commands():
        for param in cli.all_commands()[name].params:
            if isinstance(param.type, click.Path) and not isinstance(param, click.Option):
                assert {kind for _, kind in offered(name, "")} == {"file"}, name
                break
    assert offered("export", STORE, "-o", "")[0][1] == "file"


def test_every_parameter_of_every_command_can_be_completed() -> None:
    for name, command in cli.all_commands().items():
        for option in (param for param in command.params if isinstance(param, click.Option)):
            offered(name, STORE, option.opts[0], "")
            offered(name, option.opts[0], "\udcff'\"+")


def test_a_store_that_another_process_writes_to_is_not_waited_for(folder: Path) -> None:
    shutil.copy(folder / STORE, folder / "old.sqlite")
    writer = sqlite3.connect(folder / "old.sqlite", isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    assert values("show", "old.sqlite", "7") == ["7"]
    writer.execute("ROLLBACK")
    writer.close()


def test_no_more_games_are_offered_than_can_be_looked_through(folder: Path) -> None:
    database = sqlite3.connect(folder / "big.sqlite")
    database.execute("CREATE TABLE games (number INTEGER PRIMARY KEY, red, blue, result, plies)")
    database.execute("CREATE TABLE players (number INTEGER PRIMARY KEY, name)")
    database.execute("INSERT INTO players VALUES (1, 'a\x1b[31m'), (2, 'b')")
    rows = [(number, 1, 2, "red", 3) for number in range(1, 2001)]
    database.executemany("INSERT INTO games VALUES (?, ?, ?, ?, ?)", rows)
    database.commit()
    database.close()
    assert values("show", "big.sqlite", "") == [str(number) for number in range(2000, 2000 - MOST_GAMES, -1)]
    assert peek_names("big.sqlite", "") == [r"a\x1b[31m", "b"]


def test_what_is_no_store_offers_nothing(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    for path in ("pipe", ".", "none", __file__, "\0", ""):
        assert peek_games(path, "", MOST_GAMES) == []
    assert values("show", "pipe", "") == []


def test_a_line_that_cannot_be_completed_says_nothing() -> None:
    environment = {**os.environ, VARIABLE: "bash_complete", "COMP_WORDS": "arena league x", "COMP_CWORD": "no number"}
    done = run([sys.executable, "-c", ENTRY], environment)
    assert (done.stdout.strip(), done.stderr) == ("", "")


# --- the shells themselves --------------------------------------------------------------------------------------------

ASK = {
    "bash": 'eval "$(arena completion bash)"; COMP_WORDS=(arena show "own\\ store.sqlite" 1); COMP_CWORD=3; '
    'compopt() { :; }; _arena_completion arena; printf "%s\\n" "${COMPREPLY[@]}"',
    "fish": "arena completion fish | source; complete -C 'arena show own\\ store.sqlite 1'",
    "zsh": 'autoload -Uz compinit && compinit -u -D; eval "$(arena completion zsh)"; '
    "compadd() { print -rl -- $completions }; _describe() { print -rl -- ${completions_with_descriptions%%:*} }; "
    "words=(arena show 'own\\ store.sqlite' 1); CURRENT=4; _arena_completion",
}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes_the_number_of_a_game(
    shell: str, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"needs {shell} (Debian: {shell})")
    home = tmp_path_factory.mktemp("home")
    arena = home / "arena"
    arena.write_text(f"#!{sys.executable}\n{ENTRY}\n")
    arena.chmod(0o755)
    environment = {**os.environ, "PATH": f"{home}{os.pathsep}{os.environ['PATH']}", "HOME": str(home), "TERM": "dumb"}
    done = run([found, "-c", ASK[shell]], environment)
    lines = [line.split("\t")[0] for line in done.stdout.splitlines()]
    assert (lines if shell != "fish" else sorted(lines, reverse=True)) == ["12", "11", "10", "1"], done.stderr


def run(words: list[str], environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    """Run a program of the tests' own to its end."""
    return subprocess.run(words, env=environment, text=True, capture_output=True, timeout=PATIENCE, check=False)
