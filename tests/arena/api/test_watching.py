"""Watching games from a program: what is told, in which thread, and that a slow or failing watcher harms no game."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import arena
from arena.api import threads
from arena.api.threads import BackgroundCall, EventQueue
from arena.game.recorded import Replay
from arena.play.game_events import ActionPlayed, EventsDropped, GameFinished, GameStarted, WatchedEvent
from protocol.notation import Reason

Bots = Callable[..., str]
QUITS = "echo move resign"


def test_a_game_is_told_from_its_start_to_its_end(bots: Bots) -> None:
    seen: list[WatchedEvent] = []
    callers = set()

    def watch(event: WatchedEvent) -> None:
        callers.add(threading.current_thread())
        seen.append(event)

    record = arena.play(bots("one"), bots("two"), rules="duel", time="60s", on_event=watch)
    started, *actions, finished = seen
    assert isinstance(started, GameStarted)
    assert (started.spec.id, started.setups, started.history) == (record.id, record.setups, None)
    assert finished == GameFinished(record)
    steps = list(Replay(record).steps())
    assert len(steps) > 10
    assert actions == [
        ActionPlayed(record.id, step.ply, step.color, step.action, step.told, step.microseconds, cpu_us)
        for step, cpu_us in zip(steps, record.cpu_us, strict=True)
    ]
    assert callers == {threading.current_thread()}


@pytest.mark.usefixtures("played_here")
def test_each_game_of_a_match_and_a_league_is_told_before_its_result(bots: Bots, tmp_path: Path) -> None:
    told: list[WatchedEvent | arena.Result] = []
    one, two = bots("one"), bots("two", QUITS)
    arena.match(one, two, games=4, jobs=2, rules="duel", time="60s", on_result=told.append, on_event=told.append)
    league = arena.League(tmp_path / "l.sqlite", rules="duel", time="60s")
    league.add(one, two)
    league.run(rounds=1, on_result=told.append, on_event=told.append)
    games = [event.id for event in told if isinstance(event, arena.Result)]
    assert len(games) == 6
    for game in dict.fromkeys(games):
        kinds = [type(event) for event in told if game in str(event) or getattr(event, "id", "") == game]
        once = kinds[: kinds.index(arena.Result) + 1]
        assert once[0] is GameStarted
        assert once[-2:] == [GameFinished, arena.Result]
        assert set(once[1:-2]) == {ActionPlayed}


def test_every_game_of_a_worker_is_told_while_it_is_played(bots: Bots, tmp_path: Path) -> None:
    """A bot crashes as soon as the start of its game has been told: nothing else is told of the game."""
    heard = tmp_path / "heard"

    def watch(event: WatchedEvent) -> None:
        if isinstance(event, GameStarted):
            heard.touch()

    waits = f"until rm '{heard}' 2>/dev/null; do sleep 0.01; done; exit"
    league = arena.League(tmp_path / "l.sqlite", rules="duel", time="60s", jobs=1)
    league.add(bots("one", waits), bots("two", waits))
    league.run(rounds=4, on_event=watch)
    assert [game.reason for game in league.games()] == [Reason.CRASH] * 8


def test_a_watcher_that_waits_holds_no_game_up(bots: Bots, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits in the first event until all games are stored; what it did not take is counted."""
    monkeypatch.setattr(threads, "MOST_WAITING", 20)
    monkeypatch.setattr(EventQueue.__init__, "__defaults__", (20,))
    path = tmp_path / "l.sqlite"
    league = arena.League(path, rules="duel", time="60s", jobs=1)
    league.add(bots("one"), bots("two"))
    seen: list[WatchedEvent] = []
    pause = threading.Event()

    def watch(event: WatchedEvent) -> None:
        while not seen and len(league.games()) < 8:
            pause.wait(0.01)
        seen.append(event)

    league.run(rounds=4, on_event=watch)
    assert len(league.games()) == 8
    dropped = [event.count for event in seen if isinstance(event, EventsDropped)]
    told = len(seen) - len(dropped)
    plies = sum(league.record(game.number).verdict.plies for game in league.games())
    assert told + sum(dropped) == plies + 2 * 8


def test_events_are_told_in_order_with_how_many_are_missing_where() -> None:
    call: BackgroundCall[None] = BackgroundCall()
    seen: list[WatchedEvent] = []
    queue = EventQueue(call, seen.append, most=2)
    one, other = EventsDropped(1), EventsDropped(5)
    for event in (one, one, other, one):
        queue.put(event)
    queue.finish()
    call.work(lambda _: None)
    call.result()
    assert seen == [one, one, EventsDropped(6)]
