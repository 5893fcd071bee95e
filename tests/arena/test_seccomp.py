"""The filter of system calls: run by a little machine of its own here, for all architectures that it knows."""

import errno
import platform
import re
import shutil
import struct
import subprocess
from itertools import product

import pytest

from arena.confine.seccomp import (
    ABSENT,
    AF_INET,
    AF_INET6,
    AF_NETLINK,
    AF_UNIX,
    ALLOW,
    ARCHITECTURES,
    BY_ARGUMENT,
    FAIL,
    SYSCALLS,
    X32_CALLS,
    filter_program,
)

MACHINES = ("x86_64", "aarch64")
HEADERS = {"x86_64": "asm/unistd_64.h", "aarch64": "asm-generic/unistd.h"}
AF_VSOCK = 40
SOCK_RAW, SOCK_CLOEXEC, SOCK_NONBLOCK = 3, 0o2000000, 0o4000
NETLINK_NETFILTER = 12
CLONE_THREAD_FLAGS = 0x3D0F00
"""What the C library starts a thread with."""


def run(program: bytes, number: int, arguments: tuple[int, ...] = (), architecture: int = 0) -> int:
    """What the filter says to a call, as the kernel would run it: 0 if it may go on, else the error."""
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
                return int(value & 0xFFFF)
            case _:
                raise AssertionError(f"instruction {code:#x}")


def answer(machine: str, name: str, *arguments: int) -> int:
    program = filter_program(machine)
    assert program is not None
    architecture, column = ARCHITECTURES[machine]
    number = SYSCALLS[name][column]
    assert number is not None
    return run(program, number, arguments, architecture)


@pytest.mark.parametrize("machine", MACHINES)
def test_every_call_that_no_game_needs_fails(machine: str) -> None:
    column = ARCHITECTURES[machine][1]
    for name, numbers in SYSCALLS.items():
        if name not in BY_ARGUMENT and numbers[column] is not None:
            assert answer(machine, name) == (errno.ENOSYS if name in ABSENT else errno.EPERM), name


@pytest.mark.parametrize("machine", MACHINES)
def test_every_call_that_is_not_named_is_allowed(machine: str) -> None:
    program = filter_program(machine)
    assert program is not None
    architecture, column = ARCHITECTURES[machine]
    named = {numbers[column] for numbers in SYSCALLS.values()}
    for number in set(range(X32_CALLS)) - named:
        assert run(program, number, (), architecture) == 0


@pytest.mark.parametrize("machine", MACHINES)
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


@pytest.mark.parametrize("machine", MACHINES)
def test_bits_that_the_kernel_does_not_look_at_hide_nothing(machine: str) -> None:
    assert answer(machine, "socket", AF_VSOCK | 1 << 40, 1) == errno.EAFNOSUPPORT
    assert answer(machine, "socket", 1 | AF_VSOCK << 32, 1) == 0
    assert answer(machine, "ioctl", 0, 0x5412 | 1 << 33) == errno.EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_threads_and_processes_can_be_made_but_no_namespaces(machine: str) -> None:
    assert answer(machine, "clone", CLONE_THREAD_FLAGS) == 0
    assert answer(machine, "clone", 17) == 0
    for bit in (17, 25, 26, 27, 28, 29, 30):
        assert answer(machine, "clone", 17 | 1 << bit) == errno.EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_terminals_can_be_asked_but_not_typed_into(machine: str) -> None:
    assert answer(machine, "ioctl", 0, 0x5401) == 0
    assert answer(machine, "ioctl", 0, 0x5412) == errno.EPERM
    assert answer(machine, "ioctl", 0, 0x541C) == errno.EPERM


@pytest.mark.parametrize("machine", MACHINES)
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


def test_an_unknown_machine_has_no_filter() -> None:
    assert filter_program("riscv64") is None
    assert filter_program("") is None


@pytest.mark.parametrize("machine", MACHINES)
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


def test_the_tables_name_each_call_once() -> None:
    for column in range(len(MACHINES)):
        numbers = [columns[column] for columns in SYSCALLS.values() if columns[column] is not None]
        assert len(numbers) == len(set(numbers))
    assert set(ABSENT) | set(BY_ARGUMENT) <= SYSCALLS.keys()
