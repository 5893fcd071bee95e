"""How many games go together."""

from hypothesis import given
from hypothesis import strategies as st

from arena.league.executor.cluster.batches import LEAST_SHORT, MOST, SHORT_SECONDS, batch_size, smoothed


@given(st.integers(1, 256), st.none() | st.floats(0, 1e6))
def test_every_slot_gets_a_game_and_no_batch_is_endless(slots: int, seconds: float | None) -> None:
    assert min(slots, MOST) <= batch_size(slots, seconds) <= MOST


@given(st.integers(1, 256), st.floats(0, SHORT_SECONDS))
def test_short_games_go_together(slots: int, seconds: float) -> None:
    assert batch_size(slots, seconds) >= LEAST_SHORT


def test_of_long_games_each_slot_gets_one() -> None:
    assert batch_size(8, 60.0) == 8


@given(st.floats(0.001, 100), st.floats(0.001, 100))
def test_what_is_known_of_a_worker_lies_between_what_was_and_what_is(known: float, now: float) -> None:
    assert min(known, now) - 1e-9 <= smoothed(known, now) <= max(known, now) + 1e-9
    assert smoothed(None, now) == now
