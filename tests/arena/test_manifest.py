"""Whatever stands in a bot.toml or a host's file of limits, what comes of it is a bot or one clear error."""

import os
import string
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from arena.bots.finding import find_entrants
from arena.bots.limits_file import load_own
from arena.bots.loading import load_bot
from arena.bots.manifest import MOST_BYTES, read_manifest
from arena.bots.spec import TOKEN_VARIABLE
from arena.errors import UsageError

RUN = 'command = ["./run"]\n'
EXAMPLES = int(os.environ.get("ARENA_FUZZ_EXAMPLES", "150"))
"""A hand that wants more says so."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A bot in a folder, whose bot.toml the test writes."""
    (tmp_path / "run").write_text("#!/bin/sh\n")
    (tmp_path / "run").chmod(0o755)
    return tmp_path


def problem(folder: Path, manifest: str | bytes) -> str:
    (folder / "bot.toml").write_bytes(manifest if isinstance(manifest, bytes) else manifest.encode())
    with pytest.raises(UsageError) as caught:
        load_bot(folder)
    said = str(caught.value)
    assert said.startswith(f"{folder}/bot.toml: ")
    assert said.isprintable()
    assert len(said) < 1000
    return said.removeprefix(f"{folder}/bot.toml: ")


NESTED = "[" * 900 + "]" * 900


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ("command = [", "not valid TOML"),
        ('comand = ["./run"]', "unknown key 'comand'; did you mean command?"),
        (f"{RUN}zzz = 1", "unknown key 'zzz'; known are command, build, name, env, ignore"),
        ("", """the key 'command' is missing; expected a list such as ["./program", "argument"]"""),
        ("command = []", "command: expected a list"),
        (f'{RUN}env = ["A=1"]', "env: expected a table, got ['A=1']"),
        (f"{RUN}env = {{ A = 1 }}", "[env]: A: expected a string without NUL, got 1"),
        (f"{RUN}name = 3", "name: expected a name of 1 to 40 columns"),
        (f'{RUN}name = " "', "got ' ': it has a space at an end"),
        (
            f'{RUN}build = ["make"]',
            "build: expected a line for the shell such as \"make\", without NUL in it, got ['make']",
        ),
        ('command = ["./none"]', "command: ./none does not exist in"),
        ('command = ["./empty"]', "command: ./empty is not an executable file in"),
        ('command = ["no-such-program"]', "command: there is no program 'no-such-program' on the PATH"),
        ('command = ["run"]', """there is no program 'run' on the PATH; did you mean "./run"?"""),
        ('command = ["./run --fast"]', """; each word is a string of its own: ["./run", "--fast"]"""),
        (f"{RUN}name = {NESTED}", "not valid TOML: it is nested too deeply"),
        (RUN + "name = " + "{a=" * 300 + "1" + "}" * 300, "name: expected a name of 1 to 40 columns"),
        (RUN + "name = 0x" + "f" * 9000, "got a int that is too large to show"),
        (RUN + 'x = "' + "y" * MOST_BYTES + '"', "expected a TOML file of at most 16 KiB, got a longer one"),
        (b'name = "\xff"', "not valid TOML: it is not UTF-8 at byte 8"),
        (RUN + 'name = "\\u001b]52;c;aGk=\\u0007"', "U+001B in it is not a character that shows"),
        (RUN + 'name = "a/b"', "the arena makes"),
        (RUN + 'build = "\\u0000"', 'build: expected a line for the shell such as "make", without NUL in it'),
        (
            'command = ["./run", "\\u0000"]',
            'command: expected a list such as ["./program", "argument"], without NUL in it',
        ),
        (f'command = ["./{"x" * 300}"]', "does not exist in"),
        (RUN + 'env = { A = "\\u0000" }', "[env]: A: expected a string without NUL"),
        (RUN + 'env = { "A=B" = "1" }', "[env]: expected printable names without '=', got 'A=B'"),
        (RUN + f'env = {{ {TOKEN_VARIABLE} = "1" }}', f"[env]: {TOKEN_VARIABLE} is reserved"),
        (RUN + 'needs = "cc"', "needs: expected a list of at most 8 names or paths of programs"),
        (RUN + 'needs = ["no-such-cc"]', " needs no-such-cc: expected on the PATH: 'no-such-cc'"),
        (RUN + "ignore = [3]", "ignore: expected a list of patterns such as"),
        (RUN + 'ignore = ["../x"]', "ignore: '../x': expected a path from the bot's folder on"),
        (RUN + 'ignore = ["!x"]', "ignore: '!x': what one pattern leaves out, no other brings back"),
        (RUN + "ignore = [" + "'x', " * 101 + "]", "ignore: expected at most 100 patterns, got 101"),
    ],
)
def test_what_is_wrong_is_said_in_one_short_line(manifest: str | bytes, words: str, folder: Path) -> None:
    (folder / "empty").mkdir()
    assert words in problem(folder, manifest)


def test_a_name_of_40_columns_an_environment_and_patterns_are_taken_as_they_stand(folder: Path) -> None:
    (folder / "bot.toml").write_text(
        f'{RUN}name = "{"猎" * 20}"\nenv = {{ LD_PRELOAD = "", "a.b-c" = "=" }}\nignore = ["*.log"]\nbuild = """a\nb"""'
    )
    manifest = read_manifest(folder)
    assert manifest.name == "猎" * 20
    assert manifest.env == {"LD_PRELOAD": "", "a.b-c": "="}
    assert (manifest.ignore, manifest.build) == (("*.log",), "a\nb")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (os.mkfifo, "expected a TOML file, got a FIFO"),
        (lambda path: path.mkdir(), "expected a TOML file, got a folder"),
        (lambda path: path.symlink_to("/dev/zero"), "got a link that leads to none in its folder"),
        (lambda path: path.symlink_to("/etc/passwd"), "got a link that leads to none in its folder"),
        (lambda path: path.symlink_to("bot.toml"), "got a link that leads to none in its folder"),
    ],
)
def test_a_manifest_that_is_no_file_of_the_bots_own_is_not_opened(make: object, words: str, folder: Path) -> None:
    assert callable(make)
    make(folder / "bot.toml")
    with pytest.raises(UsageError, match=words):
        load_bot(folder)


def test_a_manifest_may_be_a_link_to_another_file_of_the_folder(folder: Path) -> None:
    (folder / "release.toml").write_text(RUN + 'name = "x"')
    (folder / "bot.toml").symlink_to("release.toml")
    assert load_bot(folder).name == "x"


# --- anything at all ------------------------------------------------------------------------------------------------

ANY_TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
QUOTED = ANY_TEXT.map(lambda text: '"' + "".join(f"\\U{ord(c):08X}" for c in text) + '"')
SCALARS = QUOTED | st.sampled_from(
    ["1", "-1", "1e999", "nan", "true", "0x" + "f" * 5000, "1979-05-27", "07:32:00", "1979-05-27T07:32:00Z", '"./run"']
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4).map(lambda values: f"[{', '.join(values)}]")
        | st.lists(st.tuples(QUOTED, inner), max_size=3).map(
            lambda pairs: "{" + ", ".join(f"{key} = {value}" for key, value in pairs) + "}"
        )
    ),
    max_leaves=8,
)
KEYS = st.sampled_from(["command", "build", "name", "env", "ignore", "memory", "processes", "tmp", "hunter"]) | QUOTED
LINES = st.tuples(KEYS, VALUES).map(" = ".join) | KEYS.map(lambda key: f"[{key}]") | st.just('command = ["./run"]')
DOCUMENTS = st.lists(LINES, max_size=6).map("\n".join).map(str.encode)
GOOD = b'command = ["./run"]\nname = "Hunter"\nenv = { A = "1" }\nignore = ["logs/*"]\n[hunter]\nmemory = "1G"\n'


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A good file with some bytes changed, left out or doubled."""
    data = bytearray(GOOD)
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0, len(data) - 1))
        piece = draw(st.binary(max_size=3) | st.sampled_from([b'"', b"[", b"]", b"=", b"\n", b"\\u0000", b"'''"]))
        data[place : place + draw(st.integers(0, 3))] = piece
        if not data:
            break
    return bytes(data)


ANYTHING = DOCUMENTS | mutated() | st.binary(max_size=200) | st.text(string.printable, max_size=80).map(str.encode)
MANY = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def assert_told(read: Callable[[], str]) -> None:
    """What is read, or the one error that comes instead, is fit for a terminal. No other error is let pass."""
    try:
        text = read()
    except UsageError as error:
        text = str(error)
    assert text.isprintable()
    assert len(text) < 2000


@given(ANYTHING)
@example(b'command = ["./run"]\nbuild = "\\u0000"')
@MANY
def test_any_manifest_is_a_bot_or_one_error_and_nothing_else(folder: Path, data: bytes) -> None:
    (folder / "bot.toml").write_bytes(data.replace(b"build", b"biuld"))  # random programs are not to be run
    assert_told(lambda: load_bot(folder).name)
    (entrant,) = find_entrants([str(folder)]).bots
    assert entrant.name.isprintable()
    assert 1 <= len(entrant.name) <= 160


@given(ANYTHING)
@MANY
def test_any_file_of_limits_is_understood_or_one_error(folder: Path, data: bytes) -> None:
    (folder / "limits.toml").write_bytes(data)
    assert_told(lambda: " ".join(load_own(folder / "limits.toml", ["hunter", "command"])))
