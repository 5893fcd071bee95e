"""Waiting for what other processes do, where no trio loop runs: a condition is asked for again and again."""

import time
from collections.abc import Callable

PATIENCE = 120.0
"""Seconds after which a condition will never come true: far more than a busy machine needs."""
PAUSE = 0.005


def until(true: Callable[[], object], what: str = "") -> None:
    """Wait until this is true; `what` says in words what is waited for."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(PAUSE)
