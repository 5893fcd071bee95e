"""The bubblewrap sandbox: a bot sees only its own files, the system and a small /tmp.

A bot has namespaces of its own: no other processes, no network, and only the files that it is shown, read-only but for
/tmp. The processes inside, from the outermost:

    bwrap | its process 1 | [setpriv, as root only] | prlimit | [env, where a bot.toml has one] | sh | the bot's program

Each but the first two replaces the one before it. The shell puts the bot's pipes in their places. Until then these are
on descriptors that bwrap closes in its own two processes, so that a bot that closes its output is seen to have done so.
Variables of a bot.toml (such as LD_PRELOAD) take effect only after all rights are gone and all limits are set.

An ordinary user's bots run in a user namespace in which no other can be made. Root needs none; each of its bots runs as
another unused user id, so that the system's count of a user's processes is that of one bot.
"""

import fcntl
import itertools
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from arena.bots.limits import MIB, Limits
from arena.bots.program_files import Link
from arena.sandbox.mounts import HOME, Mounts
from arena.sandbox.programs import SYSTEM, SharedPrograms, is_within
from arena.sandbox.rlimits import at_most_own, process_limits
from arena.sandbox.seccomp import filter_program

STDIN, STDOUT, FILTER = 3, 4, 9
"""The descriptors on which bwrap gets the bot's input and output, and the seccomp filter."""
PROCESSES = 2
"""bubblewrap's own processes: the one that waits for the sandbox, and the first one in it."""
TOOL_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
USERS, USERS_EACH = range(2**30, 2**31), 2**8
"""User ids for the bots of root, higher than any in use, and how many each arena has."""
CONTAINER_USERS = range(40_000, 60_000)
"""User ids in a container that has no more than the usual 65536."""
COMPLAINT = "bwrap: "
"""The beginning of bubblewrap's error messages. A bot could write that, too."""
PLAIN = ("/bin/sh", "-c", "exec true")
"""A command that needs only the plain system."""
TRIAL_SECONDS = 30.0
BUILD_FILES = 4096
"""Files that a process of a build may have open."""
SHARED_MEMORY = MIB
"""Bytes of /dev/shm: room for the semaphores of Python's multiprocessing."""
ETC = (
    "alternatives",
    "crypto-policies",
    "java*",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
)
"""The parts of /etc that are shown: targets of links into the system, and files that programs need to start."""
NETWORK_ETC = (
    "ca-certificates",
    "gai.conf",
    "hosts",
    "nsswitch.conf",
    "pki",
    "protocols",
    "resolv.conf",
    "services",
    "ssl",
)
"""Further parts of /etc for a build that may use the network."""
OPEN_PROC = ("/proc/sys", "/proc/pressure")
"""Where the kernel lets ordinary users write, or those of a user namespace, with effect beyond one process."""
_starts = itertools.count()


def spare_user() -> int | None:
    """Return the user id for the next bot if the arena is root; None if bots run as the arena's own user."""
    if os.geteuid() != 0:
        return None
    number = os.getpid() * USERS_EACH + next(_starts) % USERS_EACH
    users = USERS if _has_user(USERS[-1]) else CONTAINER_USERS
    return users[number % len(users)]


def command(mounts: Mounts, limits: Limits, user: int | None) -> tuple[str, ...]:
    """Return the command line that starts a bot, as `user` (see `spare_user`).

    It has to be started with STDIN and STDOUT on the bot's pipes, FILTER on the seccomp filter if this machine has one,
    0 and 1 on /dev/null and 2 on the pipe for the bot's standard error; `through_shell` adds that. Only bwrap's
    processes see the environment that it is started with.

    Killing bwrap kills all processes inside, but not in its first milliseconds, before its process 1 asks for that. A
    caller that kills so early has to kill that process too: an orphan with bwrap's environment.
    """
    shown = list(shown_options(mounts.folders, mounts.links))
    if mounts.place != HOME:
        shown += ["--perms", "0755", "--dir", HOME]
    shown += ["--ro-bind", str(mounts.own), mounts.place]
    extras = [f"{name}={value}" for name, value in mounts.extras.items()]
    return (
        *_sandbox(shown, mounts.environment, limits.tmp, user),
        *_limits(process_limits(limits), limits.processes),
        *([_tool("env"), "--", *extras] if extras else []),
        "/bin/sh",
        "-c",
        f'exec "$@" <&{STDIN} >&{STDOUT} {STDIN}<&- {STDOUT}>&-',
        "sh",
        *mounts.words,
    )


def build_line(
    build: str, copy: Path, shown: SharedPrograms, *, path: str, limits: Limits, user: int | None, network: bool
) -> tuple[str, ...]:
    """Return the command line that builds a bot in a writable copy of its folder, as `user`.

    All output of the build goes to standard error. Inside, the copy is at the place of the bot's files during play, so
    that paths which a build stores stay valid.
    """
    options = [*shown_options(shown.folders, shown.links), "--bind", str(copy), HOME]
    if network:
        options += network_options()
    environment = {"HOME": "/tmp", "LANG": "C.UTF-8", "PATH": path}
    line = (
        *_sandbox(options, environment, limits.tmp, user, network=network),
        *_limits({**process_limits(limits), "nofile": BUILD_FILES}, limits.processes),
        *("/bin/sh", "-c", build),
    )
    return ("/bin/sh", "-c", f'exec "$@" </dev/null >&2{_filter_place()}', "sh", *line)


def through_shell(line: Sequence[str]) -> tuple[str, ...]:
    """Return the line for a start with the bot's pipes as standard input and output.

    A shell costs less than placing descriptors between fork and exec, for which Python copies the whole process.
    """
    places = f"{STDIN}<&0 {STDOUT}>&1 </dev/null >/dev/null{_filter_place()}"
    return ("/bin/sh", "-c", f'exec "$@" {places}', "sh", *line)


def bare_mounts(words: Sequence[str], folders: Sequence[Path] = (), links: Sequence[Link] = ()) -> Mounts:
    return Mounts(
        Path(_tool("true")), f"{HOME}/true", tuple(folders), tuple(words), {"PATH": TOOL_PATH}, links=tuple(links)
    )


def _sandbox(
    shown: Sequence[str], environment: Mapping[str, str], tmp: int, user: int | None, *, network: bool = False
) -> tuple[str, ...]:
    """Return the line up to the program's limits: namespaces, visible files, and no rights."""
    if user is None:
        namespaces = ["--unshare-all", "--unshare-user", *(["--share-net"] if network else [])]
        if "--disable-userns" in options_of_bwrap():
            namespaces.append("--disable-userns")
        drop = []
    else:
        names = ("ipc", "pid", "uts", "cgroup-try") if network else ("ipc", "pid", "net", "uts", "cgroup-try")
        namespaces = [f"--unshare-{name}" for name in names]
        namespaces += ["--cap-drop", "ALL"]
        for capability in ("SETUID", "SETGID", "SETPCAP"):
            namespaces += ["--cap-add", f"CAP_{capability}"]
        drop = [_tool("setpriv"), f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs"]
        drop += ["--inh-caps=-all", "--bounding-set=-all"]
    if filter_program() is not None:
        namespaces += ["--seccomp", str(FILTER)]
    line = [_tool("bwrap"), "--die-with-parent", *namespaces, "--hostname", "bot"]
    line += system_options()
    line += ["--perms", "1777", "--size", str(tmp), "--tmpfs", "/tmp", *shown]
    line += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", HOME, "--clearenv"]
    for name, value in environment.items():
        line += ["--setenv", name, value]
    return (*line, "--", *drop)


def _limits(values: Mapping[str, int], processes: int) -> list[str]:
    if counts_one_bot():  # with room for the watch to find one too many, which ends the game as at the level basic
        values = {**values, "nproc": processes + PROCESSES + 1}
    return [_tool("prlimit"), *(f"--{name}={at_most_own(name, value)}" for name, value in values.items()), "--"]


def _filter_place() -> str:
    if filter_program() is None:
        return ""
    return f" {FILTER}</proc/{os.getpid()}/fd/{_filter_file()}"  # opened again, so read from its beginning


@lru_cache
def _filter_file() -> int:
    """Return a descriptor of the filter, in sealed memory."""
    program = filter_program()
    assert program is not None
    descriptor = os.memfd_create("filter", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(descriptor, program)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)
    return descriptor


@lru_cache
def _tool(name: str) -> str:
    return shutil.which(name, path=TOOL_PATH) or name


@lru_cache
def options_of_bwrap() -> frozenset[str]:
    try:
        done = subprocess.run([_tool("bwrap"), "--help"], check=False, capture_output=True, timeout=TRIAL_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return frozenset()
    return frozenset(word for word in (done.stdout + done.stderr).decode().split() if word.startswith("--"))


@lru_cache
def _has_user(user: int) -> bool:
    lines = (line.split() for line in Path("/proc/self/uid_map").read_text().splitlines())
    return any(int(first) <= user < int(first) + int(count) for first, _, count in lines)


def counts_one_bot() -> bool:
    """Return whether the system counts the processes of one bot, and not of all that run as the same user."""
    return os.geteuid() == 0 or tuple(int(part) for part in re.findall(r"\d+", platform.release())[:2]) >= (5, 14)


@lru_cache
def system_options() -> tuple[str, ...]:
    """Return the options that show the system and the kernel's own file systems.

    bwrap's process 1 is hidden: an ordinary user's bot could read its arguments, and write to its memory, which no
    limit covers.
    """
    line: list[str] = []
    for folder in SYSTEM:
        if folder.is_symlink():
            line += ["--symlink", os.readlink(folder), str(folder)]
        elif folder.is_dir():
            line += ["--ro-bind", str(folder), str(folder)]
    line += ["--perms", "0755", "--dir", "/etc"]
    for path in _etc():
        line += ["--ro-bind-try", str(path), str(path)]
    line += ["--proc", "/proc"]
    for part in OPEN_PROC:
        line += ["--ro-bind-try", part, part]
    line += ["--perms", "0555", "--tmpfs", "/proc/1", "--remount-ro", "/proc/1"]
    line += ["--ro-bind-try", "/dev/null", "/proc/locks"]  # those of the whole machine
    line += ["--dev", "/dev", "--remount-ro", "/dev/pts"]  # which also keeps bots from making terminals
    return (*line, "--perms", "1777", "--size", str(SHARED_MEMORY), "--tmpfs", "/dev/shm")


@lru_cache
def _etc() -> tuple[Path, ...]:
    return tuple(path for pattern in ETC for path in sorted(Path("/etc").glob(pattern)))


def network_options() -> list[str]:
    paths = [str(path) for pattern in NETWORK_ETC for path in sorted(Path("/etc").glob(pattern))]
    return [word for path in paths for word in ("--ro-bind-try", path, path)]


@lru_cache
def shown_options(folders: tuple[Path, ...], links: tuple[Link, ...]) -> tuple[str, ...]:
    """Return the options that show these; cached, as they are the same for each bot."""
    line: list[str] = []
    made, shown = {Path("/"), Path("/tmp"), Path("/etc")}, list(SYSTEM)

    def make_way(to: Path) -> None:
        for parent in reversed(to.parents):
            if parent not in made:
                made.add(parent)
                line.extend(["--perms", "0755", "--dir", str(parent)])

    for folder in folders:
        if not is_within(folder, tuple(shown)):
            make_way(folder)
            line += ["--ro-bind", str(folder), str(folder)]
            shown.append(folder)
    shown += _etc()
    for link in links:
        if not is_within(link.place, tuple(shown)):
            make_way(link.place)
            line += ["--symlink", link.target, str(link.place)]
    return tuple(line)
