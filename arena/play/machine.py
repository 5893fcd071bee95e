"""The `machine` of a record: system, CPUs and Python, and the worker of a cluster, if any.

It does not identify the machine or its owner. `platform.processor` is not called because it may start a program.

A game played in a cluster has `; worker NAME, load L, calibration C ms` after that: the worker, the load of its
machine, and the time of a fixed piece of work there. Clocks are scaled by the calibration as written, to a tenth of a
millisecond, so that the scale follows from a record.
"""

import os
import platform
import re
import sys
from functools import lru_cache

from arena.system.printable import printable

LONGEST = 200
CPUINFO = "/proc/cpuinfo"
CPUINFO_BYTES = 4096
_WORKER = re.compile(r".*; worker ([^;]+), load \d+\.\d\d, calibration (\d{1,9})\.(\d) ms$", re.ASCII)
_REFERENCE = re.compile(r"reference ([1-9]\d{0,8}\.\d|0\.[1-9]) ms", re.ASCII)
TENTH_US = 100
LONGEST_NAME = 80
MOST_LOAD = 1e6
MODEL_KEYS = ("model name", "Model", "cpu model", "Hardware")


@lru_cache(maxsize=1)
def this_machine() -> str:
    processor = _processor()
    cpus = os.cpu_count() or 1
    parts = [
        f"{platform.system()} {platform.release()} {platform.machine()}",
        f"{cpus} CPU{'' if cpus == 1 else 's'}" + (f" ({processor})" if processor else ""),
        f"{platform.python_implementation()} {'.'.join(map(str, sys.version_info[:3]))}",
    ]
    return printable(", ".join(parts))[:LONGEST]


def _processor() -> str:
    try:
        with open(CPUINFO, "rb") as file:
            lines = file.read(CPUINFO_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    fields = dict(reversed([line.partition(":")[::2] for line in lines]))
    known = {key.strip(): value.strip() for key, value in fields.items()}
    return next((known[key] for key in MODEL_KEYS if known.get(key)), "")


# --- on a cluster -----------------------------------------------------------------------------------------------------


def played_on(machine: str, worker: str, load: float, work_us: int) -> str:
    load = load if 0 <= load < MOST_LOAD else 0.0  # a worker may send anything, NaN as well
    name = worker[:LONGEST_NAME].replace(";", ",")
    return f"{machine[:LONGEST]}; worker {name}, load {load:.2f}, calibration {ms_text(work_us)}"


def told_us(work_us: int) -> int:
    return (work_us + TENTH_US // 2) // TENTH_US * TENTH_US


def ms_text(work_us: int) -> str:
    whole, tenths = divmod(told_us(work_us) // TENTH_US, 10)
    return f"{whole}.{tenths} ms"


def worker_of(machine: str) -> str:
    found = _WORKER.match(machine)
    return found[1] if found else ""


def calibration_of(machine: str) -> int | None:
    """Return the calibration in the `machine` of a record, in microseconds; None if there is none."""
    found = _WORKER.match(machine)
    return (int(found[2]) * 10 + int(found[3])) * TENTH_US if found else None


def reference_text(us: int) -> str:
    return f"reference {ms_text(us)}"


def read_reference(text: str) -> int | None:
    """Parse a reference calibration from a store, in microseconds; None if it is not one."""
    match = _REFERENCE.fullmatch(text)
    return int(match[1].replace(".", "")) * TENTH_US if match else None


def percent_of(work_us: int, reference: int) -> int:
    """Return the clocks' scale in percent on a machine with this calibration; both in microseconds, rounded first."""
    there, here = told_us(work_us), max(TENTH_US, told_us(reference))
    return (200 * there + here) // (2 * here)
