"""`arena play --terminal`: a game from a pipe and from a terminal, interrupted and taken up again, refused in words."""

import os
import pty
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from commands import UNHURRIED, Done, run_program

from arena.cli.main import cli
from arena.errors import UsageError
from arena.league.store import Store
from arena.play.saved_game import load_saved
from arena.web.address import Address, listen

ROWS = "FBB......./.S3.3...../2..9M....2/.........."


def play(folder: Path, lines: str, *words: str) -> Done:
    """Run `arena play` with these lines as its input."""
    return run_program([sys.executable, "-m", "arena", "play", *words], folder, lines)


DUEL = ("drifter", *UNHURRIED, "--terminal", "--rules", "duel", "--side", "red", "--name", "Ada", "--seed", "1")


def test_a_game_from_a_pipe_is_played_stored_and_shown(tmp_path: Path) -> None:
    lines = f"help\nsetup {ROWS}\nswap a2 b2\nready\na2\nb2-b4\nnonsense\nresign\n"
    done = play(tmp_path, lines, *DUEL)
    assert done.returncode == 0, done.stderr
    assert "expected a move such as e4-e5, or 'help'" in done.stdout
    assert "You have lost: red (Ada) resigned." in done.stdout
    assert "\x1b" not in done.stdout
    assert "stored as game 1" in done.stderr
    with Store(tmp_path / "play-duel-100ms.sqlite", create=False) as store:
        assert [row.players[0].name for row in store.rows()] == ["Ada"]


def test_the_end_of_the_input_saves_the_game_and_the_command_that_goes_on_is_printed(tmp_path: Path) -> None:
    done = play(tmp_path, "ready\n", *DUEL, "--save", "g.json")
    assert done.returncode == 0, done.stderr
    assert "saved after 0 plies" in done.stderr
    (line,) = re.findall(r"resume with: .* play (.*)", done.stderr)
    assert line == "--resume g.json --terminal"
    again = play(tmp_path, "resign\n", *line.split())
    assert again.returncode == 0, again.stderr
    assert "resumed after 0 plies" in again.stderr
    assert "stored as game 1" in again.stderr
    assert "1. you resign" in again.stdout
    third = play(tmp_path, "", *line.split())
    assert "stored already, as game 1" in third.stderr


def test_a_person_looks_back_at_what_it_knew_and_the_game_goes_on(tmp_path: Path) -> None:
    lines = f"nope\ne4-e5\nsetup {ROWS}\nready\nhistory\nb2-b3\nback 2\nply 3\nply 0\nnext\nhistory\nboard\nresign\n"
    done = play(tmp_path, lines, *DUEL)
    assert done.returncode == 0, done.stderr
    said = done.stdout.split("\n> ")
    assert said[1].endswith("nope: expected 'ready', or a change of the set-up; see 'help'")
    assert said[2].endswith("e4-e5: expected 'ready', or a change of the set-up; see 'help'")
    assert said[5].endswith("no actions so far")
    for answer in said[7:9]:
        assert answer.endswith("expected a ply from 0 to 2, as in 'ply 2'; this is after ply 2")
    assert "as you knew it after ply 0 of 2" in said[9]
    assert "[" not in said[9]
    assert "as you knew it after ply 1 of 2" in said[10]
    assert "1. you b2-b3\n('board' shows it as it is now)" in said[10]
    assert said[11].startswith("history\n1. you b2-b3\n2. the enemy ")
    assert "ply 2: your move" in said[12]
    assert "You have lost" in done.stdout


class Terminal:
    """`arena play` in a terminal of its own."""

    def __init__(self, folder: Path, *words: str, **environment: str) -> None:
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.environ.update({"TERM": "xterm", "ARENA_TRACEBACK": "1", **environment})
            os.environ.pop("NO_COLOR", None) if "NO_COLOR" not in environment else None
            os.execv(sys.executable, [sys.executable, "-m", "arena", "play", *words])
        self.seen = ""

    def until(self, words: str) -> str:
        """Read until these words; returns what came up to them."""
        while words not in self.seen:
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                data = b""
            assert data, f"expected {words!r}, got {self.seen[-2000:]!r}"
            self.seen += data.decode("utf-8", "replace")
        before, _, self.seen = self.seen.partition(words)
        return before

    def type(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def rest(self) -> str:
        """All that still comes."""
        try:
            while data := os.read(self.fd, 65536):
                self.seen += data.decode("utf-8", "replace")
        except OSError:
            pass
        return self.seen

    def code(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def open_one(*words: str, **environment: str) -> Terminal:
        opened.append(Terminal(tmp_path, *words, **environment))
        return opened[-1]

    yield open_one
    for one in opened:
        os.close(one.fd) if one.fd >= 0 else None


def test_ctrl_c_in_a_terminal_saves_the_game(terminal: Callable[..., Terminal], tmp_path: Path) -> None:
    one = terminal(*DUEL, "--save", "g.json")
    one.until("presets: ")
    one.type("ready\n")
    assert "\x1b[2J" in one.until("your move")
    one.until("> ")
    one.type("\x03")
    assert "saved after 0 plies; resume with:" in one.rest()
    assert one.code() == 130
    assert load_saved(tmp_path / "g.json").persons == (True, False)


def test_a_closed_terminal_saves_the_game(terminal: Callable[..., Terminal], tmp_path: Path) -> None:
    one = terminal(*DUEL, "--save", "g.json", TERM="dumb")
    one.until("presets: ")
    one.type("ready\n")
    assert "\x1b" not in one.until("your move")
    one.until("> ")
    os.close(one.fd)
    one.fd = -1
    assert one.code() in (1, 130)
    assert load_saved(tmp_path / "g.json").history.actions == ()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "expected a BOT to play against"),
        (["--two", "--terminal"], "--two and --terminal cannot be used"),
        (["--resume", "x.json", "--side", "red", "--terminal"], "--resume and --side cannot be used"),
        (["--resume", "x.json", "--terminal"], "x.json"),
        (["warden", "--terminal", "--listen", "8000"], "--terminal and --listen cannot be used"),
        (["warden", "--terminal", "--name", "a", "--name", "b"], "--name: expected at most 1, got 2"),
        (["warden", "--listen", "nowhere:x"], "--listen: expected HOST:PORT"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_started(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((click.UsageError, UsageError)) as error:
        cli.main(["play", *words], prog_name="arena", standalone_mode=False)
    assert said in str(getattr(error.value, "message", "") or error.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["warden", "--sandbox", "basic"], ["--two"]])
def test_where_nobody_can_listen_no_game_is_begun_and_no_store_made(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    taken = listen(Address("127.0.0.1", 0))
    try:
        with pytest.raises(UsageError, match=r"--listen: .*Address already in use"):
            cli.main(["play", *words, "--listen", str(taken.address)], prog_name="arena", standalone_mode=False)
    finally:
        taken.close()
    assert list(tmp_path.iterdir()) == []
