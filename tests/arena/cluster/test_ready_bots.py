"""Bots made ready on a machine: what changes there never plays, and who cannot play there is told of by name."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio

from arena.bots import BotSpec, load_bot
from arena.bots.build import build_all
from arena.bots.build_checks import BuildLimits
from arena.bots.sandbox.levels import Level
from arena.bots.sandbox.programs import HostPrograms
from arena.errors import ArenaError, UsageError
from arena.league.executor.cluster import carrying
from arena.league.executor.cluster.cache import Cache
from arena.league.executor.cluster.carrying import Cargo, cargo_of
from arena.league.executor.cluster.copies import Copies
from arena.league.executor.cluster.messages import Missing, Unable
from arena.league.executor.cluster.ready_bots import Preparation, ReadyBots
from arena.league.executor.task import PlaySettings

LIMITS = BuildLimits(seconds=60)
MANIFEST = 'command = ["./program"]\nbuild = "{build}"\nignore = ["logs/*"]\n'
UNSTEADY = "date +%s%N > stamp; printf '#!/bin/sh\\\\n' > program; chmod +x program; echo x >> {log}"


class Machine:
    """A worker's machine, as far as bots are made ready there."""

    def __init__(self, folder: Path) -> None:
        self.cache = Cache(folder / "cache")

    def prepare(self, cargo: Cargo, copies: Copies) -> ReadyBots | Missing | Unable:
        return Preparation(self.cache, copies, cargo.run, say=lambda line: None, run=trio.run).prepare()

    def keep(self, cargo: Cargo) -> None:
        for key, pack in cargo.packs.items():
            self.cache.put(key, pack)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Machine]:
    """A machine with 64 KiB of disk for its cache."""
    disk = tmp_path / "disk"
    disk.mkdir()
    line = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(disk)]
    if (
        sys.platform != "linux"
        or os.geteuid() != 0
        or subprocess.run(line, capture_output=True, check=False).returncode
    ):
        pytest.skip("a small disk cannot be mounted here, which needs Linux and root")
    yield Machine(disk)
    subprocess.run(["umount", str(disk)], check=True)


@pytest.fixture
def copies(machine: Machine) -> Iterator[Copies]:
    with Copies(machine.cache) as made:
        yield made


def cargo(*bots: BotSpec) -> Cargo:
    return cargo_of(PlaySettings(bots), LIMITS, 1)


def file_bot(folder: Path, name: str = "ann") -> BotSpec:
    (folder / f"{name}.py").write_text(f"print('{name}')\n")
    return load_bot(folder / f"{name}.py")


def built_bot(folder: Path, build: str = UNSTEADY) -> BotSpec:
    """A bot as it is after it has been built at home. A line in the file `log` tells of each build."""
    home = folder / "made"
    home.mkdir()
    (home / "bot.toml").write_text(MANIFEST.format(build=build.format(log=folder / "log")))
    (bot,) = build_all([load_bot(home)], Level.DEFAULT, LIMITS, HostPrograms((), []), lambda line: None)
    assert bot.fault is None, bot.fault
    return bot


def builds(folder: Path) -> int:
    return len((folder / "log").read_text().splitlines())


def test_each_bot_is_played_from_a_copy_of_its_own(machine: Machine, copies: Copies, tmp_path: Path) -> None:
    load = cargo(file_bot(tmp_path), file_bot(tmp_path, "bob"))
    machine.keep(load)
    ready = machine.prepare(load, copies)
    assert isinstance(ready, ReadyBots)
    assert [bot.name for bot in ready.bots] == ["ann", "bob"]
    assert len({bot.folder for bot in ready.bots}) == 2
    assert all(bot.folder.is_relative_to(machine.cache.folder) for bot in ready.bots)


def test_a_bot_whose_pack_was_changed_is_asked_for_again_with_a_remark(
    machine: Machine, copies: Copies, tmp_path: Path
) -> None:
    load = cargo(file_bot(tmp_path), file_bot(tmp_path, "bob"))
    machine.keep(load)
    (key, *_) = load.packs
    (machine.cache.folder / key).write_bytes(b"evil")
    assert machine.prepare(load, copies) == Missing(
        (key,), ("ann: its files in the cache had been changed; it is sent again",)
    )
    machine.keep(load)
    assert isinstance(machine.prepare(load, copies), ReadyBots)


def test_a_bot_whose_build_makes_other_files_each_time_plays_as_the_one_that_was_sent(
    machine: Machine, copies: Copies, tmp_path: Path
) -> None:
    bot = built_bot(tmp_path)
    load = cargo(bot)
    machine.keep(load)
    ready = machine.prepare(load, copies)
    assert isinstance(ready, ReadyBots)
    assert ready.bots[0].player == bot.player
    here = ready.bots[0].folder
    assert (here / "stamp").read_text() != (bot.folder / "stamp").read_text()
    assert ready.watched["made"].look().changed == ""
    (here / "program").write_text("evil")
    assert "program (changed)" in ready.watched["made"].look().changed


def test_a_bot_is_built_once_on_a_machine_and_again_when_what_was_built_has_changed(
    machine: Machine, tmp_path: Path
) -> None:
    load = cargo(built_bot(tmp_path))
    machine.keep(load)
    for _ in range(2):
        with Copies(machine.cache) as copies:
            assert isinstance(machine.prepare(load, copies), ReadyBots)
    assert builds(tmp_path) == 2  # one of them at home
    (program,) = machine.cache.folder.glob("*-default-0-1/bot/made/program")
    program.write_text("#!/bin/sh\nevil\n")
    with Copies(machine.cache) as copies:
        third = machine.prepare(load, copies)
        assert isinstance(third, ReadyBots)
        assert (third.bots[0].folder / "program").read_text() == "#!/bin/sh\n"
    assert builds(tmp_path) == 3
    assert third.remarks == (
        "made: what had been built of it cannot be used: its files had been changed; it is built again",
    )


def test_what_is_built_without_a_sandbox_may_have_its_own_path_in_it(machine: Machine, tmp_path: Path) -> None:
    build = "echo $PWD > place; echo >> {log}; touch program; chmod +x program"
    load = cargo(built_bot(tmp_path, build))
    machine.keep(load)
    for _ in range(2):
        with Copies(machine.cache) as first, Copies(machine.cache) as second:
            for copies in (first, second):
                ready = machine.prepare(load, copies)
                assert isinstance(ready, ReadyBots)
                assert (ready.bots[0].folder / "place").read_text() == f"{ready.bots[0].folder}\n"
    assert builds(tmp_path) == 3, "at home, and once for each of the two workers"


def test_bots_that_cannot_play_here_are_all_told_of_by_name(machine: Machine, copies: Copies, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "bot.toml").write_text('command = ["./there"]\n')
    (folder / "there").write_text("#!/bin/sh\n")
    (folder / "there").chmod(0o755)
    once = built_bot(tmp_path, "mkdir {log} && touch program && chmod +x program")
    load = cargo(once, file_bot(tmp_path), load_bot(folder))
    machine.keep(load)
    unable = machine.prepare(load, copies)
    assert isinstance(unable, Unable)
    assert list(unable.problems) == ["made"]
    assert "the build failed with exit code 1" in unable.problems["made"]
    assert "File exists" in unable.problems["made"]
    shutil.rmtree(tmp_path / "log")
    assert isinstance(machine.prepare(load, copies), ReadyBots)


def test_a_disk_that_fills_up_as_bots_are_unpacked_is_the_machines_fault(small: Machine, tmp_path: Path) -> None:
    (tmp_path / "ann.py").write_text("#" * 40_000)
    load = cargo(load_bot(tmp_path / "ann.py"))
    with Copies(small.cache) as copies:
        small.keep(load)
        with pytest.raises(ArenaError, match=r"cannot be kept in .*/disk/cache: No space left on device"):
            small.prepare(load, copies)
    assert {path.name for path in small.cache.folder.iterdir()} == {*load.packs, "play-0.lock"}, "the pack is as it was"


def test_a_disk_that_fills_up_in_a_build_is_the_machines_fault(small: Machine, tmp_path: Path) -> None:
    build = "test -e {log} && head -c 1000000 /dev/zero > large || touch {log}; touch program && chmod +x program"
    load = cargo(built_bot(tmp_path, f"{{{{ {build}; }}}} && test ! -e large"))
    with Copies(small.cache) as copies:
        small.keep(load)
        with pytest.raises(
            ArenaError, match=r"is full, with less than 16M left: .*the build failed(.|\n)*No space left"
        ):
            small.prepare(load, copies)


def test_folders_that_are_empty_or_whose_files_are_ignored_are_there(
    machine: Machine, copies: Copies, tmp_path: Path
) -> None:
    folder = tmp_path / "ann"
    for name in ("logs/old", "empty/inner", ".hidden", "build/x"):
        (folder / name).mkdir(parents=True)
    (folder / "logs" / "1").write_text("a game")
    (folder / "bot.toml").write_text('command = ["python3", "main.py"]\nignore = ["logs/*"]\n')
    (folder / "main.py").write_text("print()\n")
    load = cargo(load_bot(folder))
    machine.keep(load)
    ready = machine.prepare(load, copies)
    assert isinstance(ready, ReadyBots)
    here = ready.bots[0].folder
    found = sorted(str(path.relative_to(here)) for path in here.rglob("*"))
    assert found == ["bot.toml", "empty", "empty/inner", "logs", "logs/old", "main.py"]
    assert ready.bots[0].not_sent.endswith("made by tools: .hidden, build, logs/1")


def test_packs_for_which_there_is_no_room_are_made_anew_and_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bots = [file_bot(tmp_path), file_bot(tmp_path, "bob")]
    kept = dict(cargo(*bots).packs)
    monkeypatch.setattr(carrying, "MOST_KEPT", max(map(len, kept.values())))
    load = cargo(*bots)
    assert dict(load.packs) == kept
    (tmp_path / "bob.py").write_text("other")
    first, second = load.packs
    assert load.packs[first] == kept[first], "it was kept"
    with pytest.raises(UsageError, match="have changed since"):
        load.packs[second]


def test_a_bot_that_has_changed_since_it_was_looked_at_is_left_out_and_the_others_are_sent(tmp_path: Path) -> None:
    ann, bob = file_bot(tmp_path), file_bot(tmp_path, "bob")
    (tmp_path / "ann.py").write_text("other")
    load = cargo(ann, bob)
    assert list(load.unsent) == ["ann"]
    assert "its files have changed since they were looked at" in load.unsent["ann"]
    assert len(load.packs) == len(load.run.bots) == 1
