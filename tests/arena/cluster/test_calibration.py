"""Which machines may play: as fast as the clocks allow, and with a CPU for those who think."""

import pytest

from arena.game.time_control import TimeControl
from arena.league.executor.cluster.cluster_protocol import Calibration, unfit, unfit_scaled

HERE = Calibration(20_000, 0)
TIME = TimeControl(move_ms=100, margin_ms=50)


@pytest.mark.parametrize("work", [5_000, 20_000, 40_000])
def test_a_machine_that_is_fast_enough_and_idle_may_play(work: int) -> None:
    assert unfit(HERE, Calibration(work, 150_000), TIME) == ""
    assert unfit_scaled(20_000, Calibration(work, 75_000), TIME) == ""


def test_a_machine_that_is_less_than_half_as_fast_is_refused_with_both_figures_and_what_helps() -> None:
    words = unfit(HERE, Calibration(40_100, 0), TIME)
    assert "it is too slow: a piece of work that takes 20.0 ms on the arena's machine takes 40.1 ms there" in words
    assert "--calibrate" in words


def test_where_clocks_are_scaled_a_slower_machine_may_play_until_it_is_too_different() -> None:
    assert unfit_scaled(20_000, Calibration(80_000, 0), TIME) == ""
    assert unfit_scaled(20_000, Calibration(5_000, 0), TIME) == ""
    assert "it is too slow: " in unfit_scaled(20_000, Calibration(80_200, 0), TIME)
    assert "it is too fast: " in unfit_scaled(20_000, Calibration(4_800, 0), TIME)
    assert "25% to 400%" in unfit_scaled(20_000, Calibration(80_200, 0), TIME)
    assert unfit_scaled(20_000, Calibration(1, 0), TIME)


def test_a_loaded_machine_is_refused_by_the_clocks_that_would_be_in_force_there() -> None:
    waits = Calibration(40_000, 200_000)
    assert "it is too loaded: a program waits 200 ms for a CPU there, and a bot has 150 ms" in unfit(HERE, waits, TIME)
    assert unfit_scaled(20_000, waits, TIME) == ""
    assert "a bot has 250 ms for a move" in unfit_scaled(20_000, Calibration(40_000, 251_000), TIME)
