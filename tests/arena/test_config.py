"""A file says what a command line can: every option is a key, the command line wins, and a mistake is one error."""

import json
import os
import sys
import tomllib
from pathlib import Path
from typing import Any

import click
import commands
import made_bots
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.bots.asked import AskedBot, Own
from arena.bots.limits import GIB
from arena.bots.samples import sample_file
from arena.cli import main as command
from arena.cli.config import CONFIGURED, ConfiguredCommand, FileSettings, find_config, options_in_file, read_config
from arena.cli.helping import Whole, long_name
from arena.cli.main import cli
from arena.errors import UsageError
from arena.game.registry import FILES as GAME_FILES
from arena.game.time_control import TimeControl
from arena.stratego.rules.ruleset import RulesetError

ROOT = Path(__file__).parent.parent.parent
PLAYING = {name: each for name, each in cli.all_commands().items() if isinstance(each, ConfiguredCommand)}
COMMANDS = {name: options_in_file(each) for name, each in PLAYING.items()}
OPTIONS = [(name, option) for name, options in COMMANDS.items() for option in options.values()]
WORDS = {
    "TIME": ("7s", "8s"),
    "SIZE": ("700M", "800M"),
    "NAME[+SWITCH...]": ("barrage", "duel"),
    "GAME": ("stratego", "./games/coin.py"),
}
"""Two values for an option that is a string, by its metavar."""
COIN = """
from arena.game import Game

class GAME(Game):
    name = "coin"

    def start(self, variant, seed, setups):
        raise NotImplementedError
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with bots and a game in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(GAME_FILES, "")
    (tmp_path / "bots").mkdir()
    for name in ("b.py", "a.py", ".hidden.py"):
        (tmp_path / "bots" / name).write_text("")
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "coin.py").write_text(COIN)
    return tmp_path


def write(text: str) -> None:
    Path("arena.toml").write_text(text)


def read(text: str, command_name: str = "league", file: str = "arena.toml") -> FileSettings:
    Path(file).write_text(text)
    return read_config(Path(file), command_name, COMMANDS)


def paths(settings: FileSettings) -> list[str]:
    assert settings.bots is not None
    return [bot.path for bot in settings.bots]


class Shows:
    """What `--show-config` prints."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def text(self, *words: str) -> str:
        assert cli.main([*words, "--show-config"], standalone_mode=False) == 0
        return self._capsys.readouterr().out

    def json(self, *words: str) -> Any:
        return json.loads(self.text(*words, "--json"))


@pytest.fixture
def shows(capsys: pytest.CaptureFixture[str]) -> Shows:
    return Shows(capsys)


@pytest.fixture
def error(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """The error of a command line that cannot be played."""

    def told(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["arena", *words])
        assert command.cli.run() == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        return printed.err.removeprefix("settings from arena.toml\n").removeprefix("arena: ").rstrip("\n")

    return told


# --- keys and values --------------------------------------------------------------------------------------------------


def values_of(option: click.Option) -> tuple[Any, Any]:
    """Two values that an option can have, neither of them its default if there are others."""
    match option.type:
        case _ if option.is_flag:
            return (False, True) if option.default is True else (True, False)
        case click.Choice(choices=choices):
            return str(choices[-1]), str(choices[1])
        case Whole():
            return 7, 8
        case click.types.FloatParamType():
            return 0.75, 0.875
        case click.Path():
            return (["/one"], ["/two"]) if option.multiple else ("one.toml", "two.toml")
    return WORDS.get(option.metavar or "", ("one", "two"))


def on_the_command_line(option: click.Option, value: Any) -> list[str]:
    if option.is_flag:
        return [(option.opts if value else option.secondary_opts)[-1]]
    values = value if isinstance(value, list) else [value]
    return [word for each in values for word in (f"--{long_name(option)}", str(each))]


def test_the_commands_that_play_for_a_store_read_a_file() -> None:
    assert PLAYING.keys() == set(CONFIGURED)
    options = {name: {option.name for option in each.params} for name, each in cli.all_commands().items()}
    playing = {name for name, known in options.items() if {"sandbox", "store", "time"} <= known}
    assert playing == PLAYING.keys() | {"play"}


@pytest.mark.parametrize(
    ("name", "option"), OPTIONS, ids=lambda each: each if isinstance(each, str) else long_name(each)
)
def test_every_option_is_a_key_and_the_command_line_wins_over_it(name: str, option: click.Option, shows: Shows) -> None:
    key, (value, other) = long_name(option), values_of(option)
    write(f"[{name}]\n{key} = {json.dumps(value)}\n")
    if key == "json":
        assert json.loads(shows.text(name, "a", "b"))["settings"][key]["source"] == "file"
        assert "[league]" in shows.text("league", "a", "b", "--no-json")
        return
    shown = shows.json(name, "a", "b")["settings"]
    assert shown[key] == {"value": value, "source": "file", "key": f"[{name}] {key}"}
    assert {each["source"] for at, each in shown.items() if at not in (key, "json")} == {"default"}
    won = shows.json(name, "a", "b", *on_the_command_line(option, other))["settings"][key]
    assert won == {"value": other, "source": "command line", "key": None}


def test_a_commands_table_wins_over_the_top() -> None:
    text = 'time = "1s"\njobs = 2\n[match]\ntime = "2s"\ngames = 3\n'
    league, match = read(text), read(text, "match")
    assert (league.values, league.keys) == ({"time": "1s", "jobs": 2}, {"time": "time", "jobs": "jobs"})
    assert match.values == {"time": "2s", "jobs": 2, "games": 3}
    assert match.keys == {"time": "[match] time", "jobs": "jobs", "games": "[match] games"}


def test_a_key_may_be_spelled_with_underscores_and_a_list_of_one_be_its_value() -> None:
    assert read('build_time = "1m"\ninterpreter = "/x"\n').values == {"build_time": "1m", "interpreters": ["/x"]}
    assert read('[league]\nseeds = ["hunter", "fox"]').values == {"seeds": "hunter,fox"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tiem = '1s'", "unknown key 'tiem'; did you mean time?"),
        ("gmaes = 1", "unknown key 'gmaes'; did you mean games (in [league] or [match] or [compare]) or game?"),
        ("rounds = 1", "unknown key 'rounds'; rounds belongs in [league]"),
        ("games = 1", "unknown key 'games'; games belongs in [league] or [match] or [compare]"),
        ("[match]\nrounds = 1", "[match]: unknown key 'rounds'; rounds belongs in [league]"),
        ("time = 5", "time: expected a string, got 5"),
        ("jobs = '2'", "jobs: expected a whole number from 1 to 4096, got '2'"),
        ("sandbox = 'jail'", "sandbox: 'jail' is not one of 'basic', 'bwrap'"),
        ("store = '.'", "store: File '.' is a directory."),
        ("interpreter = [3]", "interpreter: expected a string, or a list, got [3]"),
        ("bot.a = 3", "[bot.a]: expected a table, got 3"),
        ("[bot.a]\ntmie = 3", "[bot.a]: unknown key 'tmie'; did you mean time?"),
        ("[bot.a]\nmemory = '1'", "[bot.a]: memory: expected at least 16M of memory for a bot, got '1'"),
        ('time = "\\u0000"', "time: expected a string, got '\\x00'"),
        ("= 3", "not valid TOML"),
        ("bots = 3", 'bots: expected a list such as ["bots/*", "./mine"], got 3'),
        ("bots = ['a', 'no/*']", "bots: entry 2: expected a pattern that matches paths of bots, got 'no/*'"),
        ("[[bots]]\nname = 'x'", "bots: entry 1: the key 'path' is missing"),
        ("[[bots]]\npath = 'x'\narg = ['y']", "bots: entry 1: unknown key 'arg'; did you mean args?"),
        ("[league]\nbots = []", "[league] bots: expected a list such as"),
    ],
)
def test_a_mistake_is_one_error_with_the_file_the_key_and_what_was_expected(text: str, words: str, error: Any) -> None:
    write(text)
    assert error("league", "--show-config").startswith(f"arena.toml: {words}")


# --- bots -------------------------------------------------------------------------------------------------------------


def test_bots_are_paths_patterns_and_tables_in_the_order_of_the_file() -> None:
    text = """
    bots = ["bots/*", { path = "./mine", name = "deep", args = ["--depth", "3"], time = "1s", memory = "1G" }, "warden"]
    [match]
    bots = ["x", "y"]
    """
    assert read(text).bots == [
        AskedBot("bots/a.py"),
        AskedBot("bots/b.py"),
        AskedBot("./mine", "deep", ("--depth", "3"), Own(memory=GIB, time=TimeControl(move_ms=1000))),
        AskedBot("warden"),
    ]
    assert paths(read(text, "match")) == ["x", "y"]
    assert read("").bots is None


def test_paths_are_relative_to_the_file(here: Path) -> None:
    (here / "cups[1]").mkdir()
    (here / "cups[1]" / "c.py").write_text("")
    (here / "warden").write_text("of the current folder")
    settings = read(
        'bots = ["*.py", "../bots/a.py", "/abs/x", "warden"]\nrules = "mine.toml+rescue"\nstore = "s.sqlite"\n'
        'interpreter = ["py"]\ngame = "./connect4.py"\n',
        file="cups[1]/arena.toml",
    )
    sample = str(sample_file("warden"))
    assert paths(settings) == ["cups[1]/c.py", "cups[1]/../bots/a.py", "/abs/x", sample]
    assert settings.values == {
        "rules": "cups[1]/mine.toml+rescue",
        "store": "cups[1]/s.sqlite",
        "game": "cups[1]/./connect4.py",
        "interpreters": ["cups[1]/py"],
    }


def test_no_path_looks_like_an_option_or_a_pattern_where_it_is_there(here: Path) -> None:
    (here / "-x.py").write_text("")
    (here / "bots" / "[a].py").write_text("")
    assert paths(read('bots = ["*.py", "-x.py", "bots/[a].py"]')) == ["./-x.py", "./-x.py", "bots/[a].py"]


def test_bots_on_the_command_line_replace_all_of_the_file(shows: Shows, error: Any) -> None:
    write('bots = ["raider", "warden", "drifter"]\n')
    assert [bot["path"] for bot in shows.json("match", "a", "b")["bots"]["value"]] == ["a", "b"]
    assert error("match").startswith("arena.toml: bots: expected two bots, got 3: raider, warden, drifter. For")
    assert "expected two bots, got 1: raider. For example: arena match" in error("match", "raider")


# --- where it is looked for -------------------------------------------------------------------------------------------


def test_it_is_looked_for_in_the_current_folder_alone(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("")
    monkeypatch.chdir(here / "bots")
    assert find_config() is None
    monkeypatch.chdir(here)
    assert find_config() == Path("arena.toml")


def test_the_table_of_a_pyproject_is_the_same_where_there_is_no_file_of_its_own() -> None:
    project = Path("pyproject.toml")
    project.write_text('[project]\nname = "x"\n')
    assert find_config() is None
    settings = read('[tool.arena]\ntime = "1s"\n[tool.arena.league]\nrounds = 3\n', file="pyproject.toml")
    assert find_config() == project
    assert settings.values == {"time": "1s", "rounds": 3}
    assert settings.keys["rounds"] == "[tool.arena.league] rounds"
    with pytest.raises(UsageError, match=r"pyproject.toml: \[tool.arena\]: unknown key 'rounds'; rounds belongs in "):
        read("[tool.arena]\nrounds = 3\n", file="pyproject.toml")
    write("")
    assert find_config() == Path("arena.toml")


def test_no_config_reads_no_file_and_config_reads_another(here: Path, shows: Shows, error: Any) -> None:
    write("not TOML")
    assert shows.json("league", "--no-config")["file"] is None
    assert "Usage: " in commands.invoke(here, "league", "--help").stdout
    (here / "cup").mkdir()
    (here / "cup" / "mine.toml").write_text('store = "x.sqlite"\nbots = ["a.py", "b.py"]\n')
    shown = shows.json("league", "--config", "cup/mine.toml")
    assert (shown["file"], shown["settings"]["store"]["value"]) == ("cup/mine.toml", "cup/x.sqlite")
    assert [bot["path"] for bot in shown["bots"]["value"]] == ["cup/a.py", "cup/b.py"]
    assert "cannot be used together" in error("league", "--config", "cup/mine.toml", "--no-config")
    assert error("league", "--config", "none.toml").startswith("none.toml: cannot be read: No such file")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_a_file_that_somebody_else_has_put_there_is_read_only_if_it_is_named() -> None:
    write("")
    os.chown("arena.toml", 4711, 4711)
    with pytest.raises(UsageError, match=r"arena.toml: this file belongs to another user \(number 4711\)"):
        find_config()
    os.chown(".", 4711, 4711)  # who has the folder decides what runs in it anyway
    assert find_config() == Path("arena.toml")


# --- what is shown ----------------------------------------------------------------------------------------------------


def test_what_is_shown_is_a_file_that_says_the_same(shows: Shows) -> None:
    write(
        'bots = ["drifter", { path = "./mine", name = "deep", args = ["--say", "\\"\\\\ é"], time = "60+0.6" }]\n'
        'rules = "barrage"\ninterpreter = ["/x", "/y"]\nstore = "s.sqlite"\n'
        '[league]\nrounds = 5\n[bot.drifter]\nmemory = "1G"\ntmp = "3M"\n'
    )
    first, text = shows.json("league"), shows.text("league")
    assert tomllib.loads(text)["bots"][1]["args"] == ["--say", '"\\ é']
    assert "# arena.toml: [league] rounds\n" in text
    write(text)
    again = shows.json("league")
    assert (again["bots"]["value"], again["bot"]) == (first["bots"]["value"], first["bot"])
    for key, each in first["settings"].items():
        assert again["settings"][key]["value"] == each["value"] or key == "json"


# --- games ------------------------------------------------------------------------------------------------------------


def arena(*words: str) -> Any:
    return commands.invoke(Path.cwd(), *words)


def test_a_league_of_the_file_is_played_with_its_arguments_and_its_times() -> None:
    checks_arguments = '[ "$1 $2" = "--depth 3" ] || { echo "got $*" >&2; exit 3; }\n'
    Path("quick").write_text(made_bots.QUICK.format(first=checks_arguments))
    os.chmod("quick", 0o755)
    write(
        'bots = [{ path = "quick", args = ["--depth", "3"], time = "1s" }, "dr*.py"]\n'
        'rules = "duel"\njobs = 1\nstore = "s.sqlite"\njson = true\n[league]\nrounds = 1\n'
    )
    Path("drifter.py").write_text((ROOT / "bots" / "drifter.py").read_text())
    done = arena("league")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("settings from arena.toml\n")
    assert "handicap: quick 1000ms, drifter 100ms" in done.stderr
    standings = {line["name"]: line for line in json.loads(done.stdout)["standings"]}
    assert (standings["drifter"]["points"], standings["quick"]["forfeits"]) == (2, 0)
    assert "2 games, 2 of them stored already" in arena("league", "--no-json").stderr


# --- any file ---------------------------------------------------------------------------------------------------------

PLAIN = st.one_of(
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["100ms", "1G", "isf", "swiss", "auto", "a/*", "warden", "", "\0", "--help", "."]),
)
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
)
KEYS = st.sampled_from(
    sorted({long_name(option) for _, option in OPTIONS} | {"bots", "bot", "league", "match", "nothing"})
)
TABLES = st.dictionaries(KEYS, VALUES, max_size=4)


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(key)} = {toml(inner)}' for key, inner in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    return str(value) if isinstance(value, float) else json.dumps(value).replace("\x7f", "\\u007f")


FILES = st.one_of(
    TABLES,
    st.fixed_dictionaries({"league": st.dictionaries(KEYS, VALUES, max_size=1)}),
    st.fixed_dictionaries(
        {"bots": st.lists(VALUES | st.fixed_dictionaries({"path": PLAIN, "args": VALUES}), max_size=1)}
    ),
    st.fixed_dictionaries({"bot": st.dictionaries(st.text(max_size=4), TABLES, max_size=1)}),
)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables=FILES)
def test_whatever_a_file_says_it_is_shown_or_refused_with_a_short_message(
    here: Path, shows: Shows, tables: Any
) -> None:
    write("".join(f"{key} = {toml(value)}\n" for key, value in tables.items()))
    try:
        shown = shows.text("league")
    except (UsageError, RulesetError) as error:
        shown = str(error)
    lines = shown.splitlines()
    assert 0 < len(lines) < 300  # all settings as JSON are some 200
    assert all(line.isprintable() and len(line) < 2000 for line in lines)
