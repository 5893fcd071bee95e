"""The one place where dask is imported: only in processes that speak with it, and late, for it starts threads."""

from importlib import import_module
from typing import Any


def distributed() -> Any:
    """The package, untyped as it is. Raises `ImportError` where the extra `cluster` is not installed."""
    return import_module("distributed")
