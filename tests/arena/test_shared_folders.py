"""Arenas that play from the same folders: none changes under another what that plays with, and each knows its bots.

Locks are taken by two descriptors, which is to the system as if two processes had them.
"""

import fcntl
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import commands
import pytest
import trio
from made_bots import RESIGNS
from sandboxes import at_every_level

from arena.bots.limits import BuildLimits
from arena.bots.loading import load_bot
from arena.bots.spec import BotSpec
from arena.league.store import Store, sole_use
from arena.league.versions import compare
from arena.processes.build import build_all
from arena.processes.folders import BotFolders
from arena.sandbox.levels import Level
from arena.sandbox.programs import HostPrograms

ROOT = Path(__file__).parent.parent.parent
SAME = "cp source made; chmod +x made; mkdir -p build; date +%N >build/log\n"
OTHER = "cp source made; date +%N >>made; chmod +x made\n"
MAIN = f"#!/usr/bin/env python3\n{RESIGNS}"


def bot_in(folder: Path, script: str, *, command: str = '["./made"]', name: str = "hunter") -> BotSpec:
    home = folder / name
    home.mkdir()
    (home / "build.sh").write_text(script)
    (home / "source").write_text(MAIN)
    (home / "bot.toml").write_text(f'command = {command}\nbuild = "sh build.sh"\n')
    return load_bot(home)


def built(
    bots: list[BotSpec],
    folders: BotFolders,
    level: Level = Level.BASIC,
    say: Callable[[str], None] = lambda _: None,
    run: Any = trio.run,
) -> list[BotSpec]:
    made = build_all(bots, level, BuildLimits(), HostPrograms((), bots), say, folders=folders, run=run)
    assert [bot.fault for bot in made] == [None] * len(bots)
    return made


def stamps(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Of all files of a folder, what shows that one was written to or put there."""
    return {
        str(path): (status.st_ino, status.st_mtime_ns, status.st_ctime_ns)
        for path in folder.rglob("*")
        if (status := path.lstat())
    }


@contextmanager
def another_plays(bot: BotSpec, level: Level = Level.BASIC) -> Iterator[BotSpec]:
    with BotFolders() as theirs:
        yield built([bot], theirs, level)[0]


# --- builds -----------------------------------------------------------------------------------------------------------


@at_every_level
def test_nothing_is_built_while_another_arena_plays(level: Level, folder: Path) -> None:
    with another_plays(bot_in(folder, OTHER), level) as theirs, BotFolders() as ours:
        before = stamps(theirs.folder)
        said: list[str] = []
        (bot,) = built([theirs], ours, level, said.append)
        assert stamps(theirs.folder) == before
        assert bot.digest == theirs.digest
    assert said[-1] == "hunter: another arena plays with it, so it is not built again"
    with BotFolders() as ours:
        built([theirs], ours, level)
    assert stamps(theirs.folder) != before, "it is over, and they may be built"


@pytest.mark.parametrize("has_built", [True, False], ids=["and plays then", "and has ended or failed"])
def test_while_another_arena_builds_it_is_waited_for_and_said(folder: Path, has_built: bool) -> None:
    """Whoever has waited builds in the folder itself, if nobody plays from it then."""
    bot = bot_in(folder, SAME)
    with another_plays(bot):
        pass
    lock = os.open(bot.folder, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    said: list[str] = []

    def run(function: Callable[..., Awaitable[object]], *arguments: object) -> object:
        if "hunter: waiting for another arena, which builds it" in said:  # they are done only while it is waited
            fcntl.flock(lock, fcntl.LOCK_SH if has_built else fcntl.LOCK_UN)
        return trio.run(function, *arguments)

    with BotFolders() as ours:
        built([bot], ours, say=said.append, run=run)
    os.close(lock)
    assert "hunter: waiting for another arena, which builds it" in said
    assert ("hunter: another arena plays with it, so it is not built again" in said) is has_built


# --- whole commands ---------------------------------------------------------------------------------------------------


def league(folder: Path) -> tuple[int, str]:
    options = ("--rules", "duel", "--store", "l.sqlite", "--sandbox", "basic", *commands.UNHURRIED)
    done = commands.invoke(folder, "league", "hunter", "ann.py", *options)
    return done.returncode, done.stderr


def test_a_command_whose_store_is_in_use_builds_nothing(folder: Path) -> None:
    bot_in(folder, SAME)
    (folder / "ann.py").write_text(RESIGNS)
    with sole_use(folder / "l.sqlite"):
        code, said = league(folder)
    assert code == 1
    assert "another arena is playing with this store" in said
    assert "building" not in said
    assert not (folder / "hunter" / "made").exists()
    assert not (folder / "l.sqlite").exists()


def test_a_command_that_would_take_from_another_what_it_plays_with_is_refused_and_nobody_forfeits(folder: Path) -> None:
    (folder / "ann.py").write_text(RESIGNS)
    with another_plays(bot_in(folder, OTHER)) as theirs:
        (theirs.folder / "source").write_text(f"{MAIN}# new\n")
        code, said = league(folder)
    assert code == 1
    assert "arena: hunter: another arena plays with what its build has made there; wait for that arena" in said
    assert not (folder / "l.sqlite").exists()


def test_a_league_plays_on_where_another_arena_plays_with_the_same_bots(folder: Path) -> None:
    (folder / "ann.py").write_text(RESIGNS)
    with another_plays(bot_in(folder, SAME)) as theirs:
        code, said = league(folder)
        assert (code, "not built again" in said) == (0, True), said
        assert theirs.look is not None
        assert compare(theirs, theirs.look)[1] is None
    with Store(folder / "l.sqlite", create=False) as store:
        assert len(store.rows()) > 0


def test_a_game_that_is_played_again_spares_what_another_arena_plays_with(folder: Path) -> None:
    (folder / "ann.py").write_text(RESIGNS)
    bot_in(folder, OTHER)
    assert league(folder)[0] == 0
    with another_plays(load_bot(folder / "hunter")) as theirs:
        before = stamps(theirs.folder)
        done = commands.invoke(folder, "rerun", "l.sqlite", "1", "--sandbox", "basic")
        assert "another arena plays with it, so it is not built again" in done.stderr
        assert stamps(theirs.folder) == before


def test_a_game_goes_on_with_the_program_that_it_was_begun_with(folder: Path) -> None:
    """Nothing is built then, and no digest covers what was."""
    plays = (ROOT / "bots" / "drifter.py").read_text()
    (folder / "ann.py").write_text(plays)
    bot_in(folder, SAME)
    (folder / "hunter" / "source").write_text(f"#!/usr/bin/env python3\n{plays}")
    options = ("--sandbox", "basic", "--rules", "duel", "--store", "l.sqlite", *commands.UNHURRIED)
    begun = commands.invoke(folder, "match", "hunter", "ann.py", "--pause", "game", "--pause-after", "2", *options)
    assert (begun.returncode, (folder / "game").exists()) == (0, True), begun.stderr
    made = (folder / "hunter" / "made").read_bytes()
    (folder / "hunter" / "made").write_bytes(made + b"# another\n")
    other = commands.invoke(folder, "resume", "game")
    assert other.returncode == 2
    assert "expected the program that its build had made when the game began" in other.stderr
    (folder / "hunter" / "made").write_bytes(made)
    done = commands.invoke(folder, "resume", "game")
    assert done.returncode == 0, done.stderr
