"""A league on machines with addresses of their own, of which one after the other fails: every game is played once, with
the ids and results of a league without faults."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import clusters
import pytest
from clusters import Cluster, Network, cluster_of
from waiting import PATIENCE, until

from .conftest import Bots, results

WHY_NOT = clusters.why_no_namespaces()
pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
WORKERS = ("w1", "w2", "w3", "w4")
CUT_SECONDS = float(os.environ.get("ARENA_TEST_CUT_SECONDS", "0"))
"""For how long a link is cut at least: 30 in a run of one's own."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster_of(tmp_path_factory.mktemp("cluster"), *WORKERS, network=Network()) as made:
        yield made


@contextmanager
def link_cut(cluster: Cluster, machine: str) -> Iterator[None]:
    """Within, a machine's link is cut, for `CUT_SECONDS` at least."""
    assert cluster.network is not None
    begun = time.monotonic()
    cluster.network.cut(machine)
    try:
        yield
        until(lambda: time.monotonic() > begun + CUT_SECONDS, "the link has been cut for so long")
    finally:
        cluster.network.mend(machine)


@pytest.fixture(autouse=True)
def _all_let_go(bots: Bots) -> Iterator[None]:
    yield
    bots.let_go()


def test_a_worker_that_is_killed_in_the_middle_of_games_costs_none(
    cluster: Cluster, bots: Bots, plain: dict[str, object], tmp_path: Path
) -> None:
    bots.hold()
    league = cluster.league(*bots.arguments, "--store", "l.sqlite", folder=tmp_path)
    bots.until_held(len(WORKERS))
    cluster.end_worker("w1")
    league.until_said("worker w1 is gone")
    bots.let_go()
    assert league.end() == 0, league.said
    assert results(tmp_path / "l.sqlite") == plain
    until(lambda: not bots.alive, "the bots of the dead worker end")
    cluster.start_worker("w1")


def test_a_worker_that_is_frozen_is_done_without_and_what_it_sends_later_is_not_stored_twice(
    cluster: Cluster, bots: Bots, plain: dict[str, object], tmp_path: Path
) -> None:
    bots.hold()
    league = cluster.league(*bots.arguments, "--store", "l.sqlite", folder=tmp_path, wait="4s")
    bots.until_held(len(WORKERS))
    cluster.workers["w2"].send_signal(signal.SIGSTOP)
    try:
        league.until_said("worker w2 has not been heard of for 4 s")
        bots.let_go()
    finally:
        cluster.workers["w2"].send_signal(signal.SIGCONT)
    assert league.end() == 0, league.said
    assert results(tmp_path / "l.sqlite") == plain


def test_a_link_that_is_cut_and_mended_costs_no_game(
    cluster: Cluster, bots: Bots, plain: dict[str, object], tmp_path: Path
) -> None:
    bots.hold()
    league = cluster.league(*bots.arguments, "--store", "l.sqlite", folder=tmp_path, wait="4s")
    bots.until_held(len(WORKERS))
    with link_cut(cluster, "w3"):
        league.until_said("worker w3 has not been heard of for 4 s")
    bots.let_go()
    assert league.end() == 0, league.said
    assert results(tmp_path / "l.sqlite") == plain
    if CUT_SECONDS:  # its connection is tried again at longer and longer intervals, which other tests do not wait for
        cluster.end_worker("w3")
        cluster.start_worker("w3")


def test_a_link_of_the_arena_itself_that_is_cut_and_mended_costs_no_game(
    cluster: Cluster, bots: Bots, plain: dict[str, object], tmp_path: Path
) -> None:
    """Cut for long, dask gives up its connection, and the arena finds its games again where they are played."""
    bots.hold()
    league = cluster.league(*bots.arguments, "--store", "l.sqlite", folder=tmp_path, wait="120s")
    bots.until_held(len(WORKERS))
    with link_cut(cluster, "arena"):
        league.until_said(f"the scheduler at {cluster.address} does not answer: it is waited for, at most ")
    bots.let_go()
    assert league.end() == 0, league.said
    assert results(tmp_path / "l.sqlite") == plain


def test_an_arena_that_is_killed_leaves_no_bot_and_goes_on_where_it_was(
    cluster: Cluster, bots: Bots, plain: dict[str, object], tmp_path: Path
) -> None:
    league = cluster.league(*bots.arguments, "--store", "l.sqlite", folder=tmp_path)
    league.until_said("[1/")
    bots.hold()
    bots.until_held(1)
    league.process.kill()
    league.end()
    until(lambda: not bots.alive, "the workers end the games of an arena that is gone")
    bots.let_go()
    stored = results(tmp_path / "l.sqlite")
    assert 0 < len(stored) < len(plain)
    again = cluster.league(*bots.arguments, "--store", "l.sqlite", folder=tmp_path)
    assert again.end() == 0, again.said
    assert f"{len(stored)} of them stored already" in again.said
    assert results(tmp_path / "l.sqlite") == plain


def test_a_scheduler_that_is_stopped_and_goes_on_costs_no_game(
    cluster: Cluster, bots: Bots, plain: dict[str, object], tmp_path: Path
) -> None:
    bots.hold()
    league = cluster.league(*bots.arguments, "--store", "l.sqlite", folder=tmp_path)
    bots.until_held(len(WORKERS))
    cluster.scheduler.send_signal(signal.SIGSTOP)
    try:
        league.until_said(f"the scheduler at {cluster.address} does not answer: it is waited for, at most ")
        bots.let_go()
    finally:
        cluster.scheduler.send_signal(signal.SIGCONT)
    assert league.end() == 0, league.said
    assert f"the scheduler at {cluster.address} answers again" in league.said
    assert "played elsewhere" not in league.said
    assert results(tmp_path / "l.sqlite") == plain


def test_the_first_ctrl_c_ends_a_league_whose_scheduler_is_stopped_with_what_had_been_played(
    cluster: Cluster, bots: Bots, plain: dict[str, object], tmp_path: Path
) -> None:
    league = cluster.league(*bots.arguments, "--store", "l.sqlite", folder=tmp_path)
    league.until_said("[1/")
    bots.hold()
    bots.until_held(1)
    cluster.scheduler.send_signal(signal.SIGSTOP)
    try:
        league.until_said("does not answer")
        league.process.send_signal(signal.SIGINT)
        assert league.end() == 130, league.said
    finally:
        cluster.scheduler.send_signal(signal.SIGCONT)
        bots.let_go()
    assert "resume with: " in league.said
    stored = results(tmp_path / "l.sqlite")
    assert 0 < len(stored) < len(plain)
    again = cluster.league(*bots.arguments, "--store", "l.sqlite", folder=tmp_path)
    assert again.end() == 0, again.said
    assert results(tmp_path / "l.sqlite") == plain


def test_a_scheduler_that_is_started_again_at_its_address_in_time_goes_on_with_the_league(
    cluster: Cluster, bots: Bots, plain: dict[str, object], tmp_path: Path
) -> None:
    bots.hold()
    league = cluster.league(*bots.arguments, "--store", "l.sqlite", folder=tmp_path, wait="120s")
    bots.until_held(len(WORKERS))
    cluster.scheduler.kill()
    cluster.scheduler.wait(PATIENCE)
    league.until_said(f"the scheduler at {cluster.address} is lost: for ")
    for worker in list(cluster.workers):
        cluster.end_worker(worker)
    bots.let_go()
    cluster.start_scheduler()
    for worker in WORKERS:
        cluster.start_worker(worker)
    assert league.end() == 0, league.said
    assert f"the scheduler at {cluster.address} is there again" in league.said
    assert results(tmp_path / "l.sqlite") == plain


def test_a_scheduler_that_is_killed_stops_the_league_and_another_one_goes_on_with_it(
    cluster: Cluster, bots: Bots, plain: dict[str, object], tmp_path: Path
) -> None:
    bots.hold()
    league = cluster.league(*bots.arguments, "--store", "l.sqlite", folder=tmp_path, wait="5s")
    bots.until_held(len(WORKERS))
    cluster.scheduler.kill()
    cluster.scheduler.wait(PATIENCE)
    assert league.end() == 1
    assert f"no dask scheduler answers at {cluster.address} within 5 s" in league.said
    assert "resume with: " in league.said
    assert "Traceback" not in league.said
    for worker in list(cluster.workers):
        cluster.end_worker(worker)
    until(lambda: not bots.alive, "the bots of dead workers end")
    bots.let_go()
    cluster.start_scheduler()
    for worker in WORKERS:
        cluster.start_worker(worker)
    again = cluster.league(*bots.arguments, "--store", "l.sqlite", folder=tmp_path)
    assert again.end() == 0, again.said
    assert results(tmp_path / "l.sqlite") == plain


def test_ctrl_c_lets_the_games_under_way_end_and_the_league_goes_on_later(
    cluster: Cluster, bots: Bots, plain: dict[str, object], tmp_path: Path
) -> None:
    bots.hold()
    league = cluster.league(*bots.arguments, "--store", "l.sqlite", folder=tmp_path)
    bots.until_held(len(WORKERS))
    league.process.send_signal(signal.SIGINT)
    league.until_said("under way; Ctrl-C again to stop at once")
    bots.let_go()
    assert league.end() == 130, league.said
    stored = results(tmp_path / "l.sqlite")
    assert len(WORKERS) <= len(stored) < len(plain)
    again = cluster.league(*bots.arguments, "--store", "l.sqlite", folder=tmp_path)
    assert again.end() == 0, again.said
    assert results(tmp_path / "l.sqlite") == plain


def test_two_leagues_on_one_scheduler_do_not_take_workers_from_one_another(
    cluster: Cluster, bots: Bots, plain: dict[str, object], tmp_path: Path
) -> None:
    bots.hold()
    first = cluster.league(*bots.arguments, "--store", "first.sqlite", folder=tmp_path)
    bots.until_held(len(WORKERS))
    second = cluster.league(*bots.arguments, "--store", "second.sqlite", folder=tmp_path)
    for worker in WORKERS:
        second.until_said(f"worker {worker} plays for another arena; it is waited for")
    bots.let_go()
    for league, store in ((first, "first.sqlite"), (second, "second.sqlite")):
        assert league.end() == 0, league.said
        assert "played elsewhere" not in league.said
        assert results(tmp_path / store) == plain
