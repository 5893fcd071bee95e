"""What a bot starts belongs to it, however it hides, and all of it is killed, however it runs."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
import trio

from arena.bots.limits import MIB, Limits
from arena.bots.spec import TOKEN_VARIABLE
from arena.processes.process import BotProcess
from arena.sandbox import killing, procfs, reaper, watch
from arena.sandbox.launch import Launch

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux only")

ENVIRONMENT = {"PATH": os.defpath}
NEVER_ENDS = 120.0


async def heard(process: BotProcess) -> bytes:
    """Read the output of a process until it has said `up`."""
    output = b""
    with trio.fail_after(NEVER_ENDS):
        while b"up" not in output:
            await trio.lowlevel.wait_readable(process.stdout)
            output += process.read_now() or b""
    return output


async def started(*command: str, limits: Limits | None = None) -> BotProcess:
    """Start a process and wait until it has said `up`."""
    process = BotProcess.start(Launch(command, Path("/"), ENVIRONMENT, limits))
    await heard(process)
    return process


def python(script: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-c", script)


DAEMON = """
import os, time
os.read(0, 1)
if os.fork() == 0:
    {leave}
    if os.fork() == 0:
        os.execve("/bin/sh", ["sh", "-c", "echo $$ up; exec sleep 1000"], {environment})
    os._exit(0)
os.wait()
time.sleep(1000)
"""


async def daemon(*, is_in_session: bool = False, has_token: bool = False) -> tuple[BotProcess, int]:
    """A process that has left a daemon, and the daemon, which nobody has looked at yet."""
    script = DAEMON.format(
        leave="" if is_in_session else "os.setsid()", environment="os.environ" if has_token else "{}"
    )
    process = BotProcess.start(Launch(python(script), Path("/"), ENVIRONMENT))
    await process.write(b"x")
    left = int((await heard(process)).split()[0])
    with trio.fail_after(NEVER_ENDS):
        while left not in procfs.children(os.getpid()):
            await trio.lowlevel.checkpoint()
    return process, left


async def swept(process: BotProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    """Look through the orphans until each is known, or given up."""
    for _ in range(2):
        monkeypatch.setattr(reaper, "_sweep_after", 0.0)
        process._watch.look()
        await trio.sleep(reaper.START_SECONDS)


@pytest.mark.parametrize(("is_in_session", "has_token"), [(True, False), (False, True)], ids=["session", "environment"])
def test_a_daemon_belongs_to_the_bot_of_its_session_or_environment_and_dies_with_it(
    is_in_session: bool, has_token: bool, monkeypatch: pytest.MonkeyPatch, left_behind: Callable[[], list[str]]
) -> None:
    async def main() -> None:
        process, left = await daemon(is_in_session=is_in_session, has_token=has_token)
        other = await started("/bin/sh", "-c", "echo up; sleep 1000")
        await swept(process, monkeypatch)
        assert left in [each.pid for each in reaper.belongings(process.pid)]
        assert left not in [each.pid for each in reaper.belongings(other.pid)]
        await other.end(0)
        assert not is_dead(left)
        await process.end(0)
        assert is_dead(left)

    trio.run(main)
    assert left_behind() == []


def test_in_a_worker_a_daemon_that_hides_from_both_dies_when_no_bot_is_left(
    as_in_a_worker: None, monkeypatch: pytest.MonkeyPatch, left_behind: Callable[[], list[str]]
) -> None:
    async def main() -> None:
        process, hidden = await daemon()
        other = await started("/bin/sh", "-c", "echo up; sleep 1000")
        await swept(process, monkeypatch)
        assert hidden not in [each.pid for bot in (process, other) for each in reaper.belongings(bot.pid)]
        await process.end(0)
        assert not is_dead(hidden), "it may be the other bot's"
        await other.end(0)
        assert is_dead(hidden)

    trio.run(main)
    assert left_behind() == []


def test_elsewhere_an_orphan_that_no_bot_is_known_to_own_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        process, stranger = await daemon()
        try:
            await swept(process, monkeypatch)
            await process.end(0)
            assert not is_dead(stranger)
        finally:
            os.kill(stranger, signal.SIGKILL)
            while reaper.try_reap(stranger) is None:
                await trio.lowlevel.checkpoint()

    trio.run(main)


def test_the_processes_of_a_killed_worker_are_found_by_its_token() -> None:
    """Wherever they are: their parents have died, and each is in a session of its own."""
    token = reaper.new_token()
    environment = {**ENVIRONMENT, TOKEN_VARIABLE: f"{token}.1"}
    other = {**ENVIRONMENT, TOKEN_VARIABLE: f"{token}1"}
    line = ["/bin/sh", "-c", "setsid sh -c 'echo $$; exec sleep 1000' & wait"]
    with (
        subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, text=True) as bot,
        subprocess.Popen(["/bin/sleep", "1000"], env=other) as bystander,
    ):
        assert bot.stdout is not None
        left = int(bot.stdout.readline())
        bot.kill()
        bot.wait()
        trio.run(killing.kill_left_by, token)
        assert is_dead(left)
        assert bystander.poll() is None
        bystander.kill()


def is_dead(pid: int) -> bool:
    process = procfs.look(pid)
    return process is None or process.is_dead


# --- what it uses -----------------------------------------------------------------------------------------------------


def watched(script: str, limits: Limits) -> str:
    """What a process that runs this text is found to use too much of."""

    async def main() -> str:
        process = BotProcess.start(Launch(python(script), Path("/"), ENVIRONMENT, limits))
        try:
            with trio.fail_after(NEVER_ENDS):
                return (await process.watch()).words
        finally:
            await process.end(0)

    return trio.run(main)


def test_memory_in_many_processes_is_added_up() -> None:
    script = "import os, time\nfor _ in range(8):\n  if os.fork() == 0:\n    x = b'x' * 20_000_000; time.sleep(1000)\n"
    words = watched(script + "time.sleep(1000)", Limits(memory=96 * MIB))
    assert "of memory, all its processes together; 96M are allowed" in words


def test_memory_that_processes_share_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight children that share their parent's 30 MB have not used 240: the kernel is asked, again and again."""
    monkeypatch.setattr(watch, "EXACT_SECONDS", 0.0)
    monkeypatch.setattr(watch, "EXACT_SHARE", 0)
    script = """
import os, time
x = b"x" * 30_000_000
for _ in range(8):
    if os.fork() == 0:
        time.sleep(1000)
os.write(1, b"up")
time.sleep(1000)
"""
    asked: list[int] = []

    def ask(pid: int) -> int:
        asked.append(pid)
        return procfs.fair_resident(pid)

    monkeypatch.setattr(watch, "fair_resident", ask)

    async def main() -> None:
        process = await started(*python(script), limits=Limits(memory=128 * MIB))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(process.watch)
            with trio.fail_after(NEVER_ENDS):
                while len(asked) < 30:
                    await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()
        assert process._watch.look() == ""
        assert 30_000_000 < process.peak_memory < 128 * MIB
        await process.end(0)

    trio.run(main)


# --- processor time and freezing --------------------------------------------------------------------------------------


def test_processor_time_is_the_processs_own_to_the_hundredth() -> None:
    """The process says itself what it has used after 200 ms of its own time; the arena finds the same."""
    script = """
import os, sys, time
while time.process_time() < 0.2: pass
os.write(1, b"%d up" % (time.process_time() * 1e6))
sys.stdin.read()
"""

    async def main() -> None:
        process = BotProcess.start(Launch(python(script), Path("/"), ENVIRONMENT))
        output = await heard(process)
        said, found = int(output.split()[0]), process.cpu_us()
        assert said <= found < said * 1.01 + 500
        await process.end(0)
        assert process.used_us >= found * 0.99

    trio.run(main)


def test_time_of_children_that_were_waited_for_is_in_the_whole() -> None:
    script = """
import os, time
if os.fork() == 0:
    while time.process_time() < 0.2: pass
    os._exit(0)
os.wait()
os.write(1, b"up")
time.sleep(1000)
"""

    async def main() -> None:
        process = await started(*python(script))
        assert process.cpu_us() < 150_000, "the time of each move is the first process's own"
        await process.end(0)
        assert process.used_us > 190_000

    trio.run(main)


def test_who_lets_another_go_on_is_stopped_again_with_it() -> None:
    """A helper sends SIGCONT without end, and is itself stopped a moment after the one that it helps."""
    script = """
import os, signal
main = os.getpid()
if os.fork() == 0:
    os.setsid()
    os.write(1, b"%d up" % os.getpid())
    while True: os.kill(main, signal.SIGCONT)
while True: pass
"""

    async def main() -> None:
        process = BotProcess.start(Launch(python(script), Path("/"), ENVIRONMENT, Limits()))
        output = await heard(process)
        async with trio.open_nursery() as nursery:
            with trio.fail_after(NEVER_ENDS):
                pids = [process.pid, int(output.split()[0])]
                process._watch.look()
                nursery.start_soon(process.watch)
                process.freeze()
                os.kill(process.pid, signal.SIGCONT)  # as if by the helper, whichever was stopped first
                while any(psutil.Process(pid).status() != psutil.STATUS_STOPPED for pid in pids):
                    await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()
        process.thaw()
        await process.end(0)

    trio.run(main)


@pytest.mark.parametrize(
    ("escape", "is_known"),
    [(False, True), (True, False)],
    ids=["itself", "a-process-in-a-session-of-its-own-that-nobody-has-looked-at-yet"],
)
def test_who_is_frozen_uses_no_processor_time(escape: bool, is_known: bool) -> None:
    fork = "if os.fork(): time.sleep(1000)\nos.setsid()\n" if escape else ""
    script = f"import os, time\n{fork}os.write(1, b'%d up' % os.getpid())\nwhile True: pass"

    async def main() -> None:
        process = BotProcess.start(Launch(python(script), Path("/"), ENVIRONMENT, Limits()))
        output = await heard(process)
        with trio.fail_after(NEVER_ENDS):
            spinner = int(output.split()[0])
            if is_known:
                process._watch.look()
            process.freeze()
            while psutil.Process(spinner).status() != psutil.STATUS_STOPPED:
                if not is_known:
                    process._watch.look()
                await trio.lowlevel.checkpoint()  # the signal is on its way
            before = procfs.cpu_us(spinner)
            process._watch.look()
            await trio.sleep(0.05)
            assert procfs.cpu_us(spinner) == before
            process.thaw()
            while procfs.cpu_us(spinner) == before:
                await trio.lowlevel.checkpoint()
        await process.end(0)

    trio.run(main)
