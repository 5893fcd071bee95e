"""What is no bot's is left alone: neither killed nor reaped, whoever started the arena and whatever runs beside it."""

import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from made_bots import QUICK

from arena.sandbox import procfs

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux only")

ROOT = Path(__file__).parent.parent.parent
NEVER_ENDS = 120.0
ARENA = f"{sys.executable} -c 'from arena.cli.main import main; main()'"
HOST = """
import os, subprocess, sys, threading
from pathlib import Path
import trio
from arena.bots.loading import load_bot
from arena.sandbox import procfs, reaper
from arena.sandbox.reaper import adopts_orphans
from arena.sandbox.launch import Launch
from arena.league.settings import Settings
from arena.league.game_ids import Games
from arena.bots.limits import Limits
from arena.play.runner import play_game
from arena.game.time_control import parse_time
from arena.processes.process import BotProcess
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset

def bot(*command, word=b"up"):
    return BotProcess.start(Launch(command, Path("/"), {"PATH": os.defpath}))

async def looked(process, times=4):
    "Several sweeps, each of which would take what it may."
    for _ in range(times):
        reaper._sweep_after = 0.0
        process._watch.look()
        await trio.sleep(0.001)
"""


def is_alive(pid: int) -> bool:
    process = procfs.look(pid)
    return process is not None and not process.is_dead


@contextmanager
def ended_after(pid: int) -> Iterator[None]:
    """Kill this process at the end, which is to live until then."""
    try:
        yield
        assert is_alive(pid), "the bystander has been killed"
    finally:
        os.kill(pid, signal.SIGKILL)


def league_folder(folder: Path) -> Path:
    for name in ("alpha", "beta"):
        (folder / name).write_text(QUICK.format(first=f"# {name}\n"))
        (folder / name).chmod(0o755)
    return folder


def host(script: str, *, before: tuple[str, ...] = ()) -> "subprocess.Popen[str]":
    """A program that uses the arena as a library."""
    line = [*before, sys.executable, "-c", f"{HOST}\n{script}"]
    return subprocess.Popen(line, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def said(process: "subprocess.Popen[str]") -> str:
    """The next line that it prints."""
    assert process.stdout is not None
    assert select.select([process.stdout], [], [], NEVER_ENDS)[0], "nothing more came"
    return process.stdout.readline()


def test_what_a_shell_had_started_before_it_became_the_arena_lives_on(tmp_path: Path) -> None:
    script = f"sleep 1000 >/dev/null 2>&1 & echo $!; exec {ARENA} match alpha beta --rules duel -j 1"
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=league_folder(tmp_path),
        capture_output=True,
        text=True,
        timeout=NEVER_ENDS,
        check=True,
    )
    with ended_after(int(done.stdout.split()[0])):
        assert "alpha" in done.stdout


def test_a_pipe_that_the_shell_had_made_of_the_output_takes_all_of_it(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("this needs bash")
    script = f"exec {ARENA} league alpha beta --rules duel --rounds 1 -j 1 > >(cat > table; echo $? > code)"
    subprocess.run([bash, "-c", script], cwd=league_folder(tmp_path), timeout=NEVER_ENDS, check=True)
    for _ in range(1000):
        if (tmp_path / "code").exists() and (tmp_path / "code").read_text():
            break
        select.select([], [], [], 0.01)
    assert (tmp_path / "code").read_text() == "0\n"
    assert "alpha" in (tmp_path / "table").read_text()


def test_a_host_program_gets_the_exit_status_of_each_of_its_own_children() -> None:
    """Its threads start programs, some of which leave orphans, while it plays games."""
    script = """
bots = [load_bot(Path("bots/drifter.py")), load_bot(Path("bots/drifter.py"))]
settings = Settings(variant_of(load_ruleset("duel")), parse_time("10s"), 1, Limits(), (), True)
games = [Games(settings).game(bots[0].player, bots[1].player, 0)]
wrong, done = [], []
def work():
    for code in range(25):
        script = f"(sleep 0.01 &) ; exit {code}" if code % 2 else f"exit {code}"
        got = subprocess.run(["sh", "-c", script], env={} if code % 3 else None).returncode
        done.append(code)
        if got != code:
            wrong.append((code, got))
threads = [threading.Thread(target=work) for _ in range(3)]
async def main():
    for thread in threads:
        thread.start()
    while len(done) < 75:
        assert (await play_game(games[0], *bots)).verdict.plies > 0
trio.run(main)
print(wrong)
"""
    with host(script) as program:
        assert said(program) == "[]\n"


def test_orphans_of_a_host_programs_children_are_left_alone() -> None:
    """The child hands its own child to the arena while a bot runs; neither is the arena's affair, nor is its death."""
    script = """
async def main():
    process = bot("sleep", "1000")
    child = subprocess.Popen(["sh", "-c", "sleep 1000 >/dev/null & echo $!; sleep 1000 >/dev/null & echo $!"],
                             stdout=subprocess.PIPE, env={})
    killed, lives = map(int, child.communicate()[0].split())
    assert {killed, lives} <= set(procfs.children(os.getpid()))
    os.kill(killed, 9)
    await looked(process)
    await process.end(0)
    print(lives, procfs.look(killed).is_dead, procfs.look(lives).is_dead, os.waitpid(killed, 0)[1], flush=True)
    sys.stdin.readline()
trio.run(main)
"""
    with host(script) as program:
        lives, *facts = said(program).split()
        with ended_after(int(lives)):
            assert facts == ["True", "False", "9"]


def test_a_host_program_adopts_orphans_only_while_it_has_bots() -> None:
    script = """
async def main():
    process = bot("sleep", "1000")
    adopted = adopts_orphans()
    await process.end(0)
    print(adopted, adopts_orphans(), flush=True)
trio.run(main)
"""
    with host(script) as program:
        assert said(program) == "True False\n"


def test_the_first_process_of_a_container_leaves_alone_what_others_run_there(tmp_path: Path) -> None:
    """Somebody starts a program in the container, as `docker exec` does, and its orphan comes to the arena."""
    inside = ("unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
    tools = [shutil.which("unshare"), shutil.which("nsenter")]
    if None in tools or subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no namespace of processes can be made here")
    script = """
async def main():
    process = bot("sleep", "1000")
    print(os.getpid(), flush=True)
    stranger = int(sys.stdin.readline())
    assert procfs.look(stranger).parent == 1
    await looked(process)
    await process.end(0)
    print(procfs.look(stranger).is_dead, flush=True)
    os._exit(0)
trio.run(main)
"""
    with host(script, before=inside) as program:
        assert said(program) == "1\n"
        (arena,) = procfs.children(program.pid)
        enter = ["nsenter", "--target", str(arena), "--user", "--preserve-credentials", "--mount", "--pid"]
        shell = ["sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!"]
        entered = subprocess.run([*enter, *shell], capture_output=True, text=True, check=True)
        assert program.stdin is not None
        program.stdin.write(entered.stdout)
        program.stdin.flush()
        assert said(program) == "False\n"
