"""Control groups: what they are found to be from texts and folders, and what they hold where there are real ones.

The claims about real groups are tried wherever the arena finds that it can make some; elsewhere they are skipped for
the reason that it gives.
"""

import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arena.bots.limits import MIB, Limits
from arena.sandbox import cgroup
from arena.sandbox.cgroup import LEAF, CgroupError, Group, Hierarchy, check, own_group

NEVER_ENDS = 120.0
HELPERS = 2
LIMITS = Limits(memory=96 * MIB, processes=20)
JOIN = 'echo 0 >"$0" && exec "$@"'
Popen = subprocess.Popen[bytes]


@pytest.mark.parametrize(
    ("membership", "folder"),
    [
        ("0::/user.slice/run-7.scope", "user.slice/run-7.scope"),
        (f"0::/user.slice/run-7.scope/{LEAF}", "user.slice/run-7.scope"),
        ("1:name=systemd:/other\n0::/mine", "mine"),
        ("0::/", ""),
    ],
)
def test_the_own_group_is_found_where_the_hierarchy_is_mounted(membership: str, folder: str, tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").touch()
    (tmp_path / membership.rpartition("0::/")[2]).mkdir(parents=True, exist_ok=True)
    assert own_group(membership + "\n", tmp_path) == tmp_path / folder


@pytest.mark.parametrize(
    ("is_mounted", "membership", "reason"),
    [
        (True, "8:pids:/\n4:memory:/a\n0::/", "version 1 .* the memory controller and the pids controller"),
        (False, "0::/", "no control groups of version 2 are mounted"),
        (True, "0::/../other", "not in the part that is mounted"),
        (True, "0::/box/ab", "not in the part that is mounted"),
    ],
)
def test_what_cannot_work_is_refused_with_the_reason(
    is_mounted: bool, membership: str, reason: str, tmp_path: Path
) -> None:
    if is_mounted:
        (tmp_path / "cgroup.controllers").touch()
    with pytest.raises(CgroupError, match=reason):
        own_group(membership + "\n", tmp_path)


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
    with pytest.raises(CgroupError, match=r"systemd-run .*--scope --unit=stratego-arena-1 -p Delegate=yes"):
        check(group, systemd_rules=True)
    check(made_up(tmp_path / "stratego-arena-1.scope"), systemd_rules=True)


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


def test_a_frozen_tree_uses_no_processor_time_until_it_is_thawed(group: Group, run: Callable[[str], Popen]) -> None:
    assert line_of(run("os.fork(); os.fork(); print('up', flush=True)\nwhile True: pass")) == "up"
    for _ in range(3):
        group.freeze(True)
        until(lambda: is_frozen(group))
        until(lambda: rests(group))
        assert rests(group)
        group.freeze(False)
        assert not rests(group)


def test_arenas_that_come_and_go_at_once_do_not_disturb_each_other() -> None:
    find().close()
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
