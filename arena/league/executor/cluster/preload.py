"""What `dask worker --preload arena.league.executor.cluster.preload` loads.

A worker plays without it, too. With it, a worker that lacks the arena ends as it starts, and a worker that is told to
end ends its bots first.
"""

from arena.league.executor.cluster.worker import dask_setup, dask_teardown

__all__ = ["dask_setup", "dask_teardown"]
