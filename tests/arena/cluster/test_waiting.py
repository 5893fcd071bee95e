"""What is said while no worker plays, and when that has been too long."""

from fake_gate import plan

from arena.league.executor.cluster.seat import Seat, Standing
from arena.league.executor.cluster.waiting import PREPARING_SECONDS, Waiting


def seat(name: str = "attic", standing: Standing = Standing.READY, *, silent: bool = False) -> Seat:
    return Seat(f"tcp://{name}:1", name, name, standing, is_silent=silent)


def said(waiting: Waiting, *seats: Seat, until: float, since: float = 0.0, is_reachable: bool = True) -> list[str]:
    """What is said in this time, in which the workers stay as they are."""
    lines = []
    now = since
    while now < until:
        lines.append(waiting.look(seats, now, is_reachable=is_reachable))
        now += 0.25
    return [line for line in lines if line]


def test_nothing_is_said_while_a_worker_plays_or_the_scheduler_is_away() -> None:
    waiting = Waiting(plan())
    assert said(waiting, seat(), until=1000) == []
    assert said(waiting, since=1000, until=2000, is_reachable=False) == []
    assert not waiting.is_over({})


def test_without_a_worker_it_is_said_once_and_is_over_after_the_time_that_was_given() -> None:
    waiting = Waiting(plan(60))
    (line,) = said(waiting, until=60)
    assert line.startswith("cluster tcp://10.0.0.1:8786: no worker can play; one is waited for, at most 60 s.")
    assert line.endswith(f"\n    {plan().worker_command}")
    assert not waiting.is_over({})
    assert said(waiting, since=60, until=61) == []
    assert waiting.is_over({})


def test_each_time_that_the_last_worker_goes_the_time_begins_anew() -> None:
    waiting = Waiting(plan(60))
    assert len(said(waiting, until=50)) == 1
    assert said(waiting, seat(), since=50, until=51) == []
    assert len(said(waiting, since=51, until=110)) == 1
    assert not waiting.is_over({})


def test_a_scheduler_that_is_away_does_not_use_up_the_time_of_workers() -> None:
    waiting = Waiting(plan(60))
    said(waiting, until=50)
    said(waiting, since=50, until=100, is_reachable=False)
    said(waiting, since=100, until=150)
    assert not waiting.is_over({})


def test_who_is_silent_or_refused_is_no_worker_that_games_may_come_from() -> None:
    waiting = Waiting(plan(60))
    seats = seat("attic", silent=True), seat("cellar", Standing.REFUSED)
    said(waiting, *seats, until=61)
    assert waiting.is_over({})
    assert str(waiting.error(seats, {"cellar": "it is too slow"})) == (
        "cluster tcp://10.0.0.1:8786: no worker can play:\n"
        "    attic: it has not been heard of for long\n"
        "    cellar: it is too slow"
    )


def test_workers_that_take_long_to_be_prepared_are_named_once() -> None:
    waiting = Waiting(plan(60))
    coming = seat("attic", Standing.COMING), seat("cellar", Standing.COMING)
    assert said(waiting, *coming, until=PREPARING_SECONDS) == []
    assert said(waiting, *coming, since=PREPARING_SECONDS, until=1000) == [
        "workers attic, cellar are being made ready: bots are sent there, and built if they are to be built"
    ]
    assert not waiting.is_over({})


def test_while_another_one_plays_nobody_asks_who_is_being_prepared() -> None:
    assert said(Waiting(plan()), seat("attic"), seat("cellar", Standing.COMING), until=1000) == []


def test_of_workers_of_our_own_no_others_come() -> None:
    waiting = Waiting(plan(60, local=2))
    assert said(waiting, seat(), until=1) == []
    assert not waiting.is_over({"local-1": "why"})
    assert waiting.is_over({"local-1": "why", "local-2": "why"})
    (line,) = said(Waiting(plan(60, local=2)), until=10)
    assert line == "cluster local:2: no worker is there; one is waited for, at most 60 s"
    assert str(waiting.error((), {})) == "cluster local:2: no worker came within 60 s"
