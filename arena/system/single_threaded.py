"""numpy for processes beside bots that use all processors."""

import os
from functools import cache
from types import ModuleType

BLAS_THREADS = "OPENBLAS_NUM_THREADS"


@cache
def single_threaded_numpy() -> ModuleType:
    """Import numpy; if it is not loaded yet, OpenBLAS gets one thread, as its threads spin while they wait.

    Beside bots that use all processors, two of them took six times the processor time of one.
    """
    before = os.environ.get(BLAS_THREADS)
    os.environ.setdefault(BLAS_THREADS, "1")
    try:
        import numpy
    finally:
        if before is None:
            del os.environ[BLAS_THREADS]
    return numpy
