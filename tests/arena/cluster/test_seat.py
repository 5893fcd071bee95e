"""When a worker is sent games, and how it is called."""

import socket

import pytest
from fake_gate import games

from arena.game.spec import GameSpec, Player
from arena.game.time_control import TimeControl
from arena.league.executor.cluster.seat import Seat, SentBatch, Standing, distinct_name, machine_name
from arena.league.executor.task import GameTask
from arena.rules.loading import load_ruleset

SPEC = GameSpec("0" * 16, load_ruleset("duel"), TimeControl(), (Player("a", "1"), Player("b", "2")), (1, 2), 3)
ADDRESS = "tcp://10.0.0.2:40123"


def seat_with(*counts: int, slots: int = 2, seconds: float | None = 60.0) -> Seat:
    """A worker that has batches of so many open games each."""
    seat = Seat(ADDRESS, "attic", "10.0.0.2", Standing.READY, slots=slots, seconds=seconds)
    for number, count in enumerate(counts):
        tasks = tuple(GameTask(game) for game in games(SPEC, count))
        seat.sent[number] = SentBatch(tasks, open={task.id: task for task in tasks})
    return seat


def test_a_worker_has_what_it_plays_and_one_batch_ahead() -> None:
    assert seat_with().has_room
    assert seat_with(2).has_room
    assert not seat_with(2, 2).has_room


def test_a_few_long_games_in_many_batches_leave_no_slot_empty() -> None:
    """Each batch waits for one long game: what else it had is over, and its place is free."""
    assert seat_with(1, 1, slots=4).has_room


@pytest.mark.parametrize("standing", [Standing.COMING, Standing.REFUSED])
def test_only_who_is_ready_is_sent_games(standing: Standing) -> None:
    seat = seat_with()
    seat.standing = standing
    assert not seat.has_room


def test_who_was_silent_first_gives_back_what_it_has() -> None:
    assert not seat_with(0).has_room  # its batch was lost, and it has not answered it yet
    seat = seat_with()
    seat.is_silent = True
    assert not seat.has_room
    assert not seat.is_hopeful


def test_how_long_a_game_takes_is_the_mean_of_those_that_were_under_way() -> None:
    seat = seat_with(seconds=None)
    seat.note_speed(0, 10.0)
    assert seat.seconds is None
    seat.note_speed(4, 10.0)
    assert seat.seconds == 2.5


@pytest.mark.parametrize(
    ("given", "taken", "name"),
    [
        ("attic", (), "attic"),
        (ADDRESS, (), "10.0.0.2"),
        ("", (), "10.0.0.2"),
        (ADDRESS, ("10.0.0.2",), "10.0.0.2-2"),
        (ADDRESS, ("10.0.0.2", "10.0.0.2-2"), "10.0.0.2-3"),
        (ADDRESS, ("10.0.0.2-2",), "10.0.0.2"),
    ],
)
def test_workers_without_names_are_told_apart_by_small_numbers(given: str, taken: tuple[str, ...], name: str) -> None:
    """A port would be another one in each run, and the games of one worker those of many."""
    assert distinct_name(given, "10.0.0.2", ADDRESS, taken) == name


@pytest.mark.parametrize(
    ("host", "scheduler", "name"),
    [
        ("127.0.0.1", "tcp://127.0.0.1:8786", socket.gethostname()),
        ("127.0.0.1", "tcp://10.0.0.1:8786", "127.0.0.1"),
        ("10.0.0.2", "tcp://127.0.0.1:8786", "10.0.0.2"),
        ("::1", "tls://[::1]:8786", socket.gethostname()),
    ],
)
def test_this_machine_has_its_name_and_others_their_addresses(host: str, scheduler: str, name: str) -> None:
    assert machine_name(host, scheduler) == name
