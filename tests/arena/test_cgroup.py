"""Control groups: what they are found to be from texts and folders, and that arenas share them.

What real groups hold is tried by the bots of `tests/hostile`, wherever the arena finds that it can make some.
"""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from arena.sandbox.cgroup import LEAF, CgroupError, Hierarchy, check, own_group


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


def test_arenas_that_come_and_go_at_once_do_not_disturb_each_other() -> None:
    try:
        Hierarchy.find().close()
    except CgroupError as error:
        pytest.skip(str(error))
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
