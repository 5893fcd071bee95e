"""Standard streams that are closed, full, left by their reader, in ASCII: games go on, and the exit code tells."""

import contextlib
import os
import pty
import subprocess
import sys
from pathlib import Path

import made_bots
import pytest
from commands import run_program, unhurried
from terminals import read_all

from arena.league.store import Store

ARENA = [sys.executable, "-c", "from arena.cli.entry import main; main()"]
PAGE = 4096
"""What a pipe keeps its data in."""
MATCH = unhurried(["match", "alpha.py", "beta.py", "--rules", "barrage", "--store", "m.sqlite", "-j", "1", "-v"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("alpha.py", "beta.py"):
        (tmp_path / name).write_text(f"{made_bots.RESIGNS}# {name}\n")
    return tmp_path


def through_shell(folder: Path, line: str, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return run_program(["sh", "-c", line, "sh", *ARENA, *arguments], folder, **environment)


REDIRECTIONS = {
    ">/dev/full": (1, "arena: cannot write the results: No space left on device; the games are stored in m.sqlite\n"),
    ">&-": (1, "arena: cannot write the results: Bad file descriptor; the games are stored in m.sqlite\n"),
    "2>/dev/full": (0, ""),
    "0<&-": (0, "[2/2]"),
    "0<&- >&- 2>&-": (1, ""),
}


@pytest.mark.parametrize("streams", REDIRECTIONS)
def test_games_go_on_and_are_stored_whatever_becomes_of_the_streams(streams: str, folder: Path) -> None:
    code, words = REDIRECTIONS[streams]
    done = through_shell(folder, f'"$@" {streams}', *MATCH)
    assert done.returncode == code
    assert words in done.stderr
    assert ("Crosstable" in done.stdout) is (code == 0)
    assert "ignored" not in done.stderr
    assert (folder / "m.sqlite").read_bytes().startswith(b"SQLite format 3\0")
    with Store(folder / "m.sqlite", create=False) as store:
        assert len({row.id for row in store.rows()}) == 2


@pytest.mark.parametrize("arguments", [["--help"], ["rules", "isf", "--json"]])
def test_what_cannot_be_printed_is_no_success(arguments: list[str], folder: Path) -> None:
    done = through_shell(folder, '"$@" >/dev/full', *arguments)
    assert done.returncode == 1
    assert done.stderr == "arena: cannot write the results: No space left on device\n"


@pytest.mark.parametrize("arguments", [["rules", "isf"], MATCH])
def test_a_reader_that_has_gone_is_no_reason_to_complain(arguments: list[str], folder: Path) -> None:
    done = through_shell(folder, '{ "$@"; echo "exit $?" >&2; } | true', *arguments)
    assert "arena:" not in done.stderr
    assert "ignored" not in done.stderr
    assert done.stderr.endswith("exit 1\n") or arguments != MATCH


def test_a_league_goes_on_without_the_reader_of_its_progress(folder: Path) -> None:
    done = through_shell(folder, '{ "$@" 2>&1 1>&3 | true; } 3>&1', *MATCH)
    assert "Crosstable" in done.stdout
    with Store(folder / "m.sqlite", create=False) as store:
        assert len({row.id for row in store.rows()}) == 2


def test_a_league_goes_on_while_nobody_reads_its_progress(folder: Path) -> None:
    """The pipe has room for what is said before the first game, and for some lines of sixteen."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while os.write(writer, b"x" * PAGE):
            pass
    os.read(reader, PAGE)
    os.write(writer, b"x" * (PAGE - 700))
    os.set_blocking(writer, True)
    command = [*ARENA, *MATCH, "--games", "16", "--json"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=writer, text=True) as running:
        os.close(writer)
        output = running.stdout.read() if running.stdout else ""
    os.close(reader)
    assert running.returncode == 0
    assert '"standings"' in output
    with Store(folder / "m.sqlite", create=False) as store:
        assert len({row.id for row in store.rows()}) == 16


def test_terminals_that_know_only_ascii_get_tables_all_the_same(folder: Path) -> None:
    environment = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    (folder / "short.toml").write_text('extends = "isf"\nmax_plies = 4\n')  # too few for anybody to win
    done = through_shell(folder, '"$@"', *MATCH, "--rules", "short.toml", **environment)
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert done.stderr.isascii()
    for command in (["games", "m.sqlite"], ["show", "m.sqlite", "1", "--ply", "0"], ["standings", "m.sqlite"]):
        done = through_shell(folder, '"$@"', *command, **environment)
        assert (done.returncode, done.stdout.isascii()) == (0, True), done.stderr


def test_in_a_dumb_terminal_progress_is_plain_lines(folder: Path) -> None:
    controller, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "dumb"}
    with subprocess.Popen([*ARENA, *MATCH], cwd=folder, env=environment, stderr=terminal, stdout=subprocess.DEVNULL):
        os.close(terminal)
        seen = read_all(controller)
    assert b"[2/2]" in seen
    assert b"\x1b" not in seen


HOSTILE = b"a\xff\x1b]52;c;eA==\x07"


@pytest.mark.parametrize(
    "arguments",
    [
        ["match", HOSTILE, "beta.py"],
        [HOSTILE],
        ["match", "alpha.py", "beta.py", "--time", HOSTILE],
    ],
    ids=lambda arguments: " ".join(str(argument) for argument in arguments[:3]),
)
def test_arguments_that_are_no_text_are_refused_in_printable_words(arguments: list[str | bytes], folder: Path) -> None:
    with Store(folder / "m.sqlite", create=True):
        pass
    done = subprocess.run([*ARENA, *arguments], cwd=folder, capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stdout == b""
    assert rb"\x1b" in done.stderr
    assert all(line.isprintable() for line in done.stderr.decode().splitlines())
    assert b"internal error" not in done.stderr


def test_games_in_a_file_whose_name_is_no_text_are_played_and_resumed(folder: Path) -> None:
    command = [*ARENA, *MATCH, "--store", os.fsdecode(b"\xff.sqlite")]
    first = subprocess.run([*command, "--json"], cwd=folder, capture_output=True, check=False)
    assert first.returncode == 0, first.stderr
    assert rb'"\\udcff.sqlite"' in first.stdout
    again = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    assert b"2 of them stored already" in again.stderr
    assert (folder / os.fsdecode(b"\xff.sqlite")).exists()
