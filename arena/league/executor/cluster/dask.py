"""The one place where dask is imported: only in processes that speak with it, and late, for it starts threads."""

from importlib import import_module
from typing import Any


def distributed() -> Any:
    """The package, untyped as it is. Raises `ImportError` where the extra `cluster` is not installed."""
    return import_module("distributed")


def keep_no_messages() -> None:
    """Have this process keep none of the messages that it has sent: dask keeps the last 1,000, which with batches of
    games are 40 MB and more. For the scheduler and the workers a variable says it; see docs/cluster.md."""
    import_module("dask.config").set({"distributed.admin.low-level-log-length": 0})
