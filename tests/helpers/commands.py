"""`arena` commands for tests: each in a process of its own, forked from one that has imported the arena already.

To start Python and import takes ten times as long as what most commands do. The process that forks has no other thread
and does nothing else; a command gets its own folder, environment, arguments and streams, and ends as it would anyway.
What depends on how Python starts (its options, its locale, Ctrl-C while modules are imported) needs `ARENA`; where
neither signals nor worker processes matter, a command is quicker in the process of the tests: `invoke`.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from played_here import games_played_here

from arena.cli.main import cli

PROGRAM = "from arena.cli.main import main; main()"
ARENA = [sys.executable, "-c", PROGRAM]
PLAYS = {"check", "compare", "league", "match", "play"}
UNHURRIED = ("--margin", "2m", "--start-time", "2m", "--setup-time", "2m")
"""First among the options of a command that plays, where its own win: no bot is late, however busy the machine."""
AS_USUAL = ("--margin", "50ms", "--start-time", "10s", "--setup-time", "5s")
"""What these options are where they are left out: for a store that was begun so."""
PATIENCE = 120
"""Seconds after which a command counts as one that never ends."""
PROGRAM_SECONDS = 300
"""The same for a program, which may run several commands."""

Done = subprocess.CompletedProcess[str]

SERVER = """
import gc, importlib, json, os, pkgutil, signal, sys
import arena
for module in pkgutil.walk_packages(arena.__path__, "arena."):
    if module.name not in ("arena.__main__", "arena.pytest_plugin"):
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
        signal.alarm(wish["patience"])
        for descriptor in (1, 2):
            os.dup2(os.open(wish["streams"][descriptor - 1], os.O_WRONLY | os.O_CREAT | os.O_EXCL), descriptor)
        os.chdir(wish["folder"])
        os.environ.clear()
        os.environ.update(wish["environment"])
        sys.argv = ["-c", *wish["arguments"]]
        sys.orig_argv = [*wish["command"], *wish["arguments"]]
        from arena.cli.main import main
        main()
    _, status = os.waitpid(child, 0)
    os.write(answers, b"%d\\n" % os.waitstatus_to_exitcode(status))
"""


class Commands:
    """The process that forks, and a folder for what its children print."""

    def __init__(self, before: str = "") -> None:
        """`before` is what the process that forks does first."""
        self._folder = tempfile.TemporaryDirectory(prefix="arena-tests-commands-")
        self._count = 0
        self._server = subprocess.Popen(
            [sys.executable, "-c", f"{before}\n{SERVER}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(
        self, folder: Path, arguments: list[str], environment: dict[str, str]
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run a command to its end. Raises `TimeoutExpired`, as `subprocess.run` does."""
        self._count += 1
        streams = [Path(self._folder.name, f"{self._count}.{name}") for name in ("out", "err")]
        wish = {
            "arguments": arguments,
            "command": ARENA,
            "environment": environment,
            "folder": str(folder),
            "patience": PATIENCE,
            "streams": [str(stream) for stream in streams],
        }
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(wish) + "\n")
        self._server.stdin.flush()
        code = int(self._server.stdout.readline())
        output, errors = (stream.read_bytes() for stream in streams)
        for stream in streams:
            stream.unlink()
        if code == -signal.SIGALRM:
            raise subprocess.TimeoutExpired([*ARENA, *arguments], PATIENCE, output, errors)
        return subprocess.CompletedProcess([*ARENA, *arguments], code, output, errors)

    def close(self) -> None:
        with self._server:
            pass
        self._folder.cleanup()


_commands: list[Commands] = []
"""The one of this session, once it has run a command."""


def close() -> None:
    """End the process that forks, if there is one."""
    while _commands:
        _commands.pop().close()


def unhurried(words: Sequence[str]) -> list[str]:
    """The words of a command; with more time, if it plays."""
    return [words[0], *UNHURRIED, *words[1:]] if words and words[0] in PLAYS else list(words)


def run_program(words: Sequence[object], folder: Path, typed: str = "", **environment: str) -> Done:
    """Run a program to its end, in a process of its own and a folder, with this as its input."""
    return subprocess.run(
        list(map(str, words)),
        cwd=folder,
        env={**os.environ, **environment},
        input=typed,
        capture_output=True,
        text=True,
        timeout=PROGRAM_SECONDS,
        check=False,
    )


def arena_bytes(folder: Path, *arguments: str | bytes, **environment: str) -> "subprocess.CompletedProcess[bytes]":
    """Run a command in a folder, with no terminal, to its end; what it prints is as it came. Games are `unhurried`.

    They are played one at a time unless `-j` says otherwise, as it takes longer to start a worker than to play a few.
    """
    words = unhurried([os.fsdecode(argument) for argument in arguments])
    if words and words[0] in PLAYS - {"check", "play"}:
        words[1:1] = ["-j", "1"]
    if any(name.startswith(("PYTHON", "LC_", "LANG")) for name in environment):
        return subprocess.run(
            [*ARENA, *words],
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    if not _commands:
        _commands.append(Commands())
    return _commands[0].run(folder, words, {**os.environ, **environment})


def arena(folder: Path, *arguments: str | bytes, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run a command in a folder, with no terminal, to its end. Games are `unhurried`."""
    done = arena_bytes(folder, *arguments, **environment)
    output, errors = (
        stream.decode().replace("\r\n", "\n").replace("\r", "\n") for stream in (done.stdout, done.stderr)
    )
    return subprocess.CompletedProcess(done.args, done.returncode, output, errors)


def invoke(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a command in a folder and in this process, whose limits it leaves as they are, and which plays the games."""
    words = unhurried(arguments)
    with pytest.MonkeyPatch.context() as patched, contextlib.chdir(folder):
        for module in ("cli.play_games", "cli.process_setup", "cli.saved_play", "sandbox.rlimits"):
            patched.setattr(f"arena.{module}.use_all_descriptors", lambda: None)
        patched.setattr(sys, "argv", ["arena", *words])
        with games_played_here():
            done = CliRunner().invoke(cli, words)
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)
