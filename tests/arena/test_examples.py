"""The examples at the end of each command's help work, one after the other, in a folder with two bots and no store."""

import glob
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import UNHURRIED, invoke
from made_bots import SHORT_GAMES
from served_command import visit

from arena.cli import catalog
from arena.cli.cmd_completion import SHELLS
from arena.cli.exit_codes import DONE, FOUND, NOT_BETTER, UNDECIDED
from arena.cli.helping import ArenaCommand
from arena.cli.main import cli

PATIENCE = 120
ALLOWED = {"check": {DONE, FOUND}, "compare": {DONE, NOT_BETTER, UNDECIDED}}
"""What an example may exit with, where that is an answer to a question."""
BY_SHELL = ("play", "serve", "doctor", "completion")
"""Commands that need a terminal, signals or the shell, or may start themselves again; others run in this process."""
ORDER = ("league", "match", *(name for name in catalog.NAMES if name not in ("league", "match", "host", "submit")))
"""What later examples read is made by earlier ones. `arena host` has tests of its own, with a server."""

ARENA = """#!{python}
import sys
if sys.argv[1:2] == ["play"]:
    sys.argv += {unhurried}
if sys.argv[1:2] == ["serve"]:
    sys.argv += ["--listen", "127.0.0.1:0"]  # other tests may be at the usual port
from arena.cli.entry import main
main()
"""


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with bots whose games are short, by the names that the examples have for bots, and `arena`."""
    (tmp_path / "bots").mkdir()
    for name in ("bots/raider.py", "bots/warden.py", "mine.py", "mine-old.py"):
        (tmp_path / name).write_text(f"{SHORT_GAMES}# {name}\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "bin").mkdir()
    arena = tmp_path / "bin" / "arena"
    arena.write_text(ARENA.format(python=sys.executable, unhurried=UNHURRIED))
    arena.chmod(0o755)
    return tmp_path


def run_by_shell(line: str, desk: Path, shell: str = "sh") -> int | None:
    found = shutil.which(shell)
    if found is None:
        return None
    setup = "autoload -Uz compinit && compinit -u && " if shell == "zsh" else ""
    environment = {**os.environ, "PATH": f"{desk / 'bin'}{os.pathsep}{os.environ['PATH']}", "HOME": str(desk)}
    if line.startswith("arena serve "):
        code, said = visit(line, desk, environment)
        assert "Traceback" not in said
        return code
    done = subprocess.run(
        [found, "-c", setup + line],
        cwd=desk,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert "Traceback" not in done.stderr
    print(line, done.stdout, done.stderr, sep="\n")
    return done.returncode


def words_of(line: str) -> list[str]:
    """The words of an example, with patterns as a shell expands them, and with few games and checks."""
    _, name, *words = [path for word in shlex.split(line) for path in (sorted(glob.glob(word)) or [word])]
    for at, word in enumerate(words):
        if word == "--games":
            words[at + 1] = "2"
    if name == "check" and "--replay" not in words:
        words += ["--quick", "--only", "start"]
    if name == "league" and "--format" not in words:
        words += ["--rounds", "2"]  # later examples look at its game 3
    return [name, *words]


def test_all_examples_of_help_work(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(desk)
    for name in ("", *ORDER):
        command = cli.all_commands()[name] if name else cli
        examples = command.examples if isinstance(command, ArenaCommand) else catalog.EXAMPLES
        for line, _ in examples:
            if name == "completion":
                assert run_by_shell(line, desk, next(each for each in SHELLS if each in line)) in (0, None)
            elif name in BY_SHELL:
                assert run_by_shell(line, desk) == DONE, line
            else:
                done = invoke(desk, *words_of(line))
                assert done.returncode in ALLOWED.get(name, {DONE}), (line, done.stderr)
