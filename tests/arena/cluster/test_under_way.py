"""What a station knows of its batches: each game is played once, however often it is asked for."""

from collections.abc import Sequence

from fake_gate import games

from arena.game.spec import GameSpec, Player
from arena.game.time_control import TimeControl
from arena.league.executor.cluster.messages import Batch
from arena.league.executor.cluster.under_way import Batches, BatchUnderWay
from arena.league.executor.task import GameTask, NotPlayed, Said
from arena.rules.loading import load_ruleset

SPEC = GameSpec("0" * 16, load_ruleset("duel"), TimeControl(), (Player("a", "1"), Player("b", "2")), (1, 2), 3)


def added(batches: Batches, number: int, tasks: Sequence[GameTask]) -> tuple[BatchUnderWay, list[GameTask]]:
    return batches.add(number, Batch("run", tuple(tasks)), 0.5)


def test_a_batch_is_answered_when_its_last_game_is_over() -> None:
    batches, (one, two) = Batches(), games(SPEC, 2)
    batch, tasks = added(batches, 1, [GameTask(one), GameTask(two)])
    assert tasks == [GameTask(one), GameTask(two)]
    assert batches.note_begun(one.id, 1.0) is None
    assert batches.note_begun(two.id, 2.0) is batch  # nothing is left to begin
    batches.note_played(one.id, b"1", 4.0)
    assert batches.take_finished() == []
    batches.note_played(two.id, b"2", 7.0)
    assert batches.take_finished() == [batch]
    told = batch.told()
    assert (told.records, told.seconds, told.load) == ((b"1", b"2"), 8.0, 0.5)


def test_what_is_over_can_be_told_before_and_is_told_once() -> None:
    batches, (one, two) = Batches(), games(SPEC, 2)
    batch, _ = added(batches, 1, [GameTask(one), GameTask(two)])
    batches.note_played(one.id, b"1", 4.0)
    assert batches.told().records == (b"1",)
    assert batches.told().records == ()
    batches.note_played(two.id, b"2", 7.0)
    assert batch.told().records == (b"2",)


def test_a_game_that_is_asked_for_again_goes_on_where_it_is() -> None:
    """The arena that asks again has lost its connection, and nobody hears what comes of the older batch."""
    batches, (waits, plays, is_over, is_left_out, new) = Batches(), games(SPEC, 5)
    older, _ = added(batches, 1, [GameTask(game) for game in (waits, plays, is_over, is_left_out)])
    batches.note_begun(plays.id, 1.0)
    batches.note_begun(is_over.id, 1.0)
    batches.note_played(is_over.id, b"over", 2.0)
    batches.note_other(is_left_out.id, NotPlayed(is_left_out.id, "why"))
    newer, tasks = added(batches, 2, [GameTask(game) for game in (waits, plays, is_over, is_left_out, new)])
    assert tasks == [GameTask(new)]
    assert newer.waiting == {waits.id, new.id}
    assert newer.open == {waits.id, plays.id, new.id}
    assert batches.take_finished() == [older]
    assert batches.of(plays.id) is newer
    batches.note_played(plays.id, b"played", 5.0)
    told = newer.told()
    assert (told.records, told.others, told.seconds) == (
        (b"over", b"played"),
        (NotPlayed(is_left_out.id, "why"),),
        4.0,
    )


def test_of_a_pair_that_is_here_in_part_the_rest_is_played() -> None:
    batches, (one, two) = Batches(), games(SPEC, 2)
    added(batches, 1, [GameTask(one)])
    _, tasks = added(batches, 2, [GameTask(one, then=two)])
    assert tasks == [GameTask(two)]


def test_what_is_not_begun_is_given_back() -> None:
    batches, (one, two) = Batches(), games(SPEC, 2)
    batch, _ = added(batches, 1, [GameTask(one), GameTask(two)])
    batches.note_begun(one.id, 1.0)
    batches.note_said(Said("a line"))
    batches.give_back()
    assert batches.take_finished() == []
    batches.note_played(one.id, b"1", 2.0)
    assert batches.take_finished() == [batch]
    told = batch.told()
    assert (told.records, told.back, told.others) == ((b"1",), (two.id,), (Said("a line"),))


def test_a_game_whose_worker_process_died_is_to_be_begun_again() -> None:
    batches, (one,) = Batches(), games(SPEC, 1)
    batch, _ = added(batches, 1, [GameTask(one)])
    batches.note_begun(one.id, 1.0)
    batches.note_lost(one.id)
    batches.give_back()
    assert batches.take_finished() == [batch]
    assert batch.told().back == (one.id,)
