"""A game that is watched: what viewers see of each ply, and what they do not."""

from collections.abc import Callable, Iterator

import pytest

from arena.game.record import GameRecord
from arena.game.replay import Replay
from arena.game.spec import GameSpec
from arena.game.time_control import TimeControl
from arena.play.game_events import ActionPlayed
from arena.report.game_text import ReplayPosition
from arena.report.piece_names import DEFAULT_NAMES
from arena.report.site.game_data import SeenBy
from arena.rules.loading import load_ruleset
from arena.web.live_games import BROKEN, MOVES_SHOWN, WatchedGame

RULES = ["isf", "vintage/lightning+silent-defence", "jumbo-81320/infiltrator+rescue"]


def events_of(record: GameRecord) -> Iterator[ActionPlayed]:
    for step in Replay(record).steps():
        yield ActionPlayed(record.id, step.ply, step.color, step.action, step.events, step.microseconds, 0)


def watched(record: GameRecord, spec: GameSpec, audience: SeenBy = SeenBy.PUBLIC) -> WatchedGame:
    red, blue = record.setups
    assert red is not None
    assert blue is not None
    return WatchedGame(spec, (red, blue), audience, DEFAULT_NAMES)


def common(by_red: str, by_blue: str) -> str:
    """What both sides know of a square: a rank only if both have it."""
    if by_red == by_blue:
        return by_red
    assert by_red[0] == by_blue[0]
    return by_red if by_red[1] in "?!" else by_blue


@pytest.mark.parametrize("rules", RULES)
def test_the_public_sees_after_each_ply_what_both_sides_know_and_no_more(
    play_game: Callable[..., GameRecord], spec: Callable[..., GameSpec], rules: str
) -> None:
    ruleset = load_ruleset(rules)
    record = play_game(ruleset, seed=1, plies=120)
    game = watched(record, spec(ruleset, TimeControl(move_ms=1000)))
    positions = [ReplayPosition(record, side) for side in ("red", "blue")]
    steps = [position.replay.steps() for position in positions]
    for event in [None, *events_of(record)]:
        if event:
            game.play(event)
            for step in steps:
                next(step)
        state = game.state()
        assert state["cells"] == "".join(map(common, *(position.cells() for position in positions)))
        assert state["ply"] == (event.ply if event else 0)
        assert event is None or event.action in state["moves"][-1]
    assert len(game.state()["moves"]) == MOVES_SHOWN


def test_with_all_ranks_the_board_is_the_true_one(
    play_game: Callable[..., GameRecord], spec: Callable[..., GameSpec]
) -> None:
    ruleset = load_ruleset("isf")
    record = play_game(ruleset, seed=2, plies=60)
    game, position = (
        watched(record, spec(ruleset, TimeControl(move_ms=1000)), SeenBy.ALL),
        ReplayPosition(record, "all"),
    )
    for event, _ in zip(events_of(record), position.replay.steps(), strict=True):
        game.play(event)
        assert game.state()["cells"] == "".join(position.cells())


def test_a_game_can_be_caught_up_with_at_any_ply(
    play_game: Callable[..., GameRecord], spec: Callable[..., GameSpec]
) -> None:
    ruleset = load_ruleset("duel")
    record = play_game(ruleset, seed=3, plies=60)
    often, once = (watched(record, spec(ruleset, TimeControl(move_ms=1000))) for _ in range(2))
    for event in events_of(record):
        often.play(event)
        often.state()
        once.play(event)
    assert often.state() == once.state()


def test_a_game_of_which_a_move_is_missing_shows_no_board_and_says_why(
    play_game: Callable[..., GameRecord], spec: Callable[..., GameSpec]
) -> None:
    ruleset = load_ruleset("duel")
    record = play_game(ruleset, seed=3, plies=20)
    game = watched(record, spec(ruleset, TimeControl(move_ms=1000)))
    first, _, third, *_ = events_of(record)
    game.play(first)
    game.play(third)
    state = game.state()
    assert "cells" not in state
    assert state["note"] == BROKEN
    assert state["ply"] == 3


def test_a_game_that_is_over_leads_to_its_page(
    play_game: Callable[..., GameRecord], spec: Callable[..., GameSpec]
) -> None:
    ruleset = load_ruleset("duel")
    game = watched(play_game(ruleset, seed=3, plies=20), spec(ruleset, TimeControl(move_ms=1000)))
    assert (game.state()["end"], game.state()["href"]) == ("", "")
    game.number, game.end = 7, "1-0"
    assert game.state()["href"] == "../games/7.html"
