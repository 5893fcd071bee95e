"""Command lines and files of all kinds, most of them wrong: each gets a result or one clear message.

Every command is run as a process of its own, with its own standard streams, forked from one that has imported all:
some milliseconds each. `ARENA_FUZZ=10000 pytest tests/arena/test_cli_fuzz.py` runs more of them.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import made_bots
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.stratego.rules import rulesets as loading
from arena.stratego.rules.ruleset import CHOICES, RULE_KEYS
from arena.stratego.rules.rulesets import switch_names
from protocol.notation import RANK_BY_LETTER

EXAMPLES = int(os.environ.get("ARENA_FUZZ", "50"))
FILES = EXAMPLES // 2 if EXAMPLES < 1000 else EXAMPLES
HELPERS = Path(__file__).parent.parent / "helpers"
RULESETS = Path(loading.__file__).parent / "data"

QUICK_BOT = made_bots.QUICK.format(first="")
PATIENCE = 120
"""Seconds after which a command counts as one that never ends."""
SERVER = f"""
import gc, importlib, json, os, pkgutil, signal, sys
sys.path.insert(0, {str(HELPERS)!r})
import played_here
here = played_here.games_played_here()
here.__enter__()
import arena
for module in pkgutil.walk_packages(arena.__path__, "arena."):
    if not module.name.startswith(("arena.__main__", "arena.pytest_plugin", "arena.learn.")):
        importlib.import_module(module.name)
wishes, answers = os.fdopen(os.dup(0)), os.dup(1)
for descriptor in (0, 1):
    os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
gc.freeze()
while line := wishes.readline():
    wish = json.loads(line)
    child = os.fork()
    if not child:
        os.close(wishes.fileno())
        os.close(answers)
        signal.alarm({PATIENCE})
        for descriptor in (1, 2):
            os.dup2(os.open(wish["streams"][descriptor - 1], os.O_WRONLY | os.O_CREAT | os.O_EXCL), descriptor)
        os.chdir(wish["folder"])
        sys.argv = ["-c", *wish["arguments"]]
        from arena.cli.main import main
        try:
            main()
        except SystemExit as end:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(end.code)  # Python would take apart all that is imported, which takes longer than most commands
    _, status = os.waitpid(child, 0)
    os.write(answers, b"%d\\n" % os.waitstatus_to_exitcode(status))
"""
"""Runs each command in a process of its own, forked from one that has imported all of the arena."""

Done = subprocess.CompletedProcess[bytes]


class Commands:
    """The process that forks for each command, and a folder for what these print."""

    def __init__(self, files: Path) -> None:
        self.files = files
        self._folder = tempfile.TemporaryDirectory(prefix="arena-tests-commands-")
        self._count = 0
        self._server = subprocess.Popen(
            [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, *arguments: str) -> Done:
        """Run a command in the folder with files. Raises `TimeoutExpired`, as `subprocess.run` does."""
        self._count += 1
        streams = [Path(self._folder.name, f"{self._count}.{name}") for name in ("out", "err")]
        wish = {"arguments": arguments, "folder": str(self.files), "streams": [str(stream) for stream in streams]}
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(wish) + "\n")
        self._server.stdin.flush()
        code = int(self._server.stdout.readline())
        output, errors = (stream.read_bytes() for stream in streams)
        for stream in streams:
            stream.unlink()
        if code == -signal.SIGALRM:
            raise subprocess.TimeoutExpired(arguments, PATIENCE, output, errors)
        return subprocess.CompletedProcess(arguments, code, output, errors)

    def close(self) -> None:
        with self._server:
            pass
        self._folder.cleanup()


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    files = tmp_path_factory.mktemp("fuzz") / "files"  # so that the bots of other tests are not in the folder above it
    files.mkdir()
    for name in ("quick", "fast", ".hidden"):
        (files / name).write_text(QUICK_BOT)
        (files / name).chmod(0o755)
    (files / "folder" / "__pycache__").mkdir(parents=True)
    (files / "text.txt").write_text("this is no bot, no store and no ruleset")
    (files / "empty").touch()
    (files / "junk.sqlite").write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 40)
    (files / "deep.toml").write_text("a = " + "[" * 900 + "]" * 900)
    (files / "limits.toml").write_text('[quick]\nmemory = "1G"\n')
    (files / "mine.toml").write_text('extends = "duel"\ntitle = "Mine"\nsource = "me"\n')
    os.mkfifo(files / "fifo")
    (files / "device").symlink_to("/dev/zero")
    (files / "loop").symlink_to("loop")
    with (files / "huge.toml").open("wb") as huge:
        huge.truncate(30 << 30)
    (files / os.fsdecode(b"\xff")).write_text(QUICK_BOT)
    (files / os.fsdecode(b"\xff")).chmod(0o755)
    server = Commands(files)
    stored = server.run("match", "quick", "fast", "--rules", "duel", "--store", "games.sqlite")
    assert stored.returncode == 0, stored.stderr
    paused = server.run("match", "quick", "fast", "--rules", "duel", "--pause", "game.json", "--pause-after", "1")
    assert paused.returncode == 0, paused.stderr
    yield server
    server.close()


def assert_is_a_clear_answer(done: Done, arguments: Sequence[str]) -> None:
    """A documented exit code, nothing that a terminal would act on, and no mistake of the arena's own."""
    output, errors = done.stdout.decode(), done.stderr.decode()
    assert done.returncode in (0, 1, 2, 130), (arguments, done)
    for words in ("internal error", "Traceback", "Exception ignored"):
        assert words not in errors, (arguments, done)
    for text in (output, errors):
        assert all(character.isprintable() or character in "\n\t" for character in text), (arguments, done)
    if done.returncode:
        assert errors.strip(), (arguments, done)


# --- command lines --------------------------------------------------------------------------------------------------

PATHS = st.sampled_from(
    [
        *("quick", "fast", "./quick", ".hidden", "folder", "folder/__pycache__", "text.txt", "empty", "junk.sqlite"),
        *("games.sqlite", "deep.toml", "limits.toml", "mine.toml", "huge.toml", "fifo", "device", "loop", "game.json"),
        *("", ".", "..", "/", "/dev/null", "/dev/full", "/dev/stdin", "/proc/self/mem", "no/such", "quick/x"),
        *("x" * 255, "x" * 256, "y/" * 3000, "\udcff", "\x1b]52;c;eA==\x07", "a\nb", "\u202e", ":memory:", "file:x"),
        *("-", "--", "-j", "+", "~", "*", "é.sqlite", "x.toml+rescue"),
    ]
)
WORDS = st.one_of(PATHS, st.text(st.characters(exclude_characters="\0"), max_size=8))
NUMBERS = st.sampled_from(
    ["0", "1", "2", "-1", "1.5", "", "x", "½", "٢", "1_0", " 1", "0x2", "1e9", "nan", "9" * 19, "9" * 30, "9" * 5000]
)
SIZES = st.sampled_from(
    ["512M", "16M", "1048576G", "1048577G", "8589934591G", "999999999999G", "0", "12", "-1M", "1 G", "1T", "64k", "٣M"]
)
TIMES = st.sampled_from(
    [
        *("100ms", "1ms", "0ms", "0.0000001s", "10080m", "10081m", "999999999m", "999999999.999999999m", "1h", "1e9s"),
        *("60+0.6", "60+0.6,1s/move", "0+1", "60+", "+", ",", "1s,1s", "1+1,1+1", "604800+604800", "604801+0", "٣s"),
    ]
)
RULES = st.one_of(
    st.sampled_from(["duel", "isf", "mine.toml", "deep.toml", "huge.toml", "fifo.toml", "gone.toml", "/x/../y.toml"]),
    st.lists(st.sampled_from(switch_names()), max_size=3).map(lambda names: "+".join(["vintage/barrage", *names])),
    WORDS,
)


def option(name: str, values: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    """An option with a value of its kind, or now and then with any word."""
    return st.tuples(st.just(name), st.one_of(values, values, values, WORDS)).map(list)


def flag(name: str) -> st.SearchStrategy[list[str]]:
    return st.just([name])


PLAYING = [
    option("--rules", RULES),
    option("--time", TIMES),
    option("--start-time", TIMES),
    option("--setup-time", TIMES),
    option("--margin", TIMES),
    option("--seed", NUMBERS),
    option("-j", NUMBERS),
    option("--sandbox", st.sampled_from(["basic", "bwrap", "auto", "cgroup", "none", ""])),
    option("--memory", SIZES),
    option("--processes", NUMBERS),
    option("--tmp", SIZES),
    option("--limits", PATHS),
    option("--store", PATHS),
    *map(
        flag, ["--pondering", "--no-pondering", "--affinity", "--keep-bots", "--json", "--help", "--round", "--no-such"]
    ),
]
PAUSE = [option("--pause", PATHS), option("--pause-after", NUMBERS)]
SHOWING = [option("--ranks", WORDS), option("--names", WORDS), flag("--json"), flag("--help"), flag("-h")]
STORES = st.one_of(st.just("games.sqlite"), PATHS)
GAMES = st.tuples(STORES, st.one_of(st.sampled_from(["1", "2", "3", "0", "a", ""]), WORDS)).map(list)
PLIES = st.sampled_from(["0-3", "1,2", "-", "9-1", "5-", "-0", ",", "1-2-3"])
VIEWS = st.sampled_from(["all", "public", "red", "blue", "bot:quick", "bot:", "RED", ""])
BOTS = st.one_of(st.sampled_from(["quick", "fast"]), PATHS)


def line(
    command: str, arguments: st.SearchStrategy[list[str]], options: Sequence[st.SearchStrategy[list[str]]]
) -> st.SearchStrategy[list[str]]:
    """A command with its arguments and up to four of its options, in any order."""
    parts = st.tuples(arguments.map(lambda words: [[word] for word in words]), st.lists(st.one_of(options), max_size=4))
    mixed = parts.flatmap(lambda both: st.permutations([*both[0], *both[1]]))
    return mixed.map(lambda chosen: [command, *(word for part in chosen for word in part)])


COMMAND_LINES = st.one_of(
    line("league", st.lists(BOTS, max_size=4), [*PLAYING, option("--rounds", NUMBERS)]),
    line("match", st.lists(BOTS, min_size=2, max_size=2), [*PLAYING, option("--games", NUMBERS)]),
    line("match", st.just(["quick", "fast"]), [*PLAYING, *PAUSE]),
    line("resume", PATHS.map(lambda path: [path]), PAUSE[1:]),
    line("standings", STORES.map(lambda path: [path]), [flag("--all"), flag("--json"), flag("--help")]),
    line(
        "games",
        STORES.map(lambda path: [path]),
        [*(option(name, st.just("quick")) for name in ("--bot", "--against", "--lost-by")), flag("--json")],
    ),
    line("log", GAMES, [option("--side", st.sampled_from(["red", "blue", "all"])), *SHOWING]),
    line(
        "show",
        GAMES,
        [option("--view", st.sampled_from(["red", "blue", "all"])), option("--ply", NUMBERS | PLIES), *SHOWING],
    ),
    line("bots", STORES.map(lambda path: [path]), [option("--bot", st.just("quick")), flag("--json")]),
    line("verify", STORES.map(lambda path: [path]), [option("--salvage", PATHS), flag("--json")]),
    line("export", STORES.map(lambda path: [path]), [option("-o", PATHS), option("--view", VIEWS), flag("--force")]),
    line("import", st.lists(STORES, min_size=1, max_size=3), [flag("--json")]),
    line("report", STORES.map(lambda path: [path]), [option("--out", PATHS), option("--for", VIEWS)]),
    line("rerun", GAMES, [option("--bot", PATHS.map("quick={}".format)), flag("--changed-bots"), flag("--json")]),
    line("new", PATHS.map(lambda path: [path]), [option("--language", WORDS), flag("--list")]),
    line("new-game", PATHS.map(lambda path: [path]), [flag("--json")]),
    line("rules", st.lists(RULES, max_size=2), SHOWING),
    st.lists(WORDS, max_size=3),
)


@settings(
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(arguments=COMMAND_LINES)
def test_any_command_line_gets_a_clear_answer(arena: Commands, arguments: list[str]) -> None:
    assert_is_a_clear_answer(arena.run(*arguments), arguments)


# --- files ----------------------------------------------------------------------------------------------------------

SHIPPED = [path.read_text() for path in sorted(RULESETS.rglob("*.toml"))]
HOSTILE_TOML = [
    *('""', '"\\u001b[2J"', '"\\u0000"', '"\\u202e"', f'"{"x" * 5000}"', "true", "-1", "0", "1.5", "nan", "-inf"),
    *("9" * 30, "9" * 5000, "0x" + "f" * 5000, "1979-05-27T07:32:00Z", "[]", "{}", "[" * 900 + "]" * 900),
    *("{a = {b = 1}}", '"none"', '"isf"', '"free"', "1000000", "1000001", "40", '["a", 1]', '"""a\nb"""'),
]
VALUES = st.one_of(
    st.sampled_from(HOSTILE_TOML),
    st.sampled_from([f'"{choice.value}"' for kind in CHOICES.values() for choice in kind]),
    st.integers(0, 9).map(str),
    st.text(st.characters(exclude_characters='"\\', exclude_categories=["Cc", "Cs"]), max_size=9).map('"{}"'.format),
)
KEYS = st.one_of(
    st.sampled_from([*RULE_KEYS, *RANK_BY_LETTER, "extends", "title", "source", "army", "rules", "notes"]),
    st.sampled_from(['"\\u001b"', ".".join("a" * 3000), '""', "é", "a.b", "rules.chase", "notes.chase", "army.F"]),
)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A ruleset that comes with the arena, damaged here and there."""
    lines = draw(st.sampled_from(SHIPPED)).splitlines()
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(lines) - 1))
        key = lines[place].partition("=")[0]
        change = draw(st.integers(0, 4))
        if change == 0:
            lines[place] = ""
        elif change == 1:
            lines.insert(place, lines[draw(st.integers(0, len(lines) - 1))])
        elif change == 2:
            lines[place] = f"{key} = {draw(VALUES)}"
        elif change == 3:
            lines.insert(place, f"{draw(KEYS)} = {draw(VALUES)}")
        else:
            cut = draw(st.integers(0, len(lines[place])))
            lines[place] = lines[place][:cut] + draw(st.sampled_from(['"', "[", "=", "\x1b", "\r", "\ufeff", "]\n"]))
    return "\n".join(lines)


RULESET_FILES = st.one_of(damaged(), st.text(max_size=40), st.binary(max_size=40))


def write(path: Path, content: str | bytes) -> None:
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))


@settings(
    max_examples=FILES,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(content=RULESET_FILES, more=st.sampled_from([[], ["--json"], ["--ranks", "american"], ["--names", "it"]]))
def test_any_ruleset_file_gets_a_clear_answer(arena: Commands, content: Any, more: list[str]) -> None:
    write(arena.files / "fuzzed.toml", content)
    done = arena.run("rules", "fuzzed.toml", *more)
    assert_is_a_clear_answer(done, [repr(content)])
    assert done.returncode in (0, 2)
    if not done.returncode:
        played = arena.run("match", "quick", "fast", "--rules", "fuzzed.toml", "--games", "1", "--store", "f.sqlite")
        (arena.files / "f.sqlite").unlink()
        assert_is_a_clear_answer(played, [repr(content)])
        assert played.returncode == 0
