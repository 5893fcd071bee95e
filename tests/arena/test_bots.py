"""From a path to a bot: what may stand there is found and run as it says, and what is wrong is said all at once."""

import sys
from pathlib import Path

import pytest
import trio
from made_files import put

from arena.bots.finding import find_entrants
from arena.bots.loading import load_bot
from arena.bots.spec import TOKEN_VARIABLE, BotSpec
from arena.errors import UsageError
from arena.processes.process import BotProcess
from arena.sandbox.launch import Launch


def bot_folder(folder: Path, manifest: str = 'command = ["./run"]', **files: str) -> Path:
    """A folder with a manifest, a program `run` and other files."""
    put(folder / "bot.toml", manifest, mode=0o644)
    put(folder / "run")
    for name, text in files.items():
        put(folder / name.replace("__", "."), text, mode=0o644)
    return folder


def problem(path: Path) -> str:
    with pytest.raises(UsageError) as caught:
        load_bot(path)
    return str(caught.value)


def output(bot: BotSpec) -> str:
    """What the bot's program prints when it is started as the arena starts it."""

    async def main() -> bytes:
        process = BotProcess.start(Launch(bot.command, bot.folder, bot.environment))
        said = b""
        with trio.fail_after(120):
            while True:
                await trio.lowlevel.wait_readable(process.stdout)
                data = process.read_now()
                if data == b"":
                    break
                said += data or b""
        await process.end(0)
        assert process.stderr_tail == ""
        return said

    return trio.run(main).decode()


# --- what may stand there -----------------------------------------------------------------------------------------


def test_an_executable_file_is_run_itself_in_its_folder(tmp_path: Path) -> None:
    path = put(tmp_path / "hunter", "#!/bin/sh\npwd\n")
    bot = load_bot(path)
    assert (bot.name, bot.command, bot.folder) == ("hunter", (str(path),), tmp_path)
    assert output(bot) == f"{tmp_path}\n"


def test_a_python_file_that_is_not_executable_is_run_by_the_arenas_interpreter(tmp_path: Path) -> None:
    path = put(tmp_path / "hunter.py", "import sys\nprint(sys.executable)", mode=0o644)
    bot = load_bot(path)
    assert (bot.name, bot.command) == ("hunter", (sys.executable, str(path)))
    assert output(bot) == f"{sys.executable}\n"


def test_a_relative_path_is_run_from_wherever_the_arena_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "bots" / "hunter", "#!/bin/sh\necho here\n")
    bot_folder(tmp_path / "bots" / "other", 'command = ["./run"]')
    put(tmp_path / "bots" / "other" / "run", "#!/bin/sh\necho there\n")
    monkeypatch.chdir(tmp_path)
    bots = find_entrants(["bots/hunter", "bots/other"]).sound()
    monkeypatch.chdir("/")
    assert [output(bot) for bot in bots] == ["here\n", "there\n"]


def test_a_folder_runs_the_command_of_its_manifest(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path / "hunter", 'command = ["./bin/go", "--depth", "3"]')
    put(folder / "bin" / "go", '#!/bin/sh\necho "$@" in $(pwd)\n')
    bot = load_bot(folder)
    assert bot.name == "hunter"
    assert output(bot) == f"--depth 3 in {folder}\n"


def test_a_manifest_may_name_the_bot_and_add_to_its_environment(tmp_path: Path) -> None:
    manifest = 'command = ["./run"]\nname = "Hunter II"\nenv = { DEPTH = "3" }'
    folder = bot_folder(tmp_path / "hunter", manifest)
    put(folder / "run", "#!/bin/sh\necho depth $DEPTH\n")
    bot = load_bot(folder)
    assert bot.name == "Hunter II"
    assert output(bot) == "depth 3\n"


# --- what is wrong ------------------------------------------------------------------------------------------------


def test_everything_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    good = put(tmp_path / "good")
    missing, text, empty = tmp_path / "missing", put(tmp_path / "notes", mode=0o644), tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UsageError) as caught:
        find_entrants([str(path) for path in (missing, good, text, empty)]).sound()
    lines = str(caught.value).splitlines()
    assert [line.split(":")[0] for line in lines] == [str(missing), str(text), str(empty)]


@pytest.mark.parametrize(
    ("name", "language"),
    [("hunter.rs", "rust"), ("hunter.cc", "c++")],
)
def test_a_source_file_comes_with_what_it_needs(name: str, language: str, tmp_path: Path) -> None:
    path = put(tmp_path / name, "int main() {}\n", mode=0o644)
    words = "a source file needs a folder with a bot.toml that says how it is built and run"
    assert problem(path).endswith(f"; {words}: see 'arena new NAME --language {language}'")
    (tmp_path / "bot.toml").touch()
    assert problem(path).endswith(f"; this is a source file: name its folder: {tmp_path}")


@pytest.mark.parametrize("executable", [True, False])
def test_a_manifest_alone_comes_with_the_name_of_its_folder(executable: bool, tmp_path: Path) -> None:
    path = bot_folder(tmp_path / "hunter") / "bot.toml"
    path.chmod(0o755 if executable else 0o644)
    assert problem(path).endswith(f"name its folder: {tmp_path}/hunter")


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("Bot.toml", "; it is called Bot.toml here"),
        ("hunter/bot.toml", "; there are bots in it: name them, as in {}/*"),
        ("hunter.py", "; a .py file in it is a bot by itself: name it, as in {}/*.py"),
        ("main.go", "; 'arena new NAME --language go' writes one, and a bot to begin with"),
        ("notes.txt", '"]'),
    ],
)
def test_a_folder_without_a_manifest_says_what_is_there_instead(file: str, words: str, tmp_path: Path) -> None:
    put(tmp_path / "mine" / file)
    assert problem(tmp_path / "mine").endswith(words.format(tmp_path / "mine"))


# --- what a bot gets to see ---------------------------------------------------------------------------------------


def test_a_bot_is_not_shown_the_arenas_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    monkeypatch.setenv("LANG", "C.UTF-8")
    shown = output(load_bot(put(tmp_path / "spy", "#!/bin/sh\nexec env\n"))).splitlines()
    assert "hunter2" not in "".join(shown)
    assert "LANG=C.UTF-8" in shown
    names = {line.split("=")[0] for line in shown}
    expected = {"PATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", TOKEN_VARIABLE, "LANG"}
    of_the_machine = {"HOME", "LC_ALL", "LC_CTYPE", "LOGNAME", "TMPDIR", "TZ", "USER", "JAVA_HOME", "LD_LIBRARY_PATH"}
    assert expected <= names
    assert names - expected - of_the_machine <= {"PWD", "_", "SHLVL"}, "what the shell itself adds"


def test_a_script_for_env_python3_finds_the_kit_wherever_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    script = "#!/usr/bin/env python3\nimport sys\nfrom protocol.bot import Bot\nprint(sys.prefix, Bot.__name__)\n"
    assert output(load_bot(put(tmp_path / "kit.py", script))) == f"{sys.prefix} Bot\n"
