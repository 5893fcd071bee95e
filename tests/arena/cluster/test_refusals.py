"""Workers that must not play are refused and named, and the league is played without them."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import clusters
import pytest
from clusters import Cluster, cluster_of
from waiting import until

from .conftest import Bots, results

ROOT = Path(clusters.__file__).parents[2]
TAMPERS = """
import msgspec
from arena.league.executor.cluster import messages, worker
worker.honest = getattr(worker, "honest", worker.play)  # dask runs a module twice
def play(run, data):
    answer = messages.decode_answer(worker.honest(run, data))
    if isinstance(answer.body, messages.BatchPlayed):
        records = answer.body.records
        for reason, other in (b"flag", b"@"), (b"no-move", b"flag"), (b"@", b"no-move"), (b"quiet-cap", b"ply-cap"):
            records = tuple(record.replace(b'"%s"' % reason, b'"%s"' % other) for record in records)
        answer = msgspec.structs.replace(answer, body=msgspec.structs.replace(answer.body, records=records))
    return messages.encode(answer)
worker.play = play
"""
"""A worker's module that has games end for other reasons than they did."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster_of(tmp_path_factory.mktemp("cluster")) as made:
        yield made


@pytest.fixture(autouse=True)
def _no_workers(cluster: Cluster) -> Iterator[None]:
    yield
    for name in list(cluster.workers):
        cluster.end_worker(name)


def played_by_good(cluster: Cluster, bots: Bots, folder: Path) -> str:
    """What a league says that the worker `good` plays, which comes when `bad` has been refused."""
    until(lambda: "Registered to" in cluster.log("bad"), "bad is there")
    league = cluster.league(*bots.arguments, "--store", "l.sqlite", folder=folder)
    league.until_said("worker bad is not used: ")
    cluster.start_worker("good")
    assert league.end() == 0, league.said
    return league.said


def test_a_record_that_was_tampered_with_is_refused_and_its_worker_named_and_not_used_again(
    cluster: Cluster, bots: Bots, plain: dict[str, object], tmp_path: Path
) -> None:
    (tmp_path / "tampers.py").write_text(TAMPERS)
    cluster.start_worker("bad", str(tmp_path / "tampers.py"))
    said = played_by_good(cluster, bots, tmp_path)
    assert "worker bad is not used: it sent a wrong record: game " in said
    assert said.count("worker bad is not used: ") == 1
    assert results(tmp_path / "l.sqlite") == plain


def test_a_worker_with_another_arena_is_refused_with_both_versions(
    cluster: Cluster, bots: Bots, plain: dict[str, object], tmp_path: Path
) -> None:
    for package in ("arena", "protocol"):
        shutil.copytree(ROOT / package, tmp_path / "other" / package, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "other" / "arena" / "version.py").write_text('__version__ = "9.9.9"\n')
    cluster.start_worker("bad", environment={"PYTHONPATH": str(tmp_path / "other")})
    said = played_by_good(cluster, bots, tmp_path)
    assert "worker bad is not used: it runs stratego-arena 9.9.9 " in said
    assert results(tmp_path / "l.sqlite") == plain


def test_a_bot_that_does_not_build_on_a_worker_is_told_with_what_it_printed_and_where(
    cluster: Cluster, bots: Bots, tmp_path: Path
) -> None:
    folder = tmp_path / "built"
    folder.mkdir()
    (folder / "bot.toml").write_text(
        f'command = ["{sys.executable}", "made.py"]\nignore = ["made.py"]\n'
        'build = "echo the flux is gone $FLUX >&2; test -z \\"$FLUX\\" && cp source.py made.py"\n'
    )
    shutil.copy(bots.folder / "ann.py", folder / "source.py")
    cluster.start_worker("good")
    cluster.start_worker("bad", environment={"FLUX": "here"})
    for name in cluster.workers:
        until(lambda name=name: "Registered to" in cluster.log(name), f"{name} is there")  # type: ignore[misc]
    others = [str(bots.folder / "bob.py"), *bots.arguments[4:]]
    bots.hold()
    try:
        league = cluster.league(str(folder), *others, "--store", "l.sqlite", folder=tmp_path)
        league.until_said("worker bad is not used: ")
    finally:
        bots.let_go()
    assert league.end() == 0, league.said
    assert "the build failed with exit code 1" in league.said
    assert "the flux is gone here" in league.said
    assert len(results(tmp_path / "l.sqlite")) == 4


def test_where_no_worker_comes_it_is_said_how_to_start_one(cluster: Cluster, bots: Bots, tmp_path: Path) -> None:
    league = cluster.league(*bots.arguments, "--store", "l.sqlite", folder=tmp_path, wait="2s")
    assert league.end() == 1
    assert "no worker came within 2 s; to start one:\n    dask worker tcp://127.0.0.1:" in league.said
    assert "Traceback" not in league.said
