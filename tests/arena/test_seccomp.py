"""The filter of system calls: run by a little machine of its own here, for all architectures that it knows."""

import errno
import platform
import re
import shutil
import struct
import subprocess
from itertools import product

import pytest

from arena.sandbox.seccomp import (
    ABSENT,
    AF_INET,
    AF_INET6,
    AF_NETLINK,
    AF_UNIX,
    ALLOW,
    ARCHITECTURES,
    BY_ARGUMENT,
    FAIL,
    IDLE,
    SYSCALLS,
    X32_CALLS,
    filter_program,
)

MACHINES = ("x86_64", "aarch64")
HEADERS = {"x86_64": "asm/unistd_64.h", "aarch64": "asm-generic/unistd.h"}
AF_VSOCK = 40
SOCK_RAW, SOCK_CLOEXEC, SOCK_NONBLOCK = 3, 0o2000000, 0o4000
NETLINK_NETFILTER = 12
IDLY = -1
"""The filter's answer where nothing is done and the call returns 0."""
SIGTERM, SIGCONT = 15, 18
CLONE_THREAD_FLAGS = 0x3D0F00
"""What the C library starts a thread with."""


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> str:
    """Each kind of machine that there is a filter for."""
    return str(request.param)


def run(program: bytes, number: int, arguments: tuple[int, ...] = (), architecture: int = 0) -> int:
    """What the filter says to a call, as the kernel would run it: 0 if it may go on, else the error, or `IDLY`."""
    data = struct.pack("<IIQ6Q", number, architecture, 0, *arguments, *[0] * (6 - len(arguments)))
    steps = list(struct.iter_unpack("<HBBI", program))
    at = accumulator = 0
    while True:
        code, if_true, if_false, value = steps[at]
        at += 1
        match code:
            case 0x20:
                accumulator = int.from_bytes(data[value : value + 4], "little")
            case 0x54:
                accumulator &= value
            case 0x15:
                at += if_true if accumulator == value else if_false
            case 0x35:
                at += if_true if accumulator >= value else if_false
            case 0x45:
                at += if_true if accumulator & value else if_false
            case 0x06:
                if value == ALLOW:
                    return 0
                assert value & 0xFFFF0000 == FAIL
                return int(value & 0xFFFF) or IDLY
            case _:
                raise AssertionError(f"instruction {code:#x}")


def answer(machine: str, name: str, *arguments: int) -> int:
    program = filter_program(machine)
    assert program is not None
    architecture, column = ARCHITECTURES[machine]
    number = SYSCALLS[name][column]
    assert number is not None
    return run(program, number, arguments, architecture)


def test_every_call_that_no_game_needs_fails(machine: str) -> None:
    column = ARCHITECTURES[machine][1]
    for name, numbers in SYSCALLS.items():
        if name not in BY_ARGUMENT and numbers[column] is not None:
            expected = errno.ENOSYS if name in ABSENT else IDLY if name in IDLE else errno.EPERM
            assert answer(machine, name) == expected, name


def test_every_call_that_is_not_named_is_allowed(machine: str) -> None:
    program = filter_program(machine)
    assert program is not None
    architecture, column = ARCHITECTURES[machine]
    named = {numbers[column] for numbers in SYSCALLS.values()}
    for number in set(range(X32_CALLS)) - named:
        assert run(program, number, (), architecture) == 0


def test_sockets_are_unix_tcp_or_udp_or_ask_for_the_interfaces(machine: str) -> None:
    allowed = {
        *product((AF_UNIX,), (1, 2, 5), (0,)),
        *product((AF_INET, AF_INET6), (1, 2), (0, 6, 17)),
        *product((AF_NETLINK,), (2, 3), (0,)),
    }
    for family, kind, protocol in product(range(50), (1, 2, SOCK_RAW, 4, 5, 6, 10), (0, 1, 6, 12, 17, 132, 262)):
        result = answer(machine, "socket", family, kind | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol)
        if (family, kind, protocol) in allowed:
            assert result == 0
        elif family not in (AF_UNIX, AF_INET, AF_INET6, AF_NETLINK):
            assert result == errno.EAFNOSUPPORT
        elif family in (AF_INET, AF_INET6):
            assert result in (errno.ESOCKTNOSUPPORT, errno.EPROTONOSUPPORT)
    assert answer(machine, "socketpair", AF_VSOCK, 1) == errno.EAFNOSUPPORT
    assert answer(machine, "socketpair", AF_UNIX, 1) == 0
    assert answer(machine, "socket", AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER) == errno.EPROTONOSUPPORT


def test_threads_and_processes_can_be_made_but_no_namespaces(machine: str) -> None:
    assert answer(machine, "clone", CLONE_THREAD_FLAGS) == 0
    assert answer(machine, "clone", 17) == 0
    for bit in (17, 25, 26, 27, 28, 29, 30):
        assert answer(machine, "clone", 17 | 1 << bit) == errno.EPERM


def test_terminals_can_be_asked_but_not_typed_into(machine: str) -> None:
    assert answer(machine, "ioctl", 0, 0x5401) == 0
    assert answer(machine, "ioctl", 0, 0x5412) == errno.EPERM
    assert answer(machine, "ioctl", 0, 0x541C) == errno.EPERM


def test_descriptors_can_be_handled_and_locks_are_granted_but_not_kept(machine: str) -> None:
    """The commands are those of <linux/fcntl.h>, with some that no kernel has yet."""
    allowed = {0, 1, 2, 3, 4, 8, 9, 15, 16, 17, 1027, 1028, 1030, 1031, 1032, 1033, 1034}
    locks = {6, 7, 37, 38}
    for command in (*range(50), *range(1020, 1050)):
        expected = 0 if command in allowed else IDLY if command in locks else errno.EINVAL
        assert answer(machine, "fcntl", 3, command) == expected, command
    assert answer(machine, "fcntl", 3, 6 | 1 << 32) == IDLY


def test_nothing_is_dropped_from_the_cache_or_asked_what_is_in_it(machine: str) -> None:
    assert [answer(machine, "fadvise64", 3, 0, 0, advice) for advice in range(6)] == [0, 0, 0, 0, IDLY, 0]
    assert answer(machine, "preadv2", 3, 0, 1, 0, 0, 0) == 0
    assert answer(machine, "preadv2", 3, 0, 1, 0, 0, 8 | 1) == errno.EOPNOTSUPP


def test_nobody_waits_for_a_disk(machine: str) -> None:
    """A bot that has the system written out again and again holds up the store of games."""
    for name in ("sync", "syncfs", "fsync", "fdatasync", "sync_file_range", "msync"):
        assert answer(machine, name, 3) == IDLY, name


def test_no_bot_has_more_memory_in_sockets_than_the_system_gives_each(machine: str) -> None:
    level, send_buffer, receive_buffer = 1, 7, 8
    assert answer(machine, "setsockopt", 3, level, send_buffer) == IDLY
    assert answer(machine, "setsockopt", 3, level, receive_buffer) == IDLY
    reuse_address, of_tcp = 2, 6
    assert answer(machine, "setsockopt", 3, level, reuse_address) == 0
    assert answer(machine, "setsockopt", 3, of_tcp, send_buffer) == 0


def test_nothing_that_was_stopped_can_be_continued(machine: str) -> None:
    """By a signal that is sent, or that the kernel is asked to send."""
    for name, before in {
        "kill": (1,),
        "tkill": (1,),
        "tgkill": (1, 1),
        "rt_sigqueueinfo": (1,),
        "rt_tgsigqueueinfo": (1, 1),
        "pidfd_send_signal": (3,),
    }.items():
        assert answer(machine, name, *before, SIGTERM) == 0, name
        assert answer(machine, name, *before, SIGCONT) == errno.EPERM, name
    set_parent_death_signal, get_parent_death_signal = 1, 2
    assert answer(machine, "prctl", set_parent_death_signal, SIGTERM) == 0
    assert answer(machine, "prctl", set_parent_death_signal, SIGCONT) == errno.EPERM
    assert answer(machine, "prctl", get_parent_death_signal, SIGCONT) == 0
    assert answer(machine, "clone", SIGCONT) == errno.EPERM


def test_calls_in_another_architectures_numbering_fail(machine: str) -> None:
    program = filter_program(machine)
    assert program is not None
    i386 = 0x40000003
    others = {i386} | {architecture for architecture, _ in ARCHITECTURES.values()} - {ARCHITECTURES[machine][0]}
    for architecture, number in product(others, range(500)):
        assert run(program, number, (), architecture) == errno.ENOSYS


def test_calls_of_x32_fail_with_their_mark_and_without() -> None:
    program = filter_program("x86_64")
    assert program is not None
    for number in (X32_CALLS, 521, 547, 1 << 30, 1 << 30 | 41, 1 << 31):
        assert run(program, number, (), ARCHITECTURES["x86_64"][0]) == errno.ENOSYS


def test_the_numbers_are_those_of_the_systems_headers(machine: str) -> None:
    compiler = shutil.which("cc")
    if compiler is None or (machine == "x86_64" and platform.machine() != "x86_64"):
        pytest.skip("no C compiler, or one for another machine")
    wanted = ("MEMFD_SECRET", "SYS_CLONE3")
    macros = subprocess.run(
        [compiler, "-E", "-dM", *(f"-D__ARCH_WANT_{name}" for name in wanted), "-D__BITS_PER_LONG=64", "-"],
        check=False,
        input=f"#include <{HEADERS[machine]}>\n".encode(),
        capture_output=True,
    )
    if macros.returncode:
        pytest.skip("the kernel's headers are not installed")
    numbers = dict(re.findall(r"#define __NR_(\w+) (\d+)\n", macros.stdout.decode()))
    numbers.pop("syscalls", None)
    assert len(numbers) > 200
    for name, columns in SYSCALLS.items():
        if name in numbers:
            assert columns[ARCHITECTURES[machine][1]] == int(numbers[name]), name
