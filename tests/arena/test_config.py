"""A file says what a command line can: every option is a key, the command line wins, and it is told which it was."""

import json
import os
import re
import shlex
import subprocess
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

from arena.cli import main as command
from arena.cli.config import CONFIGURED, ConfiguredCommand, options_in_file
from arena.cli.main import cli
from arena.errors import UsageError
from arena.rules.ruleset import RulesetError

ROOT = Path(__file__).parent.parent.parent
PLAYING = {name: each for name, each in cli.all_commands().items() if isinstance(each, ConfiguredCommand)}
OPTIONS = [(name, option) for name, each in PLAYING.items() for option in options_in_file(each).values()]
WORDS = {
    "TIME": ("7s", "8s"),
    "SIZE": ("700M", "800M"),
    "PATH": (["/one"], ["/two"]),
    "FILE": ("one.toml", "two.toml"),
    "NAME[+SWITCH...]": ("barrage", "duel"),
}
"""Two values for an option that is a string, by what the help calls it."""

CHECKS_ARGUMENTS = '[ "$1 $2" = "--depth 3" ] || { echo "got $*" >&2; exit 3; }\n'
QUICK_BOT = made_bots.QUICK.format(first=CHECKS_ARGUMENTS)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(text: str) -> None:
    Path("arena.toml").write_text(text)


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
    """What a command that cannot be done says."""

    def told(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["arena", *words])
        assert command.cli.run() == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        return printed.err.removeprefix("settings from arena.toml\n").removeprefix("arena: ").rstrip("\n")

    return told


def key_of(option: click.Option) -> str:
    return max(option.opts, key=len).removeprefix("--")


def values_of(option: click.Option) -> tuple[Any, Any]:
    """Two values that an option can have, neither of them its default if there are others."""
    match option.type:
        case _ if option.is_flag:
            return (False, True) if option.default is True else (True, False)
        case click.Choice(choices=choices):
            return str(choices[-1]), str(choices[1])
        case click.types.IntParamType():
            return 7, 8
        case click.types.FloatParamType():
            return 0.75, 0.875
        case click.Path():
            return "one.toml", "two.toml"
    return WORDS.get(option.metavar or "", ("one", "two"))


def on_the_command_line(option: click.Option, value: Any) -> list[str]:
    if option.is_flag:
        return [(option.opts if value else option.secondary_opts)[-1]]
    values = value if isinstance(value, list) else [value]
    return [word for each in values for word in (f"--{key_of(option)}", str(each))]


def test_the_commands_that_play_for_a_store_are_those_that_a_file_can_speak_to() -> None:
    assert PLAYING.keys() == set(CONFIGURED)
    options = {name: {option.name for option in each.params} for name, each in cli.all_commands().items()}
    playing = {name for name, known in options.items() if {"sandbox", "store", "time"} <= known}
    assert playing == PLAYING.keys() | {"play"}, "who plays against a bot says what is wanted on the command line"


@pytest.mark.parametrize(("name", "option"), OPTIONS, ids=lambda each: each if isinstance(each, str) else key_of(each))
def test_every_option_is_a_key_and_the_command_line_wins_over_it(name: str, option: click.Option, shows: Shows) -> None:
    key, (value, other) = key_of(option), values_of(option)
    write(f"[{name}]\n{key} = {json.dumps(value)}\n")
    bots = ["a", "b"]
    if key == "json":
        assert json.loads(shows.text(name, *bots))["settings"][key]["source"] == "file"
        assert "[league]" in shows.text("league", *bots, "--no-json")
        return
    shown = shows.json(name, *bots)["settings"]
    assert shown[key] == {"value": value, "source": "file", "key": f"[{name}] {key}"}
    assert {each["source"].partition(":")[0] for at, each in shown.items() if at not in (key, "json")} == {"default"}
    won = shows.json(name, *bots, *on_the_command_line(option, other))["settings"][key]
    assert won == {"value": other, "source": "command line", "key": None}


def test_what_is_shown_is_a_file_that_says_the_same(here: Path, shows: Shows) -> None:
    write(
        'bots = ["drifter", { path = "./mine", name = "deep", args = ["--say", "\\"\\\\ é"], time = "60+0.6" }]\n'
        'rules = "barrage"\ninterpreter = ["/x", "/y"]\nstore = "s.sqlite"\n'
        '[league]\nrounds = 5\n[bot.drifter]\nmemory = "1G"\ntmp = "3M"\n'
    )
    first, text = shows.json("league"), shows.text("league")
    assert tomllib.loads(text)["bots"][1]["args"] == ["--say", '"\\ é']
    write(text)
    again = shows.json("league")
    assert (again["bots"]["value"], again["bot"]) == (first["bots"]["value"], first["bot"])
    for key, each in first["settings"].items():
        assert again["settings"][key]["value"] == each["value"] or key == "json"
        if each["source"] == "file":
            assert f"# arena.toml: {each['key']}\n" in text


def test_one_value_of_an_option_that_can_be_given_again_needs_no_list(shows: Shows) -> None:
    write('interpreter = "/x"\n')
    assert shows.json("league", "drifter", "raider")["settings"]["interpreter"]["value"] == ["/x"]


def test_each_setting_is_shown_with_where_it_comes_from(shows: Shows) -> None:
    write('time = "2s"\n[league]\nrounds = 3\n')
    lines = [line.split("  # ") for line in shows.text("league", "drifter", "raider", "--seed", "7").splitlines()]
    sources = {line[0].strip(): line[1] for line in lines if len(line) == 2}
    assert sources["bots = ["] == "command line"
    assert sources["seed = 7"] == "command line"
    assert sources['time = "2s"'] == "arena.toml: time"
    assert sources["rounds = 3"] == "arena.toml: [league] rounds"
    assert sources['memory = "512M"'] == "default"
    assert max(len(line) for line in shows.text("league", "drifter", "raider").splitlines()) <= 80


def test_without_bots_or_a_file_it_is_shown_what_else_is_in_force(shows: Shows) -> None:
    assert "# no bots are named" in shows.text("match")
    assert shows.json("league")["file"] is None
    assert shows.json("league")["bots"]["value"] == []


def test_no_config_reads_no_file_and_config_reads_another(here: Path, shows: Shows, error: Any) -> None:
    write("not TOML")
    assert shows.json("league", "--no-config")["file"] is None
    (here / "cup").mkdir()
    (here / "cup" / "mine.toml").write_text('store = "x.sqlite"\nbots = ["a.py", "b.py"]\n')
    shown = shows.json("league", "--config", "cup/mine.toml")
    assert shown["file"] == "cup/mine.toml"
    assert shown["settings"]["store"]["value"] == "cup/x.sqlite"
    assert [bot["path"] for bot in shown["bots"]["value"]] == ["cup/a.py", "cup/b.py"]
    assert "expected one of them" in error("league", "--config", "cup/mine.toml", "--no-config")
    assert error("league", "--config", "none.toml").startswith("none.toml: cannot be read: No such file")


def test_help_needs_no_file_that_can_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    write("not TOML")
    for option in ("--help", "-h", "--help-all"):
        cli.main(["league", option], standalone_mode=False)
        assert "Usage: " in capsys.readouterr().out


def test_bots_on_the_command_line_take_the_place_of_all_of_the_file(shows: Shows) -> None:
    write('bots = ["raider", "warden"]\n')
    assert [bot["path"] for bot in shows.json("match")["bots"]["value"]] == ["raider", "warden"]
    assert [bot["path"] for bot in shows.json("match", "a", "b")["bots"]["value"]] == ["a", "b"]


def test_a_match_takes_two_bots_of_the_file_and_no_other_number(error: Any) -> None:
    write('bots = ["raider", "warden", "drifter"]\n')
    words = "arena.toml: bots: expected 2 bots for arena match, got 3; name them on the command line, or as bots in "
    assert error("match").startswith(words)
    assert "Expected two bots, got only raider." in error("match", "raider")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("time = 'x'", "arena.toml: time: expected a time such as"),
        ("margin = 'x'", "arena.toml: margin: expected"),
        ("memory = '1'", "arena.toml: memory: expected at least 16M"),
        ("[league]\nbuild-disk = 'x'", "arena.toml: [league] build-disk: expected a size"),
        ("rules = 'isff'", "arena.toml: rules: unknown ruleset 'isff'; did you mean isf"),
        ("rules = 'isf+x'", "arena.toml: rules: unknown switch +x"),
        ("processes = 99999999", "arena.toml: processes: expected a number from 1 to 1000000, got 99999999"),
        (
            "seed = 99999999999999999999",
            "arena.toml: seed: expected a whole number from 0 to 18446744073709551615, got 99999999999999999999",
        ),
        ("store = '.'", "arena.toml: store: File '.' is a directory."),
    ],
)
def test_what_an_option_would_refuse_is_refused_by_the_key_of_the_file(text: str, words: str, error: Any) -> None:
    write(text)
    assert error("league", "--show-config").startswith(words)


def test_what_the_command_line_says_is_refused_by_the_option(error: Any) -> None:
    write("time = '1s'\n")
    assert error("league", "--show-config", "--time", "x").startswith("--time: expected a time")


# --- the documentation ------------------------------------------------------------------------------------------------


def test_the_example_of_the_documentation_says_what_its_page_says(here: Path, shows: Shows) -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    example, *others = re.findall(r"^```toml\n((?:.*\n)*?)^```$", page, re.MULTILINE)
    Path("bots").mkdir()
    for name in ("fox.py", "hunter.py"):
        Path("bots", name).write_text("")
    write(example)
    league, match = shows.json("league"), shows.json("match")
    assert [bot["path"] for bot in league["bots"]["value"]] == ["bots/fox.py", "bots/hunter.py", "./mine", "./mine"]
    assert league["bots"]["value"][2] == {"path": "./mine", "name": "deep", "args": ["--depth", "6"], "time": "1000ms"}
    assert [bot["path"] for bot in match["bots"]["value"]] == ["./mine", "warden"]
    assert (league["settings"]["rounds"]["value"], match["settings"]["games"]["value"]) == (4, 20)
    assert league["bot"] == {"hunter": {"memory": "1G", "processes": 128}}
    for other in others:
        write(other)
        assert shows.json("league")["bots"]["source"] == "file"
    for text in re.findall(r"^```sh\n((?:.*\n)*?)^```$", page, re.MULTILINE):
        for line in text.splitlines():
            write(example)
            _, *words = shlex.split(line, comments=True)
            assert shows.json(*[word for word in words if word != "--show-config"])["settings"]


# --- games ------------------------------------------------------------------------------------------------------------


def arena(*words: str) -> "subprocess.CompletedProcess[str]":
    return commands.arena(Path.cwd(), *words)


def test_what_is_found_wrong_when_it_is_about_to_be_played_is_told_by_the_key_too(here: Path) -> None:
    write('bots = ["drifter", "raider"]\nmemory = "1"\n[bot.rider]\ntime = "1s"\n')
    done = arena("league")
    assert done.returncode == 2
    assert "\narena: arena.toml: memory: expected at least 16M" in done.stderr
    done = arena("league", "--memory", "1G")
    assert done.returncode == 2
    assert "\narena: arena.toml: [bot.rider]: no bot here has that name; did you mean raider" in done.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[league]\nseeds = ['a', 'b']", "arena.toml: [league] seeds is for --format swiss and knockout: expected no"),
        ("[league]\nformat = 'gauntlet'", "arena.toml: [league] format gauntlet: expected --challengers N"),
        ("[compare]\nelo1 = -1", "got 0\n--elo1 is set by arena.toml: [compare] elo1\n"),
    ],
)
def test_an_option_that_does_not_go_with_others_is_told_by_its_key(text: str, words: str) -> None:
    write(text)
    done = arena(text[1:].partition("]")[0], "drifter", "raider")
    assert done.returncode == 2
    assert words in done.stderr


def test_a_table_of_a_bot_need_not_be_for_one_of_those_that_a_single_command_plays(here: Path) -> None:
    write('bots = ["drifter", "raider"]\n[match]\nbots = ["warden", "drifter"]\n[bot.raider]\ntime = "1s"\n')
    played = arena("match", "--rules", "barrage", "--games", "1")
    assert played.returncode == 0, played.stderr
    assert "handicap" not in played.stderr


def test_a_league_of_the_file_is_played_with_its_arguments_and_its_times(here: Path) -> None:
    Path("quick").write_text(QUICK_BOT)
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
    again = arena("league", "--no-json")
    assert "2 games, 2 of them stored already" in again.stderr
    other = arena("league", "drifter.py", "quick")
    assert "quick has changed since its games in this store: its arguments (gone)" in other.stderr


def test_a_paused_game_goes_on_with_the_arguments_of_its_bots(here: Path) -> None:
    text = (ROOT / "bots" / "drifter.py").read_text()
    Path("deep.py").write_text(text.replace("\nrun(", "\nimport sys\nassert sys.argv[1:] == ['x']\nrun("))
    Path("drifter.py").write_text(text)
    write('bots = [{ path = "deep.py", args = ["x"] }, "drifter.py"]\nrules = "barrage"\nstore = "s.sqlite"\n')
    paused = arena("match", "--pause", "game.json", "--pause-after", "4")
    assert "paused after 4 plies" in paused.stderr
    done = arena("resume", "game.json")
    assert done.returncode == 0, done.stderr
    assert "exit" not in done.stdout


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
    sorted({key_of(option) for _, option in OPTIONS} | {"bots", "bot", "league", "match", "nothing"})
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


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
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
