"""`arena` commands for tests, in the process of the tests (`invoke`) or in one of their own (`run_program`).

What depends on how Python starts, on signals or on worker processes needs `ARENA`.
"""

import contextlib
import os
import subprocess
import sys
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
PROGRAM_SECONDS = 300
"""Seconds after which a program, which may run several commands, counts as one that never ends."""

Done = subprocess.CompletedProcess[str]


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


def invoke(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a command in a folder and in this process, whose limits it leaves as they are, and which plays the games."""
    words = unhurried(arguments)
    with pytest.MonkeyPatch.context() as patched, contextlib.chdir(folder):
        for module in ("cli.play_games", "cli.saved_play", "sandbox.rlimits"):
            patched.setattr(f"arena.{module}.use_all_descriptors", lambda: None)
        patched.setattr(sys, "argv", ["arena", *words])
        with games_played_here():
            done = CliRunner().invoke(cli, words)
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)
