"""The process that serves pages beside a league: what it may do, and that it cannot harm the league."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import psutil
import pytest
from made_bots import PLAIN
from made_stores import make_store
from served_command import pages_address
from waiting import PATIENCE, until

from arena.cli import exit_codes
from arena.web.address import Address, Listening, listen
from arena.web.beside import LeagueProgress, LiveSetup, ServerBeside

LINUX = sys.platform == "linux"


def setup_for(store: Path, listening: Listening) -> LiveSetup:
    return LiveSetup(
        store=os.fsencode(store),
        listening=listening.socket.fileno(),
        host=str(listening.address),
        reader="all",
        shows_all=False,
        delay=0.0,
        known_as=(),
    )


def get(url: str) -> str:
    with urlopen(url, timeout=PATIENCE) as page:
        return str(page.read().decode())


class Beside:
    """A server beside this process, and what it has said."""

    def __init__(self, store: Path) -> None:
        listening = listen(Address("127.0.0.1", 0))
        self.url = listening.url
        self.said: list[str] = []
        self.has_said = threading.Event()
        self.server = ServerBeside(setup_for(store, listening), listening, self._hear)
        self.process = psutil.Process(self.server.pid)

    def _hear(self, text: str) -> None:
        self.said.append(text)
        self.has_said.set()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("beside") / "l.sqlite"
    make_store(path, games=2)
    return path


@pytest.fixture(scope="module")
def beside(store: Path) -> Iterator[Beside]:
    """One for all tests that leave it as it was; it inherits a file, if it can."""
    with store.with_name("secret").open("w") as secret:
        os.set_inheritable(secret.fileno(), True)
        one = Beside(store)
    yield one
    one.server.end()
    assert not psutil.pid_exists(one.server.pid)
    assert one.said == []


@pytest.fixture
def own(store: Path) -> Iterator[Beside]:
    """One that a test may harm."""
    one = Beside(store)
    yield one
    one.server.end()
    assert not psutil.pid_exists(one.server.pid)


def test_it_serves_the_store_and_the_progress_that_it_is_told(beside: Beside) -> None:
    assert "2 games" in get(beside.url)
    beside.server.tell(LeagueProgress(2, 10, 60.0))
    page = ""
    while "2 of 10 games over" not in page:
        page = get(f"{beside.url}now.html")
    assert "about 1 min 0 s left" in page


@pytest.mark.skipif(not LINUX, reason="what a process may do is looked up in Linux's way")
def test_it_runs_below_the_bots_without_starving_and_can_write_no_file(beside: Beside) -> None:
    import resource

    get(beside.url)
    assert 0 < beside.process.nice() - psutil.Process().nice() <= 5
    assert resource.prlimit(beside.server.pid, resource.RLIMIT_FSIZE) == (0, 0)
    assert os.getsid(beside.server.pid) == beside.server.pid
    opened = [file.path for file in beside.process.open_files() if file.mode != "r"]
    assert opened == []


@pytest.mark.skipif(not LINUX, reason="descriptors are looked up in Linux's way")
def test_it_inherits_nothing_but_its_pipes_and_its_socket(beside: Beside, store: Path) -> None:
    get(beside.url)
    opened = set()
    for link in Path(f"/proc/{beside.server.pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # one of its own, closed since
            opened.add(os.readlink(link))
    assert opened
    assert str(store.with_name("secret")) not in opened


def test_if_it_dies_the_league_is_told_once_and_goes_on(own: Beside) -> None:
    get(own.url)
    os.kill(own.server.pid, signal.SIGKILL)
    assert own.has_said.wait(PATIENCE)
    for number in range(100):
        own.server.tell(LeagueProgress(number, None, None))
    own.server.end()
    (said,) = own.said
    assert "the pages are not served any more" in said
    assert "SIGKILL" in said


def test_one_that_is_stopped_holds_nobody_up_and_is_killed_at_the_end(
    own: Beside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.web.beside.END_SECONDS", 0.2)
    get(own.url)
    own.process.suspend()
    for number in range(10_000):
        own.server.tell(LeagueProgress(number, None, None))
    own.server.end()
    assert not psutil.pid_exists(own.server.pid)


PARENT = """
import sys, time
sys.path[:] = sys.argv[2:]
from pathlib import Path
from test_beside import Beside
one = Beside(Path(sys.argv[1]))
print(one.url, one.server.pid, flush=True)
time.sleep(1000)
"""


def test_it_does_not_outlive_a_league_that_is_killed(store: Path) -> None:
    folders = [str(Path(__file__).parent), *sys.path]
    line = [sys.executable, "-c", PARENT, str(store), *folders]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        url, pid = parent.stdout.readline().split()
        get(url)
        server = psutil.Process(int(pid))
        parent.kill()
    until(lambda: not is_alive(server))


def is_alive(process: psutil.Process) -> bool:
    """Whether a process is there and not dead; whose child it became may not have reaped it yet."""
    with suppress(psutil.NoSuchProcess):
        return process.status() != psutil.STATUS_ZOMBIE
    return False


@pytest.fixture
def league(tmp_path: Path) -> "League":
    """`league(*options)`: `arena league` of two bots, as a process."""
    for name in ("ann.py", "bob.py"):
        (tmp_path / name).write_text(f"{PLAIN}# {name}\n")

    def start(*options: str) -> "subprocess.Popen[str]":
        words = ["league", "ann.py", "bob.py", "--rules", "duel", "--time", "10s", "--start-time", "60s", "--jobs", "1"]
        line = [sys.executable, "-c", "from arena.cli.main import main; main()", *words, *options]
        return subprocess.Popen(
            line,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


League = Callable[..., "subprocess.Popen[str]"]


def test_a_league_is_served_while_it_is_played_and_ends_as_always(league: "League") -> None:
    """More rounds than anybody waits for, so that it is being played for as long as its pages are read."""
    with league("--rounds", "5000", "--serve", "127.0.0.1:0", "--store", "l.sqlite") as process:
        try:
            url = pages_address(process)
            pages = ""
            while "of 10000 games over" not in pages:
                pages = get(f"{url}now.html")
            while "Standings" not in pages or "ann" not in pages:
                with suppress(URLError):
                    pages = get(url)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=PATIENCE * 3)
        finally:
            process.kill()
    assert process.returncode == exit_codes.INTERRUPTED, said
    assert "arena serve l.sqlite" in said
    with pytest.raises(URLError):
        urlopen(url, timeout=PATIENCE)
