"""Which worker of a cluster has played a game, in the words that records have for the machine.

`; worker NAME, load L, calibration C ms` stands after what `arena.play.machine` says, so that records need no further
key: the name that its host has given the worker, how busy the machine was as the game was sent there, and how long a
fixed piece of work takes. Clocks are scaled by the last one as it is told here, to a tenth of a millisecond, so that
the scale follows from a record.
"""

import re

from arena.play.machine import LONGEST

_WORKER = re.compile(r".*; worker ([^;]+), load \d+\.\d\d, calibration (\d{1,9})\.(\d) ms$", re.ASCII)
_REFERENCE = re.compile(r"reference ([1-9]\d{0,8}\.\d|0\.[1-9]) ms", re.ASCII)
TENTH_US = 100
LONGEST_NAME = 80
MOST_LOAD = 1e6


def played_on(machine: str, worker: str, load: float, work_us: int) -> str:
    """What a record is to say: the machine in words, and the worker on it."""
    load = load if 0 <= load < MOST_LOAD else 0.0  # a worker's word, and perhaps no number
    name = worker[:LONGEST_NAME].replace(";", ",")
    return f"{machine[:LONGEST]}; worker {name}, load {load:.2f}, calibration {ms_text(work_us)}"


def told_us(work_us: int) -> int:
    """How long the work takes, in microseconds, as it is told: to the nearest tenth of a millisecond."""
    return (work_us + TENTH_US // 2) // TENTH_US * TENTH_US


def ms_text(work_us: int) -> str:
    """The same in words, in milliseconds."""
    whole, tenths = divmod(told_us(work_us) // TENTH_US, 10)
    return f"{whole}.{tenths} ms"


def worker_of(machine: str) -> str:
    """The worker that a record names; empty if it was played without a cluster."""
    found = _WORKER.match(machine)
    return found[1] if found else ""


def calibration_of(machine: str) -> int | None:
    """The microseconds that the work took on the machine by its record; None if that does not say."""
    found = _WORKER.match(machine)
    return (int(found[2]) * 10 + int(found[3])) * TENTH_US if found else None


def reference_text(us: int) -> str:
    """A reference as a store keeps it."""
    return f"reference {ms_text(us)}"


def read_reference(text: str) -> int | None:
    """The reference that a store keeps, in microseconds; None for what is none."""
    match = _REFERENCE.fullmatch(text)
    return int(match[1].replace(".", "")) * TENTH_US if match else None


def percent_of(work_us: int, reference: int) -> int:
    """How many percent of the time a bot gets on a machine where the work takes so long, and not `reference`.

    Both are in microseconds, and count as far as they are told.
    """
    there, here = told_us(work_us), max(TENTH_US, told_us(reference))
    return (200 * there + here) // (2 * here)
