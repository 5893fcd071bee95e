"""Control groups: what they are found to be from texts and folders, and what they hold where there are real ones.

The claims about real groups are tried wherever the arena finds that it can make some; elsewhere they are skipped for
the reason that it gives.
"""

import os
import signal
import statistics
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arena.bots.limits import MIB, Limits
from arena.sandbox import cgroup, systemd_scope
from arena.sandbox.cgroup import CgroupError, Group, Hierarchy
from arena.sandbox.systemd_scope import GUARD, LEAF, check, in_scope, own_group

NEVER_ENDS = 120.0
KILL_SECONDS = 0.05
"""As long as a killed tree may live on; in the middle of many tries, since a busy machine takes its own time."""
HELPERS = 2
LIMITS = Limits(memory=96 * MIB, processes=20)
JOIN = 'echo 0 >"$0" && exec "$@"'
Popen = subprocess.Popen[bytes]

V2_MOUNT = "30 25 0:26 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
OTHER_MOUNTS = "22 1 254:0 / / rw - ext4 /dev/vda rw\n25 22 0:22 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"


@pytest.mark.parametrize(
    ("mount", "membership", "folder"),
    [
        (V2_MOUNT, "0::/user.slice/run-7.scope", "/sys/fs/cgroup/user.slice/run-7.scope"),
        (V2_MOUNT, f"0::/user.slice/run-7.scope/{LEAF}", "/sys/fs/cgroup/user.slice/run-7.scope"),
        (V2_MOUNT, "1:name=systemd:/other\n0::/mine", "/sys/fs/cgroup/mine"),
        ("31 23 0:28 /box/a /sys/fs/cgroup rw - cgroup2 none rw", "0::/box/a/b", "/sys/fs/cgroup/b"),
        (r"31 23 0:28 / /my\040groups rw - cgroup2 none rw", "0::/a", "/my groups/a"),
        ("31 23 0:28 /x /nowhere rw - cgroup2 none rw\n" + V2_MOUNT, "0::/a", "/sys/fs/cgroup/a"),
    ],
)
def test_the_own_group_is_found_where_the_hierarchy_is_mounted(mount: str, membership: str, folder: str) -> None:
    assert own_group(OTHER_MOUNTS + mount, membership + "\n") == Path(folder)


@pytest.mark.parametrize(
    ("mount", "membership", "reason"),
    [
        (V2_MOUNT, "8:pids:/\n4:memory:/a\n0::/", "version 1 .* the memory controller and the pids controller"),
        ("", "0::/", "no control groups of version 2 are mounted"),
        (V2_MOUNT, "0::/../other", "not in the part that is mounted"),
        ("31 23 0:28 /box/a /sys/fs/cgroup rw - cgroup2 none rw", "0::/box/ab", "not in the part that is mounted"),
    ],
)
def test_what_cannot_work_is_refused_with_the_reason(mount: str, membership: str, reason: str) -> None:
    with pytest.raises(CgroupError, match=reason) as refusal:
        own_group(OTHER_MOUNTS + mount, membership + "\n")
    assert not refusal.value.scope_helps


# --- whether it will do, on folders that are made up ------------------------------------------------------------------


def made_up(folder: Path, controllers: str = "cpu memory pids", is_root: bool = False) -> Path:
    """A folder like that of a control group."""
    folder.mkdir(parents=True)
    (folder / "cgroup.controllers").write_text(controllers + "\n")
    for name in ("cgroup.procs", "cgroup.subtree_control", *([] if is_root else ["cgroup.type"])):
        (folder / name).touch()
    return folder


@pytest.mark.parametrize(
    ("controllers", "is_root", "reason"),
    [
        ("cpu", False, r"the memory controller and the pids controller: write \+memory \+pids to"),
        ("cpu memory", False, r"has not got the pids controller: write \+pids to"),
        ("cpu pids", True, "has not got the memory controller: boot the kernel with cgroup_enable=memory"),
    ],
)
def test_controllers_that_are_not_there_are_named(tmp_path: Path, controllers: str, is_root: bool, reason: str) -> None:
    with pytest.raises(CgroupError, match=reason):
        check(made_up(tmp_path / "group", controllers, is_root), systemd_rules=False)


def test_a_group_of_systemds_own_is_left_to_it_and_a_scope_is_the_remedy(tmp_path: Path) -> None:
    group = made_up(tmp_path / "session-1.scope")
    with pytest.raises(CgroupError, match=r"systemd-run .*--scope -p Delegate=yes") as refusal:
        check(group, systemd_rules=True)
    assert refusal.value.scope_helps


def test_what_killed_arenas_have_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as dead:
        dead.wait()
    (tmp_path / f"arena-{dead.pid}-ab_1" / "bot-1").mkdir(parents=True)
    others = {f"arena-{os.getpid()}-ab_1", "arena-ab_1", LEAF, "bot-1"}
    for name in others:
        (tmp_path / name).mkdir()
    cgroup._remove_leftovers(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == others


# --- the line for a scope ---------------------------------------------------------------------------------------------


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A systemd-run, on a machine that is ruled by systemd."""
    path = tmp_path / "systemd-run"
    path.touch(mode=0o755)
    monkeypatch.setattr(systemd_scope, "systemd_rules", lambda: True)
    return path


@pytest.mark.skipif(sys.platform == "win32", reason="programs are found by their names there")
@pytest.mark.parametrize(("user", "option"), [(0, []), (1000, ["--user"])])
def test_a_scope_is_asked_of_the_systemd_that_is_the_users_own(
    tool: Path, monkeypatch: pytest.MonkeyPatch, user: int, option: list[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    (tool.parent / "bus").touch()
    line = in_scope(["arena", "league"], {"PATH": str(tool.parent), "XDG_RUNTIME_DIR": str(tool.parent)})
    assert line is not None
    assert line[: 2 + len(option)] == [str(tool), *option, "--scope"]
    assert line[-4:] == [f"--setenv={GUARD}=1", "--", "arena", "league"]


@pytest.mark.skipif(sys.platform == "win32", reason="programs are found by their names there")
@pytest.mark.parametrize(
    "extra", [{}, {"XDG_RUNTIME_DIR": "/nowhere"}, {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/bus", GUARD: "1"}]
)
def test_there_is_no_scope_where_no_systemd_answers_nor_in_a_scope(
    tool: Path, monkeypatch: pytest.MonkeyPatch, extra: dict[str, str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert in_scope(["arena"], {"PATH": str(tool.parent), **extra}) is None


def test_a_systemd_run_that_lies_where_one_stands_is_not_run(tool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of submissions it would be an entrant's."""
    monkeypatch.chdir(tool.parent)
    for path in (".", "", ":", f"../{tool.parent.name}"):
        assert in_scope(["arena"], {"PATH": path, "DBUS_SESSION_BUS_ADDRESS": "unix:path=/bus"}) is None


# --- real groups ------------------------------------------------------------------------------------------------------


def until(condition: Callable[[], bool]) -> float:
    """Wait for something; returns the seconds that it took."""
    begun = time.perf_counter()
    while not condition():
        assert time.perf_counter() - begun < NEVER_ENDS, "this takes for ever"
        time.sleep(0.0005)
    return time.perf_counter() - begun


def find() -> Hierarchy:
    """A real hierarchy; where there is none, the test is skipped for the reason why."""
    try:
        return Hierarchy.find()
    except CgroupError as error:
        pytest.skip(str(error))


@pytest.fixture
def hierarchy() -> Iterator[Hierarchy]:
    found = find()
    yield found
    found.close()


@pytest.fixture
def group(hierarchy: Hierarchy) -> Iterator[Group]:
    """A group of its own for each test, at the end of which nothing of it may be left."""
    made = hierarchy.make("bot-1", LIMITS, HELPERS)
    folder = made.members.parent
    yield made
    if folder.exists():
        made.kill()
        until(made.remove)
    assert not folder.exists()


@pytest.fixture
def run(group: Group) -> Iterator[Callable[[str], Popen]]:
    """Starts a Python program in the group: `run(text)`."""
    running: list[Popen] = []

    def start(text: str) -> Popen:
        program = [sys.executable, "-I", "-S", "-c", "import mmap, os, sys, time\n" + textwrap.dedent(text)]
        line = ["/bin/sh", "-c", JOIN, str(group.members), *program]
        running.append(subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True))
        return running[-1]

    yield start
    if group.members.exists():
        group.kill()
    for process in running:
        with process:
            process.kill()


def line_of(process: Popen) -> str:
    assert process.stdout is not None
    return process.stdout.readline().decode().strip()


def tell(process: Popen) -> None:
    assert process.stdin is not None
    process.stdin.write(b"go\n")
    process.stdin.flush()


def members(group: Group) -> list[int]:
    return [int(pid) for pid in group.members.read_text().split()]


def is_empty(group: Group) -> bool:
    return cgroup._counters(group.members.with_name("cgroup.events"))["populated"] == 0


def process_refusals(group: Group) -> int:
    """How often it was refused another process or thread."""
    return cgroup._counters(group.members.with_name("pids.events"))["max"]


def is_frozen(group: Group) -> bool:
    return cgroup._counters(group.members.with_name("cgroup.events"))["frozen"] == 1


def rests(group: Group) -> bool:
    """Whether it uses no processor time while this process uses some."""
    used, end = group.cpu_us(), time.process_time() + 0.02
    until(lambda: time.process_time() > end)
    return group.cpu_us() == used


FORKED = """
    for child in range(12):
        if os.fork() == 0:
            held = bytearray(b"x" * (16 << 20))
            time.sleep(1000)
    time.sleep(1000)
"""
MEMFD = """
    descriptor = os.memfd_create("hidden")
    while True:
        os.write(descriptor, b"x" * (1 << 20))
"""


@pytest.mark.parametrize("hog", [FORKED, MEMFD], ids=["forked", "memfd"])
def test_memory_of_every_kind_is_held_to_the_limit_and_all_die_that_go_beyond(
    group: Group, run: Callable[[str], Popen], hog: str
) -> None:
    process = run(hog)
    assert process.wait(NEVER_ENDS) == -signal.SIGKILL
    until(lambda: is_empty(group))
    peak = group.memory_peak()
    assert group.oom_kills() > 0
    assert peak is None or 0.9 * LIMITS.memory < peak <= LIMITS.memory


def test_memory_within_the_limit_is_measured_and_no_reason_to_kill(group: Group, run: Callable[[str], Popen]) -> None:
    process = run("held = b'x' * (32 << 20); print('held', flush=True); sys.stdin.readline()")
    assert line_of(process) == "held"
    tell(process)
    assert process.wait(NEVER_ENDS) == 0
    peak = group.memory_peak()
    assert peak is None or 32 * MIB <= peak < 64 * MIB
    assert group.oom_kills() == 0


def test_a_fork_bomb_gets_as_many_processes_as_are_allowed_and_is_killed(
    group: Group, run: Callable[[str], Popen]
) -> None:
    most = LIMITS.processes + HELPERS
    run("""
        while True:
            try:
                os.fork()
                os.setsid()
            except OSError:
                pass
    """)
    until(lambda: process_refusals(group) > most and len(members(group)) == most)
    group.kill()
    until(lambda: is_empty(group))


DAEMON = """
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execve("/bin/sh", ["sh", "-c", "echo up; exec </dev/null >/dev/null; while :; do :; done"], {})
        os._exit(0)
    time.sleep(1000)
"""
HOPPER = """
    print("up", flush=True)
    while True:
        try:
            if os.fork():
                os._exit(0)
            os.setsid()
        except OSError:  # those that it was are still waiting to be reaped
            pass
"""


@pytest.mark.parametrize("program", [DAEMON, HOPPER], ids=["daemon", "hopper"])
def test_no_process_outlives_a_kill_by_more_than_a_moment(
    group: Group, run: Callable[[str], Popen], program: str
) -> None:
    seconds = []
    for _ in range(12):
        with run(program) as process:
            assert line_of(process) == "up"
            until(lambda: not rests(group))
            group.kill()
            seconds.append(until(lambda: is_empty(group)))
            assert process.stdout is not None
            assert process.stdout.read() == b""  # all are dead that could write there
    assert members(group) == []
    assert statistics.median(seconds) < KILL_SECONDS


def test_a_frozen_tree_uses_no_processor_time_until_it_is_thawed(group: Group, run: Callable[[str], Popen]) -> None:
    assert line_of(run("os.fork(); os.fork(); print('up', flush=True)\nwhile True: pass")) == "up"
    for _ in range(3):
        group.freeze(True)
        until(lambda: is_frozen(group))
        until(lambda: rests(group))
        assert rests(group)
        group.freeze(False)
        assert not rests(group)


def picture() -> tuple[str, set[str], str]:
    """The test's own group, the groups in it, and what it hands down to them."""
    membership = Path("/proc/self/cgroup").read_text()
    own = own_group(Path("/proc/self/mountinfo").read_text(), membership)
    inner = {path.name for path in own.iterdir() if path.is_dir()}
    return membership, inner, "" if systemd_scope.is_root(own) else (own / "cgroup.subtree_control").read_text()


def test_arenas_that_come_and_go_at_once_do_not_disturb_each_other() -> None:
    find().close()
    before = picture()
    program = """
        from arena.sandbox.cgroup import Hierarchy
        from arena.bots.limits import Limits
        for _ in range(10):
            hierarchy = Hierarchy.find()
            assert hierarchy.make("bot-1", Limits(), 2).remove()
            hierarchy.close()
    """
    line = [sys.executable, "-c", textwrap.dedent(program)]
    arenas = [subprocess.Popen(line, stderr=subprocess.PIPE, cwd=Path(__file__).parents[2]) for _ in range(4)]
    assert [arena.communicate()[1] for arena in arenas] == [b""] * 4
    assert picture() == before
