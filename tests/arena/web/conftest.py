"""What the tests of served pages share: servers that are stopped at the end of a test."""

from collections.abc import Awaitable, Callable, Iterator

import pytest
from play_table import seat
from served import Serve, Served, start_serving

from arena.web.server import LIMITS, Application, ServerLimits

__all__ = ["seat", "serving"]


@pytest.fixture
def serving() -> Iterator[Serve]:
    """`serving(application, limits)`: a server that is stopped at the end of the test."""
    running: list[Served] = []

    def start(
        application: Application, limits: ServerLimits = LIMITS, beside: Callable[[], Awaitable[None]] | None = None
    ) -> Served:
        running.append(start_serving(application, limits, beside))
        return running[-1]

    yield start
    for served in running:
        served.stop()
