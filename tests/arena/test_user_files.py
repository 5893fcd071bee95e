"""Files that users name: nothing that stands there makes the arena wait, run out of memory or fall over."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.errors import ArenaError
from arena.stratego.rules.ruleset import RulesetError
from arena.stratego.rules.rulesets import load_ruleset, parse_ruleset
from arena.system.user_files import (
    MOST_BYTES,
    FileError,
    open_regular,
    read_lines,
    read_start,
    read_toml,
    written_whole,
)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(30 << 30)


NO_FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "nothing": (lambda path: None, "No such file"),
    "a folder": (Path.mkdir, "expected a TOML file, got a folder"),
    "a FIFO": (os.mkfifo, "expected a TOML file, got a FIFO"),
    "a link to a device": (lambda path: path.symlink_to("/dev/zero"), "expected a TOML file, got a device"),
    "a link to itself": (lambda path: path.symlink_to(path), "cannot be read"),
    "30 GB": (sparse, f"expected a TOML file of at most {MOST_BYTES // 1024} KiB"),
    "a byte order mark": (lambda path: path.write_bytes(b"\xef\xbb\xbfa = 1"), "it begins with a byte order mark"),
    "not UTF-8": (lambda path: path.write_bytes(b"a = '\xff'"), "not UTF-8 at byte 5"),
    "NUL": (lambda path: path.write_bytes(b"\0"), "not valid TOML"),
    "deep": (lambda path: path.write_text(f"a = {'[' * 900}{']' * 900}"), "nested too deeply"),
    "a long number": (lambda path: path.write_text(f"a = {'9' * 5000}"), "not valid TOML"),
}


@pytest.mark.parametrize("name", NO_FILES)
def test_what_is_no_toml_file_is_refused_with_its_name_and_the_reason(name: str, tmp_path: Path) -> None:
    make, words = NO_FILES[name]
    path = tmp_path / "mine.toml"
    make(path)
    with pytest.raises(FileError) as caught:
        read_toml(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert words in str(caught.value)
    with pytest.raises(RulesetError):
        load_ruleset(str(path))


HOSTILE_VALUES = [
    "0x" + "f" * 5000,
    '"' + "\\u001b]52;c;eA==\\u0007" * 1000 + '"',
    "nan",
]


@pytest.mark.parametrize("value", HOSTILE_VALUES, ids=["long number", "escapes", "nan"])
@pytest.mark.parametrize("key", ["title", "army"])
def test_a_wrong_value_in_a_ruleset_is_shown_in_short(key: str, value: str) -> None:
    with pytest.raises(RulesetError) as caught:
        parse_ruleset("mine", f"{key} = {value}", "mine.toml")
    assert len(str(caught.value)) < 800
    assert str(caught.value).isprintable()


def test_only_regular_files_are_opened_and_no_links(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    assert read_start(tmp_path / "file", 2) == b"te"
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("file")
    for path, what in (("fifo", "a FIFO"), ("link", "a link"), ("", "a folder")):
        with pytest.raises(OSError, match=f"expected a file, found {what}"):
            open_regular(tmp_path / path)
    with pytest.raises(OSError, match="expected a file, found a device"):
        open_regular(Path("/dev/null"))


# --- lines ------------------------------------------------------------------------------------------------------------


def test_a_line_without_end_is_read_up_to_its_bound_and_nothing_after_it(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"one\n" + b"x" * 100 + b"\ntwo\n")
    assert list(read_lines(path, 10)) == [b"one\n", b"x" * 11]
    sparse(path)
    assert list(map(len, read_lines(path, 1000))) == [1001]


@pytest.mark.parametrize("name", ["nothing", "a FIFO"])
def test_lines_of_what_is_no_file_are_refused_and_not_waited_for(name: str, tmp_path: Path) -> None:
    make, words = NO_FILES[name]
    make(tmp_path / "mine")
    with pytest.raises(FileError, match=words):
        list(read_lines(tmp_path / "mine", 10, "a TOML file"))
    with pytest.raises(FileError, match="this is not a valid path"):
        list(read_lines(Path("nul\0"), 10))


# --- writing ----------------------------------------------------------------------------------------------------------


def test_a_file_appears_whole_and_only_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "new"
    with written_whole(path, replace=False) as file:
        file.write(b"all of it")
        file.flush()
        assert not path.exists()
    assert path.read_bytes() == b"all of it"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ArenaError, OSError])
def test_of_a_file_that_could_not_be_finished_nothing_is_left(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"old")

    def write_half() -> None:
        with written_whole(path, replace=True) as file:
            file.write(b"half")
            raise error

    with pytest.raises((KeyboardInterrupt, ArenaError)):
        write_half()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_came_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "new"

    def write_slowly() -> None:
        with written_whole(path, replace=False) as file:
            file.write(b"mine")
            path.write_bytes(b"another's")

    with pytest.raises(FileError, match="expected a file that does not exist yet"):
        write_slowly()
    assert path.read_bytes() == b"another's"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_replaces_another_has_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "saved.json"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with written_whole(path, replace=True) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_link_stays_one_when_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "behind").write_bytes(b"old")
    (tmp_path / "link").symlink_to("behind")
    with pytest.raises(FileError, match="expected a file that does not exist yet"):
        written_whole(tmp_path / "link", replace=False).__enter__()
    with written_whole(tmp_path / "link", replace=True) as file:
        file.write(b"new")
    assert (tmp_path / "behind").read_bytes() == b"new"
    assert (tmp_path / "link").is_symlink()


@pytest.mark.parametrize("name", ["a folder", "a FIFO", "a link to a device"])
def test_what_is_no_file_is_not_replaced(name: str, tmp_path: Path) -> None:
    NO_FILES[name][0](tmp_path / "there")
    with pytest.raises(FileError, match="expected a file to replace, found a"):
        written_whole(tmp_path / "there", replace=True).__enter__()
    with pytest.raises(FileError, match="this is not a valid path"):
        written_whole(Path("nul\0"), replace=False).__enter__()


DRAFT = ".arena-0123456789abcdef.part"


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_a_writer_that_was_killed_has_left_is_removed_by_the_next(tmp_path: Path, kind: str) -> None:
    left = tmp_path / DRAFT
    if kind == "folder":
        left.mkdir()
    (left / "page" if kind == "folder" else left).write_text("half of it")
    with written_whole(tmp_path / "mine", replace=False) as file:
        file.write(b"whole")
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
