"""What a game is played on, in words: it stands in records, because times mean little without it.

Nothing in it names the machine or its owner. `platform.processor` is not asked: it may start a program.
"""

import os
import platform
import sys
from functools import lru_cache

from arena.system.printable import printable

LONGEST = 200
CPUINFO = "/proc/cpuinfo"
CPUINFO_BYTES = 4096
"""What of it is read: the model stands among the first lines, and a large machine has megabytes of them."""
MODEL_KEYS = ("model name", "Model", "cpu model", "Hardware")


@lru_cache(maxsize=1)
def this_machine() -> str:
    """The system, its CPUs, and the Python that the arena runs on."""
    processor = _processor()
    cpus = os.cpu_count() or 1
    parts = [
        f"{platform.system()} {platform.release()} {platform.machine()}",
        f"{cpus} CPU{'' if cpus == 1 else 's'}" + (f" ({processor})" if processor else ""),
        f"{platform.python_implementation()} {'.'.join(map(str, sys.version_info[:3]))}",
    ]
    return printable(", ".join(parts))[:LONGEST]


def _processor() -> str:
    """The model of the processor, where the system says it in a file."""
    try:
        with open(CPUINFO, "rb") as file:
            lines = file.read(CPUINFO_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    fields = dict(reversed([line.partition(":")[::2] for line in lines]))
    known = {key.strip(): value.strip() for key, value in fields.items()}
    return next((known[key] for key in MODEL_KEYS if known.get(key)), "")
