"""The module for `dask worker --preload`: a worker without the arena fails at once, and one that ends ends its bots."""

from arena.league.executor.cluster.dask_worker import dask_setup, dask_teardown

__all__ = ["dask_setup", "dask_teardown"]
