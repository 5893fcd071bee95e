"""A file with settings is read strictly: a mistake is one error with the file, the key, what was expected and came."""

import os
from pathlib import Path
from typing import Any

import click
import pytest

from arena.bots.asked import AskedBot, Own
from arena.bots.limits import GIB
from arena.bots.samples import sample_file
from arena.cli.config_file import ConfigFile, FileValue, Options, find_config, read_config, shared_keys
from arena.cli.helping import Whole
from arena.errors import UsageError
from arena.game.time_control import TimeControl


def key(name: str, *names: str, **options: Any) -> tuple[str, click.Option]:
    """An option as a key of the file."""
    return name, click.Option([f"--{name}", *names], **options)


SHARED = dict(
    [
        key("rules", metavar="NAME[+SWITCH...]"),
        key("time"),
        key("build-time"),
        key("store", type=click.Path(path_type=Path)),
        key("interpreter", multiple=True, metavar="PATH"),
        key("sandbox", type=click.Choice(["basic", "bwrap"])),
        key("jobs", type=Whole(1, 64)),
        key("keep-bots", is_flag=True),
    ]
)
COMMANDS: dict[str, Options] = {
    "league": {**SHARED, **dict([key("rounds", type=Whole(1)), key("games", type=Whole(), help="of a ladder")])},
    "match": {**SHARED, **dict([key("games", type=Whole(), help="how many"), key("seeds", metavar="NAME,...")])},
}


def config(folder: Path, text: str, name: str = "arena.toml") -> ConfigFile:
    (folder / name).write_text(text)
    return read_config(folder / name, COMMANDS)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with bots in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bots").mkdir()
    for name in ("b.py", "a.py", ".hidden.py"):
        (tmp_path / "bots" / name).write_text("")
    return tmp_path


def bots(read: ConfigFile, command: str = "league") -> list[AskedBot]:
    found = read.bots(command)
    assert found is not None
    return found[0]


def paths(read: ConfigFile, command: str = "league") -> list[str]:
    return [bot.path for bot in bots(read, command)]


# --- keys and values --------------------------------------------------------------------------------------------------


def test_what_stands_at_the_top_is_for_all_commands_and_a_commands_table_wins_over_it(tmp_path: Path) -> None:
    read = config(tmp_path, 'time = "1s"\njobs = 2\n[match]\ntime = "2s"\ngames = 3\n')
    assert read.settings("league") == {"time": FileValue("1s", "time"), "jobs": FileValue(2, "jobs")}
    assert read.settings("match") == {
        "time": FileValue("2s", "[match] time", is_shared=False),
        "jobs": FileValue(2, "jobs"),
        "games": FileValue(3, "[match] games", is_shared=False),
    }


def test_a_key_is_spelled_as_the_option_or_with_underscores(tmp_path: Path) -> None:
    assert config(tmp_path, 'build_time = "1m"\n').settings("match") == {"build-time": FileValue("1m", "build-time")}


def test_a_key_is_shared_only_if_it_means_the_same_to_all_commands() -> None:
    assert shared_keys(COMMANDS.values()) == SHARED.keys()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tiem = '1s'", "arena.toml: unknown key 'tiem'; did you mean time?"),
        ("rounds = 1", "arena.toml: unknown key 'rounds'; rounds belongs in [league]"),
        ("ruonds = 1", "arena.toml: unknown key 'ruonds'; did you mean rounds? rounds belongs in [league]"),
        ("games = 1", "arena.toml: unknown key 'games'; games belongs in [league] or [match]"),
        ("[leauge]", "arena.toml: unknown key 'leauge'; did you mean league?"),
        ("[match]\nrounds = 1", "arena.toml: [match]: unknown key 'rounds'; rounds belongs in [league]"),
        ("[match]\ngmaes = 1", "arena.toml: [match]: unknown key 'gmaes'; did you mean games?"),
        ("[match.bot.a]", "arena.toml: [match]: unknown key 'bot'; bot belongs at the top"),
        ("time = 5", "arena.toml: time: expected a string, got 5"),
        ("jobs = '2'", "arena.toml: jobs: expected a whole number from 1 to 64, got '2'"),
        ("jobs = 2.0", "arena.toml: jobs: expected a whole number from 1 to 64, got 2.0"),
        ("jobs = true", "arena.toml: jobs: expected a whole number from 1 to 64, got True"),
        ("keep-bots = 1", "arena.toml: keep-bots: expected true or false, got 1"),
        ("[match]\njobs = 0", "arena.toml: [match]: jobs: expected a whole number from 1 to 64, got 0"),
        ("sandbox = 'jail'", "arena.toml: sandbox: 'jail' is not one of 'basic', 'bwrap'."),
        ("interpreter = [3]", "arena.toml: interpreter: expected a string, or a list, got [3]"),
        ("league = 3", "arena.toml: [league]: expected a table, got 3"),
        ("bot = 3", "arena.toml: [bot]: expected a table, got 3"),
        ("bot.a = 3", 'arena.toml: [bot.a]: expected a table such as [bot.hunter] with time = "1s/move", got 3'),
        ("[bot.a]\ntmie = 3", "arena.toml: [bot.a]: unknown key 'tmie'; did you mean time?"),
        ("[bot.a]\nprocesses = 0", "arena.toml: [bot.a]: processes: expected a whole number from 1 to 1000000, got 0"),
        ("[bot.a]\nmemory = '1'", "arena.toml: [bot.a]: memory: expected at least 16M of memory for a bot, got '1'"),
        ("keep-bots = true\nkeep_bots = true", "arena.toml: keep-bots stands there twice"),
        ('time = "\\u0000"', "arena.toml: time: expected a string without NUL, got '\\x00'"),
        ("= 3", "arena.toml: not valid TOML"),
        ("[bots]\npath = 'a'", 'arena.toml: bots: expected a list such as ["bots/*", "./mine"], got {'),
    ],
)
def test_a_mistake_is_told_with_the_file_the_key_what_was_expected_and_what_came(
    here: Path, text: str, words: str
) -> None:
    (here / "arena.toml").write_text(text)
    with pytest.raises(UsageError) as error:
        read_config(Path("arena.toml"), COMMANDS)
    assert str(error.value).startswith(words)


# --- bots -------------------------------------------------------------------------------------------------------------


def test_bots_are_paths_patterns_and_tables_in_the_order_of_the_file(here: Path) -> None:
    text = """
    bots = ["bots/*", { path = "./mine", name = "deep", args = ["--depth", "3"], time = "1s", memory = "1G" }, "warden"]
    """
    assert bots(config(Path(), text)) == [
        AskedBot("bots/a.py"),
        AskedBot("bots/b.py"),
        AskedBot("./mine", "deep", ("--depth", "3"), Own(memory=GIB, time=TimeControl(move_ms=1000))),
        AskedBot("warden"),
    ]
    tables = '[[bots]]\npath = "bots/*"\nargs = ["x"]\n'
    assert bots(config(Path(), tables), "match") == [
        AskedBot("bots/a.py", arguments=("x",)),
        AskedBot("bots/b.py", arguments=("x",)),
    ]


def test_a_command_can_have_bots_of_its_own_or_none(here: Path) -> None:
    read = config(Path(), 'bots = ["bots/*"]\n[match]\nbots = ["x", "y"]\n')
    assert paths(read, "match") == ["x", "y"]
    assert paths(read, "league") == ["bots/a.py", "bots/b.py"]
    assert config(Path(), "").bots("league") is None


def test_paths_are_relative_to_the_file(here: Path) -> None:
    (here / "cups[1]").mkdir()
    (here / "cups[1]" / "c.py").write_text("")
    text = """
    bots = ["*.py", "../bots/a.py", "/abs/x", "warden"]
    rules = "mine.toml+rescue"
    store = "s.sqlite"
    interpreter = ["py"]
    """
    read = config(Path("cups[1]"), text)
    assert paths(read) == ["cups[1]/c.py", "cups[1]/../bots/a.py", "/abs/x", "warden"]
    assert {name: found.value for name, found in read.settings("league").items()} == {
        "rules": "cups[1]/mine.toml+rescue",
        "store": "cups[1]/s.sqlite",
        "interpreter": ["cups[1]/py"],
    }
    assert config(Path("cups[1]"), 'rules = "isf+rescue"').settings("match")["rules"].value == "isf+rescue"


def test_a_bare_name_is_the_sample_bot_unless_it_is_there_beside_the_file(here: Path) -> None:
    (here / "cup").mkdir()
    (here / "warden").write_text("of the current folder")
    text = 'bots = ["warden"]'
    assert paths(config(Path("cup"), text)) == [str(sample_file("warden"))]
    (here / "cup" / "warden").write_text("of the file's folder")
    assert paths(config(Path("cup"), text)) == ["cup/warden"]


def test_no_path_looks_like_an_option(here: Path) -> None:
    (here / "-x.py").write_text("")
    assert paths(config(Path(), 'bots = ["*.py", "-x.py"]')) == ["./-x.py", "./-x.py"]


def test_a_path_with_the_characters_of_a_pattern_in_it_is_itself_if_it_is_there(here: Path) -> None:
    (here / "bots" / "[a].py").write_text("")
    assert paths(config(Path(), 'bots = ["bots/[a].py"]')) == ["bots/[a].py"]


def test_names_may_stand_in_a_list(here: Path) -> None:
    read = config(Path(), '[match]\nseeds = ["hunter", "fox"]')
    assert read.settings("match")["seeds"].value == "hunter,fox"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bots = []", "arena.toml: bots: expected the paths of bots, got an empty list"),
        ("bots = [3]", 'arena.toml: bots: entry 1: expected a path, or a table with path = "./mine", got 3'),
        (
            "bots = ['a', 'no/*']",
            "arena.toml: bots: entry 2: expected a pattern that matches paths of bots, got 'no/*'",
        ),
        ("[[bots]]\nname = 'x'", "arena.toml: bots: entry 1: the key 'path' is missing"),
        ("[[bots]]\npath = 'x'\narg = ['y']", "arena.toml: bots: entry 1: unknown key 'arg'; did you mean args?"),
        ("[[bots]]\npath = 'x'\nargs = 'y'", "arena.toml: bots: entry 1: args: expected a list such as"),
        ("[[bots]]\npath = 'x'\nname = 'a/b'", "arena.toml: bots: entry 1: name: expected a name of 1 to 40 columns"),
        ("[[bots]]\npath = 'x'\ntime = 'y'", "arena.toml: bots: entry 1: time: expected a time such as"),
        ("[league]\nbots = [3]", "arena.toml: [league] bots: entry 1: expected a path"),
    ],
)
def test_a_mistake_in_the_bots_names_the_entry(here: Path, text: str, words: str) -> None:
    read = config(Path(), text)
    with pytest.raises(UsageError) as error:
        read.bots("league")
    assert str(error.value).startswith(words)


# --- where it is looked for -------------------------------------------------------------------------------------------


def test_it_is_looked_for_in_the_current_folder_alone(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_config() is None
    (here / "arena.toml").write_text("")
    (here / "bots" / "pyproject.toml").write_text("[tool.other]\n")
    monkeypatch.chdir(here / "bots")
    assert find_config() is None
    monkeypatch.chdir(here)
    assert find_config() == Path("arena.toml")


def test_the_table_of_a_pyproject_is_the_same_where_there_is_no_file_of_its_own(here: Path) -> None:
    project = here / "pyproject.toml"
    project.write_text('[project]\nname = "x"\n')
    assert find_config() is None
    project.write_text('[tool.arena]\ntime = "1s"\n[tool.arena.league]\nrounds = 3\n')
    assert find_config() == Path("pyproject.toml")
    read = read_config(Path("pyproject.toml"), COMMANDS)
    assert read.settings("league") == {
        "time": FileValue("1s", "[tool.arena] time"),
        "rounds": FileValue(3, "[tool.arena.league] rounds", is_shared=False),
    }
    (here / "arena.toml").write_text("")
    assert find_config() == Path("arena.toml")


def test_a_mistake_in_a_pyproject_is_told_with_its_tables(here: Path) -> None:
    with pytest.raises(UsageError, match=r"pyproject.toml: \[tool.arena\]: unknown key 'rounds'; rounds belongs in "):
        config(Path(), "[tool.arena]\nrounds = 3\n", "pyproject.toml")
    with pytest.raises(UsageError, match=r"pyproject.toml: expected a table \[tool.arena\], got none"):
        config(Path(), "[tool.other]\n", "pyproject.toml")


def test_what_is_no_file_is_refused_and_not_waited_for(here: Path) -> None:
    os.mkfifo("arena.toml")
    assert find_config() == Path("arena.toml")
    with pytest.raises(UsageError, match=r"arena.toml: expected a TOML file, got a FIFO"):
        read_config(Path("arena.toml"), COMMANDS)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_a_file_that_somebody_else_has_put_there_is_read_only_if_it_is_named(here: Path) -> None:
    (here / "arena.toml").write_text("")
    os.chown("arena.toml", 4711, 4711)
    with pytest.raises(UsageError, match=r"arena.toml: this file belongs to another user \(number 4711\)"):
        find_config()
    os.chown(".", 4711, 4711)  # who has the folder decides what runs in it anyway
    assert find_config() == Path("arena.toml")
