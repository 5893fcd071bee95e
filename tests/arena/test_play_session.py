"""A game with a person in it: what the person is shown, what is refused, and that the record is one like all others."""

from collections.abc import Awaitable, Callable, Sequence

import msgspec
import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from play_table import at_random, seated

from arena.bots.spec import BotSpec
from arena.game.game_spec import GameSpec
from arena.game.person_seat import SeatStage
from arena.game.recheck import check_record
from arena.game.record import GameRecord, History
from arena.game.time_control import UNLIMITED_MS, TimeControl
from arena.play import retry
from arena.play.game_options import GameOptions, Interrupt, VoidGameError
from arena.play.runner import play_on
from arena.play.session import RefusedError, Session
from arena.stratego.game import GAME
from arena.stratego.rules.action_types import BrokenRule
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.seat_state import StrategoSeatState, seat_of, state_after, state_of
from arena.stratego.seat_view import begun_view, enemy_squares, show, told_to
from arena.system.concurrency import background
from protocol import messages
from protocol.notation import Color, Reason

EVENTS = (messages.Moved, messages.Battle, messages.Reveal, messages.Rescued, messages.Guess)
VARIANTS = sorted(GAME.tried_variants())
"""Every ruleset, and every switch in one of them."""
NEVER_ENDS = 120.0

Player = Callable[[Session, Color], Awaitable[None]]


def played(session: Session, *players: Player) -> GameRecord | History | None:
    """Play a session, with these tasks beside it, Red's and Blue's."""

    async def run() -> GameRecord | History | None:
        with trio.fail_after(NEVER_ENDS):
            async with background(*(lambda p=p, c=c: p(session, c) for p, c in zip(players, Color, strict=False))):
                return await session.play()

    return trio.run(run)


def from_lines(rows: Sequence[Sequence[str]], actions: Sequence[str], seen: list[bytes] | None = None) -> Player:
    """Sets up and plays what is given, and resigns when that is at its end; keeps the state of each of its turns."""

    async def play(session: Session, color: Color) -> None:
        state = await session.changed(color)
        while state.stage is not SeatStage.OVER:
            if seen is not None and state.stage is SeatStage.MOVING:  # in other stages more may come at any moment
                seen.append(msgspec.json.encode(state))
            if state.stage is SeatStage.SETTING_UP:
                session.set_up(color, rows[color])
            elif state.stage is SeatStage.MOVING and not state.resigns:
                if state.plies < len(actions):
                    session.act(color, actions[state.plies])
                else:
                    session.resign(color)
            state = await session.changed(color, state.version)

    return play


def until_paused(plies: int, seed: int) -> Player:
    """Plays at random, and pauses the game at that ply."""
    play = at_random(seed)

    async def pause(session: Session, color: Color) -> None:
        async with background(lambda: play(session, color)):
            state = await session.changed(color)
            while state.plies < plies:
                state = await session.changed(color, state.version)
            session.pause()
            await trio.sleep_forever()

    return pause


async def setting_up(session: Session, color: Color, rows: Sequence[str]) -> None:
    """Set up as soon as that is asked for."""
    state = await session.changed(color)
    while state.stage is not SeatStage.SETTING_UP:
        state = await session.changed(color, state.version)
    session.set_up(color, rows)


async def moving(session: Session, color: Color) -> StrategoSeatState:
    """Wait for this side's turn."""
    state = await session.changed(color)
    while state.stage is not SeatStage.MOVING:
        state = await session.changed(color, state.version)
    return state_of(session, color)


# --- the same game as any other ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", VARIANTS)
def test_random_play_from_the_lists_of_actions_gives_a_record_that_stands_and_tells_what_bots_are_told(
    rules: str,
) -> None:
    session = seated(rules)
    record = played(session, *[at_random(len(rules), 60)] * 2)
    assert isinstance(record, GameRecord)
    check_record(record)
    red, blue = ((rows or "").split("/") for rows in record.setups)
    game = EngineGame(load_ruleset(rules), red, blue)
    views = [begun_view(game.ruleset, color, (red, blue)[color], enemy_squares(game, color)) for color in Color]
    expected: tuple[list[messages.ArenaMessage], list[messages.ArenaMessage]] = ([], [])
    for action in record.actions:
        events = game.apply(action)
        for color in Color:
            expected[color].extend(told_to(events, game.tables, color))
            show(views[color], events, game.tables)
    for color in Color:
        told = [message for message in seat_of(session, color).told if isinstance(message, EVENTS)]
        assert list(map(repr, told)) == list(map(repr, expected[color]))
        assert seat_of(session, color).cells() == views[color].cells()
        assert len(seat_of(session, color).actions) == len(record.actions)


@settings(max_examples=3)
@given(st.integers(0, 10**6), st.sampled_from(["duel", "vintage/lightning", "duel+rescue+silent-defence"]))
def test_what_was_known_after_a_ply_is_what_was_shown_then_and_nothing_that_was_learned_later(
    seed: int, rules: str
) -> None:
    record = played(seated(rules), *[at_random(seed, 60)] * 2)
    assert isinstance(record, GameRecord)
    shown: list[bytes] = []
    session = seated(rules)
    rows = [(text or "").split("/") for text in record.setups]
    played(session, from_lines(rows, record.actions, shown), from_lines(rows, record.actions))
    assert shown
    for state in (msgspec.json.decode(line, type=StrategoSeatState) for line in shown):
        then = state_after(session, Color.RED, state.plies)
        assert (then.pieces, then.lost, then.hidden, then.last) == (state.pieces, state.lost, state.hidden, state.last)
        assert (then.plies, then.choices, then.end) == (state.plies, (), None)


# --- what is refused --------------------------------------------------------------------------------------------------

RED = ("FB........", "B.........", ".S3.3.....", "2..9M....2")
BLUE = ("FB........", "B.........", ".S3.3.....", "2..9M....2")


def test_what_the_rules_do_not_allow_is_refused_with_their_words_and_the_game_goes_on() -> None:
    refused: dict[str, RefusedError] = {}

    async def red(session: Session, color: Color) -> None:
        await setting_up(session, color, RED)
        await moving(session, color)
        for action in ("a1-a2", "nonsense", "c7-c6"):
            with pytest.raises(RefusedError) as error:
                session.act(color, action)
            refused[action] = error.value
        session.act(color, "a4-a6")
        with pytest.raises(RefusedError, match="not your turn"):
            session.act(color, "a6-a5")

    async def blue(session: Session, color: Color) -> None:
        await setting_up(session, color, BLUE)
        await moving(session, color)
        session.resign(color)

    record = played(seated(), red, blue)
    assert isinstance(record, GameRecord)
    assert record.actions == ("a4-a6", "resign")
    assert record.verdict.reason is Reason.RESIGN
    assert {action: error.rule for action, error in refused.items()} == {
        "a1-a2": BrokenRule.IMMOVABLE,
        "nonsense": BrokenRule.FORM,
        "c7-c6": BrokenRule.OWN_PIECE,
    }


def test_a_set_up_that_is_not_legal_is_refused_with_what_it_lacks() -> None:
    async def red(session: Session, color: Color) -> None:
        state = await session.changed(color)
        while state.stage is not SeatStage.SETTING_UP:
            state = await session.changed(color, state.version)
        with pytest.raises(RefusedError, match=r"expected the army of duel: 1 x S \(got 0\), 2 x 2"):
            session.set_up(color, ("FBB.......", *("..........",) * 3))
        with pytest.raises(RefusedError, match="not your turn"):
            session.act(color, "a4-a5")
        with pytest.raises(RefusedError, match="nothing to resign yet"):
            session.resign(color)
        session.set_up(color, RED)
        with pytest.raises(RefusedError, match="not asked for"):
            session.set_up(color, RED)

        await moving(session, color)
        session.resign(color)

    record = played(seated(), red, from_lines((RED, BLUE), []))
    assert isinstance(record, GameRecord)
    assert record.setups[0] == "/".join(RED)


# --- giving up, pausing, waiting --------------------------------------------------------------------------------------


def test_who_resigns_in_the_other_ones_turn_has_resigned_as_soon_as_it_is_to_move() -> None:
    async def blue(session: Session, color: Color) -> None:
        await setting_up(session, color, BLUE)
        state = await session.changed(color)
        while state.stage is not SeatStage.WAITING:
            state = await session.changed(color, state.version)
        session.resign(color)
        assert session.state(color).resigns

    record = played(seated(), from_lines((RED, BLUE), ["a4-a5"]), blue)
    assert isinstance(record, GameRecord)
    assert record.actions == ("a4-a5", "resign")
    assert record.verdict.result.winner is Color.RED


def test_a_paused_game_goes_on_where_it_was_and_both_know_what_they_knew() -> None:
    first = seated("isf")
    history = played(first, until_paused(20, 3), at_random(3))
    assert isinstance(history, History)
    assert first.state(Color.RED).stage is SeatStage.PAUSED
    with pytest.raises(RefusedError, match="paused"):
        first.act(Color.RED, "a4-a5")
    second = seated("isf", history=history)
    record = played(second, at_random(4, 60), at_random(4, 60))
    assert isinstance(record, GameRecord)
    check_record(record)
    assert record.actions[: len(history.actions)] == history.actions
    assert (
        seat_of(second, Color.BLUE).actions[: len(history.actions)]
        == seat_of(first, Color.BLUE).actions[: len(history.actions)]
    )
    assert record.setups == history.setups


def test_a_game_that_is_paused_before_the_set_ups_has_nothing_to_save() -> None:
    async def red(session: Session, color: Color) -> None:
        with pytest.raises(RefusedError, match="nothing to pause"):
            session.pause()
        session.leave()

    assert played(seated(), red) is None


def test_a_clock_runs_for_the_side_to_move_and_a_person_loses_by_it() -> None:
    time = TimeControl(move_ms=1500, start_ms=600_000, setup_ms=UNLIMITED_MS, margin_ms=0)

    async def red(session: Session, color: Color) -> None:
        await setting_up(session, color, RED)
        state = await moving(session, color)
        own, enemy = state.clocks
        assert own.runs
        assert not enemy.runs
        assert own.left_ms is not None
        assert own.left_ms <= 1500
        assert enemy.left_ms == 1500

    record = played(seated(time=time), red, from_lines((RED, BLUE), []))
    assert isinstance(record, GameRecord)
    assert record.verdict.reason is Reason.TIMEOUT
    assert "hint" not in record.verdict.detail
    check_record(record)


def test_a_game_that_goes_on_has_the_clocks_that_it_had_and_the_one_of_the_side_to_move_runs() -> None:
    time = TimeControl(move_ms=30_000, bank_ms=60_000, increment_ms=1_000, start_ms=600_000, setup_ms=UNLIMITED_MS)
    setup = "FB......../B........./.S3.3...../2..9M....2"
    interrupted = ((1, 2_000_000), (2, 4_000_000))
    history = History(("", ""), (setup, setup), ("a4-a5",), (3_000_000,), (), interrupted=interrupted)

    async def blue(session: Session, color: Color) -> None:
        enemy, own = (await moving(session, color)).clocks
        assert (enemy.left_ms, enemy.bank_ms, enemy.runs) == (30_000, 56_000, False)
        assert own.runs
        assert own.bank_ms is not None
        assert 50_000 < own.bank_ms <= 56_000
        session.leave()

    async def red(session: Session, color: Color) -> None:
        await trio.sleep_forever()

    assert isinstance(played(seated(time=time, history=history), red, blue), History)


def test_a_game_that_has_to_begin_anew_goes_on_with_what_the_person_knew(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a stop of the arena that makes a turn unfair: both sides are seated again, and told what they knew."""
    stops: list[int] = []

    async def stopped_once(
        spec: GameSpec,
        bots: tuple[BotSpec, BotSpec],
        history: History | None,
        interrupt: Interrupt,
        options: GameOptions,
    ) -> GameRecord | History | None:
        if stops:
            return await play_on(spec, bots, history, interrupt, options)
        begun = await play_on(spec, bots, None, Interrupt(after=10), options)
        assert isinstance(begun, History)
        stops.append(len(begun.actions))
        raise VoidGameError("the arena slept", begun)

    monkeypatch.setattr(retry, "play_on", stopped_once)
    session = seated("isf")
    record = played(session, at_random(1, 30), at_random(1, 30))
    assert isinstance(record, GameRecord)
    check_record(record)
    assert stops == [10]
    assert len(record.actions) > 20
    assert [action.action for action in seat_of(session, Color.RED).actions] == list(record.actions)
    assert "going on after 10 plies" in session.state(Color.BLUE).remark
