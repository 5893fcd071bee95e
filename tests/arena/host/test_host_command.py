"""`arena host` and `arena submit` as people use them: from an empty folder to a bot in the ladder."""

import json
import os
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import ARENA, invoke
from made_bots import MOVES
from made_cups import add_bot, make_account, make_cup, opened
from served import Serve
from waiting import until

from arena.host.accounts import Actor, find_invitation, make_token
from arena.host.cup_settings import load_cup
from arena.host.pipeline import child_token
from arena.host.seasons import SeasonLeague, SeasonState, current, store_file
from arena.host.serve_cup import HostServer, host_level, sole_host
from arena.league.store import Store
from arena.sandbox.levels import Level
from arena.sandbox.reaper import left_by
from arena.web.address import Address, hosts_of

START_SECONDS = 60


def test_init_makes_a_folder_with_a_season_and_invites_a_host(tmp_path: Path) -> None:
    folder = tmp_path / "cup"
    folder.mkdir(mode=0o755)
    done = invoke(
        tmp_path,
        "host",
        "init",
        str(folder),
        "--title",
        'A "Cup"',
        "--rules",
        "duel",
        "--address",
        "https://cup.example/",
    )
    assert done.returncode == 0, done.stderr
    assert folder.stat().st_mode & 0o777 == 0o700
    cup = load_cup(folder)
    assert (cup.title, cup.play.rules, cup.address) == ('A "Cup"', "duel", "https://cup.example")
    word = done.stdout.split("https://cup.example/join/")[1].split()[0]
    with opened(folder) as database:
        assert find_invitation(database, word).is_host
        assert current(database).state is SeasonState.OPEN
    again = invoke(tmp_path, "host", "init", str(folder))
    assert again.returncode == 2
    assert "expected a new or an empty folder" in again.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [(("--rules", "chess"), "chess"), (("--time", "fast"), "fast"), (("--sandbox", "basic"), "basic")],
)
def test_init_refuses_settings_under_which_no_game_can_be_played(
    options: tuple[str, str], words: str, tmp_path: Path
) -> None:
    done = invoke(tmp_path, "host", "init", str(tmp_path / "cup"), *options)
    assert done.returncode == 2
    assert words in done.stderr
    assert not (tmp_path / "cup").exists()


def test_a_ruleset_that_is_not_known_is_told_with_its_file_and_its_key(tmp_path: Path) -> None:
    make_cup(tmp_path / "cup")
    path = tmp_path / "cup" / "cup.toml"
    path.write_text(path.read_text().replace('rules = "duel"', 'rules = "chess"'))
    done = invoke(tmp_path, "host", "run", str(tmp_path / "cup"))
    assert done.returncode == 2
    assert f"{path}: [play] rules: unknown ruleset 'chess'" in done.stderr


def test_bots_of_strangers_need_a_sandbox_unless_the_host_trusts_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cup = make_cup(tmp_path / "cup")
    assert host_level(cup) is Level.BASIC
    path = tmp_path / "cup" / "cup.toml"
    path.write_text(path.read_text().replace("trusted = true\n", "").replace('sandbox = "basic"', 'sandbox = "auto"'))
    monkeypatch.setattr(Level, "why_not", lambda level: None if level is Level.BASIC else "not here")
    done = invoke(tmp_path, "host", "run", str(tmp_path / "cup"))
    assert done.returncode == 2
    assert "bots of strangers need bwrap or cgroup" in done.stderr
    assert "trusted = true" in done.stderr


def test_one_process_at_a_time_runs_a_competition(tmp_path: Path) -> None:
    make_cup(tmp_path / "cup")
    with sole_host(tmp_path / "cup"):
        done = invoke(tmp_path, "host", "run", str(tmp_path / "cup"), "--listen", "127.0.0.1:0")
    assert done.returncode == 2
    assert "is running with this folder" in done.stderr


@pytest.mark.parametrize("word", ["run", "export", "backup", "upgrade"])
def test_a_folder_that_is_no_competition_is_refused(word: str, tmp_path: Path) -> None:
    more = {"export": ["out.tar.gz", "--public"], "backup": ["to"]}.get(word, [])
    done = invoke(tmp_path, "host", word, str(tmp_path), *more)
    assert done.returncode == 2
    assert "expected a folder made by 'arena host init'" in done.stderr


def test_an_archive_is_written_and_verified_by_commands(tmp_path: Path) -> None:
    folder, archive = tmp_path / "cup", str(tmp_path / "public.tar.gz")
    make_cup(folder)
    assert invoke(tmp_path, "host", "export", str(folder), archive).returncode == 2
    assert invoke(tmp_path, "host", "export", str(folder), archive, "--public").returncode == 0
    assert invoke(tmp_path, "host", "verify", archive).returncode == 0
    assert invoke(tmp_path, "host", "backup", str(folder), str(tmp_path / "copy")).returncode == 0
    assert invoke(tmp_path, "host", "restore", str(tmp_path / "copy"), str(tmp_path / "new")).returncode == 0
    assert "version 1" in invoke(tmp_path, "host", "upgrade", str(tmp_path / "new")).stdout


class Hosting:
    """A competition with a bot in the ladder and a token of a member of a team."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cup = folder / "cup", make_cup(folder / "cup")
        with opened(self.folder) as database:
            account, _ = make_account(database, self.cup, "fox")
            self.token = make_token(database, Actor(account.id), account.id, "ci")
            add_bot(database, self.folder, make_account(database, self.cup, "owl"), "wise")
        self.url = ""

    def submit(self, path: Path, *more: str, token: str | None = None) -> "subprocess.CompletedProcess[str]":
        line = ("submit", str(path), "--to", self.url, "--token", token or self.token, *more)
        return invoke(self.folder, *line)


@pytest.fixture
def hosting(tmp_path: Path, serving: Serve) -> Iterator[Hosting]:
    """A competition that is served in this process."""
    made, said = Hosting(tmp_path), list[str]()
    with opened(made.folder) as database:
        server = HostServer(made.folder, made.cup, database, Level.BASIC, said.append)
        served = serving(server.application(hosts_of([Address("127.0.0.1", 0)])), beside=server.run)
        served.until((made.folder / "received").exists)  # what an earlier server has left is removed
        made.url = f"http://{served.host}/"
        yield made
        served.stop()
    assert not said


def bot_in(folder: Path, name: str, settings: str = 'command = ["./program"]') -> Path:
    bot = folder / name
    bot.mkdir()
    (bot / "bot.toml").write_text(settings)
    (bot / "program").write_text(MOVES)
    (bot / "program").chmod(0o755)
    return bot


def games_of(folder: Path, name: str) -> int:
    path = store_file(SeasonLeague.LADDER, folder, 1)
    if not path.exists() or not path.stat().st_size:
        return 0
    with Store(path, create=False) as store:
        return sum(name in [player.name for player in row.players] for row in store.rows())


def test_a_bot_that_is_submitted_is_built_plays_the_ladder_and_all_ends_at_a_signal(tmp_path: Path) -> None:
    hosting = Hosting(tmp_path)
    bot = bot_in(tmp_path, "swift", 'command = ["./made"]\nbuild = "date +%N > when; cp program made"\n')
    (bot / ".git").mkdir()
    (bot / ".git" / "secret").write_text("x" * 1000)
    (bot / "__pycache__").mkdir()
    (bot / "__pycache__" / "swift.pyc").write_bytes(b"x")
    line = [*ARENA, "host", "run", str(hosting.folder), "--listen", "127.0.0.1:0"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as host:
        try:
            assert host.stdout is not None
            hosting.url = host.stdout.readline().strip()
            until((hosting.folder / "received").exists, "what an earlier server has left is removed")
            done = hosting.submit(bot)
            assert done.returncode == 0, done.stdout + done.stderr
            assert "swift is in the ladder" in done.stdout
            until(lambda: games_of(hosting.folder, "swift") >= 2, "it plays")
            with urllib.request.urlopen(hosting.url) as page:
                assert page.status == 200
            host.send_signal(signal.SIGTERM)
            _, said = host.communicate(timeout=START_SECONDS)
        finally:
            host.kill()
    assert "Traceback" not in said
    assert host.returncode == 0
    until(lambda: not left_by(child_token(hosting.folder)), "no process of it is left")
    (unpacked,) = (path for path in (hosting.folder / "bots").iterdir() if (path / "program").exists())
    files = sorted(path.name for path in unpacked.iterdir() if not path.name.startswith("."))
    assert files == ["bot.toml", "made", "program", "when"]
    assert not (unpacked / ".git").exists()
    assert not (bot / "made").exists()


def test_a_bot_that_fails_is_told_with_what_failed_and_the_command_says_so(hosting: Hosting, tmp_path: Path) -> None:
    bot = bot_in(tmp_path, "broken", 'command = ["./made"]\nbuild = "exit 3"')
    done = hosting.submit(bot)
    assert done.returncode == 1
    assert "is failed" in done.stdout
    assert "build: failed" in done.stderr
    again = hosting.submit(bot, "--json")
    assert again.returncode == 1
    told = json.loads(again.stdout)
    assert (told["state"], told["has_failed"]) == ("failed", True)
    assert [stage["state"] for stage in told["stages"]] == ["done", "failed"]


def test_what_cannot_be_submitted_is_said(hosting: Hosting, tmp_path: Path) -> None:
    bot = bot_in(tmp_path, "swift")
    for token, more, words in (
        ("wrong", (), "This token is not good"),
        (None, ("--name", "wise"), "another team has wise"),
        (None, ("--name", "a/b"), "expected a name"),
    ):
        done = hosting.submit(bot, *more, token=token)
        assert done.returncode == 1
        assert words in done.stderr
    (bot / "data").write_bytes(os.urandom(21 << 20))
    done = hosting.submit(bot)
    assert (done.returncode, done.stderr) == (1, "arena: swift: expected at most 20 MiB, got 21.0 MiB\n")
    for line in (["none", "--to", hosting.url], [str(bot), "--to", "ftp://x"]):
        assert invoke(tmp_path, "submit", *line, "--token", "x").returncode == 2


def test_a_competition_that_does_not_answer_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
    done = invoke(
        tmp_path, "submit", str(bot_in(tmp_path, "swift")), "--to", f"http://127.0.0.1:{port}", "--token", "x"
    )
    assert done.returncode == 1
    assert "expected a competition of 'arena host'" in done.stderr
