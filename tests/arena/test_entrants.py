"""One broken entrant never stops a league, a new version says what is new, and bot output is escaped."""

import json
import os
import re
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commands import invoke
from forged_games import forge_setting
from made_bots import QUICK
from made_files import put

from arena.bots.asked import AskedBot, Own
from arena.bots.finding import find_entrants
from arena.bots.loading import load_bot
from arena.bots.spec import BotSpec
from arena.game.recheck import check_record
from arena.game.time_control import parse_time
from arena.league.store import Store
from arena.processes.runnable import runnable
from arena.sandbox.levels import Level

if TYPE_CHECKING:
    import subprocess

MakeBot = Callable[..., BotSpec]
CLIPBOARD = "\x1b]52;c;aGk=\x07"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two bots that are the same."""
    for name in ("alpha.sh", "beta.sh"):
        put(tmp_path / name, QUICK.format(first=""))
    return tmp_path


def bot_folder(folder: Path, manifest: str = 'command = ["./run"]\n') -> Path:
    put(folder / "bot.toml", manifest, mode=0o644)
    put(folder / "run")
    return folder


def arena(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run the command in a folder to its end. What it prints must do nothing to a terminal."""
    done = invoke(folder, *arguments)
    for text in (done.stdout, done.stderr):
        assert text.replace("\n", "").isprintable(), text
    assert "internal error" not in done.stderr
    return done


def league(folder: Path, *bots: str) -> "subprocess.CompletedProcess[str]":
    return arena(folder, "league", *bots, "--rules", "duel", "--rounds", "1", "--store", "l.sqlite", "-j", "1")


# --- broken entrants --------------------------------------------------------------------------------------------------


def test_what_is_no_bot_in_a_folder_of_submissions_is_an_entrant_that_is_broken(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "astray").symlink_to("nowhere")
    (tmp_path / "circle").symlink_to("circle")
    put(tmp_path / "plain", mode=0o644)
    put(tmp_path / "notes", "to do\n", mode=0o644)
    put(tmp_path / "good")
    put(tmp_path / ("x" * 41))
    put(tmp_path / "b\x1b[2Jd")
    put(tmp_path / "hunter#2")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff")).mkdir()
    bot_folder(tmp_path / "named", 'command = ["./none"]\nname = "Hunter II"\n')
    expected = {
        "good": None,
        "empty": "expected a bot.toml in this folder",
        "fifo": "got a FIFO",
        "zero": "expected the bot itself, got a link to /dev/zero; name what it leads to, or start",
        "astray": "expected the bot itself, got a link to nowhere",
        "circle": "expected the bot itself, got a link to circle",
        "plain": "this file is not executable",
        "notes": "notes: expected an executable file, a .py file or a folder with bot.toml",
        "Hunter II": "command: ./none does not exist",
        "'b\\x1b[2Jd'": "U+001B in it",
        "'hunter#2'": "the arena makes",
        "'" + "x" * 35 + "...'": "it is 41 columns wide",
        "'\\udcff'": "expected a bot.toml in this folder",
    }
    found = find_entrants([str(path) for path in tmp_path.iterdir()])
    assert {bot.name for bot in found.bots} == set(expected)
    for bot in found.bots:
        words = expected[bot.name]
        assert bot.fault is words or (words or "") in (bot.fault or "")
        assert (bot.fault or "").isprintable()
    assert len({bot.player for bot in found.bots}) == len(expected)


def test_a_folder_of_entrants_folders_is_all_of_them_whatever_each_has_in_it(tmp_path: Path) -> None:
    for name in ("ann", "bob"):
        put(tmp_path / "entries" / name / "main.py", f"#!/bin/sh\n# {name}\n")
    bot_folder(tmp_path / "entries" / "cat")
    bot_folder(tmp_path / "entries" / "dan" / "hunter")
    (tmp_path / "entries" / "README.md").write_text("Entrants")
    paths = [str(tmp_path / "entries")]
    own = Own(time=parse_time("1s/move"))
    for asked in ([], [AskedBot(paths[0])], [AskedBot(paths[0], own=own)]):
        found = find_entrants(paths, asked=asked).bots
        assert [(bot.name, bot.fault) for bot in found] == [(name, None) for name in ("ann", "bob", "cat", "dan")]
    assert all(bot.asked and bot.asked.own == own for bot in found)


def test_a_link_that_is_to_be_followed_is_what_it_leads_to(tmp_path: Path) -> None:
    put(tmp_path / "good")
    for name, target in (("zero", "/dev/zero"), ("astray", "nowhere"), ("circle", "circle"), ("other", "good")):
        (tmp_path / name).symlink_to(target)
    paths = [str(tmp_path / name) for name in ("zero", "astray", "circle", "other")]
    *faults, other = [bot.fault for bot in find_entrants(paths, follow_links=True).bots]
    assert other is None
    for fault, words in zip(faults, ("got a device", "leads nowhere", "Too many levels"), strict=True):
        assert words in (fault or "")


def test_a_link_in_a_folder_of_entrants_is_broken_as_if_it_was_named(tmp_path: Path) -> None:
    for name in ("ann", "bob"):
        put(tmp_path / "mix" / name / "bot.py")
    (tmp_path / "mix" / "eve").symlink_to("ann")
    (tmp_path / "mix" / "README.md").symlink_to("ann/bot.py")
    in_folder = find_entrants([str(tmp_path / "mix")])
    assert [(bot.name, bot.fault is None) for bot in in_folder.bots] == [("ann", True), ("bob", True), ("eve", False)]
    named = find_entrants([str(tmp_path / "mix" / name) for name in ("ann", "bob", "eve")])
    assert in_folder == named
    done = league(tmp_path, "mix")
    assert done.stderr.count("expected the bot itself, got a link to ann") == 1


def test_nothing_of_what_a_link_leads_to_is_shown(folder: Path) -> None:
    put(folder / "private" / "bot.toml", "password = 'hunter2'\n", mode=0o644)
    put(folder / "private" / "secret.cfg", "password = hunter2\n")
    (folder / "evil").symlink_to("private")
    (folder / "peek.py").symlink_to("private/secret.cfg")
    faults = [bot.fault or "" for bot in find_entrants([str(folder / "evil"), str(folder / "peek.py")]).bots]
    assert ["got a link to private" in fault for fault in faults] == [True, True]
    assert "password" not in "".join(faults)


# --- namesakes and copies ---------------------------------------------------------------------------------------------


def players(folder: Path) -> set[tuple[str, str]]:
    """Who has played in the league's store, by name and digest."""
    with Store(folder / "l.sqlite", create=False) as store:
        return {(player.name, player.digest) for player in store.players()}


def test_a_league_leaves_out_a_bot_whose_compiler_is_not_there_and_a_match_refuses_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot_folder(folder / "carver", 'command = ["./run"]\nbuild = "cc run.c"\nneeds = ["cc"]\n')
    tools = folder / "tools"
    tools.mkdir()
    for name in ("sh", "python3"):
        (tools / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", str(tools))
    words = ("alpha.sh", "beta.sh", "carver", "--rules", "duel", "--rounds", "1", "--store", "l.sqlite")
    done = arena(folder, "league", *words)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("carver") == 1
    assert "carver needs a C compiler: left out\n" in done.stderr
    assert "carver" not in done.stdout
    for refused in (("league", *words, "--strict"), ("match", "alpha.sh", "carver"), ("play", "carver", "--terminal")):
        done = arena(folder, *refused)
        assert done.returncode == 2, done.stderr
        assert "carver/bot.toml: needs: carver needs a C compiler: expected on the PATH: 'cc'" in done.stderr
    done = arena(folder, "check", "carver")
    assert done.returncode == 1
    assert "carver needs a C compiler" in done.stdout


def test_skip_broken_leaves_broken_bots_out_of_the_league(folder: Path) -> None:
    (folder / "evil").mkdir()
    words = ("alpha.sh", "beta.sh", "evil", "--rules", "duel", "--rounds", "1", "--store", "l.sqlite", "--skip-broken")
    done = arena(folder, "league", *words)
    assert done.returncode == 0, done.stderr
    assert "broken: evil: " in done.stderr
    assert "evil is left out" in done.stderr
    assert "evil" not in done.stdout
    assert {name for name, _ in players(folder)} == {"alpha", "beta"}
    assert arena(folder, "league", *words, "--strict").returncode == 2
    done = arena(folder, "league", "alpha.sh", "evil", "--skip-broken")
    assert done.returncode == 2
    assert "expected at least two bots, got only alpha" in done.stderr


def test_a_bot_that_is_a_file_is_called_without_the_ending_of_its_language(folder: Path) -> None:
    for name in ("fox.js", "owl.pl", "elk.rb", "ant.v2"):
        put(folder / name)
    found = find_entrants([str(folder / name) for name in ("fox.js", "owl.pl", "elk.rb", "ant.v2")]).sound()
    assert [bot.name for bot in found] == ["fox", "owl", "elk", "ant.v2"]


def test_a_build_that_makes_other_files_each_time_is_told(folder: Path) -> None:
    bot = bot_folder(folder / "hunter", 'command = ["sh", "main"]\nbuild = "date +%N > stamp"\n')
    put(bot / "main", (folder / "beta.sh").read_text())
    told = "hunter: its build makes other files each time: stamp; so it is a new bot in each run"
    assert told not in league(folder, "alpha.sh", "hunter").stderr
    assert told in league(folder, "alpha.sh", "hunter").stderr
    put(bot / "main", (folder / "beta.sh").read_text() + "#\n")
    assert told not in league(folder, "alpha.sh", "hunter").stderr, "its author has changed it"


def test_documents_are_passed_over_with_a_word_and_hidden_files_without(tmp_path: Path) -> None:
    """A hidden file that is a bot is one: no shell's `*` brings it, so whoever names it means it."""
    for name in ("README.md", "LICENSE", "notes.txt", "arena.toml", ".git/config", "__pycache__/x"):
        put(tmp_path / name)
    (tmp_path / ".DS_Store").write_bytes(b"")
    put(tmp_path / ".mine.py", "#!/bin/sh\n#\n")
    put(tmp_path / "good")
    bot_folder(tmp_path / "folder.md")
    found = find_entrants([str(path) for path in sorted(tmp_path.iterdir())])
    assert [bot.name for bot in found.bots] == [".mine", "folder.md", "good"]
    assert [remark.removeprefix(f"{tmp_path}/").split(":")[0] for remark in found.remarks] == [
        "LICENSE",
        "README.md",
        "arena.toml",
        "notes.txt",
    ]


def test_a_bot_that_a_level_cannot_run_is_broken_there_alone(tmp_path: Path) -> None:
    for name in ("good", "evil", "evil/inner"):
        bot_folder(tmp_path / name)
    bots = [load_bot(tmp_path / name) for name in ("good", "evil", "evil/inner")]
    tmp_path.chmod(0o755)
    assert runnable(Level.BASIC, bots) == bots
    good, evil, inner = runnable(Level.BWRAP, bots)
    assert [good, inner] == [bots[0], bots[2]]
    assert "this bot could read" in (evil.fault or "")
    assert evil.digest != bots[1].digest


SCRIPTS_THAT_CANNOT_RUN = [
    ("mine.py", "import sys\n", "add #!/usr/bin/env python3 as the first line, or chmod -x"),
    ("mine", "echo ready\n", "or a script with a first line that names its interpreter, such as #!/bin/sh"),
    ("mine.py", "\ufeff#!/usr/bin/env python3\n", "there is a byte order mark before its #!"),
    (
        "mine.py",
        "#!/usr/bin/env python3\r\n",
        r"ends in CR LF, as on Windows, so the system looks for a program 'python3\r'",
    ),
    ("mine", "#!/bin/sh\r\n", r"(sed -i 's/\r$//' mine)"),
]


@pytest.mark.parametrize(("name", "text", "words"), SCRIPTS_THAT_CANNOT_RUN)
def test_a_script_that_the_system_cannot_run_is_broken_with_the_cure(
    name: str, text: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(text.encode())
    (tmp_path / name).chmod(0o755)
    folder = bot_folder(tmp_path / "folder", f'command = ["./{name}"]')
    shutil.copy(tmp_path / name, folder)
    for bot in runnable(Level.BASIC, find_entrants([str(tmp_path / name), str(folder)]).sound()):
        assert words in (bot.fault or "")
    alone = runnable(Level.BASIC, find_entrants([str(tmp_path / name)]).sound())[0].fault or ""
    assert alone.count(f"{tmp_path / name}:") == 1, "it is the bot and the file, and named as such once"


def test_a_bot_whose_command_leads_out_of_its_folder_is_broken_at_every_level(tmp_path: Path) -> None:
    outside = put(tmp_path / "outside")
    for name in ("good", "evil"):
        bot_folder(tmp_path / name)
    (tmp_path / "evil" / "run").unlink()
    (tmp_path / "evil" / "run").symlink_to(outside)
    bots = [load_bot(tmp_path / name) for name in ("good", "evil")]
    for level in Level:
        good, evil = runnable(level, bots)
        assert good == bots[0]
        assert "its command leads out of its own files" in (evil.fault or "")


def test_a_league_plays_on_with_a_broken_entrant_and_lists_it(folder: Path) -> None:
    bot_folder(folder / "evil", f'command = ["./run"]\nname = "{"x" * 41}"\n')
    put(folder / "README.md", mode=0o644)
    raw = os.fsdecode(os.fsencode(folder) + b"/\xff\n")
    os.mkdir(raw)
    done = league(folder, "alpha.sh", "beta.sh", "evil", "README.md", raw)
    assert done.returncode == 0
    assert "README.md: ignored: a document, not a bot" in done.stderr
    assert "broken: evil/bot.toml: name: expected a name of 1 to 40 columns" in done.stderr
    assert done.stderr.count("evil/bot.toml") == 1, "it is reported once"
    assert re.search(r"^\d  evil +broken ", done.stdout, re.MULTILINE)
    with Store(folder / "l.sqlite", create=False) as store:
        rows = list(store.rows())
        for row in rows:
            check_record(store.record(str(row.number))[1])
    assert len(rows) == 2
    words = ("--rules", "duel", "--rounds", "1", "--store", "l.sqlite", "--json")
    again = arena(folder, "league", "alpha.sh", "beta.sh", "evil", raw, *words)
    assert "2 games, 2 of them stored already" in again.stderr
    document = json.loads(again.stdout)
    assert set(document["broken"]) == {"evil", "'\\udcff\\n'"}
    assert "files of" not in json.dumps(document["settings"])
    assert "places" not in document["settings"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["league", "alpha.sh", "beta.sh", "empty", "--strict"],
        ["match", "alpha.sh", "empty"],
        ["match", "alpha.sh", "empty", "--pause", "p"],
        ["league", "alpha.sh", "empty"],
    ],
)
def test_where_nothing_broken_is_wanted_it_is_refused(arguments: list[str], folder: Path) -> None:
    (folder / "empty").mkdir()
    done = arena(folder, *arguments)
    assert done.returncode == 2
    assert "empty: expected a bot.toml in this folder" in done.stderr
    assert not list(folder.glob("*.sqlite"))


# --- new versions -----------------------------------------------------------------------------------------------------


def test_a_new_version_is_told_with_the_files_that_make_it_new(folder: Path) -> None:
    bot = bot_folder(folder / "hunter", 'command = ["sh", "main"]\n')
    put(bot / "main", (folder / "beta.sh").read_text())
    put(bot / "model.bin", "1")
    put(bot / "old.bin", "1")
    assert "has changed" not in league(folder, "alpha.sh", "hunter").stderr
    digest = load_bot(bot).digest
    put(bot / "model.bin", "2")
    put(bot / "log.txt", "1")
    (bot / "old.bin").unlink()
    first, second = league(folder, "alpha.sh", "hunter").stderr, league(folder, "alpha.sh", "hunter").stderr
    assert (
        "hunter has changed since its games in this store: log.txt (new), model.bin (changed), old.bin (gone); "
        f"the old games stay under hunter@{digest[:6]}\n" in first
    )
    assert "has changed" not in second, "it has played by now"


def test_nothing_that_a_bot_says_of_itself_reaches_a_terminal_raw(folder: Path) -> None:
    evil = f"evil{CLIPBOARD}"
    put(folder / "crash.sh", f"#!/bin/sh\nprintf '{CLIPBOARD}\\r\\n\\233' >&2\nexit 3\n")
    bot_folder(folder / "long", json.dumps("x" * 15_000).join(['command = ["./run", ', "]\n"]))
    put(folder / "long" / "run", "not a program\n")
    bot_folder(folder / "toml", f'command = ["{CLIPBOARD}')
    bot_folder(folder / evil)
    done = league(folder, "alpha.sh", "crash.sh", "long", "toml", evil)
    assert done.returncode == 0, done.stderr
    assert "\\x1b]52;c;aGk=\\x07" in done.stderr
    for command in (["standings"], ["games"], ["games", "--json"]):
        arena(folder, command[0], "l.sqlite", *command[1:])
    with Store(folder / "l.sqlite", create=False) as store:
        rows = list(store.rows())
    assert max(len(row.detail) for row in rows) < 1500
    arena(folder, "show", "l.sqlite", str(rows[0].number))


def test_a_store_that_somebody_has_forged_does_nothing_to_a_terminal(folder: Path) -> None:
    league(folder, "alpha.sh", "beta.sh")
    database = sqlite3.connect(folder / "l.sqlite")
    (data,) = database.execute("SELECT record FROM records WHERE number = 1").fetchone()
    record = json.loads(data)
    evil = f"{CLIPBOARD}\u202e\x9b"
    record["players"][0]["name"] = record["verdict"]["detail"] = record["confinement"][0] = evil
    record["declared"] = [evil, evil]
    record["stderr"] = [evil + "\n" + evil, ""]
    record["notes"] = [{"ply": 1, "color": "red", "text": evil}]
    record["ruleset"] = evil
    database.execute(
        "UPDATE records SET record = ? WHERE number = 1", (json.dumps(record, ensure_ascii=False).encode(),)
    )
    database.execute("UPDATE games SET detail = ? WHERE number = 1", (evil,))
    database.execute("UPDATE players SET name = ? WHERE number = 1", (evil,))
    database.commit()
    database.close()
    path = folder / "l.sqlite"
    forge_setting(path, "time", evil)
    forge_setting(path, "entrants", [{"name": evil, "digest": evil}, {"name": "beta", "digest": "x"}])
    forge_setting(path, "files", {"beta@" + "0" * 64: {evil: evil}})
    for more in (["standings", "--all"], ["games"], ["show", "1", "--view", "red"]):
        arena(folder, more[0], "l.sqlite", *more[1:])
    league(folder, "alpha.sh", "beta.sh")
