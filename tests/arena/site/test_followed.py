"""A game under way in parts: put together, they are the data of the game when it is over."""

from random import Random
from typing import Any

import msgspec
import pytest
from example_games import example
from hypothesis import given, settings
from hypothesis import strategies as st
from made_stores import play_game
from scripted import game_spec, record_without_referee
from small_games import FOUR, GUESSING, HOLDING

from arena.errors import ArenaError
from arena.game import Game, add_game
from arena.game.faults import GameResult, Verdict, lost_by
from arena.game.person_seat import ClockState
from arena.game.record import GameRecord, History
from arena.game.recorded import Replay, spec_of, started
from arena.game.time_control import TimeControl
from arena.play.game_events import ActionPlayed
from arena.report.game_data import FollowedGame, GameData, game_data
from arena.report.shown import SeenBy
from arena.report.site.game_page import without_logs
from arena.stratego.rules.rulesets import load_ruleset
from protocol.seats import Color, Reason

BANKS = TimeControl(move_ms=None, bank_ms=60_000, increment_ms=100)
RULES = ["duel", "isf", "vintage/lightning+silent-defence", "jumbo-81320/infiltrator+rescue+silent-defence+mobile-flag"]
SMALL = {"holding": HOLDING, "guessing": GUESSING}
READERS = [SeenBy.RED, SeenBy.PUBLIC, SeenBy.ALL]
CHANGING = ("views", "actions", "sides", "marks", "taken", "banks")


def random_record(game: Game, seed: int) -> GameRecord:
    """A random game of at most 30 plies, which the side to move then gives up."""
    rng = Random(seed)
    spec = msgspec.structs.replace(game_spec(time=BANKS), variant=game.variant(), pair_seed=seed)
    setups = ("71", "82") if game.has_setups else ("", "")
    state, actions = started(spec, setups), list[str]()
    while not state.outcome and len(actions) < 30:
        actions.append(rng.choice(state.legal_actions() or [str(rng.randrange(100))]))
        state.play(actions[-1])
    if not state.outcome:
        actions.append("resign")
        state.play("resign")
    assert state.outcome
    loser, reason = (state.outcome.winner or Color.RED).opponent, Reason.RESIGN
    verdict = Verdict(GameResult.win(loser.opponent), reason, len(actions), lost_by(spec.players, loser, reason))
    return record_without_referee(spec, verdict, setups, actions, [rng.randrange(10**6) for _ in actions])


def some_record(kind: str, seed: int) -> GameRecord:
    if kind in RULES:
        return play_game(load_ruleset(kind), seed, plies=60, time=BANKS)
    return random_record(SMALL[kind] if kind in SMALL else add_game(example(kind).GAME()), seed)


def followed(record: GameRecord, audience: SeenBy, **more: Any) -> FollowedGame:
    red, blue = record.setups
    assert red is not None
    assert blue is not None
    return FollowedGame(spec_of(record), (red, blue), audience, **more)


def events_of(record: GameRecord) -> list[ActionPlayed]:
    steps = Replay(record).steps()
    return [ActionPlayed(record.id, s.ply, s.color, s.action, s.told, s.microseconds, 0) for s in steps]


def joined(parts: list[GameData]) -> dict[str, Any]:
    """Put parts together as the script of the page does."""

    def views_of(part: GameData) -> dict[str, Any]:
        return {name: msgspec.structs.asdict(view) for name, view in part.views.items()}

    def put(whole: dict[str, Any], part: dict[str, Any]) -> None:
        for name, new in part.items():
            old = whole.get(name)
            if isinstance(old, dict) and isinstance(new, dict):
                put(old, new)
            else:
                whole[name] = new if old is None or isinstance(old, dict) else old + new

    whole: dict[str, Any] = {}
    for part in parts:
        put(whole, {name: getattr(part, name) for name in CHANGING} | {"views": views_of(part)})
    return whole


@pytest.mark.parametrize("kind", [*RULES, *SMALL, "connect4", "liars-dice"])
@given(seed=st.integers(0, 2**32), audience=st.sampled_from(READERS))
@settings(deadline=None, max_examples=8)
def test_parts_at_any_cuts_are_together_the_data_of_the_game_that_is_over(
    kind: str, seed: int, audience: SeenBy
) -> None:
    record, rng = some_record(kind, seed), Random(seed)
    game = followed(record, audience)
    parts, since = [game.part()], 0
    for event in events_of(record):
        if rng.random() < 0.2:
            parts = [*parts, game.part(since)] if since else [game.part()]  # the first one has the beginning too
            since = game.ply
        game.play(event)
    parts = [*parts, game.part(since)] if since else [game.part()]
    assert joined(parts) == joined([game_data(record, audience, {}, labels={})])


def test_a_game_with_chance_is_the_same_without_its_logs() -> None:
    record = some_record("liars-dice", 3)
    assert events_of(without_logs(record)) == events_of(record)


@pytest.mark.parametrize("kind", ["duel", "liars-dice"])
def test_a_resumed_game_is_followed_with_its_earlier_part(kind: str) -> None:
    record = some_record(kind, 3)
    assert isinstance(record.setups[0], str)
    assert isinstance(record.setups[1], str)
    setups = (record.setups[0], record.setups[1])
    half = len(record.actions) // 2
    history = History(("", ""), setups, record.actions[:half], record.times_us[:half], ())
    game = followed(record, SeenBy.ALL, history=history)
    for event in events_of(record)[half:]:
        game.play(event)
    assert joined([game.part()]) == joined([game_data(record, SeenBy.ALL, {}, labels={})])


def test_a_lost_event_breaks_a_game_and_so_does_one_against_the_rules() -> None:
    first, second, third, *_ = events_of(some_record("duel", 1))
    for events in ([first, third], [second], [first, msgspec.structs.replace(second, action="a1-a9")]):
        game = followed(some_record("duel", 1), SeenBy.PUBLIC)
        for event in events:
            game.play(event)
        with pytest.raises(ArenaError):
            game.part()
        assert game.is_broken


def test_the_public_sees_the_position_where_nothing_is_hidden_and_else_only_what_both_were_told() -> None:
    def view(game: Game, audience: SeenBy) -> tuple[Any, Any]:
        followed_game = followed(random_record(game, 1), audience)
        return followed_game.part().views[audience.value], followed_game.picture()

    open_game, picture = view(FOUR, SeenBy.PUBLIC)
    assert open_game.texts == [picture["text"]]
    assert picture["image"].startswith("<svg")
    hidden, picture = view(GUESSING, SeenBy.PUBLIC)
    assert (hidden.texts, hidden.images, picture) == ([""], [""], {"text": "", "image": ""})
    everything, picture = view(GUESSING, SeenBy.ALL)
    assert everything.texts == [picture["text"]] == ["red has 71\nblue has 82"]


def test_a_small_board_has_what_the_reader_knows() -> None:
    record = some_record("duel", 1)
    seen = {audience: followed(record, audience).picture()["cells"] for audience in READERS}
    assert set(seen[SeenBy.PUBLIC]) == {"r?", "b?", "..", "~~"}
    assert "b?" not in seen[SeenBy.ALL]
    assert seen[SeenBy.RED].count("b?") == seen[SeenBy.PUBLIC].count("b?") > 0


def test_clocks_follow_from_the_time_control_and_the_times_taken() -> None:
    record = some_record("duel", 2)
    game = followed(record, SeenBy.PUBLIC)
    assert game.clocks() == [ClockState(60_000, runs=True), ClockState(60_000)]
    first, *_ = events_of(record)
    game.play(msgspec.structs.replace(first, taken_us=2_500_000))
    assert game.clocks() == [ClockState(57_600), ClockState(60_000, runs=True)]
    assert game.clocks(since_ms=61_000) == [ClockState(57_600), ClockState(0, runs=True)]
