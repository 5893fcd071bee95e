"""A league on a real cluster, of which one part after the other fails: every game is played once, with the ids and
results of a league without faults."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from clusters import Cluster, cluster_of
from waiting import PATIENCE, until

from .conftest import Bots, results

WORKERS = ("w1", "w2")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster_of(tmp_path_factory.mktemp("cluster"), *WORKERS) as made:
        yield made


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


def test_a_worker_that_is_frozen_is_done_without(
    cluster: Cluster, bots: Bots, plain: dict[str, object], tmp_path: Path
) -> None:
    bots.hold()
    league = cluster.league(*bots.arguments, "--store", "l.sqlite", folder=tmp_path, wait="4s")
    bots.until_held(len(WORKERS))
    cluster.workers["w2"].send_signal(signal.SIGSTOP)
    try:
        league.until_said("worker w2 is silent for 4 s")
        bots.let_go()
        assert league.end() == 0, league.said
    finally:
        cluster.workers["w2"].send_signal(signal.SIGCONT)
    assert results(tmp_path / "l.sqlite") == plain


def test_an_arena_that_is_killed_leaves_no_bot_and_resumes(
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
    assert results(tmp_path / "l.sqlite") == plain


def test_ctrl_c_ends_a_league_whose_scheduler_is_stopped_with_what_had_been_played(
    cluster: Cluster, bots: Bots, plain: dict[str, object], tmp_path: Path
) -> None:
    league = cluster.league(*bots.arguments, "--store", "l.sqlite", folder=tmp_path)
    league.until_said("[1/")
    bots.hold()
    bots.until_held(1)
    cluster.scheduler.send_signal(signal.SIGSTOP)
    try:
        league.until_said("the scheduler does not answer")
        league.process.send_signal(signal.SIGINT)
        assert league.end() == 130, league.said
    finally:
        cluster.scheduler.send_signal(signal.SIGCONT)
        bots.let_go()
    assert 0 < len(results(tmp_path / "l.sqlite")) < len(plain)
    until(lambda: not bots.alive, "the workers end the games of an arena that has left")


def test_a_scheduler_that_is_started_again_in_time_costs_no_game_and_one_that_is_not_stops_the_league(
    cluster: Cluster, bots: Bots, plain: dict[str, object], tmp_path: Path
) -> None:
    bots.hold()
    league = cluster.league(*bots.arguments, "--store", "l.sqlite", folder=tmp_path, wait="120s")
    league.until_said("others may come")  # bots of the league before may still be held
    bots.until_held(len(WORKERS))
    cluster.scheduler.kill()
    cluster.scheduler.wait(PATIENCE)
    league.until_said("the connection to the scheduler is lost")
    for worker in list(cluster.workers):
        cluster.end_worker(worker)
    bots.let_go()
    cluster.start_scheduler()
    for worker in WORKERS:
        cluster.start_worker(worker)
    assert league.end() == 0, league.said
    assert "the scheduler answers again" in league.said
    assert results(tmp_path / "l.sqlite") == plain

    bots.hold()
    league = cluster.league(*bots.arguments, "--store", "again.sqlite", folder=tmp_path, wait="3s")
    league.until_said("others may come")  # bots of the league before may still be held
    bots.until_held(len(WORKERS))
    cluster.scheduler.kill()
    cluster.scheduler.wait(PATIENCE)
    assert league.end() == 1
    assert "no scheduler has answered within 3 s" in league.said
    assert "Traceback" not in league.said
