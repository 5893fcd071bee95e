"""Bots that play the same games in every run, and can be held in their first turn; their league without a cluster."""

import os
from pathlib import Path

import pytest
from commands import UNHURRIED, invoke
from waiting import until

from arena.league.store import Store

PREAMBLE = Path(__file__).parents[2] / "hostile" / "preamble.py"
PROGRAM = """
import time
introduce()
set_up()
hear("turn")
for hold in [name for name in os.listdir({folder!r}) if name.startswith("hold-") and is_red()]:
    open({folder!r} + "/in-" + hold + "-" + str(os.getpid()), "w").close()
    while os.path.exists({folder!r} + "/" + hold):
        time.sleep(0.02)
say("move " + heard["legal"][{number} % len(heard["legal"])])
play()
"""
NAMES = ("ann", "bob")
SAME = (*UNHURRIED, "--rules", "duel", "--time", "600s/move", "--rounds", "1")
"""With more time for a move than any test holds a bot."""
GAMES = 2


class Bots:
    """Two bots in a folder. From `hold` to `let_go` the red one of each game waits in its first turn."""

    def __init__(self, folder: Path, all_folders: Path) -> None:
        """Only processes somewhere in `all_folders` count as these bots."""
        self.folder = folder
        self._all_folders = all_folders
        self._holds = 0
        for number, name in enumerate(NAMES):
            text = PROGRAM.format(folder=str(folder), number=number)
            (folder / f"{name}.py").write_text(f"{PREAMBLE.read_text()}\n\n{text}")
        self.arguments = (*(str(folder / f"{name}.py") for name in NAMES), *SAME)

    def hold(self) -> None:
        """Let the held games continue, and hold games that start after this before their first move."""
        held = self._hold
        self._holds += 1
        self._hold.touch()
        held.unlink(missing_ok=True)

    def let_go(self) -> None:
        self._hold.unlink(missing_ok=True)

    @property
    def _hold(self) -> Path:
        return self.folder / f"hold-{self._holds}"

    @property
    def held(self) -> list[Path]:
        return list(self.folder.glob(f"in-{self._hold.name}-*"))

    def until_held(self, count: int) -> None:
        until(lambda: len(self.held) >= count, f"{count} games are held")

    @property
    def alive(self) -> list[int]:
        """The processes of bots that live."""
        names = tuple(f"/{name}.py".encode() for name in NAMES)
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                here = os.readlink(entry / "cwd")
            except OSError:
                continue
            is_copy = here.startswith(f"{self._all_folders}/") and "/bots-" in here
            if is_copy and any(word.endswith(names) for word in words):
                found.append(int(entry.name))
        return found


def results(store: Path) -> dict[str, object]:
    """What came of each game, by its id."""
    with Store(store, create=False) as opened:
        rows = list(opened.rows())
    assert len({row.id for row in rows}) == len(rows)
    return {row.id: (row.players, row.result, row.reason, row.plies) for row in rows}


@pytest.fixture(scope="package")
def bots(tmp_path_factory: pytest.TempPathFactory) -> Bots:
    return Bots(tmp_path_factory.mktemp("bots"), tmp_path_factory.getbasetemp())


@pytest.fixture(scope="package")
def plain(bots: Bots, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The league of these bots without a cluster."""
    folder = tmp_path_factory.mktemp("plain")
    done = invoke(folder, "league", *bots.arguments, "--store", "plain.sqlite")
    assert done.returncode == 0, done.stderr
    found = results(folder / "plain.sqlite")
    assert len(found) == GAMES
    return found
