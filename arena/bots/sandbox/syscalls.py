"""The system calls that the filter of `arena.bots.sandbox.seccomp` knows, by number, and what becomes of each.

A call is in exactly one of four groups: decided by its arguments (`BY_ARGUMENT`), done without effect (`IDLE`),
answered as if it had never been built in (`ABSENT`), or, as all others of `SYSCALLS`, refused.
"""

# From <linux/audit.h>, and for each machine the column of SYSCALLS.
ARCHITECTURES = {
    "x86_64": (0xC000003E, 0),
    "amd64": (0xC000003E, 0),
    "aarch64": (0xC00000B7, 1),
    "arm64": (0xC00000B7, 1),
}

SYSCALLS: dict[str, tuple[int | None, int | None]] = {
    # with arguments that decide
    "socket": (41, 198),
    "socketpair": (53, 199),
    "clone": (56, 220),
    "ioctl": (16, 29),
    "fcntl": (72, 25),
    "flock": (73, 32),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
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
    # what has the whole machine wait for its disks
    "sync": (162, 81),
    "syncfs": (306, 267),
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "sync_file_range": (277, 84),
    "msync": (26, 227),
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
    # as if they had never been built in: libraries that try them have another way
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "clone3": (435, 435),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "io_setup": (206, 0),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "cachestat": (451, 451),
    "timer_create": (222, 107),
}
"""The numbers of the calls that the filter knows, on x86_64 and on aarch64; None where there is no such call."""

BY_ARGUMENT = (
    "socket",
    "socketpair",
    "clone",
    "ioctl",
    "fcntl",
    "fadvise64",
    "preadv2",
    "kill",
    "tkill",
    "tgkill",
    "rt_sigqueueinfo",
    "rt_tgsigqueueinfo",
    "pidfd_send_signal",
    "prctl",
    "setsockopt",
)
IDLE = (
    "sync",  # writes out what the whole machine has not written yet, and waits for that: so would the store of games
    "syncfs",
    "fsync",  # of a file of the system empties the disk's own cache; and in /tmp, which is memory, there is no disk
    "fdatasync",
    "sync_file_range",
    "msync",
    "flock",  # a lock on a file of the system tells all who try it, too
    "utime",  # whoever may write to a device file may set its times, and all can see them
    "utimes",
    "futimesat",
    "utimensat",
)
"""Calls that do nothing and return 0."""
ABSENT = (
    "io_uring_setup",  # does what other calls do, sockets included, behind the filter's back
    "io_uring_enter",
    "io_uring_register",
    "clone3",  # its flags are in memory, where no filter can look; the C library then takes clone
    "memfd_create",  # memory that nobody could measure; so are the next, and the segments and queues behind io_setup
    "memfd_secret",
    "io_setup",  # of what it makes there is a number for the whole machine
    "shmget",
    "msgget",
    "semget",
    "mq_open",
    "mq_unlink",
    "inotify_init",  # tells who opens which file of the system when
    "inotify_init1",
    "cachestat",
    "timer_create",  # its signal is in memory, and could be SIGCONT
)
"""Calls that fail with ENOSYS; those in none of the three lists fail with EPERM."""
