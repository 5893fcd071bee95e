"""What the tests of a competition share: servers that are stopped at the end of a test, and clocks."""

import time
from collections.abc import Callable

import pytest
from served import serving

__all__ = ["later", "serving"]


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """`later(seconds)`: all clocks of a day are moved on, counted from now."""
    now = time.time

    def move(seconds: float) -> None:
        monkeypatch.setattr(time, "time", lambda: now() + seconds)

    return move
