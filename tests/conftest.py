"""What tests with real processes share: bots written on the spot, games between them, and a look at what is left."""

import os
import secrets
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import trio

from arena.bots import BotSpec
from arena.match import play_game
from arena.model import GameRecord, GameSpec, Player, TimeControl
from arena.rules.ruleset import load_ruleset

PREAMBLE = Path(__file__).parent / "hostile" / "preamble.py"
MARKER_VARIABLE = "ARENA_TEST_MARKER"
PATIENT = TimeControl(move_ms=60_000, setup_ms=60_000, start_ms=60_000)
"""Limits that no game reaches, however busy the machine is."""
NEVER_ENDS = 20.0
"""Seconds after which a game counts as one that never ends."""


@pytest.fixture
def marker() -> str:
    """A word that is in the environment of all processes of this test's bots, and nowhere else."""
    return secrets.token_hex(16)


@pytest.fixture
def make_bot(tmp_path: Path, marker: str) -> Callable[..., BotSpec]:
    """`make_bot(program, name)`: a bot that runs this Python text with the functions of `hostile/preamble.py`."""

    def make(program: str, name: str = "bot") -> BotSpec:
        path = tmp_path / f"{secrets.token_hex(4)}.py"
        path.write_text(f"{PREAMBLE.read_text()}\n\n{program}")
        return BotSpec(
            name=name,
            path=path,
            command=(sys.executable, "-I", "-S", str(path)),  # in half the time that Python takes otherwise
            folder=tmp_path,
            digest=name,
            environment={"PATH": os.defpath, MARKER_VARIABLE: marker},
        )

    return make


@pytest.fixture
def play() -> Callable[..., Awaitable[GameRecord]]:
    """`await play(red, blue, time=..., ruleset=..., seeds=...)`: one game; it fails the test if it never ends."""

    async def play_one(
        red: BotSpec,
        blue: BotSpec,
        time: TimeControl = PATIENT,
        ruleset: str = "barrage",
        seeds: tuple[int, int] = (11, 22),
    ) -> GameRecord:
        game = GameSpec(
            id=secrets.token_hex(8),
            ruleset=load_ruleset(ruleset),
            time=time,
            players=(Player(red.name, red.digest), Player(blue.name, blue.digest)),
            seeds=seeds,
            pair_seed=33,
        )
        with trio.fail_after(NEVER_ENDS):
            return await play_game(game, red, blue)

    return play_one


@pytest.fixture
def left_behind(marker: str) -> Iterator[Callable[[], list[str]]]:
    """`left_behind()`: the processes of this test's bots that are still there, zombies included, in words.

    What there is at the end of a test that failed is cleared away, so that no other test is blamed for it.
    """

    def look() -> list[str]:
        found = [f"{child.pid} is {child.status()}" for child in psutil.Process().children(recursive=True)]
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if marker.encode() in (folder / "environ").read_bytes():
                    found.append(f"{folder.name} runs {(folder / 'cmdline').read_bytes()!r}")
        return found

    yield look
    left = psutil.Process().children(recursive=True)
    for process in left:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(left, timeout=NEVER_ENDS)
