"""Bots in bubblewrap: every kind of program runs as it does outside, and none gets at anything but its own.

All that is claimed of the sandbox is tried from inside by a hostile program, in both forms that it has: as the user who
runs the tests and, if that is root, also as an ordinary user.
"""

import json
import os
import platform
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_files import put

import protocol
from arena.bots.limits import MIB, Limits
from arena.bots.loading import load_bot
from arena.bots.spec import BotSpec
from arena.errors import UsageError
from arena.processes.process import EXIT_OF_SIGNALS
from arena.sandbox.bwrap import (
    CONTAINER_USERS,
    FILTER,
    STDIN,
    STDOUT,
    USERS,
    command,
    spare_user,
    through_shell,
)
from arena.sandbox.bwrap_check import gaps, why_not
from arena.sandbox.mounts import mounts_of
from arena.sandbox.programs import HostPrograms
from arena.sandbox.seccomp import ABSENT, ARCHITECTURES, BY_ARGUMENT, IDLE, SYSCALLS, filter_program

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))

NOBODY = 65534
PATIENCE = 120.0
"""Seconds after which a program counts as one that never ends."""
SYSTEM_PYTHON = shutil.which("python3", path="/usr/bin")
SECRET = "what only the arena knows"
AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


class Started(subprocess.Popen[bytes]):
    """A program that was started; what has not ended by the end of the `with` block is killed."""

    def __exit__(self, *problem: Any) -> None:
        self.kill()
        super().__exit__(*problem)

    def said(self, size: int = sys.maxsize) -> bytes:
        """What it prints, up to so many bytes or the end. Fails the test if neither comes."""
        assert self.stdout is not None
        data = b""
        while len(data) < size:
            assert select.select([self.stdout], [], [], PATIENCE)[0], f"nothing more came after {data!r}"
            chunk = os.read(self.stdout.fileno(), min(size - len(data), 4096))
            if not chunk:
                break
            data += chunk
        return data


def bot_folder(path: Path, manifest: str, **files: str) -> BotSpec:
    put(path / "bot.toml", manifest, 0o644)
    for name, text in files.items():
        put(path / name.replace("__", "."), text)
    return load_bot(path)


def start(bot: BotSpec, limits: Limits | None = None, named: Sequence[Path] = ()) -> Started:
    host = HostPrograms([str(path) for path in named], [bot])
    line = through_shell(command(mounts_of(bot, host=host), limits or Limits(), spare_user()))
    pipe = subprocess.PIPE
    return Started(line, cwd="/", env={"SECRET": SECRET}, stdin=pipe, stdout=pipe, stderr=pipe)


def output(bot: BotSpec, code: int = 0, limits: Limits | None = None, named: Sequence[Path] = ()) -> str:
    """What a bot's program prints, given one line of input."""
    with start(bot, limits, named) as process:
        said, complaints = process.communicate(b"hello\n", timeout=PATIENCE)
    assert (process.returncode, complaints.decode()) == (code, "")
    return said.decode()


HEAD = """
import json, os, sys
def tell(it):
    print(json.dumps(it), flush=True)
def attempt(work):
    try:
        return work()
    except OSError as error:
        return error.strerror
"""
"""What hostile programs begin with: `tell` prints one value for `ask`; `attempt` gives a result, or the error."""


class Sandbox:
    """Runs hostile programs in Python, as the user of these tests or as an ordinary user that root turns into."""

    def __init__(self, folder: Path, as_nobody: bool) -> None:
        self.folder = folder
        self.as_nobody = as_nobody
        self.is_root_outside = AS_ROOT and not as_nobody
        self.python = SYSTEM_PYTHON if as_nobody else sys.executable

    def start(self, program: str, limits: Limits | None = None) -> Started:
        """Start a program in Python, which begins with `HEAD`."""
        head = f"#!{self.python}\n{HEAD}"
        bot = load_bot(put(self.folder / "prison" / "hostile.py", head + program))
        if not self.as_nobody:
            return start(bot, limits)
        filter_file = self.folder / "filter"
        filter_file.write_bytes(filter_program() or b"")
        mounts = replace(mounts_of(bot), folders=(), links=())  # which may be in the home of root
        places = f"{STDIN}<&0 {STDOUT}>&1 {FILTER}<{filter_file} </dev/null >/dev/null"
        return Started(
            ["/bin/sh", "-c", f'exec "$@" {places}', "sh", *command(mounts, limits or Limits(), None)],
            cwd="/",
            env={"SECRET": SECRET},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
        )

    def ask(self, program: str, limits: Limits | None = None) -> Any:
        """What a program tells, which has to end well."""
        with self.start(program, limits) as process:
            said, complaints = process.communicate(timeout=PATIENCE)
        assert (process.returncode, complaints.decode()) == (0, "")
        return json.loads(said)


@pytest.fixture(params=["as_we_are", "as_nobody"])
def sandbox(request: pytest.FixtureRequest, folder: Path) -> Sandbox:
    """A sandbox, once for each form that it has."""
    as_nobody = request.param == "as_nobody"
    if as_nobody and not (AS_ROOT and SYSTEM_PYTHON):
        pytest.skip("only root can turn into somebody else, and for that there has to be a Python in /usr/bin")
    hidden = [path for path in Path(protocol.__file__).resolve().parents if not path.stat().st_mode & 0o001]
    if as_nobody and hidden:
        pytest.skip(f"others may not go through {hidden[-1]}, where this project is")
    return Sandbox(folder, as_nobody)


# --- what runs --------------------------------------------------------------------------------------------------------

PYTHON_HELLO = "import os\nprint(os.getcwd(), input())\n"
HELLO = "/bot hello\n"


def need(name: str) -> str:
    """Where a program is; the test is skipped if it is not installed."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


def test_a_script_may_name_its_interpreter_with_variables_and_options(folder: Path) -> None:
    assert output(load_bot(put(folder / "bot", f"#! /usr/bin/env  -S A=1 python3 -u\n{PYTHON_HELLO}"))) == HELLO


def test_a_compiled_program_runs(folder: Path) -> None:
    source = put(folder / "hello.c", '#include <stdio.h>\nint main(void) { return puts("compiled") < 0; }\n')
    subprocess.run([need("cc"), "-o", folder / "bot", source], check=True)
    assert output(load_bot(folder / "bot")) == "compiled\n"


def test_an_interpreter_of_the_system_runs(folder: Path) -> None:
    need("node")
    program = 'console.log(process.cwd(), require("fs").readFileSync(0, "utf8").trim())'
    assert output(load_bot(put(folder / "bot", f"#!/usr/bin/env node\n{program}\n"))) == HELLO


# --- how it ends ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("deed", "code"),
    [("os._exit(139)", 139), (f"os.kill(os.getpid(), {int(signal.SIGKILL)})", EXIT_OF_SIGNALS + signal.SIGKILL)],
    ids=["exit", "signal"],
)
def test_how_a_program_ends_comes_out_as_an_exit_code(sandbox: Sandbox, deed: str, code: int) -> None:
    with sandbox.start(f"{deed}\n") as process:
        assert process.wait(PATIENCE) == code


def test_nothing_outlives_the_program_itself(sandbox: Sandbox) -> None:
    detached = (
        "if os.fork() == 0:\n    os.setpgid(0, 0)\n    if os.fork() == 0:\n        os.read(0, 1)\n    os._exit(0)\n"
    )
    with sandbox.start(detached + "os.wait()\nos.write(1, b'gone')\nos._exit(0)\n") as process:
        assert process.said() == b"gone"  # to the end: nobody has it open any more


def test_a_bot_does_not_outlive_the_arena(folder: Path) -> None:
    bot = load_bot(put(folder / "bot.py", "import os, signal\nos.write(1, b'up')\nsignal.pause()\n", 0o644))
    # The filter is read from the descriptor of the process that made the line: this one, which lives on.
    line = through_shell(command(mounts_of(bot), Limits(), spare_user()))
    arena = "import subprocess, sys\nwith subprocess.Popen(sys.argv[1:], env={}) as bot:\n    bot.wait()\n"
    pipe = subprocess.PIPE
    with Started([sys.executable, "-c", arena, *line], stdin=pipe, stdout=pipe) as process:
        assert process.said(2) == b"up"
        process.kill()
        assert process.said() == b""


# --- what a bot sees --------------------------------------------------------------------------------------------------


def test_the_environment_is_small_and_nothing_of_the_arenas(sandbox: Sandbox) -> None:
    environment = sandbox.ask("tell(dict(os.environ))")
    allowed = {"HOME", "LANG", "PATH", "PWD", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONUSERBASE"}
    assert environment.keys() <= allowed | {"JAVA_HOME", "OLDPWD", "SHLVL", "_"}
    assert environment["HOME"] == "/tmp"
    assert str(Path(str(sandbox.python)).parent) in environment["PATH"].split(":")


def test_nothing_of_the_process_of_bwrap_can_be_seen_or_touched(sandbox: Sandbox) -> None:
    program = """
names = ("environ", "mem", "exe", "task/1/mem", "task/1/environ", "root/etc", "ns/net")
def read(name, flags):
    return os.read(os.open(f"/proc/1/{name}", flags), 100).decode()
answers = {attempt(lambda: read(name, flags)) for name in names for flags in (os.O_RDONLY, os.O_RDWR)}
tell([os.listdir("/proc/1"), *answers])
"""
    assert sandbox.ask(program) == [[], "No such file or directory"]


def test_only_its_own_processes_are_there(sandbox: Sandbox) -> None:
    pids = sandbox.ask(
        "tell([os.getpid(), os.getppid(), *(int(name) for name in os.listdir('/proc') if name.isdigit())])"
    )
    assert pids == [2, 1, 1, 2]


def test_other_bots_and_the_rest_of_the_machine_are_not_there(sandbox: Sandbox) -> None:
    rival = put(sandbox.folder / "prison" / "rival.py", "print('my secret plan')")
    places = [str(rival), str(rival.parent), "/etc/passwd", "/etc/shadow", "/sys", "/run", "/var", "/home"]
    program = f"""
there = [place for place in {places} if os.path.exists(place)]
tell([os.listdir("/bot"), there, attempt(lambda: open("/proc/locks").read())])
"""
    assert sandbox.ask(program) == [["hostile.py"], [], "Permission denied"]


# --- what a bot can write ---------------------------------------------------------------------------------------------


def test_nothing_can_be_written_but_its_own_temporary_files(sandbox: Sandbox) -> None:
    program = """
import stat
with open("/proc/self/mountinfo") as file:
    mounts = {line.split()[4] for line in file}
writable = []
for mount in mounts:
    if os.statvfs(mount).f_flag & os.ST_RDONLY:
        continue  # so is all in it: nobody needs to look at every file of the system
    paths = [mount]
    for root, folders, files in os.walk(mount, followlinks=False):
        folders[:] = [name for name in folders if os.path.join(root, name) not in mounts]
        if root == "/proc":
            folders[:] = [name for name in folders if not name.isdigit()]  # a process's knobs for itself
        paths += [root, *(os.path.join(root, name) for name in files)]
    for path in paths:
        mode = os.lstat(path).st_mode
        if (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) and os.access(path, os.W_OK):
            writable.append(path)
tell(writable)
"""
    found = sandbox.ask(program)
    # A checkout below /tmp is shown where it is, and the folders on the way there are in the bot's own /tmp.
    own_way = {str(path) for path in Path(protocol.__file__).resolve().parent.parents if path.is_relative_to("/tmp")}
    assert {"/tmp", "/dev/shm"} <= set(found) <= {"/tmp", "/dev/shm"} | own_way


def test_temporary_files_are_bounded(sandbox: Sandbox) -> None:
    program = """
import errno, itertools
def fill(folder):
    total = 0
    for number in itertools.count():
        try:
            with open(f"{folder}/{number}", "wb", buffering=0) as file:
                for _ in range(16):
                    total += file.write(bytes(1 << 16))
        except OSError as error:
            assert error.errno == errno.ENOSPC, error
            return total
tell([fill("/tmp"), fill("/dev/shm")])
"""
    assert sandbox.ask(program, Limits(tmp=3 * MIB)) == [3 * MIB, MIB]


def test_the_machine_cannot_be_reached_over_any_network(sandbox: Sandbox) -> None:
    name = f"arena-{secrets.token_hex(8)}"
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as unix:
        unix.bind(f"\0{name}")
        unix.listen()
        program = f"""
import socket
def reach(family, address):
    with socket.socket(family) as there:
        there.connect(address)
tell([
    attempt(lambda: reach(socket.AF_INET, ("127.0.0.1", {tcp.getsockname()[1]}))),
    attempt(lambda: reach(socket.AF_INET, ("192.0.2.1", 80))),
    attempt(lambda: reach(socket.AF_UNIX, "\\0{name}")),
])
"""
        assert sandbox.ask(program) == ["Connection refused", "Network is unreachable", "Connection refused"]


# --- what a bot can become --------------------------------------------------------------------------------------------


def test_it_is_nobody_and_has_no_rights(sandbox: Sandbox) -> None:
    lines = sandbox.ask("""tell(open("/proc/self/status").read().splitlines())""")
    status = {name: value for name, _, value in (line.partition(":") for line in lines)}
    users = set(status["Uid"].split())
    if sandbox.is_root_outside:
        assert all(int(user) in USERS or int(user) in CONTAINER_USERS for user in users)
        assert status["Groups"].strip() == ""
    else:
        assert users == {str(NOBODY if sandbox.as_nobody else os.geteuid())}
    assert status["NoNewPrivs"].strip() == "1"
    assert status["Seccomp"].strip() == ("2" if filter_program() else "0")
    for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb"):
        assert int(status[f"Cap{kind}"], 16) == 0 or (kind == "Bnd" and not sandbox.is_root_outside)


def test_the_filter_is_in_force(sandbox: Sandbox) -> None:
    if filter_program() is None:
        pytest.skip(f"there is no filter for {platform.machine()}")
    column = ARCHITECTURES[platform.machine().lower()][1]
    numbers = {name: columns[column] for name, columns in SYSCALLS.items() if name not in (*BY_ARGUMENT, *IDLE)}
    program = f"""
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
def call(number):
    assert libc.syscall(number, -1, 0, 0, 0, 0, 0) == -1
    return errno.errorcode[ctypes.get_errno()]
numbers = {numbers}
tell({{name: call(number) for name, number in numbers.items() if number is not None}})
"""
    for name, result in sandbox.ask(program).items():
        assert result == ("ENOSYS" if name in ABSENT else "EPERM"), name


def test_no_terminal_can_be_had_or_typed_into(sandbox: Sandbox) -> None:
    program = """
import fcntl
tell([
    attempt(lambda: os.open("/dev/tty", os.O_RDWR)),
    attempt(lambda: os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)),
    attempt(lambda: fcntl.ioctl(0, 0x5412, b"x")),
])
"""
    assert sandbox.ask(program) == ["No such device or address", "Permission denied", "Operation not permitted"]


def test_the_number_of_its_processes_is_bounded_for_each_bot_alone(sandbox: Sandbox) -> None:
    if gaps(in_control_group=True):
        pytest.skip("; ".join(gaps()))
    program = """
import errno
started = 0
try:
    while started < 100:
        if os.fork() == 0:
            os.read(0, 1)
            os._exit(0)
        started += 1
except OSError as error:
    assert error.errno == errno.EAGAIN
tell(started)
os.read(0, 1)
"""
    with sandbox.start(program, Limits(processes=20)) as first, sandbox.start(program, Limits(processes=20)) as second:
        for process in (first, second):
            assert process.stdout is not None
            assert int(process.stdout.readline()) in (21, 22)
        for process in (first, second):
            process.communicate(b"\n" * 100, timeout=PATIENCE)


def test_what_a_manifest_preloads_is_loaded_by_the_bot_only(folder: Path) -> None:
    source = put(
        folder / "evil.c",
        "#include <stdio.h>\n#include <unistd.h>\n#include <sys/resource.h>\n"
        "__attribute__((constructor)) static void begin(void) {\n"
        "  struct rlimit limit; getrlimit(RLIMIT_NPROC, &limit);\n"
        '  FILE *log = fopen("/tmp/log", "a"); if (!log) return;\n'
        '  fprintf(log, "%d %d\\n", (int) geteuid(), (int) limit.rlim_max); fclose(log); }\n',
    )
    (folder / "bot").mkdir()
    subprocess.run([need("cc"), "-shared", "-fPIC", "-o", folder / "bot/evil.so", source], check=True)
    manifest = 'command = ["./run"]\nenv = { LD_PRELOAD = "/bot/evil.so" }'
    bot = bot_folder(folder / "bot", manifest, run="#!/bin/sh\nexec cat /tmp/log\n")
    lines = [line.split() for line in output(bot, limits=Limits(processes=30)).splitlines()]
    assert len(lines) >= 2
    assert "0" not in {user for user, _ in lines}
    if not gaps(in_control_group=True):
        assert {processes for _, processes in lines} == {"33"}


# --- what is refused --------------------------------------------------------------------------------------------------


def problem(make: Callable[[], object]) -> str:
    with pytest.raises(UsageError) as caught:
        make()
    return str(caught.value)


def test_a_program_in_a_home_folder_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder))
    (folder / ".local/bin").mkdir(parents=True)
    (folder / "bin").mkdir()
    for place in (".local/bin/tool", "bin/tool"):
        shutil.copy(need("sh"), folder / place)
        bot = load_bot(put(folder / "bots/bot", f"#!{folder}/{place}\n"))
        host = HostPrograms([str(folder / place)], [bot])
        said = problem(lambda bot=bot, host=host: mounts_of(bot, host=host))  # type: ignore[misc]
        assert f"{(folder / place).parent.parent} holds too much to be shown to bots" in said


@pytest.mark.skipif(not AS_ROOT, reason="an ordinary user's bots run as that user")
def test_files_that_others_may_not_read_are_refused_to_root_with_what_to_do(folder: Path) -> None:
    bot = load_bot(put(folder / "bot.py", "", 0o600))
    assert problem(lambda: mounts_of(bot)).endswith(f"chmod -R o+rX {bot.path}")
    bot = bot_folder(folder / "bot", 'command = ["./run"]', run="#!/bin/sh\n")
    (folder / "bot/run").chmod(0o700)
    assert problem(lambda: mounts_of(bot)).endswith(f"chmod -R o+rX {folder}/bot")


def test_each_bot_of_root_is_another_user() -> None:
    if AS_ROOT:
        users = [spare_user() for _ in range(100)]
        assert len(set(users)) == 100
        assert all(user in USERS or user in CONTAINER_USERS for user in users)
    else:
        assert spare_user() is None
