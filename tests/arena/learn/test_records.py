"""Stored games become arrays that say what the engine's seats saw, did and got."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import needs_numba  # noqa: F401  (before all that needs it)
import numpy as np
import pytest
from kernel_records import random_records
from made_stores import make_store, play_game

from arena.errors import UsageError
from arena.game.faults import GameResult
from arena.game.game_spec import Player
from arena.game.record import GameRecord
from arena.game.recorded import Replay
from arena.learn import records
from arena.learn.action_codes import action_text
from arena.learn.kernel_tables import UnsupportedRuleError
from arena.learn.observation import observe
from arena.learn.records import ARRAYS, Positions, positions
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.seat_view import legal_actions
from arena.stratego.state import as_stratego
from protocol.seats import Color

PLAYERS = (Player("ann", f"{1:064x}"), Player("bob", f"{2:064x}"))


def joined(chunks: Sequence[Positions]) -> Positions:
    return Positions(*(np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in ARRAYS))


def of_game(found: Positions, number: int) -> Positions:
    """The rows of one game in the order of its plies."""
    rows = found.rows(found.games == number)
    return rows.rows(np.argsort(rows.plies))


def assert_is_of(rows: Positions, record: GameRecord) -> None:
    """Compare the rows of a game with what the engine's game tells the seats."""
    replay = Replay(record)
    moves = [action for action in record.actions if action != "resign"]
    assert rows.plies.tolist() == list(range(len(moves)))
    winner = record.verdict.result.winner
    steps = replay.steps()
    for row, action in enumerate(moves):
        seat, board = replay.state.to_move, as_stratego(replay.state).board
        assert rows.seats[row] == seat
        assert rows.results[row] == (0 if winner is None else 1 if winner is seat else -1)
        assert action_text(int(rows.actions[row]), seat) == action
        legal = {action_text(int(code), seat) for code in np.flatnonzero(rows.masks[row])}
        assert legal == set(legal_actions(board))
        if row % 7 == 0:
            planes, facts = observe(as_stratego(replay.state).view(seat))
            assert np.array_equal(planes, rows.planes[row])
            assert np.array_equal(facts, rows.facts[row])
        next(steps)


@pytest.mark.parametrize("rules", ["duel", "isf", "milton-bradley", "vintage/lightning"])
def test_rows_are_what_the_seats_saw_did_and_got(rules: str, tmp_path: Path) -> None:
    made = make_store(tmp_path / "club.sqlite", rules, games=5, plies=40)
    chunks = list(positions(tmp_path / "club.sqlite", chunk=64))
    assert [len(chunk) for chunk in chunks[:-1]] == [64] * (len(chunks) - 1)
    found = joined(chunks)
    assert set(found.games) == {1, 2, 3, 4, 5}
    for number, record in enumerate(made, 1):
        assert_is_of(of_game(found, number), record)


def test_games_that_begin_in_the_place_of_others_are_played_to_their_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "BATCH", 3)
    monkeypatch.setattr(records, "BLOCK", 7)
    games = [
        play_game(load_ruleset(rules), seed, plies=15 + seed) for seed in range(10) for rules in ("duel", "barrage")
    ]
    found = joined(list(positions(games)))
    for number, record in enumerate(games, 1):
        assert_is_of(of_game(found, number), record)


def test_a_chunk_has_games_with_one_number_of_codes() -> None:
    games = [play_game(load_ruleset(rules), 1, plies=20) for rules in ("duel", "vintage/lightning", "barrage")]
    chunks = list(positions(games))
    assert [chunk.masks.shape[1] for chunk in chunks] == [1800, 2600, 1800]
    assert [set(chunk.games) for chunk in chunks] == [{1}, {2}, {3}]


def test_whole_random_games_are_played_to_the_end_that_the_rules_give() -> None:
    games = list(random_records(load_ruleset("barrage"), 20, PLAYERS, seed=3))
    found = joined(list(positions(games)))
    assert len(found) == sum(len(record.actions) for record in games)
    assert_is_of(of_game(found, 1), games[0])


def test_a_game_without_moves_has_no_rows_and_a_wrong_one_is_named() -> None:
    record = play_game(load_ruleset("duel"), seed=1, plies=20)
    unplayed = msgspec.structs.replace(record, setups=(None, None), actions=())
    assert list(positions([unplayed])) == []
    red_twice = (record.actions[0], record.actions[0], *record.actions[2:])
    with pytest.raises(UsageError, match="game 2: ply 2: its move is illegal"):
        list(positions([unplayed, msgspec.structs.replace(record, actions=red_twice)]))
    with pytest.raises(UsageError, match=r"game 1: .*expected a move such as a4-a5"):
        list(positions([msgspec.structs.replace(record, actions=("a4-a5-a6",))]))
    with pytest.raises(UsageError, match=r"game 1: a captain's move with a turn, which duel does not have"):
        list(positions([msgspec.structs.replace(record, actions=("a4-a5-b5",))]))
    with pytest.raises(UnsupportedRuleError, match="spy diagonal"):
        list(positions([play_game(load_ruleset("tek"), seed=1, plies=2)]))


def test_a_chunk_without_rows_and_a_record_alone_are_refused() -> None:
    with pytest.raises(UsageError, match="chunk: expected at least 1 row, got 0"):
        list(positions([], chunk=0))
    alone: Any = play_game(load_ruleset("duel"), seed=1, plies=2)
    with pytest.raises(UsageError, match="expected a store, a file of 'arena export' or a list of records, got Game"):
        list(positions(alone))


def test_a_draw_is_worth_nothing_to_both() -> None:
    record = play_game(load_ruleset("duel"), seed=1, plies=10)
    drawn = msgspec.structs.replace(record, verdict=msgspec.structs.replace(record.verdict, result=GameResult.DRAW))
    (found,) = positions([drawn])
    assert not found.results.any()
    assert {Color(seat) for seat in found.seats} == set(Color)
