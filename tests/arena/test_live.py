"""The live table: the lines of the final table, for a share of the run's time that does not grow with the league."""

from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.game.spec import Player
from arena.game.verdict import GameResult
from arena.league.store import GameRow, PlayerTime
from arena.report.progress import DRAWING_SHARE, RATING_SHARE, LiveTable, Pace, expected_rating_seconds
from arena.report.standings import make_table
from protocol.notation import Reason

PLAYERS = [Player(name, name[0] * 64) for name in ("ann", "bob", "cat", "dan")]
SIDES = st.permutations(range(len(PLAYERS))).map(lambda order: order[:2])
ENDINGS = st.sampled_from(
    [
        (GameResult.RED, Reason.FLAG),
        (GameResult.BLUE, Reason.TIMEOUT),
        (GameResult.DRAW, Reason.PLY_CAP),
        (GameResult.NEITHER, Reason.NO_START),
    ]
)
TIMES = st.builds(
    PlayerTime, st.integers(0, 9), st.integers(0, 9000), st.integers(0, 900), st.none() | st.integers(0, 900)
)
GAMES = st.lists(st.tuples(SIDES, ENDINGS, st.tuples(TIMES, TIMES)), max_size=30)
Game = tuple[list[int], tuple[GameResult, Reason], tuple[PlayerTime, PlayerTime]]


def rows(games: list[Game]) -> list[GameRow]:
    return [
        GameRow(
            number=number,
            id=f"{number:016x}",
            players=(PLAYERS[red], PLAYERS[blue]),
            result=result,
            reason=reason,
            plies=10,
            detail="",
            times=times,
            seconds=1.0,
        )
        for number, ((red, blue), (result, reason), times) in enumerate(games, 1)
    ]


@given(GAMES, st.integers(0, 30))
def test_the_live_lines_are_those_of_the_final_table_once_they_are_rated(games: list[Game], stored: int) -> None:
    played = rows(games)
    live = LiveTable(PLAYERS, played[:stored])
    for row in played[stored:]:
        live.add(row)
    live.rate()
    assert tuple(live.shown(len(PLAYERS)).lines) == make_table(PLAYERS, played).lines


@given(GAMES, st.integers(0, 30))
def test_counts_are_those_of_now_and_ratings_those_of_the_last_time(games: list[Game], rated: int) -> None:
    played = rows(games)
    live = LiveTable(PLAYERS, played[:rated])
    live.rate()
    for row in played[rated:]:
        live.add(row)
    then = {line.name: line for line in make_table(PLAYERS, played[:rated]).lines}
    now = {line.name: line for line in make_table(PLAYERS, played).lines}
    lines = live.shown(len(PLAYERS)).lines
    for line in lines:
        old = then[line.name]
        expected = msgspec.structs.replace(
            now[line.name],
            place=line.place,
            elo=old.elo,
            elo_low=old.elo_low,
            elo_high=old.elo_high,
            head_to_head=old.head_to_head,
            sonneborn_berger=old.sonneborn_berger,
            sonneborn_berger_per_game=old.sonneborn_berger_per_game,
        )
        assert line == expected
    scores = [-1.0 if line.score is None else line.score for line in lines]
    assert scores == sorted(scores, reverse=True)
    assert [line.place for line in lines] == sorted(line.place for line in lines)
    assert all(above.place < below.place for above, below in pairwise(lines) if above.score != below.score)


def test_only_the_lines_that_are_shown_are_made() -> None:
    assert [line.name for line in LiveTable(PLAYERS, []).shown(3).lines] == ["ann", "bob", "cat"]


def test_a_match_has_its_difference_once_it_is_rated() -> None:
    time = PlayerTime(1, 1, 1)
    played = rows([([0, 1], (GameResult.RED, Reason.FLAG), (time, time))])
    live = LiveTable(PLAYERS[:2], played)
    assert live.shown(2).difference is None
    live.rate()
    assert live.shown(2).difference == make_table(PLAYERS[:2], played).difference is not None


def test_ratings_that_are_older_than_the_counts_come_with_their_number_of_games() -> None:
    time = PlayerTime(1, 1, 1)
    win: Game = ([0, 1], (GameResult.RED, Reason.FLAG), (time, time))
    live = LiveTable(PLAYERS, [])
    assert live.shown(4).rated_games is None
    live.rate()
    live.add(rows([win])[0])
    assert live.shown(4).rated_games is None, "no game was rated: there are no ratings"
    live.rate()
    assert live.shown(4).rated_games is None, "those of now"
    live.add(rows([win, win])[1])
    assert live.shown(4).rated_games == 1


def test_it_tells_when_there_is_something_new_to_draw() -> None:
    time = PlayerTime(1, 1, 1)
    (row,) = rows([([0, 1], (GameResult.RED, Reason.FLAG), (time, time))])
    live = LiveTable(PLAYERS, [])
    assert live.take_changed(), "the empty table"
    assert not live.take_changed()
    live.add(row)
    assert live.take_changed()
    live.rate()
    assert live.take_changed(), "the ratings"
    live.rate()
    assert not live.take_changed(), "no game was added"


@given(st.lists(st.floats(0, 100), min_size=1, max_size=50), st.floats(0.001, 0.5), st.floats(0, 2))
def test_work_that_keeps_its_pace_takes_no_more_than_its_share_of_the_time(
    costs: list[float], share: float, least: float
) -> None:
    pace = Pace(share, 0.0, least=least)
    now = spent = 0.0
    for cost in costs:
        now = max(now, pace.due)
        assert spent <= share * now * (1 + 1e-9)
        now, spent = now + cost, spent + cost
        pace.done(now, cost)
        assert pace.due >= now + least


def test_what_is_expected_to_cost_is_waited_for_before_the_first_time() -> None:
    pace = Pace(RATING_SHARE, 10.0, expected=expected_rating_seconds(300))
    assert (pace.due - 10.0) * RATING_SHARE == pytest.approx(expected_rating_seconds(300))
    assert Pace(DRAWING_SHARE, 10.0).due == 10.0


def test_both_shares_together_are_a_twentieth() -> None:
    assert RATING_SHARE + DRAWING_SHARE <= 1 / 20 + 1e-12
