"""`arena.replay`: a game as positions, and `arena.rules`: a ruleset to start games with."""

from collections.abc import Callable
from pathlib import Path

import pytest
from played_here import games_played_here

import arena
from arena.game.record import GameRecord
from arena.game.recorded import Replay
from arena.stratego.seat_view import true_cells
from arena.stratego.state import as_stratego
from protocol.notation import Color

ROOT = Path(__file__).parent.parent.parent.parent


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> GameRecord:
    """A game with moves and fights."""
    store = tmp_path_factory.mktemp("games") / "g.sqlite"
    bots = ROOT / "bots"
    with games_played_here():
        return arena.play(bots / "raider.py", bots / "drifter.py", rules="duel", time="60s", store=store)


def test_a_replay_begins_with_the_set_ups_and_has_a_step_for_each_ply(record: GameRecord) -> None:
    steps = list(arena.replay(record))
    first, *rest = steps
    assert (first.ply, first.color, first.action, first.events, first.time_us) == (0, None, None, (), 0)
    assert [step.action for step in rest] == list(record.actions)
    assert [step.ply for step in rest] == list(range(1, len(rest) + 1))
    assert [step.time_us for step in rest] == list(record.times_us)
    assert all(step.events for step in rest)
    assert rest[0].color is Color.RED


def test_boards_are_those_of_the_moment_however_late_they_are_looked_at(record: GameRecord) -> None:
    steps = list(arena.replay(record))
    again = Replay(record)
    game = as_stratego(again.state).board
    positions = [true_cells(game), *(true_cells(game) for _ in again.steps())]
    assert [step.board.cells for step in steps] == positions


def test_a_view_hides_what_its_side_does_not_know(record: GameRecord) -> None:
    start = next(arena.replay(record))
    for color, own, other in (("red", "r", "b"), ("blue", "b", "r")):
        view = start.view(color)
        assert view == start.view(Color.BLUE if color == "blue" else Color.RED)
        assert [cell for cell in view.cells if cell[0] == own] == [cell for cell in start.board.cells if cell[0] == own]
        assert {cell for cell in view.cells if cell[0] == other} == {f"{other}?"}
    with pytest.raises(arena.UsageError, match="expected red or blue, got 'green'"):
        start.view("green")


def test_a_notebook_shows_what_is_printed(record: GameRecord, tmp_path: Path) -> None:
    (tmp_path / "empty.sqlite").touch()

    class Printer:
        said = ""

        def text(self, text: str) -> None:
            self.said += text

    for value in (next(arena.replay(record)).board, arena.League(tmp_path / "empty.sqlite").standings()):
        printer = Printer()
        value._repr_pretty_(printer, cycle=False)
        assert printer.said == str(value)


@pytest.mark.usefixtures("played_here")
def test_a_store_and_a_number_name_a_game_as_well(bots: Callable[..., str], tmp_path: Path) -> None:
    played = arena.play(bots("steps"), bots("quits", "echo move resign"), rules="duel", time="60s", store="g.sqlite")
    by_number, by_id = (list(arena.replay("g.sqlite", game)) for game in (1, played.id))
    assert by_number == by_id == list(arena.replay(played))
    with pytest.raises(arena.UsageError, match="expected a record, or a store and the number"):
        arena.replay("g.sqlite")
    with pytest.raises(arena.UsageError, match="expected no number"):
        arena.replay(played, 1)
    with pytest.raises(arena.ArenaError):
        arena.replay("none.sqlite", 1)


@pytest.mark.usefixtures("played_here")
def test_a_game_that_never_began_cannot_be_shown(bots: Callable[..., str]) -> None:
    Path(bots("dies", "")).write_text("#!/bin/sh\nexit 3\n")
    lost = arena.play(bots("steps"), "dies", rules="duel", time="60s")
    with pytest.raises(arena.ArenaError, match="ended before both sides had set up"):
        arena.replay(lost)


def test_a_ruleset_starts_games_to_search_in() -> None:
    ruleset = arena.rules("vintage/barrage+rescue")
    rows = ("FBS9M2233.", "..........", "..........", "..........")
    with pytest.raises(arena.UsageError, match=r"unknown ruleset 'vintage/barage'; did you mean"):
        arena.rules("vintage/barage")
    with pytest.raises(arena.UsageError, match="expected a Ruleset or the name of one"):
        arena.rules(3)  # type: ignore[arg-type]
    army = "".join(rank.letter * count for rank, count in ruleset.army)
    rows = (army.ljust(10, "."), *rows[1:]) if len(army) <= 10 else rows
    game = arena.Game(ruleset, rows, rows)
    assert game.legal_moves()
    assert not game.outcome
