"""Builds: what they make is there to be played, and what they try beyond that comes to nothing.

A build is a program of an entrant's. Each attack here is a real one, run as the arena runs it.
"""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from commands import invoke
from made_files import put
from own_children import started_from_now
from sandboxes import at_every_level, in_bwrap

from arena.bots.limits import MIB, BuildLimits, Limits
from arena.bots.loading import load_bot
from arena.bots.spec import BotSpec
from arena.processes.build import build_all
from arena.processes.runnable import PlaySettings
from arena.processes.starting import Sandbox
from arena.sandbox import bwrap, bwrap_check
from arena.sandbox.levels import Level
from arena.sandbox.programs import HostPrograms

PATIENCE = 120.0


@pytest.fixture
def new_processes(as_in_a_worker: None) -> Callable[[], list[psutil.Process]]:
    """`new_processes()`: those that this process has come to have below it since the test began, the dead included."""
    return started_from_now()


def bot_with(folder: Path, script: str, *, command: str = '["./made"]', name: str = "hunter") -> BotSpec:
    put(folder / name / "build.sh", script, 0o644)
    put(folder / name / "source", "#!/bin/sh\necho 7\n", 0o644)
    put(folder / name / "bot.toml", f'command = {command}\nbuild = "sh build.sh"\n', 0o644)
    return load_bot(folder / name)


MAKE = "cp source made; chmod +x made\n"


def build(
    bot: BotSpec,
    level: Level = Level.BWRAP,
    limits: BuildLimits | None = None,
    others: tuple[BotSpec, ...] = (),
    named: tuple[Path, ...] = (),
) -> list[str]:
    said: list[str] = []
    host = HostPrograms([str(path) for path in named], [bot, *others])
    (built,) = build_all([bot], level, limits or BuildLimits(), host, said.append)
    assert (built.fault, built.name, built.command) == (None, bot.name, bot.command)
    return said


def problem(bot: BotSpec, level: Level = Level.BWRAP, limits: BuildLimits | None = None) -> str:
    """What is said of a build that fails."""
    (built,) = build_all([bot], level, limits or BuildLimits(), HostPrograms((), [bot]), lambda _: None)
    assert built.fault is not None
    return built.fault


def content(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def run_as_bot(bot: BotSpec) -> str:
    """What the bot's program prints in its sandbox."""
    with Sandbox(PlaySettings([bot], Level.BWRAP)) as held:
        line = bwrap.through_shell(bwrap.command(held._mounts[bot.name], Limits(), bwrap.spare_user()))
    done = subprocess.run(line, check=False, capture_output=True, timeout=PATIENCE, input=b"")
    return done.stdout.decode() + done.stderr.decode()


# --- what is built ----------------------------------------------------------------------------------------------------


@at_every_level
def test_a_build_makes_the_program(level: Level, folder: Path) -> None:
    bot = bot_with(folder, MAKE)
    said = build(bot, level)
    assert said[-1] == "building hunter: sh build.sh"
    assert subprocess.run(bot.command, check=True, capture_output=True).stdout == b"7\n"
    if level is not Level.BASIC:
        assert run_as_bot(bot) == "7\n"


def test_a_digest_is_of_what_is_built_from_not_of_what_is_built(folder: Path) -> None:
    """Compilers stamp what they make: the same source built again is the same bot."""
    bot = bot_with(folder, "date +%N > made; chmod +x made")
    build(bot, Level.BASIC)
    program = (folder / "hunter/made").read_text()
    build(bot, Level.BASIC)
    assert (folder / "hunter/made").read_text() != program
    assert load_bot(folder / "hunter").digest == bot.digest
    put(folder / "hunter/source", "2")
    assert load_bot(folder / "hunter").digest != bot.digest


@at_every_level
def test_the_digest_is_taken_of_the_folder_as_the_build_has_left_it(level: Level, folder: Path) -> None:
    bot = bot_with(folder, MAKE + "echo table > table\n")
    host = HostPrograms((), [bot])
    (built,) = build_all([bot], level, BuildLimits(), host, lambda _: None)
    assert built.digest != bot.digest
    assert built.digest == load_bot(bot.path).digest
    (again,) = build_all([load_bot(bot.path)], level, BuildLimits(), host, lambda _: None)
    assert again.digest == built.digest


@at_every_level
def test_a_program_that_is_brought_along_and_not_built_is_refused(level: Level, folder: Path) -> None:
    """No digest covers what a build makes: such a program could be exchanged at any time."""
    bot = bot_with(folder, "echo nothing to do\n")
    put(folder / "hunter/made", "#!/bin/sh\n", 0o755)
    before = content(folder)
    first, *output = problem(bot, level).splitlines()
    assert first.startswith(f"{bot.path}: the build succeeded but did not make ./made, which command names")
    assert output == ["    nothing to do"]
    assert content(folder) == before


@at_every_level
def test_a_build_may_not_change_what_bot_toml_says(level: Level, folder: Path) -> None:
    assert "its build changes bot.toml" in problem(bot_with(folder, f"{MAKE}echo 'name = \"x\"' >> bot.toml\n"), level)


def test_a_build_that_fails_shows_the_end_of_what_it_printed_as_text(folder: Path) -> None:
    script = "i=0; while [ $i -lt 50 ]; do i=$((i+1)); echo line $i; done; printf 'br\\033ken\\n' >&2; exit 3\n"
    first, *lines = problem(bot_with(folder, script), Level.BASIC).splitlines()
    assert first == f"{folder}/hunter: the build failed with exit code 3: sh build.sh"
    assert [line.strip() for line in lines] == [f"line {number}" for number in range(32, 51)] + ["br\\x1bken"]


def test_a_build_that_makes_a_file_that_cannot_be_run_is_said_to_have_made_no_program(folder: Path) -> None:
    bot = bot_with(folder, "cp source made; chmod 644 made\n")
    assert problem(bot, Level.BASIC).endswith(
        "the build succeeded, but ./made, which command names, is no executable file"
    )


def test_all_builds_that_fail_are_told_at_once_and_the_others_are_done(folder: Path) -> None:
    bots = [
        bot_with(folder, "exit 1", name="a"),
        bot_with(folder, MAKE, name="b"),
        bot_with(folder, "exit 2", name="c"),
    ]
    built = build_all(bots, Level.BASIC, BuildLimits(), HostPrograms((), bots), lambda _: None)
    assert [bot.fault is None for bot in built] == [False, True, False]
    assert (folder / "b/made").exists()


@at_every_level
def test_a_build_that_takes_too_long_is_stopped_with_all_that_it_has_started(
    level: Level, folder: Path, new_processes: Callable[[], list[psutil.Process]]
) -> None:
    bot = bot_with(folder, "sleep 1000 & setsid sleep 1000 & sleep 1000\n")
    said = problem(bot, level, BuildLimits(seconds=0.5))
    assert "the build took longer than 0.5 s: sh build.sh" in said
    assert new_processes() == []


@at_every_level
def test_daemons_that_a_build_leaves_are_gone_before_its_work_is_used(
    level: Level, folder: Path, new_processes: Callable[[], list[psutil.Process]]
) -> None:
    daemon = "(setsid sh -c 'while :; do echo tampered > made; done' &)\n"
    build(bot_with(folder, f"{daemon}{MAKE}"), level)
    assert new_processes() == []


def test_what_was_built_before_is_there_again_and_nothing_else_is_touched(folder: Path) -> None:
    """As `make` and `cargo` want it, which do not build again what is newer than its source; but for the program."""
    bot = bot_with(folder, "echo again >> log; make -s\n")
    put(folder / "hunter/Makefile", "made: part\n\tcp part made; chmod +x made\npart: source\n\tcp source part\n")
    build(bot)
    made, source = (folder / "hunter" / name for name in ("part", "source"))

    def state(path: Path) -> tuple[int, ...]:
        found = path.stat()  # but for the time at which it was read
        return found.st_mode, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns

    first, untouched = state(made), state(source)
    build(bot)
    assert (state(made), state(source)) == (first, untouched)
    assert (folder / "hunter/log").read_text() == "again\nagain\n"


@in_bwrap
def test_what_a_build_makes_can_be_read_and_run_by_any_bots_user_and_written_by_none(folder: Path) -> None:
    build(bot_with(folder, f"umask 077; mkdir -p deep/er; {MAKE} echo x > deep/er/data; chmod 6777 source\n"))
    assert (folder / "hunter/deep/er").stat().st_mode & 0o7777 == 0o755
    assert (folder / "hunter/deep/er/data").stat().st_mode & 0o7777 == 0o644
    assert (folder / "hunter/made").stat().st_mode & 0o7777 == 0o755
    assert (folder / "hunter/source").stat().st_mode & 0o7777 == 0o755
    assert {path.stat().st_uid for path in (folder / "hunter").rglob("*")} == {os.geteuid()}


@at_every_level
def test_a_build_has_a_home_for_its_caches_where_the_arena_has_none(
    level: Level, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOME")
    build(bot_with(folder, f'echo "$HOME" >home; test -w "$HOME"; {MAKE}'), level)
    home = (folder / "hunter/home").read_text().strip()
    assert home == (str(Path.home()) if level is Level.BASIC else "/tmp")


def test_a_build_without_its_compiler_says_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "bin").mkdir()
    (folder / "bin/sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(folder / "bin"))
    for name, install in (("cargo", "; on Debian: apt install cargo"), ("compile", "")):
        said = problem(bot_with(folder, f"{name} source made", name=name), Level.BASIC)
        words = f"hint: the build needs the program {name}, which is not on the PATH here{install}"
        assert said.splitlines()[-1] == words


@in_bwrap
def test_a_compiler_that_the_host_names_is_there_with_its_folder(folder: Path) -> None:
    put(folder / "tools/cc/bin/compile", '#!/bin/sh\ncp "$1" "$2"; chmod +x "$2"\n', 0o755)
    bot = bot_with(folder, "compile source made")
    said = problem(bot)
    assert "compile: not found" in said
    assert said.endswith("not on the PATH here; a host names a program outside the PATH with --interpreter PATH")
    build(bot, named=(folder / "tools/cc/bin/compile",))
    assert run_as_bot(bot) == "7\n"


# --- what a build may not ---------------------------------------------------------------------------------------------


@in_bwrap
def test_a_build_writes_into_a_copy_of_its_own_folder_and_nowhere_else(folder: Path) -> None:
    rival = put(folder / "rival/plan", "secret")
    home = put(folder / "home/.profile", "")
    before = content(folder)
    script = "".join(
        f"echo evil >> {path} && echo wrote {path}\n"
        for path in (rival, home, folder / "new", "/usr/evil", "/etc/evil", "/evil", "/proc/sys/kernel/hostname")
    )
    said = problem(bot_with(folder, f"{script}exit 1\n"))
    assert "wrote" not in said
    assert {name: data for name, data in content(folder).items() if not name.startswith("hunter/")} == before


@in_bwrap
def test_a_build_reads_no_other_bots_files_and_no_secrets_of_the_host(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    rival = put(folder / "rival/plan", "a rival's plan")
    script = f"cat {rival} ../rival/plan /etc/passwd /proc/*/environ; env; ls -a /root /home /tmp {folder}; exit 1\n"
    said = problem(bot_with(folder, script))
    for secret in ("a rival's plan", "root:x:", "hunter2", ".ssh"):
        assert secret not in said


@in_bwrap
def test_a_build_has_no_network_unless_the_host_gives_it(folder: Path) -> None:
    program = "import socket, sys\nsocket.create_connection(('127.0.0.1', int(sys.argv[1])))\n"
    with socket.create_server(("127.0.0.1", 0)) as server:
        bot = bot_with(
            folder,
            f"python3 call.py {server.getsockname()[1]}\n{MAKE}set -e; python3 call.py {server.getsockname()[1]}\n",
        )
        put(folder / "hunter/call.py", program)
        assert "Connection refused" in problem(bot)
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
        build(bot, limits=BuildLimits(network=True))
        server.accept()[0].close()


@in_bwrap
@pytest.mark.parametrize(
    "script",
    [
        "head -c 90000000 /dev/zero > one; sleep 60",
        "mkdir a; chmod 0 a; i=0; while :; do i=$((i+1)); head -c 100000 /dev/zero > $i; done",
    ],
    ids=["one file", "small files beside a closed folder"],
)
def test_a_build_that_fills_the_disk_is_stopped(script: str, folder: Path) -> None:
    said = problem(bot_with(folder, f"{script}\n"), limits=BuildLimits(disk=16 * MIB, seconds=PATIENCE))
    assert "the build wrote more than the 16M of files that are allowed (--build-disk)" in said
    assert sum(path.stat().st_size for path in folder.rglob("*")) < 4096 * 10


@in_bwrap
def test_files_without_a_name_are_seen_by_the_disk_that_they_fill(folder: Path) -> None:
    program = """
import os, time
for number in range(12):
    file = os.open("hidden", os.O_RDWR | os.O_CREAT)
    os.unlink("hidden")
    os.write(file, os.urandom(1 << 20) * 15)
    os.fsync(file)
    os.dup2(file, 100 + number)
time.sleep(1000)
"""
    bot = bot_with(folder, "python3 fill.py\n")
    put(folder / "hunter/fill.py", program)
    assert "--build-disk" in problem(bot, limits=BuildLimits(disk=16 * MIB, seconds=PATIENCE))


@in_bwrap
def test_a_build_that_takes_too_much_memory_is_stopped(folder: Path) -> None:
    bot = bot_with(folder, "python3 -c 'x = bytearray(200 << 20); input()' < /dev/zero\n")
    assert "64M are allowed" in problem(bot, limits=BuildLimits(memory=64 * MIB, seconds=PATIENCE))


@in_bwrap
def test_a_fork_bomb_in_a_build_is_bounded_and_killed(
    folder: Path, new_processes: Callable[[], list[psutil.Process]]
) -> None:
    if bwrap_check.gaps(in_control_group=True):
        pytest.skip("; ".join(bwrap_check.gaps()))
    bot = bot_with(folder, "f() { f | f & }; f; sleep 1000\n")
    said = problem(bot, limits=BuildLimits(seconds=0.5))
    assert "processes and threads; 512 are allowed" in said or "took longer" in said or "exit code" in said
    assert new_processes() == []


@in_bwrap
@pytest.mark.parametrize("target", ["/etc/passwd", "sub/../../../etc/passwd"])
def test_a_build_that_makes_a_link_out_of_its_folder_is_refused(target: str, folder: Path) -> None:
    bot = bot_with(folder, f"{MAKE} mkdir -p sub; ln -s {target} way-out\n")
    before = content(folder)
    said = problem(bot)
    assert f"makes a link that leads out of its folder: way-out leads to {target}" in said
    assert content(folder) == before


@in_bwrap
def test_a_link_that_was_there_before_leads_no_writing_out(folder: Path) -> None:
    victim = put(folder / "home/made", "precious")
    bot = bot_with(folder, f"{MAKE}rm out; mkdir out; echo evil > out/made\n")
    (folder / "hunter/out").symlink_to(victim.parent)
    assert "the build makes a folder where a file or a link is" in problem(bot)
    assert victim.read_text() == "precious"


@in_bwrap
def test_what_is_no_file_is_neither_copied_nor_opened(folder: Path) -> None:
    bot = bot_with(folder, f"test ! -e fifo || exit 3\n{MAKE} mkfifo new-fifo; ln -s /dev/zero zero || true; rm zero\n")
    os.mkfifo(folder / "hunter/fifo")
    (folder / "hunter/endless").symlink_to("/dev/zero")
    build(bot)
    assert not (folder / "hunter/new-fifo").exists()
    assert run_as_bot(bot) == "7\n"


@in_bwrap
def test_folders_in_folders_without_end_are_refused_and_cleared_away(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = folder / "temporary"  # others build on this machine, too
    own.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(own))
    program = "import os\nfor _ in range(3000):\n    os.mkdir('d'); os.chdir('d')\n"
    bot = bot_with(folder, f"{MAKE} python3 deep.py\n")
    put(folder / "hunter/deep.py", program)
    assert "folders are nested more than" in problem(bot)
    assert list(own.iterdir()) == []


# --- the command line -------------------------------------------------------------------------------------------------


PLAYS = Path(__file__).parent.parent.parent / "bots" / "drifter.py"


@at_every_level
def test_a_match_builds_its_bots_at_the_level_it_is_played_at(level: Level, folder: Path) -> None:
    for name in ("a", "b"):
        bot_with(folder, f"test -d /bot && touch here; {MAKE}", command='["python3", "./made"]', name=name)
        shutil.copy(PLAYS, folder / name / "source")
    done = invoke(folder, "match", "a", "b", "--games", "1", "--rules", "duel", "--sandbox", level.value)
    assert done.returncode == 0, done.stderr
    assert ("builds run without a sandbox" in done.stderr) is (level is Level.BASIC)
    assert (folder / "a/here").exists() is (level is not Level.BASIC)
