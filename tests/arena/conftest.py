"""Fixtures: a browser, and a folder that all users can read."""

import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from browsing import axe, browser, complaints, event_loop_of_the_browser_hidden, open_address, spare_tabs

from arena.sandbox import reaper

__all__ = ["axe", "browser", "complaints", "open_address", "spare_tabs"]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    with event_loop_of_the_browser_hidden(item):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    with event_loop_of_the_browser_hidden(item):
        yield


@pytest.fixture(autouse=True)
def process_as_it_was() -> Iterator[None]:
    """No test may make of the process that runs all tests one that starts nothing but bots: that cannot be undone."""
    yield
    assert not reaper.owns_every_orphan()


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user can read: those of pytest are closed to others, and bots of root play as others."""
    with tempfile.TemporaryDirectory(prefix="arena-tests-", ignore_cleanup_errors=True) as name:
        path = Path(name).resolve()
        path.chmod(0o755)
        yield path
