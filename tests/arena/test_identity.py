"""A bot's digest is of its files and nothing else, whatever an entrant has put into its folder."""

import hashlib
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_files import put

from arena.bots import bot_files
from arena.bots.bot_files import BotFiles
from arena.bots.covered import Ignored, pattern_fault
from arena.bots.identity import identify_folder
from arena.bots.loading import load_bot
from arena.bots.names import without_name
from arena.errors import UsageError
from arena.sandbox.reaper import prctl

GET_DUMPABLE, SET_DUMPABLE = 3, 4


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A bot of two files."""
    put(tmp_path / "hunter" / "bot.toml", b'command = ["./run"]\n', mode=0o644)
    put(tmp_path / "hunter" / "run")
    return tmp_path / "hunter"


def digest(folder: Path) -> str:
    return load_bot(folder).digest


def problem(folder: Path) -> str:
    with pytest.raises(UsageError) as caught:
        load_bot(folder)
    return str(caught.value)


def test_the_digest_of_a_folder_is_the_one_that_stored_leagues_have(tmp_path: Path) -> None:
    """Of names that sort by their folders, of other alphabets, spaces and links in the folder; built and not."""
    bot = tmp_path / "folder"
    put(bot / "bot.toml", b'command = ["./run", "--depth", "3"]\n', mode=0o644)
    put(bot / "run")
    for name, content in {
        "a.txt": b"a",
        "a/b.txt": b"b",
        "a-b": b"c",
        "Zebra": b"",
        "lib/\u00e9t\u00e9 \U0001f600.bin": bytes(range(256)) * 5000,
        "lib/with space": b"s",
        "lib/back\\slash": b"s",
        ".hidden": b"s",
        "target/x": b"s",
        "lib/__pycache__/x": b"s",
        ".git/HEAD": b"s",
    }.items():
        put(bot / name, content)
    (bot / "lib.so").symlink_to("lib/with space")
    (bot / "up.so").symlink_to(bot / "target" / "x")
    (bot / "lib" / "chain.so").symlink_to("../lib.so")
    assert digest(bot) == "ae96362331e30630ecd77d236cc999cc7b3af618cb245fb7aea7741524d054c3"
    put(bot / "bot.toml", b'command = ["./made"]\nbuild = "cp run made"\n', mode=0o644)
    put(bot / "made")
    assert digest(bot) == "699836d6dd9067b0a233e63d1616ef7416ff76b4986a4fd205109d4a4aa6ef8d"


# --- what a bot is called ---------------------------------------------------------------------------------------------


def test_the_name_of_a_file_is_no_part_of_it(tmp_path: Path) -> None:
    names = ("a.py", "b.py", "deep/c.py", "d", "d.sh")
    assert len({digest(put(tmp_path / name, b"#!/bin/sh\n")) for name in names}) == 1


def test_the_name_of_a_folder_and_the_one_in_its_manifest_are_no_part_of_it(folder: Path) -> None:
    first = digest(folder)
    for name in (b'name = "x"\n', b"name = 'y' # why\n", b'"name"="""z"""  \r\n', b'name = "\\u0041"\n'):
        put(folder / "bot.toml", name + b'command = ["./run"]\n', mode=0o644)
        assert digest(folder) == first
        put(folder / "bot.toml", b'command = ["./run"]\n' + name, mode=0o644)
        assert digest(folder) == first
    assert digest(folder.rename(folder.parent / "gatherer")) == first


def test_all_else_in_a_manifest_counts_be_it_beside_the_name(folder: Path) -> None:
    texts = [
        b'command = ["./run"]\n',
        b'command = ["./run"]\nenv = { name = "x" }\n',
        b'command = ["./run"]\nenv = { name = "y" }\n',
        b'command = ["./run", """\nname = "x"\n"""]\n',
        b'command = ["./run", """\nname = "y"\n"""]\n',
    ]
    digests = set()
    for text in texts:
        put(folder / "bot.toml", text, mode=0o644)
        digests.add(digest(folder))
    assert len(digests) == len(texts)


def test_a_file_does_not_pass_for_a_folder_whatever_is_in_it(folder: Path) -> None:
    """A folder's digest is that of lines of text; a file of these lines is another bot."""
    contents = {"bot.toml": without_name((folder / "bot.toml").read_bytes()), "run": (folder / "run").read_bytes()}
    lines = b"".join(
        b"%s %s\n" % (name.encode(), hashlib.sha256(content).hexdigest().encode()) for name, content in contents.items()
    )
    assert hashlib.sha256(lines).hexdigest() == digest(folder)
    assert digest(put(folder.parent / "forged.py", lines, mode=0o644)) != digest(folder)


@given(st.binary(max_size=80))
def test_any_bytes_in_a_manifest_have_a_digest(data: bytes) -> None:
    assert without_name(data + b"\n= no TOML") == data + b"\n= no TOML"
    assert without_name(without_name(data)) == without_name(data)


# --- what it is of ----------------------------------------------------------------------------------------------------


def test_a_file_name_with_a_line_end_does_not_pass_for_two_files(folder: Path) -> None:
    put(folder / "a", b"1")
    put(folder / "b", b"2")
    two = identify_folder(folder)
    (folder / "a").unlink()
    (folder / "b").unlink()
    put(folder / f"a {hashlib.sha256(b'1').hexdigest()}\nb", b"2")
    assert identify_folder(folder).digest != two.digest


def test_a_link_out_of_the_folder_counts_by_where_it_leads_and_is_not_followed(folder: Path, tmp_path: Path) -> None:
    secret = put(tmp_path / "secret", b"1")
    (folder / "model").symlink_to("../secret")
    first = digest(folder)
    put(secret, b"2")
    assert digest(folder) == first
    (folder / "model").unlink()
    (folder / "model").symlink_to("../other")
    assert digest(folder) != first


@pytest.mark.parametrize("target", ["/dev/zero", "circle", "nowhere/at/all", "../hunter"])
def test_a_link_to_what_has_no_content_is_not_opened(target: str, folder: Path) -> None:
    without = digest(folder)
    (folder / "circle").symlink_to(target)
    assert digest(folder) != without


def test_pipes_and_sockets_have_no_content_and_are_not_waited_for(folder: Path) -> None:
    first = digest(folder)
    os.mkfifo(folder / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "socket"))
    assert digest(folder) == first


def test_a_file_that_becomes_a_link_or_a_pipe_after_the_look_is_not_read(
    folder: Path,
) -> None:
    bot = BotFiles(os.fsencode(folder))
    os.mkfifo(folder / "fifo")
    (folder / "zero").symlink_to("/dev/zero")
    for parts in [(b"fifo",), (b"zero",)]:
        with pytest.raises(UsageError, match=r"expected a file, got a (FIFO|link)$"):
            bot.content(parts)


# --- bounds -----------------------------------------------------------------------------------------------------------


def test_a_sparse_file_of_30_gigabytes_is_refused_before_it_is_read(folder: Path) -> None:
    with (folder / "weights.bin").open("wb") as file:
        file.truncate(30 << 30)
    assert problem(folder) == (
        f"{folder}/weights.bin: the files of a bot may have 2G together, and with this one they have more"
    )


def test_more_files_than_are_looked_at_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot_files, "MOST_FILES", 5)
    for number in range(5):
        put(folder / "lib" / str(number))
    assert problem(folder) == f"{folder}: more than 5 files and folders are in it"


@contextmanager
def without_rights() -> Iterator[None]:
    """As a user whom modes bind: root passes them by."""
    user = os.geteuid()
    if user != 0:
        yield
        return
    dumpable = prctl(GET_DUMPABLE, 0)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)
        prctl(SET_DUMPABLE, dumpable)  # which a change of user takes away for good


@pytest.mark.parametrize(
    ("path", "mode"),
    [("lib", 0o101), ("lib", 0o404), ("lib/table", 0o000)],
)
def test_what_may_not_be_read_is_named_and_never_passed_over(path: str, mode: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        put(folder / "bot.toml", b'command = ["./run"]\n', mode=0o644)
        put(folder / "run")
        put(folder / "lib" / "table", b"1", mode=0o644)
        (folder / path).chmod(mode)
        with without_rights():
            said = problem(folder)
        (folder / path).chmod(0o755)
    assert said.startswith(f"{folder}/{path}")
    assert said.endswith(": cannot be read: Permission denied")


# --- what is ignored --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "left_out", "kept"),
    [
        ("*.tmp", ["a.tmp", "lib/b.tmp"], ["a.tmp.txt", "tmp"]),
        ("logs/*", ["logs/a", "logs/b/c"], ["logs.txt", "lib/logs/a"]),
        ("logs", ["logs/a", "lib/logs/a"], ["logs.txt"]),
        ("logs/", ["logs/a", "lib/logs/b"], ["logs.txt"]),
        ("lib/*.log", ["lib/a.log"], ["lib/deep/a.log", "a.log"]),
        ("**/*.log", ["a.log", "lib/deep/a.log"], ["log"]),
        ("lib/**/x", ["lib/x", "lib/a/b/x"], ["x"]),
        ("./state.?", ["state.1"], ["state.12"]),
        ("game[0-9].txt", ["game1.txt"], ["gamex.txt"]),
    ],
)
def test_a_pattern_leaves_out_what_a_shells_would(
    pattern: str, left_out: list[str], kept: list[str], folder: Path
) -> None:
    put(folder / "bot.toml", f'command = ["./run"]\nignore = ["{pattern}"]\n'.encode(), mode=0o644)
    first = digest(folder)
    for name in left_out:
        put(folder / name)
        assert digest(folder) == first, name
    for name in kept:
        before = digest(folder)
        put(folder / name)
        assert digest(folder) != before, name


def test_the_manifest_and_the_program_count_whatever_is_ignored(folder: Path) -> None:
    put(folder / "bot.toml", b'command = ["./run"]\nignore = ["*"]\n', mode=0o644)
    put(folder / "weights", b"1")
    digests = {digest(folder)}
    put(folder / "weights", b"2")
    digests.add(digest(folder))
    assert len(digests) == 1
    put(folder / "run", b"#!/bin/sh\necho new\n")
    digests.add(digest(folder))
    put(folder / "bot.toml", b'command = ["./run"]\nignore = ["*", "x"]\n', mode=0o644)
    digests.add(digest(folder))
    assert len(digests) == 3


def test_what_the_command_names_counts_wherever_it_lies_unless_it_is_built(folder: Path) -> None:
    def versions(manifest: bytes) -> int:
        put(folder / "bot.toml", manifest, mode=0o644)
        names = ("target/release/run", ".hidden/main.jar", "target/beside")
        for name in names:
            put(folder / name, b"#!/bin/sh\n")
        found = {digest(folder)}
        for name in names:
            put(folder / name, b"#!/bin/sh\necho new\n")
            found.add(digest(folder))
        return len(found)

    assert versions(b'command = ["./target/release/run", ".hidden/main.jar", "--level=3", "../x", "target"]\n') == 3
    assert versions(b'command = ["./target/release/run", ".hidden/main.jar"]\nbuild = "make"\n') == 1


def test_no_pattern_takes_more_steps_than_a_path_has_names() -> None:
    """Tried way by way, this one would outlast the test."""
    hard = "/".join(["**"] * 60) + "/*a*a*a*a*a*a*b"
    assert not Ignored.of([hard]).matches(["a" * 250] * 200)


@given(st.text(max_size=30), st.lists(st.text(st.characters(exclude_characters="/\0"), min_size=1), max_size=4))
def test_every_text_is_a_pattern_or_is_refused(text: str, parts: list[str]) -> None:
    if pattern_fault(text) is None:
        assert Ignored.of([text]).matches(parts) in (True, False)
