"""Help fits a screen and ends with examples that work; nothing is imported for it that it does not need."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from arena.cli import catalog
from arena.cli.helping import ArenaCommand, grouped, long_name
from arena.cli.main import CONTEXT, cli

COLUMNS, LINES = 80, 24
NAMES = sorted(cli.all_commands())


def context(name: str, columns: int = COLUMNS) -> click.Context:
    above = click.Context(cli, info_name="arena", help_option_names=CONTEXT["help_option_names"])
    return click.Context(cli.all_commands()[name], info_name=name, terminal_width=columns, parent=above)


def help_of(name: str, *, columns: int = COLUMNS, all_of_it: bool = False) -> str:
    ctx = context(name, columns)
    ctx.meta["--help-all"] = all_of_it
    return ctx.get_help()


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("name", NAMES)
def test_no_word_of_help_is_broken(name: str, columns: int) -> None:
    whole = set(re.split(r"[\s-]+", help_of(name, columns=400, all_of_it=True)))
    text = help_of(name, columns=columns, all_of_it=True)
    assert set(re.split(r"[\s-]+", text)) <= whole | {"\\"}
    if columns == COLUMNS:
        assert max(map(len, text.splitlines())) <= columns


@pytest.mark.parametrize("name", NAMES)
def test_help_of_each_command_fits_a_screen_and_ends_with_examples_of_it(name: str) -> None:
    command = cli.all_commands()[name]
    assert isinstance(command, ArenaCommand), f"arena {name}: expected cls=ArenaCommand"
    text = help_of(name)
    assert text.count("\n") < LINES, "name its `usual` options, or say less before them"
    _, _, shown = text.partition("\nExamples:\n")
    assert shown.splitlines()[-1].lstrip().startswith(command.examples[-1][0])
    assert all(f"arena {name}" in line for line, _ in command.examples)


def test_help_of_the_arena_lists_each_command_once_and_ends_with_examples() -> None:
    text = catalog.help_text()
    lines = text.splitlines()
    assert len(lines) <= LINES + 2, "two lines may leave a small screen"
    assert max(map(len, lines)) <= COLUMNS
    for name, words in ((name, words) for _, name, words in catalog.COMMANDS):
        assert sum(bool(re.search(rf"^(?:\w+)? +{name} +{re.escape(words)}$", line)) for line in lines) == 1
    assert lines[0].endswith(catalog.EXAMPLES[-1][0])


@pytest.mark.parametrize("name", NAMES)
def test_help_all_has_every_option_once_below_headings_that_are_in_use(name: str) -> None:
    ctx, command = context(name), cli.all_commands()[name]
    assert isinstance(command, ArenaCommand)
    shown = [option for _, options in grouped(command, ctx) for option in options]
    assert sorted(map(id, shown)) == sorted(id(param) for param in command.get_params(ctx) if param in shown)
    text = help_of(name, all_of_it=True)
    assert all(option.opts[-1] in text.replace("[no-]", "") for option in shown)
    assert set(command.usual) <= {long_name(option) for option in shown}
    assert not command.groups or len(grouped(command, ctx)[-1][1]) == 2, "a new option belongs below a heading"


@pytest.mark.parametrize("word", ["--help", "-h", "--version"])
def test_the_quick_way_says_what_the_whole_command_says(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main([word], prog_name="arena", standalone_mode=False)
    assert capsys.readouterr().out == catalog.TEXTS[word]()


def imported(*words: str) -> set[str]:
    """The modules that a command line has imported by its end."""
    code = "import sys, atexit; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "
    line = [sys.executable, "-c", code + "from arena.cli.entry import main; main()", *words]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_help_imports_no_more_than_it_needs() -> None:
    assert not imported("--help") & {"click", "rich", "trio", "msgspec", "sqlite3", "psutil", "asyncio"}
    of_one = imported("standings", "--help")
    assert not of_one & {"rich", "trio", "msgspec", "sqlite3", "psutil", "asyncio"}
    assert {name for name in catalog.NAMES if f"arena.cli.cmd_{name}" in of_one} == {"standings"}


def test_a_local_league_imports_no_cluster_and_starts_no_bot_in_its_main_process(tmp_path: Path) -> None:
    options = ("--rules", "duel", "--rounds", "1", "--store", str(tmp_path / "league.sqlite"))
    names = imported("league", "drifter", "raider", *options)
    ours = {name for name in names if name.split(".")[0] in ("arena", "protocol")}
    assert "arena.league.executor.local" in ours
    assert not any(name.startswith(("arena.league.executor.cluster", "arena.processes.process")) for name in ours)
    assert len(ours) <= 120


@pytest.mark.parametrize("word", [*catalog.MEANT, "help"])
def test_a_word_that_is_no_command_is_told_with_the_one_that_was_meant(word: str) -> None:
    """What is proposed is a line that the parser takes, with --help behind it."""
    assert word not in catalog.NAMES
    with pytest.raises(click.UsageError, match=f"No such command '{word}'. Did you mean 'arena ") as error:
        cli.main([word, "match"], prog_name="arena", standalone_mode=False)
    proposed = shlex.split(error.value.message.partition("'arena ")[2].partition("'")[0])
    assert cli.main([*proposed, "--help"], prog_name="arena", standalone_mode=False) == 0
