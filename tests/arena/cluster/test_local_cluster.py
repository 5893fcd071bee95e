"""A league on a scheduler and workers of this machine is the league that it is without."""

import asyncio
import contextlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest
import trio
from waiting import until

from arena.errors import ArenaError
from arena.league.executor.cluster.gate_process import GateProcess
from arena.league.executor.cluster.local_cluster import PROGRAM, LocalCluster, share
from arena.league.executor.cluster.messages import Connect, FromGate, WorkerCame
from arena.league.executor.process import module_folders
from arena.league.store import Store
from arena.league.verify import verify
from arena.play.played_on import read_reference

ARENA = [sys.executable, "-m", "arena"]
BOTS = ["drifter", "raider", "warden"]
SAME = ["--rules", "duel", "--time", "60s/move", "--rounds", "2"]
CALIBRATED = ["--cluster", "local:1", "--calibrate"]
PATIENCE = 180


def league(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*ARENA, "league", *arguments], cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def results(store: Path) -> dict[str, object]:
    with Store(store, create=False) as opened:
        return {row.id: (row.players, row.result, row.reason, row.plies) for row in opened.rows()}


def left_over(store: Path) -> list[str]:
    """The processes that speak of a store, or are of a cluster that its league has started."""
    return [
        " ".join(process.info["cmdline"] or [])
        for process in psutil.process_iter(["cmdline"])
        if str(store.parent) in " ".join(process.info["cmdline"] or [])
    ]


def test_a_league_on_a_cluster_has_the_ids_and_results_of_a_league_without_and_goes_on_as_one(tmp_path: Path) -> None:
    plain = league(tmp_path, *BOTS, *SAME, "--store", "plain.sqlite")
    assert plain.returncode == 0, plain.stderr
    far = league(tmp_path, *BOTS, *SAME, "--cluster", "local:2", "--store", "far.sqlite")
    assert far.returncode == 0, far.stderr
    assert "on cluster local:2" in far.stderr
    assert re.search(r"^cluster local:2: \d workers?, \d+ games? at a time", far.stderr, re.M)
    assert results(tmp_path / "far.sqlite") == results(tmp_path / "plain.sqlite")
    assert len(results(tmp_path / "far.sqlite")) == 12
    assert left_over(tmp_path / "far.sqlite") == []
    again = league(tmp_path, *BOTS, *SAME, "--store", "far.sqlite")
    assert again.returncode == 0
    assert "12 of them stored already" in again.stderr


def test_a_calibrated_league_goes_on_by_the_same_reference_and_is_sound(
    tmp_path: Path,
) -> None:
    for rounds in ("1", "2"):
        far = league(tmp_path, *BOTS, *SAME, *CALIBRATED, "--store", "far.sqlite", "--rounds", rounds)
        assert far.returncode == 0, far.stderr
    assert len(results(tmp_path / "far.sqlite")) == 12
    with Store(tmp_path / "far.sqlite", create=False) as opened:
        records = [opened.stored(number).record for number in opened.numbers()]
        assert read_reference(opened.settings()["calibration"])
        assert list(verify(opened, lambda done, of: None)) == []
    assert all(record and record.time_percent for record in records)
    without = league(tmp_path, *BOTS, *SAME, "--store", "far.sqlite")
    assert without.returncode == 2
    assert "(in the store), no (asked for)" in without.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--cluster", "local:0"], "--cluster: expected local:N with N workers, from 1 to 64, got 'local:0'"),
        (["--cluster", "nonsense"], "--cluster: expected tcp://HOST:PORT or tls://HOST:PORT of a dask scheduler"),
        (["--cluster", "tcp://host:99999"], "got 'tcp://host:99999'"),
        (["--cluster", "tls://host:1"], "TLS needs --tls-ca, --tls-cert, --tls-key as well"),
        (["--calibrate"], "--calibrate: expected --cluster with it"),
        (["--tls-ca", "x"], "--tls-ca: expected --cluster tls://HOST:PORT with it"),
        (["--cluster", "local:2", "--tls-ca", "x"], "--tls-ca: --cluster local:2 makes keys of its own"),
        (["--cluster", "local:2", "--cluster-wait", "soon"], "--cluster-wait: expected a time"),
    ],
)
def test_a_cluster_that_makes_no_sense_is_refused_in_one_line(tmp_path: Path, arguments: list[str], said: str) -> None:
    result = league(tmp_path, *BOTS, *arguments)
    assert result.returncode == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_where_nothing_listens_it_is_said_which_address(tmp_path: Path) -> None:
    result = league(tmp_path, *BOTS, "--cluster", "tcp://127.0.0.1:9", "--cluster-wait", "1s")
    assert result.returncode == 1
    assert "no dask scheduler answers at tcp://127.0.0.1:9 within 1 s" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_cpus_are_shared_out() -> None:
    assert [share([0, 1, 2, 3], number, 2) for number in range(2)] == [(0, 2), (1, 3)]
    assert share([0, 1], 2, 4) == ()


class Ending(LocalCluster):
    """Its scheduler and its workers are any programs."""

    def __init__(self, place: Path, *commands: Sequence[str]) -> None:
        super().__init__(len(commands) - 1, str(place), 1.0)
        self._processes = [subprocess.Popen(command, stdin=subprocess.PIPE) for command in commands]

    def ended(self) -> str:
        """How it ends, however long that takes."""
        try:
            return asyncio.run(self.until_ended())
        finally:
            self._end()


STAYS, EXITS, IS_KILLED = ["cat"], ["sh", "-c", "exit 3"], ["sh", "-c", "kill -9 $$"]


WORKS = """
import threading
from pathlib import Path
from arena.league.executor.cluster.service import SERVICE

def main(arguments):
    ended, begun = map(Path, arguments)
    SERVICE.close = ended.touch
    begun.touch()
    threading.Event().wait()
"""


def test_a_worker_of_this_machine_ends_its_station_before_it_ends_with_the_gate(tmp_path: Path) -> None:
    """The station has copies of bots to remove, and whatever a gate leaves is killed."""
    (tmp_path / "works.py").write_text(WORKS)
    said = json.dumps(
        [[str(tmp_path), *module_folders()], [], "works", [str(tmp_path / "ended"), str(tmp_path / "begun")]]
    )
    with subprocess.Popen([sys.executable, "-I", "-c", PROGRAM, said], stdin=subprocess.PIPE) as worker:
        assert worker.stdin
        worker.stdin.write(b"{}\n")
        worker.stdin.flush()
        until((tmp_path / "begun").exists)
        assert not (tmp_path / "ended").exists()
        worker.stdin.close()
        assert worker.wait(PATIENCE) == 0
    assert (tmp_path / "ended").exists()


def test_a_scheduler_of_this_machine_that_ends_is_the_end_of_its_cluster(tmp_path: Path) -> None:
    assert (
        Ending(tmp_path, IS_KILLED, STAYS).ended() == "the scheduler of this machine was killed by signal 9 (SIGKILL)"
    )


def test_the_last_worker_of_this_machine_that_ends_is_the_end_of_its_cluster(tmp_path: Path) -> None:
    assert Ending(tmp_path, STAYS, EXITS, IS_KILLED).ended() == (
        "all workers of this machine have ended: local-1 exited with code 3, local-2 was killed by signal 9 (SIGKILL)"
    )


def test_a_cluster_of_this_machine_goes_on_while_one_worker_is_left(tmp_path: Path) -> None:
    cluster = Ending(tmp_path, STAYS, EXITS, STAYS)

    async def end() -> str:
        watching = asyncio.ensure_future(cluster.until_ended())
        await asyncio.sleep(0)  # it looks once, with one worker gone
        assert not watching.done()
        cluster._processes[0].kill()
        return await watching

    try:
        cluster._processes[1].wait()
        assert asyncio.run(end()).startswith("the scheduler")
    finally:
        cluster._end()


def test_a_cluster_of_this_machine_removes_no_folder_that_has_anything_else_in_it(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    Ending(tmp_path, STAYS, STAYS)._end()
    assert (tmp_path / "mine").exists()


def test_a_cluster_of_this_machine_listens_on_the_loopback_address_alone_and_shows_nothing(tmp_path: Path) -> None:
    listening: set[tuple[str, int]] = set()

    async def main() -> None:
        async with LocalCluster(1, str(tmp_path), 60.0) as cluster:
            until = asyncio.get_running_loop().time() + PATIENCE
            while len(listening) < 4 and asyncio.get_running_loop().time() < until:
                for popen in cluster._processes:
                    found = psutil.Process(popen.pid).net_connections("tcp")
                    listening.update(one.laddr for one in found if one.status == psutil.CONN_LISTEN)
                await asyncio.sleep(0.01)
            for address, port in listening:
                assert address == "127.0.0.1"
                reader, writer = await asyncio.open_connection(address, port)
                writer.write(b"GET /json/identity.json HTTP/1.0\r\n\r\n")
                answer = b""  # who speaks TLS hangs up
                with contextlib.suppress(ConnectionError):
                    answer = await reader.read(20)
                assert answer == b"" or answer.startswith(b"HTTP/1.1 404")
                writer.close()

    asyncio.run(main())
    assert len(listening) == 4


def test_the_key_of_a_cluster_of_this_machine_is_in_no_file_and_a_gate_that_is_killed_leaves_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Bots at the default level can read the files of their user."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gate, found, came = GateProcess(), list[bytes](), trio.Event()

    def hear(messages: list[FromGate]) -> None:
        if any(isinstance(message, WorkerCame) for message in messages):
            found.extend(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
            came.set()

    async def main() -> None:
        gate.start(Connect("", 1, None, 60.0, b""))
        assert gate._process
        with trio.fail_after(PATIENCE):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(gate.attend, hear)
                await came.wait()
                gate._process.kill()

    trio.run(main)
    assert any(b'"address"' in text for text in found)
    assert not [text for text in found if b"PRIVATE KEY" in text]
    assert gate.is_gone
    assert list(tmp_path.iterdir()) == []


def test_a_cluster_of_this_machine_without_a_folder_for_its_key_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(prefix: str) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "mkdtemp", full)
    with pytest.raises(ArenaError, match=r"^no folder can be made for the cluster of this machine: No space left"):
        GateProcess().start(Connect("", 1, None, 60.0, b""))
