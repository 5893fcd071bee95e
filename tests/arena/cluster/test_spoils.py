"""Who is played no more, since copies of bots change."""

from arena.league.executor.cluster.spoils import CLEAN_ENOUGH, MOST_SPOILT, MOST_UNTOLD, Spoils


def test_a_bot_that_changes_its_own_files_again_and_again_is_left_out() -> None:
    spoils = Spoils()
    told = [spoils.note({"ann"}, {"ann", other}) for other in ("bob", "cat", "dan")]
    assert told[:-1] == [{}] * (MOST_SPOILT - 1)
    assert "3 times its copies have changed while it played; what it writes" in told[-1]["ann"]


def test_who_else_played_each_time_is_named_with_it() -> None:
    spoils = Spoils()
    told = [spoils.note({"ann"}, {"ann", "bob"}) for _ in range(MOST_SPOILT)]
    assert "and each time bob played as well" in told[-1]["ann"]


def test_who_alone_plays_each_time_that_others_copies_change_is_left_out_and_they_are_not() -> None:
    spoils = Spoils()
    told = [spoils.note({"bob"}, {"evil", other}) for other in ("ann", "cat", "ann")]
    assert [list(one) for one in told] == [[], [], ["evil"]]


def test_a_bot_that_has_played_without_a_change_is_not_the_one_who_is_left_out() -> None:
    spoils = Spoils()
    spoils.note_clean({"ann", "bob"})
    told = [spoils.note({"bob"}, {"evil", "bob"}) for _ in range(MOST_SPOILT)]
    assert [list(one) for one in told] == [[], [], ["evil"]]


def test_where_it_cannot_be_told_who_it_is_the_bot_is_left_out_whose_copies_change() -> None:
    spoils = Spoils()
    told = [spoils.note({"bob"}, {"ann", "cat"}) for _ in range(MOST_UNTOLD)]
    assert [list(one) for one in told] == [[]] * (MOST_UNTOLD - 1) + [["bob"]]


def test_a_change_in_a_batch_of_many_games_has_games_sent_one_by_one_and_nobody_left_out() -> None:
    spoils = Spoils()
    assert not spoils.is_careful
    assert [spoils.note({"ann"}, {"ann", "bob", "cat"}) for _ in range(MOST_UNTOLD)] == [{}] * MOST_UNTOLD
    assert spoils.is_careful
    assert [list(spoils.note({"ann"}, {"ann", "bob"})) for _ in range(MOST_SPOILT)] == [[], [], ["ann"]]


def test_after_many_batches_without_a_change_games_are_sent_together_again() -> None:
    spoils = Spoils()
    spoils.note({"ann"}, {"ann", "bob"})
    for _ in range(CLEAN_ENOUGH):
        assert spoils.is_careful
        spoils.note_clean({"ann"})
    assert not spoils.is_careful
