"""The compiled kernel of learning agents, for all processes of the tests."""

import fcntl
import os
from importlib.util import find_spec
from pathlib import Path


def compile_kernel() -> None:
    """Have the kernel compiled, unless numba is missing.

    It takes ten seconds. One process does so while others wait, which would compile the same code at the same time.
    """
    if find_spec("numba") is None:
        return
    import numpy as np

    from arena.learn import kernel
    from arena.learn.placement import random_setups

    folder = os.open(Path(kernel.__file__).parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)  # until it is closed
        rng = np.random.default_rng(1)
        one = kernel.Kernel("duel", 1)
        one.reset(random_setups(one.ruleset, 1, rng))
        one.step(one.sample(rng))
    finally:
        os.close(folder)
