"""Competitions in folders, with bots that are in the ladder without having gone through the stages."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from made_bots import MOVES
from waiting import PATIENCE

from arena.host import playing
from arena.host.accounts import MACHINE, Account, Team, find_invitation, invite, join, team_of
from arena.host.cup_database import FILE, CupDatabase
from arena.host.cup_settings import SETTINGS, Cup, load_cup, write_cup
from arena.host.playing import ContinuousPlay
from arena.host.seasons import open_season
from arena.host.submissions import bot_folder
from arena.sandbox.levels import Level

CRASHES = """#!/bin/sh
while read -r word rest; do
    case $word in
    hello) echo ready ;;
    setup) exit 1 ;;
    esac
done
"""
MORE = """
trusted = true
{more}
"""


def make_cup(folder: Path, more: str = "", *, time_control: str = "5s", stint: str = "1s", play: str = "") -> Cup:
    """Make a competition in duels with short stints. `more` are lines before the tables, `play` lines of [play]."""
    write_cup(
        folder,
        title="Cup",
        address="http://127.0.0.1:8000",
        rules="duel",
        time=time_control,
        sandbox="auto",
        jobs=1,
    )
    path = folder / SETTINGS
    text = path.read_text().replace('sandbox = "auto"', f'sandbox = "basic"\nstint = "{stint}"\n{play}')
    path.write_text(text.replace("\n[registration]", f"\n{MORE.format(more=more)}\n[registration]", 1))
    database = CupDatabase(folder / FILE, create=True)
    cup = load_cup(folder)
    open_season(database, cup)
    database.close()
    return cup


async def when(is_so: Callable[[], object]) -> None:
    """Wait, in trio, until a condition holds that another process brings about."""
    while not is_so():  # noqa: ASYNC110
        await trio.sleep(0.01)


@contextmanager
def opened(folder: Path) -> Iterator[CupDatabase]:
    database = CupDatabase(folder / FILE)
    try:
        yield database
    finally:
        database.close()


def make_account(database: CupDatabase, cup: Cup, name: str) -> tuple[Account, Team]:
    """Make an account with a team of its own."""
    word = invite(database, MACHINE)
    assert find_invitation(database, word)
    account = join(database, cup, word, name, f"Team of {name}")
    team = team_of(database, account.id)
    assert team is not None
    return account, team


def add_bot(
    database: CupDatabase, folder: Path, of: tuple[Account, Team], name: str, program: str = MOVES, **values: Any
) -> int:
    """Add a submission that is on probation, with a program of its own; return its number."""
    account, team = of
    row = {"bytes": 1, "sent_as": f"{name}.sh", "received": time.time(), "changed": time.time(), "state": "probation"}
    with database.change():
        number = database.insert("submission", team=team.id, account=account.id, bot=name, **(row | values))
    at = bot_folder(folder, number)
    at.mkdir(parents=True)
    (at / f"{name}.sh").write_text(f"{program}# {name}\n")
    (at / f"{name}.sh").chmod(0o755)
    return number


def play_until(
    folder: Path,
    cup: Cup,
    database: CupDatabase,
    is_over: Callable[[ContinuousPlay], object],
    *,
    level: Level = Level.BASIC,
    said: list[str] | None = None,
) -> ContinuousPlay:
    """Play until a condition holds; `said` gets complaints. A stint that is over is noticed sooner than on a server."""
    said = [] if said is None else said
    play = ContinuousPlay(folder, cup, database, level, complain=said.append)

    async def main() -> None:
        with trio.move_on_after(PATIENCE) as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(play.run)
                await when(lambda: is_over(play))
                nursery.cancel_scope.cancel()
        assert not scope.cancelled_caught, f"never: {play.now}; {said}"

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(playing, "TICK", 0.05)
        trio.run(main)
    return play
