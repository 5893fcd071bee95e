"""Where the API may be called from, and that it leaves alone what is not its own."""

import asyncio
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
import trio
from left_behind import UNTOLD

import arena
from arena.sandbox.reaper import adopts_orphans

Bots = Callable[..., str]
LeftBehind = Callable[[], list[str]]
QUITS = "echo move resign"
WAITS = "touch started-$$"
NEVER_ENDS = 120.0


def one_game() -> str:
    return arena.play("steps", "quits", rules="duel", time="60s").verdict.detail


@pytest.fixture(autouse=True)
def two_bots(bots: Bots) -> None:
    bots("steps")
    bots("quits", QUITS)
    bots("waits", WAITS)
    bots("waits-too", WAITS)


def test_a_plain_call_works_in_a_thread() -> None:
    said: list[str] = []
    threads = [threading.Thread(target=lambda: said.append(one_game())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == ["blue (quits) resigned"] * 2


@pytest.mark.usefixtures("played_here")
def test_a_plain_call_works_inside_a_running_loop_of_asyncio() -> None:
    async def main() -> list[str]:
        return [one_game(), await asyncio.to_thread(one_game)]

    assert asyncio.run(main()) == ["blue (quits) resigned"] * 2


@pytest.mark.usefixtures("played_here")
def test_a_plain_call_works_inside_a_task_of_trio_and_blocks_it() -> None:
    async def main() -> list[str]:
        return [one_game(), await trio.to_thread.run_sync(one_game)]

    assert trio.run(main) == ["blue (quits) resigned"] * 2


def test_what_is_not_the_arenas_stays_as_it_is(left_behind: LeftBehind) -> None:
    """Signals, the wakeup descriptor, children and their exit codes, adoption of orphans, limits, threads."""

    def state() -> list[object]:
        handlers = [signal.getsignal(number) for number in sorted(signal.valid_signals())]
        wakeup = signal.set_wakeup_fd(-1)
        signal.set_wakeup_fd(wakeup)
        limits = [psutil.Process().rlimit(number) for number in range(16)] if sys.platform == "linux" else []
        return [
            handlers,
            wakeup,
            signal.pthread_sigmask(signal.SIG_BLOCK, []),
            limits,
            adopts_orphans(),
            sys.getswitchinterval(),
            [thread.name for thread in threading.enumerate() if not thread.daemon],
            os.getcwd(),
            dict(os.environ),
        ]

    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before_all = signal.set_wakeup_fd(writer)
    handler = signal.signal(signal.SIGCHLD, lambda *_: None)
    ended, lives = subprocess.Popen(["sh", "-c", "exit 7"]), subprocess.Popen(["sleep", "1000"])
    try:
        before = state()
        during: list[object] = []
        arena.match(
            "steps",
            "quits",
            games=2,
            jobs=1,
            rules="duel",
            time="60s",
            on_result=lambda result: during.append(signal.getsignal(signal.SIGINT)),
        )
        assert state() == before
        assert set(during) == {signal.default_int_handler}
        assert ended.wait() == 7
        assert lives.poll() is None
    finally:
        lives.kill()
        lives.wait()
        signal.signal(signal.SIGCHLD, handler)
        signal.set_wakeup_fd(before_all)
        os.close(reader)
        os.close(writer)
    assert not left_behind()


# --- Ctrl-C -----------------------------------------------------------------------------------------------------------

INTERRUPTED = """
import os, sys, time, psutil, arena
def wait():
    arena.match("waits", "waits-too", games=2, jobs=1, rules="duel", time="60s", store="m.sqlite")
def build():
    arena.match("steps", "built", rules="duel")
def in_trio():
    import trio
    async def main():
        wait()
    trio.run(main)
try:
    {call}()
except KeyboardInterrupt:
    print("interrupted", len(psutil.Process().children(recursive=True)), flush=True)
"""


@pytest.mark.parametrize("call", ["wait", "in_trio", "build"])
def test_ctrl_c_stops_the_games_and_leaves_no_process(call: str, tmp_path: Path) -> None:
    built = tmp_path / "built"
    built.mkdir()
    (built / "bot.toml").write_text('command = ["./bot"]\nbuild = "touch ../started-0; sleep 600 & sleep 600"\n')
    script = INTERRUPTED.format(call=call)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as running:
        while not list(tmp_path.glob("started-*")):
            assert running.poll() is None
            select.select([], [], [], 0.01)
        running.send_signal(signal.SIGINT)
        output, _ = running.communicate(timeout=NEVER_ENDS)
    assert (output, running.returncode) == ("interrupted 0\n", 0)
    left = [process.cwd() for process in psutil.process_iter() if _is_in(process, tmp_path)]
    assert not left


def test_ctrl_c_that_comes_while_the_thread_is_being_started_stops_the_games(
    monkeypatch: pytest.MonkeyPatch, left_behind: LeftBehind
) -> None:
    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        start(thread)
        if thread.name == "arena":
            raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        arena.match("waits", "waits-too", rules="duel", time="60s")
    assert "arena" not in [thread.name for thread in threading.enumerate()]
    assert not left_behind()


def _is_in(process: psutil.Process, folder: Path) -> bool:
    try:
        return process.pid != os.getpid() and Path(process.cwd()).is_relative_to(folder)
    except UNTOLD:
        return False
