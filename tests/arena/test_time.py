"""Time: how it is written on the command line, and how a clock charges it."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arena.errors import UsageError
from arena.game.time_control import (
    LONGEST_MS,
    MOST_FORGIVEN,
    GameClock,
    TimeControl,
    counted,
    parse_duration,
    parse_time,
)
from protocol.notation import Color

RED, BLUE = Color.RED, Color.BLUE

moves_ms = st.integers(1, 10**7)
banks_ms = st.integers(1, 10**8)
controls = st.one_of(
    st.builds(TimeControl, move_ms=moves_ms),
    st.builds(TimeControl, move_ms=st.none(), bank_ms=banks_ms, increment_ms=st.integers(0, 10**6)),
    st.builds(TimeControl, move_ms=moves_ms, bank_ms=banks_ms, increment_ms=st.integers(0, 10**6)),
)


# --- in words -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [("100ms", 100), ("1s", 1000), ("1.5s", 1500), ("2m", 120_000), ("0.5m", 30_000), ("1ms", 1), ("0.001s", 1)],
)
def test_a_duration_has_a_number_and_a_unit(text: str, milliseconds: int) -> None:
    assert parse_duration(text) == milliseconds


@pytest.mark.parametrize(
    "text", ["", "5", "ms", "0ms", "0s", "-1s", "1 s", "1h", "1,5s", "1e3ms", "abc", "1s\n", ".5s"]
)
def test_a_wrong_duration_is_refused_with_what_was_expected_and_what_came(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_duration(text)
    assert "100ms" in str(caught.value)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("100ms", TimeControl(move_ms=100)),
        ("1s/move", TimeControl(move_ms=1000)),
        ("1s", TimeControl(move_ms=1000)),
        ("60+0.6", TimeControl(move_ms=None, bank_ms=60_000, increment_ms=600)),
        ("0.5+0.001", TimeControl(move_ms=None, bank_ms=500, increment_ms=1)),
        ("60+0.6,1s/move", TimeControl(move_ms=1000, bank_ms=60_000, increment_ms=600)),
    ],
)
def test_a_time_control_is_a_limit_per_move_or_a_bank_or_both(text: str, expected: TimeControl) -> None:
    assert parse_time(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "5",
        "1s,2s",
        "1s,",
        "60+0.6,1s,2s",
        "60+-1",
        "0+1",
        "60+0.6/move",
        "1s/game",
        "60 + 0.6",
    ],
)
def test_a_wrong_time_control_is_refused_with_what_was_expected_and_what_came(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_time(text)
    said = str(caught.value)
    assert "expected a time such as 100ms" in said
    assert repr(text) in said or repr(text.removesuffix("/move")) in said
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("control", "text"),
    [
        (TimeControl(move_ms=100), "100ms"),
        (TimeControl(move_ms=1000), "1000ms"),
        (TimeControl(move_ms=None, bank_ms=60_000, increment_ms=600), "60+0.6"),
        (TimeControl(move_ms=1000, bank_ms=60_000, increment_ms=0), "60+0,1000ms"),
    ],
)
def test_a_time_control_is_written_as_on_the_command_line(control: TimeControl, text: str) -> None:
    assert control.text == text


@given(controls)
@example(TimeControl(move_ms=None, bank_ms=1_234_567, increment_ms=0))
@example(TimeControl(move_ms=None, bank_ms=LONGEST_MS, increment_ms=0))
@settings(deadline=None, max_examples=100)
def test_what_is_written_is_read_back_as_the_same_time_control(control: TimeControl) -> None:
    assert parse_time(control.text) == control


# --- the clock ------------------------------------------------------------------------------------------------------


def clock_of(control: TimeControl) -> GameClock:
    """Both sides' clock under the same time control."""
    return GameClock((control, control))


def per_move(move_ms: int = 1000, margin_ms: int = 50) -> GameClock:
    return clock_of(TimeControl(move_ms=move_ms, margin_ms=margin_ms))


def bank(bank_ms: int, increment_ms: int = 0, move_ms: int | None = None, margin_ms: int = 50) -> GameClock:
    return clock_of(TimeControl(move_ms=move_ms, bank_ms=bank_ms, increment_ms=increment_ms, margin_ms=margin_ms))


def think(clock: GameClock, color: Color, seconds: float, now: float = 0.0) -> float:
    clock.start(color, now)
    return clock.stop(color, now + seconds)


def test_the_deadline_is_the_start_and_the_budget_and_the_margin() -> None:
    assert per_move(1000, margin_ms=50).start(RED, 7.0) == pytest.approx(8.05)
    assert per_move(1000, margin_ms=0).start(BLUE, 7.0) == pytest.approx(8.0)
    assert bank(60_000).start(RED, 7.0) == pytest.approx(67.05)
    assert bank(60_000, move_ms=1000).start(RED, 7.0) == pytest.approx(8.05)
    assert bank(500, move_ms=1000).start(RED, 7.0) == pytest.approx(7.55)


def test_a_turn_shows_both_sides_times_own_first_and_the_banks_only_beside_a_limit_per_move() -> None:
    for clock, for_red, for_blue in (
        (bank(5000, move_ms=2000), (2000, 2000, 4000, 5000), (2000, 2000, 5000, 4000)),
        (bank(5000, move_ms=4500), (4000, 4500, 4000, 5000), (4500, 4000, 5000, 4000)),
        (bank(5000), (4000, 5000, None, None), (5000, 4000, None, None)),
        (per_move(5000), (5000, 5000, None, None), (5000, 5000, None, None)),
    ):
        think(clock, RED, 1.0)
        assert clock.shown(RED) == for_red
        assert clock.shown(BLUE) == for_blue


def test_a_move_within_the_margin_leaves_the_bank_in_debt() -> None:
    clock = bank(1000, increment_ms=300, margin_ms=50)
    think(clock, RED, 1.04)
    assert clock.budget_ms(RED) == 260


def test_the_margin_is_never_added_to_what_a_bank_holds() -> None:
    clock = bank(1000, margin_ms=50)
    assert clock.budget_ms(RED) == 1000
    think(clock, RED, 1.03)
    assert clock.budget_ms(RED) == clock.bank_ms(RED) == 0
    assert clock.start(RED, 5.0) == pytest.approx(5.02)  # the margin is there once for a bank, not for each move


@given(st.floats(0, 1e6), st.floats(0, 1e3))
@settings(deadline=None, max_examples=100)
def test_what_is_charged_is_the_time_from_start_to_stop_in_whole_microseconds(start: float, seconds: float) -> None:
    clock = bank(10**9)
    clock.start(RED, start)
    taken = clock.stop(RED, start + seconds)
    assert taken == round(((start + seconds) - start) * 1_000_000) / 1_000_000
    assert clock.budget(RED) == 10**6 - taken


@given(controls, st.lists(st.floats(0, 1), max_size=30))
@settings(deadline=None, max_examples=100)
def test_milliseconds_are_rounded_down_and_never_below_nothing(control: TimeControl, parts: list[float]) -> None:
    """A bot that is told so many milliseconds has them."""
    clock, now = clock_of(control), 0.0
    for part in parts:
        deadline = clock.start(RED, now)
        milliseconds = clock.budget_ms(RED)
        assert 0 <= milliseconds <= clock.budget(RED) * 1000 + 1e-3
        assert milliseconds > clock.budget(RED) * 1000 - 1
        now += (deadline - now) * part
        clock.stop(RED, now)


# --- what is forgiven -----------------------------------------------------------------------------------------------


def test_what_is_forgiven_of_an_answer_is_less_than_half_the_usual_margin() -> None:
    """A bot must not gain a move's time by making the arena slow; nor may an honest one lose one by it."""
    assert TimeControl().margin_ms / 1000 / 2 > MOST_FORGIVEN


@pytest.mark.parametrize(
    ("came", "read", "counts"),
    [
        (1.0, 1.0, 1.0),
        (1.0, 1.01, 1.0),
        (1.0, 1.5, 1.48),
        (1.0, 100.0, 99.98),
        (2.0, 1.0, 1.0),
    ],
)
def test_an_answer_counts_from_when_it_came_but_not_long_before_it_was_read(
    came: float, read: float, counts: float
) -> None:
    assert counted(came, read) == pytest.approx(counts)


@given(st.floats(0, 1e5), st.floats(0, 1e5))
@example(0.0, 1.0)
@settings(deadline=None, max_examples=200)
def test_what_is_charged_is_never_more_than_has_passed_nor_much_less(came: float, read: float) -> None:
    assert read - MOST_FORGIVEN <= counted(came, read) <= read
