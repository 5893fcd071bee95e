"""What a bot starts belongs to it, however it hides, and all of it is killed, however it runs."""

import errno
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
import trio

from arena.confine import custody, tree
from arena.confine.custody import adopt_orphans
from arena.confine.launch import Launch
from arena.limits import MIB, Limits
from arena.process import BotProcess

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux only")

ENVIRONMENT = {"PATH": os.defpath}
NEVER_ENDS = 20.0
HOPPER = r"""
#include <signal.h>
#include <unistd.h>
extern char **environ;
int main(int count, char **words)
{
    char *hidden[] = {words[0], "hidden", 0}, *none[] = {0};
    int report = dup(1);
    if (count > 1 && words[1][0] == 'c') execve(words[0], hidden, none);
    if (fork() == 0)
        for (int hop = 0;; hop++) {
            setsid();
            if (fork()) _exit(0);
            if (hop == 100) write(report, "up", 2);
        }
    pause();
}
"""


@pytest.fixture(scope="module")
def hopper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that forks, detaches and exits for ever; with the argument `c`, in an empty environment."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("this needs a C compiler (apt install gcc libc6-dev)")
    source = tmp_path_factory.mktemp("hopper") / "hopper.c"
    source.write_text(HOPPER)
    subprocess.run([compiler, "-O2", "-o", source.with_suffix(""), source], check=True)
    return source.with_suffix("")


@pytest.fixture
def sole_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bots are the only children there are, as in `arena league`."""
    monkeypatch.setattr(custody, "_sole_parent", True)
    adopt_orphans()


async def started(*command: str, limits: Limits | None = None, word: bytes = b"up") -> BotProcess:
    """A process that has said the word."""
    process = BotProcess.start(Launch(command, Path("/"), ENVIRONMENT, limits))
    output = b""
    with trio.fail_after(NEVER_ENDS):
        while word not in output:
            await trio.lowlevel.wait_readable(process.stdout)
            output += process.read_now() or b""
    return process


def python(script: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-c", script)


@pytest.mark.parametrize("how", ["plain", "c"], ids=["with-its-token", "with-an-empty-environment"])
def test_a_process_that_hops_for_ever_is_gone_within_a_second(
    hopper: Path, how: str, sole_parent: None, left_behind: Callable[[], list[str]]
) -> None:
    async def main() -> float:
        process = await started(str(hopper), how)
        begun = time.perf_counter()
        await process.end(0)
        return time.perf_counter() - begun

    for _ in range(5):
        assert trio.run(main) < 1.0
        assert left_behind() == []


def test_a_daemon_is_gone_within_a_second(sole_parent: None, left_behind: Callable[[], list[str]]) -> None:
    script = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(1, b"up")
        os.execve("/bin/sleep", ["sleep", "1000"], {})
    os._exit(0)
time.sleep(1000)
"""

    async def main() -> float:
        process = await started(*python(script))
        begun = time.perf_counter()
        await process.end(0)
        return time.perf_counter() - begun

    assert trio.run(main) < 1.0
    assert left_behind() == []


def test_who_hides_whose_it_is_does_not_live_until_the_end_of_the_game(sole_parent: None) -> None:
    """A daemon without a token is killed as soon as the arena looks, while its bot and another one play on."""
    script = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve("/bin/sh", ["sh", "-c", "echo $$ up; exec sleep 1000"], {})
    os._exit(0)
os.wait()
time.sleep(1000)
"""

    async def main() -> None:
        other = await started("/bin/sh", "-c", "echo up; sleep 1000")
        process = BotProcess.start(Launch(python(script), Path("/"), ENVIRONMENT))
        output = b""
        with trio.fail_after(NEVER_ENDS):
            while b"up" not in output:
                await trio.lowlevel.wait_readable(process.stdout)
                output += process.read_now() or b""
            hidden = int(output.split()[0])
            while (found := tree.look(hidden)) is not None and not found.is_dead:
                process.look_after()
                await trio.sleep(custody.SWEEP_SECONDS)
        assert not process.has_exited()
        assert not other.has_exited()
        await process.end(0)
        await other.end(0)

    trio.run(main)


def test_a_look_is_had_even_when_no_descriptor_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    tree.keep_spare_descriptor()
    tries = []
    open_file = os.open

    def exhausted(path: str, flags: int) -> int:
        tries.append(path)
        if len(tries) == 1:
            raise OSError(errno.EMFILE, "Too many open files")
        return open_file(path, flags)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", exhausted)
        process = tree.look(os.getpid())
    assert process is not None
    assert process.pid == os.getpid()
    assert len(tries) >= 2
    assert tree._spare, "the spare descriptor is held back again"


# --- what it uses -----------------------------------------------------------------------------------------------------


def watched(script: str, limits: Limits) -> str:
    """What a process that runs this text is found to use too much of."""

    async def main() -> str:
        process = BotProcess.start(Launch(python(script), Path("/"), ENVIRONMENT, limits))
        try:
            with trio.fail_after(NEVER_ENDS):
                return await process.watch()
        finally:
            await process.end(0)

    adopt_orphans()
    return trio.run(main)


def test_memory_in_one_process_is_noticed() -> None:
    words = watched("x = b'x' * 100_000_000\nimport time; time.sleep(1000)", Limits(memory=64 * MIB))
    assert "of memory, all its processes together; 64M are allowed" in words


def test_memory_in_many_processes_is_added_up() -> None:
    script = "import os, time\nfor _ in range(8):\n  if os.fork() == 0:\n    x = b'x' * 20_000_000; time.sleep(1000)\n"
    words = watched(script + "time.sleep(1000)", Limits(memory=96 * MIB))
    assert "of memory, all its processes together; 96M are allowed" in words


def test_memory_that_processes_share_counts_once() -> None:
    """Eight children that share their parent's 30 MB have not used 240."""
    script = """
import os, time
x = b"x" * 30_000_000
for _ in range(8):
    if os.fork() == 0:
        time.sleep(1000)
os.write(1, b"up")
time.sleep(1000)
"""

    async def main() -> None:
        process = await started(*python(script), limits=Limits(memory=128 * MIB))
        assert process.look_after() == ""
        await process.end(0)

    adopt_orphans()
    trio.run(main)


def test_too_many_processes_are_noticed() -> None:
    script = "import os, time\nfor _ in range(20):\n  if os.fork() == 0:\n    time.sleep(1000)\ntime.sleep(1000)"
    words = watched(script, Limits(processes=10))
    assert "processes and threads; 10 are allowed" in words


def test_a_limit_of_the_system_stops_what_looking_is_too_slow_for() -> None:
    """A file larger than what the bot may write is not written, though nobody looks."""
    script = """
import os, resource, sys
for name in ("CORE", "NOFILE", "FSIZE", "CPU"):
    print(name, *resource.getrlimit(getattr(resource, "RLIMIT_" + name)))
print("up", flush=True)
sys.stdin.read()
"""

    async def main() -> None:
        process = BotProcess.start(
            Launch(
                python("import sys; sys.stdin.readline();" + "exec('''" + script + "''')"),
                Path("/"),
                ENVIRONMENT,
                Limits(tmp=MIB),
            )
        )
        await process.write(b"go\n")
        output = b""
        with trio.fail_after(NEVER_ENDS):
            while b"up" not in output:
                await trio.lowlevel.wait_readable(process.stdout)
                output += process.read_now() or b""
        assert output.decode().splitlines()[:3] == ["CORE 1 1", "NOFILE 256 256", f"FSIZE {MIB} {MIB}"]
        await process.end(0)

    trio.run(main)


# --- processor time and freezing ------------------------------------------------------------------------------------


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
        output = b""
        with trio.fail_after(NEVER_ENDS):
            while b"up" not in output:
                await trio.lowlevel.wait_readable(process.stdout)
                output += process.read_now() or b""
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


@pytest.mark.parametrize("escape", [False, True], ids=["itself", "a-process-in-a-session-of-its-own"])
def test_who_is_frozen_uses_no_processor_time(escape: bool) -> None:
    fork = "if os.fork(): time.sleep(1000)\nos.setsid()\n" if escape else ""
    script = f"import os, time\n{fork}os.write(1, b'%d up' % os.getpid())\nwhile True: pass"

    async def main() -> None:
        process = BotProcess.start(Launch(python(script), Path("/"), ENVIRONMENT, Limits()))
        output = b""
        with trio.fail_after(NEVER_ENDS):
            while b"up" not in output:
                await trio.lowlevel.wait_readable(process.stdout)
                output += process.read_now() or b""
            spinner = int(output.split()[0])
            process.look_after()
            process.freeze()
            while psutil.Process(spinner).status() != psutil.STATUS_STOPPED:
                await trio.lowlevel.checkpoint()  # the signal is on its way
            before = tree.cpu_us(spinner)
            process.look_after()
            await trio.sleep(0.05)
            assert tree.cpu_us(spinner) == before
            process.thaw()
            while tree.cpu_us(spinner) == before:
                await trio.lowlevel.checkpoint()
        await process.end(0)

    adopt_orphans()
    trio.run(main)


def test_an_arena_that_is_closed_to_bots_can_still_look_after_them() -> None:
    """Its own entries in /proc then belong to root; what it has to know of its children is still told."""
    script = """
import ctypes, os, subprocess
from arena.confine import custody, tree
custody.adopt_orphans()
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
custody.close_to_bots()
assert ctypes.CDLL(None).prctl(3, 0, 0, 0, 0) == 0, "PR_GET_DUMPABLE"
child = subprocess.Popen(["/bin/sleep", "1000"], env={"NAME": "value"})
assert tree.children(os.getpid()) == [child.pid]
assert tree.look(child.pid).parent == os.getpid()
assert tree.variable(child.pid, "NAME") == "value"
assert tree.fair_resident(child.pid) > 0
listing = ["/bin/ls", f"/proc/{os.getpid()}/fd"]
assert subprocess.run(listing, stderr=subprocess.DEVNULL).returncode != 0, "a child of the same user looked inside"
child.kill()
child.wait()
"""
    subprocess.run([sys.executable, "-c", script], check=True)
