"""Fixtures for all tests: bots that are written for a test, and a check that no process is left."""

import faulthandler
import gc
import os
import secrets
import signal
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import psutil
import pytest
from bot_games import NEVER_ENDS
from hypothesis import HealthCheck, settings
from own_children import started_from_now

from arena.bots.spec import BotSpec
from arena.league.league_options import usable_cpus
from arena.sandbox import procfs, reaper

MOST_PROCESSES = 8
"""Those in which the tests run at once. Each collects all tests first, so that more of them save less and less."""

gc.disable()  # until all tests are collected, half of whose time it would take

# Where the tests are started by `nohup` or a script's `&` these are ignored, and the arena would leave them so.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Without bytecode, each program that a test starts would compile all that it imports: most of what such a test takes.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# How long an example takes says nothing on a busy machine; nor does how long it takes to find some.
settings.register_profile("arena", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("arena")

PREAMBLE = Path(__file__).parent / "hostile" / "preamble.py"
MARKER_VARIABLE = "ARENA_TEST_MARKER"
HANGS = 900
"""Seconds after which a test and its fixtures count as hanging; each wait inside has a shorter limit of its own."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """End the process of a test that hangs, with what all its threads do: better one lost test than a lost run."""
    faulthandler.dump_traceback_later(HANGS, exit=True)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two processes for each CPU that this one may use, as many tests wait for a deadline, or for a page."""
    return min(2 * usable_cpus(), MOST_PROCESSES)


class OwnOrder:
    """Have each process import the test modules in another order.

    In a fresh clone each module is compiled when it is first imported, which takes most of the time of the import. So
    the processes share that work, instead of all compiling the same module at the same time.
    """

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        if isinstance(collector, pytest.Dir):
            Random(os.environ.get("PYTEST_XDIST_WORKER")).shuffle(report.result)
        return report


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(OwnOrder())  # as hooks of a conftest are not called for folders in its folder


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give all processes the tests in the same order: those with a browser first, so that one process starts one."""
    items.sort(key=lambda item: ("browser" not in getattr(item, "fixturenames", ()), item.path))


def pytest_collection_finish() -> None:
    """Exempt what was collected from garbage collections, which would look through all of it each time."""
    gc.freeze()
    gc.enable()


@pytest.fixture
def marker() -> str:
    """A word that is in the environment of all processes of this test's bots, and nowhere else."""
    return secrets.token_hex(16)


@pytest.fixture
def make_bot(tmp_path: Path, marker: str) -> Callable[..., BotSpec]:
    """`make_bot(program, name)`: a bot that runs this Python text with the functions of `hostile/preamble.py`."""

    def make(program: str, name: str = "bot") -> BotSpec:
        path = tmp_path / f"{secrets.token_hex(4)}.py"
        path.write_text(f"{PREAMBLE.read_text()}\n\n{program}")
        return BotSpec(
            name=name,
            path=path,
            command=(sys.executable, "-I", "-S", str(path)),  # in half the time that Python takes otherwise
            folder=tmp_path,
            digest=name,
            environment={"PATH": os.defpath, MARKER_VARIABLE: marker},
        )

    return make


@pytest.fixture
def as_in_a_worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every orphan is a bot's, as in a worker process."""
    with monkeypatch.context() as patch:
        patch.setattr(reaper, "_bystanders", frozenset(procfs.children(os.getpid())))
        yield
    if not reaper.owners:
        reaper._stop_adopting()


@pytest.fixture
def left_behind(marker: str) -> Iterator[Callable[[], list[str]]]:
    """`left_behind()`: the processes of this test's bots that are still there, zombies included, in words.

    What there is at the end of a test that failed is cleared away, so that no other test is blamed for it.
    """
    started = started_from_now()

    def look() -> list[str]:
        found = [f"{child.pid} is {child.status()}" for child in started()]
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if marker.encode() in (folder / "environ").read_bytes():
                    found.append(f"{folder.name} runs {(folder / 'cmdline').read_bytes()!r}")
        return found

    yield look
    left = started()
    for process in left:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(left, timeout=NEVER_ENDS)
