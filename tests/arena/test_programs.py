"""What programs can rely on: JSON from every command, games as lines as they are over, exit codes as documented."""

import json
import re
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest
from commands import invoke
from reference import CODES

from arena.cli import catalog, exit_codes
from arena.cli.main import cli
from arena.errors import ArenaError, UsageError

if TYPE_CHECKING:
    import subprocess

ROOT = Path(__file__).parent.parent.parent
GOLDEN = ROOT / "tests" / "golden" / "stores" / "own.sqlite"

PRINTS_LINES_ANYWAY = {
    "export": "its games are JSON lines, and nothing else is printed",
    "completion": "what it prints is for a shell",
    "play": "a person sits at it; the game is read from its store",
    "serve": "it prints a line with the address, and serves until it is stopped",
    "host": "it serves until it is stopped, and its pages have JSON of all that they show",
}
"""Commands without `--json`, and why."""
PLAYED = {"league", "match", "compare", "check", "resume", "rerun", "submit"}
"""Those that play games are tried below as processes, or where they have their tests."""
READS: dict[str, list[str]] = {
    "standings": ["STORE"],
    "games": ["STORE"],
    "bots": ["STORE"],
    "show": ["STORE", "2"],
    "log": ["STORE", "2"],
    "report": ["STORE", "--out", "NEW"],
    "verify": ["STORE"],
    "import": ["NEW", "STORE"],
    "openings": ["STORE"],
    "rules": ["isf"],
    "new": ["hunter"],
    "new-game": ["pebbles"],
    "doctor": [],
}
MISSING: dict[str, list[str]] = {
    **{name: ["missing.sqlite"] for name in ("standings", "games", "bots", "verify", "export", "openings", "resume")},
    "report": ["missing.sqlite", "--out", "pages"],
    **{name: ["missing.sqlite", "1"] for name in ("show", "log", "rerun")},
    **{name: ["missing-a.py", "missing-b.py"] for name in ("league", "match", "compare")},
    "check": ["missing.py"],
    "import": ["new.sqlite", "missing.jsonl"],
    "rules": ["missing"],
    "new": ["missing/hunter"],
    "new-game": ["missing/pebbles"],
    "completion": ["missing"],
    "play": ["--resume", "missing.json"],
    "serve": ["missing.sqlite"],
    "host": ["run", "missing"],
    "submit": ["missing.py", "--to", "http://127.0.0.1:1", "--token", "none"],
}
"""How each command is asked for what is not there."""
NEEDS_NOTHING = {"doctor": "there is nothing that it could be given"}


def options_of(command: click.Command) -> set[str]:
    return {word for parameter in command.params for word in parameter.opts}


@pytest.mark.parametrize("name", sorted(cli.all_commands()))
def test_every_command_has_json_or_a_reason_why_not(name: str) -> None:
    assert ("--json" in options_of(cli.all_commands()[name])) != (name in PRINTS_LINES_ANYWAY)


def test_every_command_is_tried_here() -> None:
    assert cli.all_commands().keys() == READS.keys() | PLAYED | PRINTS_LINES_ANYWAY.keys()
    assert cli.all_commands().keys() == MISSING.keys() | NEEDS_NOTHING.keys()


@pytest.mark.parametrize("name", sorted(READS))
def test_json_is_all_that_is_printed(name: str, tmp_path: Path) -> None:
    words = [str(GOLDEN) if word == "STORE" else "new.sqlite" if word == "NEW" else word for word in READS[name]]
    done = invoke(tmp_path, name, *words, "--json")
    assert done.returncode == exit_codes.DONE
    values = lines_of(done) if name == "log" else [json.loads(done.stdout)]
    assert values
    assert all(values)


@pytest.mark.parametrize("name", sorted(set(MISSING) - PLAYED))
def test_an_error_is_words_on_standard_error_with_json_too(name: str, tmp_path: Path) -> None:
    more = [] if name in PRINTS_LINES_ANYWAY else ["--json"]
    done = invoke(tmp_path, name, *MISSING[name], *more)
    assert (done.returncode, done.stdout) == (exit_codes.USAGE, "")
    assert "missing" in done.stderr
    assert not done.stderr.startswith("{")


def test_two_forms_at_once_are_refused(tmp_path: Path) -> None:
    for name in (name for name, command in cli.all_commands().items() if "--jsonl" in options_of(command)):
        done = invoke(tmp_path, name, *{**MISSING, "games": [str(GOLDEN)]}[name], "--json", "--jsonl")
        assert (done.returncode, done.stdout) == (exit_codes.USAGE, "")
        assert "--json and --jsonl cannot be used together" in done.stderr.replace("'", "")


# --- games as lines ---------------------------------------------------------------------------------------------------


def lines_of(done: "subprocess.CompletedProcess[str]") -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


MATCH = ("match", "drifter", "raider", "--rules", "duel", "--store", "l.sqlite")


def test_a_match_prints_each_game_as_it_is_in_the_list_of_games_and_then_the_table(tmp_path: Path) -> None:
    done = invoke(tmp_path, *MATCH, "--games", "3", "--jsonl")
    assert done.returncode == exit_codes.DONE, done.stderr
    *games, table = lines_of(done)
    assert games == lines_of(invoke(tmp_path, "games", "l.sqlite", "--jsonl"))
    assert [game["number"] for game in games] == [1, 2, 3]
    assert table.pop("kind") == "table"
    again = invoke(tmp_path, *MATCH, "--games", "3", "--json")
    document = json.loads(again.stdout)
    assert document.pop("games") == games
    assert table == document
    assert lines_of(invoke(tmp_path, *MATCH, "--games", "3", "--jsonl")) == [{"kind": "table", **table}]


def test_a_test_of_two_bots_prints_its_games_and_then_its_verdict(tmp_path: Path) -> None:
    done = invoke(tmp_path, "compare", *MATCH[1:], "--games", "2", "--jsonl")
    *games, verdict = lines_of(done)
    assert done.returncode == exit_codes.UNDECIDED
    assert [game["kind"] for game in games] == ["game"] * 2
    assert (verdict["kind"], verdict["verdict"], verdict["games"]) == ("comparison", "undecided", 2)


def test_every_code_has_a_meaning_and_every_command_that_is_named_is_one() -> None:
    codes = {value for value in vars(exit_codes).values() if isinstance(value, int)}
    codes |= {128 + signal.SIGHUP, 128 + signal.SIGTERM}  # what a shell says of a process that was ended by them
    rows = CODES.findall((ROOT / "docs" / "cli.md").read_text(encoding="utf-8"))
    assert {int(code) for code, _, _ in rows} == codes
    assert {name for _, after, _ in rows for name in re.findall(r"`arena (\w+)`", after)} <= set(catalog.NAMES)


def test_errors_have_the_codes_of_the_list() -> None:
    assert (ArenaError.exit_code, UsageError.exit_code) == (exit_codes.FAILED, exit_codes.USAGE)
    assert click.UsageError.exit_code == exit_codes.USAGE
