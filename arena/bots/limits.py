"""Limits on what a bot may use of the machine, and how sizes are written.

The limits are the same at every sandbox level; each level enforces them in its own way (`arena.sandbox`).
"""

import re

import msgspec

from arena.errors import UsageError
from arena.system.printable import shown

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

SMALLEST_MEMORY = 16 * MIB
"""No interpreter starts with less; more likely a unit was forgotten."""
LARGEST_SIZE = 1024 * 1024 * GIB
"""More than any machine has, and small enough for every system call and file system."""
MOST_PROCESSES = 1_000_000
"""More than any bot needs, and fewer than the kernel can number (4,194,304)."""

_SIZE = re.compile(r"(\d{1,12})([KMG]?)(?:i?B)?", re.IGNORECASE)
_UNITS = {"": 1, "K": KIB, "M": MIB, "G": GIB}


class Limits(msgspec.Struct, frozen=True):
    """Limits of one bot in a game, for all its processes together.

    `memory` (resident) and `tmp` (files in its `/tmp`) are bytes. `processes` counts threads too.
    """

    memory: int = 512 * MIB
    processes: int = 64
    tmp: int = 16 * MIB

    @property
    def text(self) -> str:
        return f"memory {size_text(self.memory)}, {self.processes} processes, {size_text(self.tmp)} of /tmp"

    def within(self, most: "Limits") -> "Limits":
        return Limits(min(self.memory, most.memory), min(self.processes, most.processes), min(self.tmp, most.tmp))


class BuildLimits(msgspec.Struct, frozen=True):
    """Limits of a build in a sandbox. `seconds` hold at every level.

    `memory` is bytes, `disk` bytes of files in the bot's folder and as many again in /tmp.
    """

    seconds: float = 600.0
    memory: int = 2 * GIB
    disk: int = 2 * GIB
    network: bool = False


_LIMITS = re.compile(r"memory (\S+), (\d{1,7}) processes, (\S+) of /tmp", re.ASCII)


def read_limits(text: str) -> Limits | None:
    """Read limits as `Limits.text` writes them in records; None for anything else."""
    match = _LIMITS.fullmatch(text)
    try:
        return match and Limits(parse_memory(match[1]), check_processes(int(match[2])), parse_size(match[3]))
    except UsageError:
        return None


def parse_size(text: str) -> int:
    """Parse a size such as `512M`, `1G` or `65536` into bytes. Raises `UsageError`."""
    match = _SIZE.fullmatch(text.strip())
    size = int(match[1]) * _UNITS[match[2].upper()] if match else 0
    if size < 1:
        raise UsageError(f"expected a size such as 512M, 1G or 65536 (bytes), got {shown(text)}")
    if size > LARGEST_SIZE:
        raise UsageError(f"expected at most {size_text(LARGEST_SIZE)}, got {shown(text)}")
    return size


def check_processes(number: object) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= MOST_PROCESSES:
        raise UsageError(f"expected a number from 1 to {MOST_PROCESSES}, got {shown(number)}")
    return number


def parse_memory(text: str) -> int:
    """Parse a size of at least `SMALLEST_MEMORY`. Raises `UsageError`."""
    size = parse_size(text)
    if size < SMALLEST_MEMORY:
        raise UsageError(f"expected at least {size_text(SMALLEST_MEMORY)} of memory for a bot, got {shown(text)}")
    return size


def size_text(size: int) -> str:
    """Return a number of bytes in the largest unit that gives a whole number."""
    for letter, unit in (("G", GIB), ("M", MIB), ("K", KIB)):
        if size and size % unit == 0:
            return f"{size // unit}{letter}"
    return str(size)
