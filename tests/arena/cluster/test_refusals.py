"""Workers that must not play are refused and named, and the league is played without them."""

import os
import shutil
import subprocess
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
from arena.league.executor.cluster import messages, service
service.honest = getattr(service, "honest", service.play)  # dask runs a module twice
def tampered(data):
    answer = messages.decode_answer(service.honest(data))
    if isinstance(answer, messages.BatchPlayed):
        records = answer.records
        for reason, other in (b"flag", b"@"), (b"no-move", b"flag"), (b"@", b"no-move"), (b"quiet-cap", b"ply-cap"):
            records = tuple(record.replace(b'"%s"' % reason, b'"%s"' % other) for record in records)
        answer = msgspec.structs.replace(answer, records=records)
    return messages.encode(answer)
service.play = tampered
"""
"""A worker's module that has games end for other reasons than they did."""
PICKLES = """
import os
from arena.league.executor.cluster import service
class Bomb:
    def __reduce__(self):
        return os.mkdir, ({mark!r},)
service.play = lambda data: Bomb()
service.play.__name__ = service.play.__qualname__ = "play"
service.play.__module__ = service.__name__
"""
"""A worker's module that answers with a pickle that runs a program where it is unpickled."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster_of(tmp_path_factory.mktemp("cluster"), "good") as made:
        yield made


@pytest.fixture
def bad(cluster: Cluster) -> Iterator[None]:
    """The worker `bad` of a test is ended after it."""
    yield
    if "bad" in cluster.workers:
        cluster.end_worker("bad")


@pytest.fixture
def first(cluster: Cluster, bad: None) -> Iterator[None]:
    """The worker `bad` of a test comes first, so that it is asked to play: see `played_by_good`."""
    cluster.end_worker("good")
    yield
    if "good" not in cluster.workers:
        cluster.start_worker("good")


def played_by_good(cluster: Cluster, bots: Bots, folder: Path) -> str:
    """What a league says that the worker `good` plays, which comes when `bad` has been refused."""
    there(cluster, "bad")
    league = cluster.league(*bots.arguments, "--store", "l.sqlite", folder=folder)
    league.until_said("worker bad is not used: ")
    cluster.start_worker("good")
    assert league.end() == 0, league.said
    return league.said


def there(cluster: Cluster, name: str) -> None:
    until(lambda: "Registered to" in cluster.log(name) or cluster.workers[name].poll() is not None, f"{name} is there")
    assert cluster.workers[name].poll() is None, cluster.log(name)


@pytest.mark.usefixtures("first")
def test_a_record_that_was_tampered_with_is_refused_and_its_worker_named_and_not_used_again(
    cluster: Cluster, bots: Bots, plain: dict[str, object], tmp_path: Path
) -> None:
    (tmp_path / "tampers.py").write_text(TAMPERS)
    cluster.start_worker("bad", str(tmp_path / "tampers.py"))
    said = played_by_good(cluster, bots, tmp_path)
    assert "worker bad is not used: it sent a wrong record: game " in said
    assert said.count("worker bad is not used: ") == 1
    assert results(tmp_path / "l.sqlite") == plain


@pytest.mark.usefixtures("first")
def test_a_pickle_from_a_worker_runs_nothing(
    cluster: Cluster, bots: Bots, plain: dict[str, object], tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    (tmp_path / "pickles.py").write_text(PICKLES.format(mark=str(mark)))
    cluster.start_worker("bad", str(tmp_path / "pickles.py"))
    said = played_by_good(cluster, bots, tmp_path)
    assert "worker bad is not used: " in said
    assert not mark.exists()
    assert results(tmp_path / "l.sqlite") == plain


@pytest.mark.usefixtures("first")
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


@pytest.mark.usefixtures("bad")
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
    cluster.start_worker("bad", environment={"FLUX": "here"})
    there(cluster, "bad")
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


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="a small disk is mounted, which needs root")
@pytest.mark.usefixtures("first")
def test_a_worker_with_a_full_disk_is_refused_and_the_others_play(
    cluster: Cluster, bots: Bots, plain: dict[str, object], tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8k", "none", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no disk can be mounted: {mounted.stderr.decode(errors='replace').strip()}")
    try:
        cluster.start_worker("bad", cache=disk / "cache")
        said = played_by_good(cluster, bots, tmp_path)
        assert "worker bad is not used: a bot's files cannot be kept in " in said
        assert "No space left on device" in said
        assert results(tmp_path / "l.sqlite") == plain
    finally:
        cluster.end_worker("bad")
        subprocess.run(["umount", str(disk)], check=True)


def test_where_no_worker_comes_it_is_said_how_to_start_one(bots: Bots, tmp_path: Path) -> None:
    with cluster_of(tmp_path) as empty:
        league = empty.league(*bots.arguments, "--store", "l.sqlite", folder=tmp_path, wait="5s")
        assert league.end() == 1
        assert "no worker came within 5 s; to start one:\n    dask worker tcp://127.0.0.1:" in league.said
        assert "Traceback" not in league.said


def test_a_bot_is_sent_to_a_machine_once(
    cluster: Cluster, bots: Bots, plain: dict[str, object], tmp_path: Path
) -> None:
    cache = cluster.folder / "cache-good"
    for _ in range(2):
        league = cluster.league(*bots.arguments, "--store", "l.sqlite", folder=tmp_path)
        assert league.end() == 0, league.said
        (tmp_path / "l.sqlite").rename(tmp_path / "before.sqlite")
        kept = {path.name: path.stat().st_mtime_ns for path in cache.iterdir()}
        assert len(kept) >= 4
    assert results(tmp_path / "before.sqlite") == plain
    assert kept == {path.name: path.stat().st_mtime_ns for path in cache.iterdir()}
