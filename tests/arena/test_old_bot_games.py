"""Bots of 2012 as processes behind their adapter: played, kept, opened and played again like any other, and refused in
words where that cannot be done."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import trio
from bot_games import play
from commands import invoke
from sandboxes import at_every_level

from arena import open_bot
from arena.bots.loading import load_bot
from arena.bots.samples import bot_path
from arena.bots.spec import BotSpec
from arena.game.faults import GameResult
from arena.sandbox.levels import Level
from protocol.notation import Reason

HELPERS = Path(__file__).parent.parent / "helpers"
OLD = HELPERS / "ucc_random.py"


@pytest.fixture
def short(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("rules") / "short.toml"
    path.write_text('extends = "ucc-2012"\nmax_plies = 30\n')
    return str(path)


def answer(folder: Path, *arguments: str) -> str:
    done = invoke(folder, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


@at_every_level
def test_a_bot_of_2012_plays_a_bot_of_version_1_and_the_games_are_like_any_other(
    tmp_path: Path, short: str, level: Level
) -> None:
    options = ("--rules", short, "--time", "60s/move", "--store", "s.sqlite", "--sandbox", level.value)
    answer(tmp_path, "match", f"ucc:{OLD}", "drifter", *options)
    assert "2 games, all sound" in answer(tmp_path, "verify", "s.sqlite")
    assert "forfeit" not in answer(tmp_path, "show", "s.sqlite", "1")
    logged = [json.loads(line) for line in answer(tmp_path, "log", "s.sqlite", "1", "--json").splitlines()]
    (asked,) = (entry for entry in logged if entry.get("line") == "cannot restore")
    if level is Level.BASIC:
        again = answer(tmp_path, "rerun", "s.sqlite", "1", "--bot", f"{asked['side']}={OLD}")
        assert "same to the end" in again


def test_a_game_of_a_bot_of_2012_cannot_be_paused(tmp_path: Path) -> None:
    done = invoke(tmp_path, "match", f"ucc:{OLD}", "drifter", "--store", "s.sqlite", "--pause", "game.json")
    assert done.returncode == 2
    assert "says 'cannot restore': play it without --pause" in done.stderr


def test_a_bot_of_2012_can_be_kept_and_opened(tmp_path: Path, short: str) -> None:
    """Each game has a new process of the old bot, behind the same adapter."""
    options = ("--rules", short, "--time", "60s/move", "--store", "s.sqlite", "--keep-bots")
    answer(tmp_path, "match", f"ucc:{OLD}", "drifter", *options)
    assert "2 games, all sound" in answer(tmp_path, "verify", "s.sqlite")

    async def open_it() -> None:
        async with open_bot(f"ucc:{OLD}", rules="ucc-2012") as bot:
            assert bot.name == "ucc_random"

    trio.run(open_it)


def test_how_an_old_bot_ended_is_in_the_verdict(make_bot: Callable[..., BotSpec], short: str) -> None:
    old = replace(make_bot("import os\ninput()\nos.kill(os.getpid(), 11)\n"), is_of_2012=True)
    record = trio.run(partial(play, old, load_bot(bot_path("drifter")), ruleset=short))
    assert (record.verdict.result, record.verdict.reason) == (GameResult.BLUE, Reason.CRASH)
    assert "the bot was killed by signal 11 (SIGSEGV)" in record.verdict.detail
