"""Each game comes out once, whatever becomes of the workers that had it."""

from collections import deque
from collections.abc import Callable

import pytest
from fake_gate import games
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.game.spec import GameSpec, Player
from arena.game.time_control import TimeControl
from arena.league.executor.cluster.ledger import MOST_LOST, Ledger, paired, without
from arena.league.executor.cluster.seat import SentBatch
from arena.league.executor.task import GameTask
from arena.rules.loading import load_ruleset

SPEC = GameSpec("0" * 16, load_ruleset("duel"), TimeControl(), (Player("a", "1"), Player("b", "2")), (1, 2), 3)


def ledger_of(*tasks: GameTask) -> Ledger:
    ledger = Ledger(deque())
    for task in tasks:
        ledger.add(task)
    return ledger


def test_what_is_put_off_waits_until_it_is_taken_up_and_is_left_out_and_dropped_as_what_waits() -> None:
    first, second, third = (GameTask(game) for game in games(SPEC, 3))
    ledger = ledger_of(first, second, third)
    batch = ledger.take_batch(2)
    ledger.put_off.extend(ledger.still_open(batch))
    assert list(ledger.waiting) == [third]
    assert ledger.come_out(second.id)
    assert list(ledger.put_off) == [first]
    assert ledger.leave_out_waiting({"a"}) == [third, first]
    ledger.put_off.append(first)
    ledger.take_up()
    assert list(ledger.waiting) == [first]
    ledger.put_off.append(third)
    ledger.drop_waiting()
    assert not ledger.open
    assert not ledger.put_off


def pair(first: GameSpec, second: GameSpec) -> GameTask:
    return GameTask(first, then=second)


def test_a_pair_is_one_task_and_counts_as_two_games() -> None:
    one, two, three, four = games(SPEC, 4)
    ledger = ledger_of(pair(one, two), pair(three, four))
    assert ledger.take_batch(1).tasks == (pair(one, two),)
    assert ledger.take_batch(1).tasks == (pair(three, four),)
    assert ledger.take_batch(1).tasks == ()


def test_a_game_comes_out_once_and_is_not_sent_again() -> None:
    one, two = games(SPEC, 2)
    ledger = ledger_of(GameTask(one), GameTask(two))
    batch = ledger.take_batch(2)
    assert ledger.put_back(ledger.still_open(batch), counts=True) is None
    assert ledger.come_out(one.id)
    assert not ledger.come_out(one.id)
    assert list(ledger.waiting) == [GameTask(two)]
    assert list(ledger.open) == [two.id]


def test_clocks_are_scaled_as_a_game_is_sent_and_anew_where_it_is_sent_again() -> None:
    one, two, three = games(SPEC, 3)
    ledger = ledger_of(pair(one, two), GameTask(three))
    batch = ledger.take_batch(3, 150)
    assert [spec.time_percent for spec in batch.specs.values()] == [150, 150, 150]
    assert [task.games for task in ledger.still_open(batch)] == [(one, two), (three,)]
    ledger.put_back(ledger.still_open(batch), counts=True)
    assert {spec.time_percent for spec in ledger.take_batch(3, 80).specs.values()} == {80}
    assert list(ledger.open.values()) == [one, two, three]


def test_what_is_lost_is_the_next_to_be_sent_in_its_order() -> None:
    specs = games(SPEC, 4)
    ledger = ledger_of(*map(GameTask, specs))
    batch = ledger.take_batch(2)
    ledger.put_back(ledger.still_open(batch), counts=True)
    assert [task.spec for task in ledger.waiting] == specs


def test_a_game_that_is_lost_too_often_is_named_and_one_that_is_not_to_blame_never() -> None:
    (one,) = games(SPEC, 1)
    ledger = ledger_of(GameTask(one))
    for _ in range(3 * MOST_LOST):
        assert ledger.put_back(ledger.still_open(ledger.take_batch(1)), counts=False) is None
    for _ in range(MOST_LOST - 1):
        assert ledger.put_back(ledger.still_open(ledger.take_batch(1)), counts=True) is None
    assert ledger.put_back(ledger.still_open(ledger.take_batch(1)), counts=True) == one


def test_only_a_game_that_waits_and_can_be_paused_is_paused() -> None:
    one, two = games(SPEC, 2)
    ledger = ledger_of(GameTask(one, can_pause=True), GameTask(two))
    assert ledger.drop_paused(two.id) is None
    assert ledger.drop_paused(one.id) == GameTask(one, can_pause=True)
    assert list(ledger.open) == [two.id]


@pytest.mark.parametrize("which", [0, 1])
def test_of_a_pair_of_which_one_has_come_out_the_other_is_left(which: int) -> None:
    both = games(SPEC, 2)
    assert without(pair(both[0], both[1]), both[which].id) == [GameTask(both[1 - which])]
    assert without(GameTask(both[0]), both[0].id) == []


def test_pairs_come_back_as_pairs_unless_one_has_come_out() -> None:
    one, two, three, four = games(SPEC, 4)
    sent = [pair(one, two), pair(three, four)]
    assert paired(sent, [GameTask(game) for game in (one, two, four)]) == [pair(one, two), GameTask(four)]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["send", "lose", "come"]), st.integers(0, 7)), max_size=40))
def test_a_game_is_always_waiting_or_sent_or_out(steps: list[tuple[str, int]]) -> None:
    """Whatever is sent, lost and answered in whatever order, no game is forgotten and none comes out twice."""
    specs = games(SPEC, 6)
    ledger = ledger_of(pair(specs[0], specs[1]), *map(GameTask, specs[2:]))
    sent: list[SentBatch] = []
    out: list[str] = []

    def come(game: str) -> None:
        if ledger.come_out(game):
            out.append(game)

    acts: dict[str, Callable[[int], object]] = {
        "send": lambda n: sent.append(ledger.take_batch(n)),
        "lose": lambda n: ledger.put_back(ledger.still_open(sent.pop(n % len(sent))), counts=False) if sent else None,
        "come": lambda n: come(specs[n % 6].id),
    }
    for what, number in steps:
        acts[what](number)
        waiting = [game.id for task in ledger.waiting for game in task.games]
        assert len(waiting) == len(set(waiting))
        assert set(ledger.open) | set(out) == {game.id for game in specs}
        assert not set(ledger.open) & set(out)
        away = {game for batch in sent for game in batch.open}
        assert set(ledger.open) <= set(waiting) | away
    assert len(out) == len(set(out))
