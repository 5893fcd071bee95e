"""A seccomp filter of the system calls that a bot in a sandbox may make.

Namespaces take away files, network and other processes. The filter closes ways around them (sockets of virtual
machines, keyrings, calls of another architecture), and calls that no game needs and that have a record of holes. All
others are allowed: a bot may be written in any language.

It also closes channels between two bots through system files, which both can see: locks, leases and watches, hints that
the kernel keeps with a file, times of device files, the content of the cache. A filter cannot see which file a call is
about, so this holds for a bot's own files as well. Locks seem to be granted, because programs that routinely lock their
own files (SQLite, Java) would fail otherwise; nor are times of files set, or files written to a disk on request, which
would delay all other programs. SIGCONT cannot be sent, so that no bot can think in its opponent's turn while it is
stopped.

No process can leave the session of the sandbox: where the kernel shares a CPU among sessions
(kernel.sched_autogroup_enabled), a helper in a session of its own would get as much as the opponent. Nor can it change
its priority or CPUs: a bot that made itself wait would have losing turns played again.

A filter is a program of the classic Berkeley packet filter, put together from pieces that fall through where they do
not object, so that no jump has to be counted by hand.
"""

import errno
import platform
import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

# From <linux/audit.h>, and for each machine the column of `Calls`.
ARCHITECTURES = {
    "x86_64": (0xC000003E, 0),
    "amd64": (0xC000003E, 0),
    "aarch64": (0xC00000B7, 1),
    "arm64": (0xC00000B7, 1),
}

Calls = dict[str, tuple[int | None, int | None]]
"""Calls with their numbers on x86_64 and on aarch64; None where there is no such call."""
BY_ARGUMENT: Calls = {
    "socket": (41, 198),
    "socketpair": (53, 199),
    "clone": (56, 220),
    "ioctl": (16, 29),
    "fcntl": (72, 25),
    "fadvise64": (221, 223),
    "preadv2": (327, 286),
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424),
    "prctl": (157, 167),
    "setsockopt": (54, 208),
}
"""Calls that are decided by their arguments."""
IDLE: Calls = {
    # writes out what the whole machine has not written yet, and waits for that: so would the store of games
    "sync": (162, 81),
    "syncfs": (306, 267),
    # of a file of the system empties the disk's own cache; and in /tmp, which is memory, there is no disk
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "sync_file_range": (277, 84),
    "msync": (26, 227),
    "flock": (73, 32),  # a lock on a file of the system tells all who try it, too
    "utime": (132, None),  # a user who may write to a device file may set its times, which all can see
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
}
"""Calls that do not take effect and return 0."""
ABSENT: Calls = {
    "io_uring_setup": (425, 425),  # does what other calls do, sockets included, behind the filter's back
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "clone3": (435, 435),  # its flags are in memory, where no filter can look; the C library then takes clone
    # memory that could not be measured; so are the next, and the segments and queues behind io_setup
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "io_setup": (206, 0),  # of what it makes there is a number for the whole machine
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "inotify_init": (253, None),  # tells who opens which file of the system when
    "inotify_init1": (294, 26),
    "cachestat": (451, 451),
    "timer_create": (222, 107),  # its signal is in memory, and could be SIGCONT
}
"""Calls that fail with ENOSYS, as if they had never been built in: libraries that try them have another way."""
REFUSED: Calls = {
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "setsid": (112, 157),
    "pidfd_getfd": (438, 438),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    # the kernel itself
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "syslog": (103, 116),
    "modify_ldt": (154, None),
    "iopl": (172, None),
    "ioperm": (173, None),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    # file systems and namespaces
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    # a bot that makes itself wait for a CPU would have its late turns played again
    "setpriority": (141, 140),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
}
"""Calls that fail with EPERM."""
SYSCALLS = BY_ARGUMENT | IDLE | ABSENT | REFUSED

X32_CALLS = 512
"""From here on x86_64 has only calls of the x32 architecture, with its mark (bit 30) or, by an old mistake, without."""

AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
SOCK_STREAM, SOCK_DGRAM, SOCK_TYPE_MASK = 1, 2, 0xF
IPPROTO_DEFAULT, IPPROTO_TCP, IPPROTO_UDP = 0, 6, 17
NETLINK_ROUTE = 0
"""Lists the network interfaces; all else of netlink configures the kernel."""
CLONE_NEW_NAMESPACES = 0x7E020000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET of <linux/sched.h>."""
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
"""Input into a terminal as if it had been typed."""
F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW = 6, 7, 37, 38
FCNTL_LOCKS = (F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW)
FCNTL_ALLOWED = (0, 1, 2, 3, 4, 8, 9, 15, 16, 17, 1027, 1028, 1030, 1031, 1032, 1033, 1034)
"""F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_SETOWN, F_GETOWN, F_SETOWN_EX, F_GETOWN_EX, F_GETOWNER_UIDS,
F_DUPFD_QUERY, F_CREATED_QUERY, F_DUPFD_CLOEXEC, F_SETPIPE_SZ, F_GETPIPE_SZ, F_ADD_SEALS and F_GET_SEALS. The others
look for locks, set leases, ask to be told of accesses (F_NOTIFY), or keep hints with a file (F_SET_RW_HINT); or choose
the signal that tells of input (F_SETSIG)."""
POSIX_FADV_DONTNEED = 4
"""Drops a file from the kernel's cache. It is advice, and need not be taken."""
RWF_NOWAIT = 8
"""Reads from the cache only, and so shows what is in it."""
SOL_SOCKET, SO_SNDBUF, SO_RCVBUF = 1, 7, 8
"""Data that the kernel keeps for a socket belongs to no process's memory. The size of its buffers is a mere hint."""
SIGCONT = 18
PR_SET_PDEATHSIG = 1
EXIT_SIGNAL = 0xFF
"""The bits of clone's flags with the signal that a parent gets at the child's end."""

# Offsets in struct seccomp_data and return values of <linux/seccomp.h>.
NUMBER, ARCHITECTURE = 0, 4
ALLOW, FAIL = 0x7FFF0000, 0x00050000
DONE = FAIL
"""The call returns 0 without effect."""


class Instruction(NamedTuple):
    """One instruction: struct sock_filter of <linux/filter.h>."""

    code: int
    value: int
    if_true: int = 0
    if_false: int = 0


Instructions = list[Instruction]
LOAD, AND, RETURN, IF_EQUAL, IF_AT_LEAST, IF_ANY_BIT = 0x20, 0x54, 0x06, 0x15, 0x35, 0x45


@lru_cache
def filter_program(machine: str = platform.machine()) -> bytes | None:
    """Return the filter for a machine by its name, as `bwrap --seccomp` wants it: an array of struct sock_filter.

    None for a machine with unknown call numbers, where bots run without a filter
    (`arena.sandbox.bwrap_check.gaps`).
    """
    if machine.lower() not in ARCHITECTURES:
        return None
    architecture, column = ARCHITECTURES[machine.lower()]
    numbers = {name: columns[column] for name, columns in SYSCALLS.items()}

    def calls(*names: str) -> list[int]:
        return [number for name in names if (number := numbers[name]) is not None]

    steps = _only(ARCHITECTURE, [architecture], errno.ENOSYS)
    if column == 0:
        steps += [Instruction(LOAD, NUMBER), Instruction(IF_AT_LEAST, X32_CALLS, 0, 1), _fail(errno.ENOSYS)]
    steps += _when(NUMBER, calls(*ABSENT), [_fail(errno.ENOSYS)])
    steps += _when(NUMBER, calls(*IDLE), [Instruction(RETURN, DONE)])
    steps += _when(NUMBER, calls(*REFUSED), [_fail(errno.EPERM)])
    steps += _when(NUMBER, calls("socket", "socketpair"), [*_socket(), Instruction(RETURN, ALLOW)])
    steps += _when(
        NUMBER,
        calls("clone"),
        [
            Instruction(LOAD, _argument(0)),
            Instruction(IF_ANY_BIT, CLONE_NEW_NAMESPACES, 0, 1),
            _fail(errno.EPERM),
            Instruction(AND, EXIT_SIGNAL),
            Instruction(IF_EQUAL, SIGCONT, 0, 1),
            _fail(errno.EPERM),
        ],
    )
    steps += _when(NUMBER, calls("ioctl"), _when(_argument(1), [TIOCSTI, TIOCLINUX], [_fail(errno.EPERM)]))
    steps += _when(NUMBER, calls("fcntl"), _fcntl())
    steps += _when(NUMBER, calls("fadvise64"), _when(_argument(3), [POSIX_FADV_DONTNEED], [Instruction(RETURN, DONE)]))
    steps += _when(
        NUMBER,
        calls("preadv2"),
        [Instruction(LOAD, _argument(5)), Instruction(IF_ANY_BIT, RWF_NOWAIT, 0, 1), _fail(errno.EOPNOTSUPP)],
    )
    signal = {"kill": 1, "tkill": 1, "tgkill": 2, "rt_sigqueueinfo": 1, "rt_tgsigqueueinfo": 2, "pidfd_send_signal": 1}
    for name, index in signal.items():
        steps += _when(NUMBER, calls(name), _when(_argument(index), [SIGCONT], [_fail(errno.EPERM)]))
    steps += _when(
        NUMBER,
        calls("prctl"),
        _when(_argument(0), [PR_SET_PDEATHSIG], _when(_argument(1), [SIGCONT], [_fail(errno.EPERM)])),
    )
    buffers = _when(_argument(2), [SO_SNDBUF, SO_RCVBUF], [Instruction(RETURN, DONE)])
    steps += _when(NUMBER, calls("setsockopt"), _when(_argument(1), [SOL_SOCKET], buffers))
    steps.append(Instruction(RETURN, ALLOW))
    return b"".join(struct.pack("<HBBI", step.code, step.if_true, step.if_false, step.value) for step in steps)


def _socket() -> Instructions:
    """Allow sockets between a bot's own processes: of files, and TCP and UDP in its own empty network."""
    family, kind, protocol = _argument(0), _argument(1), _argument(2)
    plain = [IPPROTO_DEFAULT, IPPROTO_TCP, IPPROTO_UDP]
    return [
        *_only(family, [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK], errno.EAFNOSUPPORT),
        *_when(family, [AF_NETLINK], _only(protocol, [NETLINK_ROUTE], errno.EPROTONOSUPPORT)),
        *_when(
            family,
            [AF_INET, AF_INET6],
            [
                *_only(kind, [SOCK_STREAM, SOCK_DGRAM], errno.ESOCKTNOSUPPORT, mask=SOCK_TYPE_MASK),
                *_only(protocol, plain, errno.EPROTONOSUPPORT),
            ],
        ),
    ]


def _fcntl() -> Instructions:
    command = _argument(1)
    return [*_when(command, FCNTL_LOCKS, [Instruction(RETURN, DONE)]), *_only(command, FCNTL_ALLOWED, errno.EINVAL)]


def _argument(index: int) -> int:
    """Return the offset of the low half of a call's argument, which is all that the kernel reads of an int."""
    return 16 + 8 * index


def _fail(code: int) -> Instruction:
    return Instruction(RETURN, FAIL | code)


def _when(offset: int, values: Sequence[int], body: Instructions) -> Instructions:
    """Run `body` if the value at `offset` is one of `values`."""
    last = len(values) - 1
    tests = [Instruction(IF_EQUAL, value, last - at, 0 if at < last else len(body)) for at, value in enumerate(values)]
    return [Instruction(LOAD, offset), *tests, *body]


def _only(offset: int, values: Sequence[int], code: int, mask: int | None = None) -> Instructions:
    """Fail with `code` unless the value at `offset`, under the mask, is one of `values`."""
    load = [Instruction(LOAD, offset)] + ([Instruction(AND, mask)] if mask is not None else [])
    return [*load, *(Instruction(IF_EQUAL, value, len(values) - at) for at, value in enumerate(values)), _fail(code)]
