"""A league on a real cluster that speaks TLS, of which one part after the other fails: every game is played once, with
the ids and results of a league without a cluster."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from clusters import Cluster, League, cluster_of
from waiting import PATIENCE, until

from .conftest import Bots, results

WORKERS = ("w1", "w2")
TAMPERS = """
import msgspec
from arena.league.executor.cluster import cluster_protocol as messages, dask_worker as worker
worker.honest = getattr(worker, "honest", worker.play)  # dask runs a module twice
def play(run, tasks):
    answer = worker.honest(run, tasks)
    if isinstance(answer.body, messages.BatchPlayed):
        records = answer.body.records
        for reason, other in (b"flag", b"@"), (b"no-move", b"flag"), (b"@", b"no-move"), (b"quiet-cap", b"ply-cap"):
            records = tuple(record.replace(b'"%s"' % reason, b'"%s"' % other) for record in records)
        answer = msgspec.structs.replace(answer, body=msgspec.structs.replace(answer.body, records=records))
    return answer
worker.play = play
"""
"""A worker's module that has games end for other reasons than they did."""


def write_keys(folder: Path) -> Path:
    """Write a certificate that has signed itself, and its key."""
    from distributed import Security  # here, as it takes a second to import

    made = Security.temporary()  # type: ignore[no-untyped-call]
    for name, text in (("ca", made.tls_ca_file), ("cert", made.tls_client_cert), ("key", made.tls_client_key)):
        (folder / f"{name}.pem").write_text(text)
    return folder


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def cluster(keys: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster_of(tmp_path_factory.mktemp("cluster"), *WORKERS, keys=keys) as made:
        yield made


@pytest.fixture(autouse=True)
def _all_let_go(bots: Bots) -> Iterator[None]:
    yield
    bots.let_go()


def begin(cluster: Cluster, bots: Bots, keys: Path, folder: Path, wait: str = "60s") -> League:
    files = [word for name in ("ca", "cert", "key") for word in (f"--tls-{name}", str(keys / f"{name}.pem"))]
    return cluster.league(*bots.arguments, *files, "--store", "l.sqlite", folder=folder, wait=wait)


def test_a_worker_and_an_arena_that_are_killed_in_the_middle_of_games_cost_none_and_leave_no_bot(
    cluster: Cluster, bots: Bots, keys: Path, plain: dict[str, object], tmp_path: Path
) -> None:
    assert cluster.address.startswith("tls://")
    bots.hold()
    league = begin(cluster, bots, keys, tmp_path)
    bots.until_held(len(WORKERS))
    assert len(bots.alive) == 2 * len(WORKERS)
    cluster.end_worker("w1")
    league.until_said("worker w1 is gone")
    until(lambda: len(bots.alive) == 2, "the bots of the dead worker end")
    bots.hold()
    league.until_said("[1/")
    bots.until_held(1)
    league.process.kill()
    league.end()
    until(lambda: not bots.alive, "the workers end the games of an arena that is gone")
    bots.let_go()
    assert len(results(tmp_path / "l.sqlite")) == 1
    again = begin(cluster, bots, keys, tmp_path)
    assert again.end() == 0, again.said
    assert results(tmp_path / "l.sqlite") == plain


def test_with_another_authority_the_scheduler_does_not_answer(cluster: Cluster, bots: Bots, tmp_path: Path) -> None:
    league = begin(cluster, bots, write_keys(tmp_path), tmp_path, wait="1s")
    assert league.end() == 1
    assert "no scheduler has answered within 1 s" in league.said
    assert "Traceback" not in league.said


def test_a_scheduler_that_is_started_again_costs_no_game_and_a_worker_that_tampers_with_records_is_not_used_again(
    cluster: Cluster, bots: Bots, keys: Path, plain: dict[str, object], tmp_path: Path
) -> None:
    bots.hold()
    league = begin(cluster, bots, keys, tmp_path, wait="120s")
    bots.until_held(1)
    cluster.scheduler.kill()
    cluster.scheduler.wait(PATIENCE)
    league.until_said("the connection to the scheduler is lost")
    cluster.end_all_workers()
    bots.let_go()
    cluster.start_scheduler()
    league.until_said("no worker can play; waiting for one for 120 s. To start one:\n    dask worker tls://127.0.0.1:")
    assert "the scheduler answers again" in league.said
    (tmp_path / "tampers.py").write_text(TAMPERS)
    cluster.start_worker("bad", str(tmp_path / "tampers.py"))
    league.until_said("worker bad is not used: it sent a wrong record: game ")
    cluster.start_worker("good")
    assert league.end() == 0, league.said
    assert league.said.count("worker bad is not used: ") == 1
    assert results(tmp_path / "l.sqlite") == plain
