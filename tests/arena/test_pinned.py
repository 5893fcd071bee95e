"""Whether the bots of each game are pinned to a CPU."""

import os

import pytest

from arena.league import plan
from arena.league.league_options import ClusterOptions, PlayOptions
from arena.league.plan import is_pinned

needs_pinning = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="this system cannot pin programs to a CPU"
)


@needs_pinning
@pytest.mark.parametrize(
    ("jobs", "games", "pinned"),
    [
        pytest.param(4, 100, True, id="as many at a time as CPUs"),
        pytest.param(8, None, True, id="more at a time, and nobody knows how many in all"),
        pytest.param(3, 100, False, id="fewer at a time than CPUs"),
        pytest.param(4, 2, False, id="fewer in all than CPUs"),
    ],
)
def test_without_a_choice_bots_are_pinned_where_every_cpu_has_a_game(
    jobs: int, games: int | None, pinned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "usable_cpus", lambda: 4)
    assert is_pinned(PlayOptions(jobs=jobs), games) is pinned
    assert is_pinned(PlayOptions(jobs=jobs, affinity=True), games) is True
    assert is_pinned(PlayOptions(jobs=jobs, affinity=False), games) is False


@needs_pinning
def test_on_a_cluster_bots_are_pinned_only_by_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "usable_cpus", lambda: 4)
    assert is_pinned(PlayOptions(jobs=4, cluster=ClusterOptions("local:2")), 100) is False
    assert is_pinned(PlayOptions(jobs=4, cluster=ClusterOptions("local:2"), affinity=True), 100) is True
