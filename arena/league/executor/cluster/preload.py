"""For `dask worker --preload arena.league.executor.cluster.preload`: the worker says at its start that it can play.

A worker without it plays as well; with it, an arena that is not installed there ends the worker as it starts, and the
bots are ended before the worker is.
"""

import logging
from typing import Any

from arena.league.executor.cluster.cache import cache_folder
from arena.league.executor.cluster.service import SERVICE
from arena.league.executor.cluster.source import this_arena
from arena.league.executor.local import usable_cpus


def dask_setup(worker: Any) -> None:
    """Called by dask before the worker is there."""
    games = len(usable_cpus())
    logging.getLogger("distributed.worker").info(
        "stratego-arena %s: worker %s plays %d game%s at a time; bots are kept in %s",
        this_arena(),
        worker.name,
        games,
        "" if games == 1 else "s",
        cache_folder(),
    )


def dask_teardown(worker: Any) -> None:
    """Called by dask when the worker is about to end."""
    SERVICE.close()
