"""Which worker of a cluster has played a game, in the words that records have for the machine.

`; worker NAME, load L, calibration C ms` stands after what `arena.play.machine` says, so that records need no further
key: the name that its host has given the worker, how busy the machine was as the game was sent there, and how long a
fixed piece of work takes.
"""

import re

from arena.play.machine import LONGEST

_WORKER = re.compile(r".*; worker ([^;]+), load \d+\.\d\d, calibration \d+\.\d ms$")
LONGEST_NAME = 80
MOST_LOAD = 1e6


def played_on(machine: str, worker: str, load: float, work_us: int) -> str:
    """What a record is to say: the machine in words, and the worker on it."""
    load = load if 0 <= load < MOST_LOAD else 0.0  # a worker's word, and perhaps no number
    told = f"; worker {worker[:LONGEST_NAME].replace(';', ',')}, load {load:.2f}, calibration {work_us / 1000:.1f} ms"
    return machine[:LONGEST] + told


def worker_of(machine: str) -> str:
    """The worker that a record names; empty if it was played without a cluster."""
    found = _WORKER.match(machine)
    return found[1] if found else ""
