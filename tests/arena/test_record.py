"""Records: what was played can be written, read, played again and judged again, and a forged one is refused."""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.model import GameRecord, GameResult, GameSpec, NoteLine, TimeControl, Verdict
from arena.record import RecordError, Replay, check_record, decode_record, encode_record
from arena.rules.actions import Action
from arena.rules.board import MOVES
from arena.rules.events import Event
from arena.rules.game import Game
from arena.rules.loading import load_ruleset, ruleset_names, switch_names
from arena.rules.ruleset import (
    Attacks,
    Bombs,
    Captains,
    Chase,
    Defence,
    EqualRanks,
    FixedPieces,
    Flag,
    NoMove,
    Ruleset,
    RulesetError,
    Scouts,
    Spy,
    Starts,
    ruleset_from_lines,
)
from arena.view import tell, true_cells
from protocol.codec import encode_for_bot
from protocol.notation import Color, Rank, Reason

if TYPE_CHECKING:
    from tests.arena.conftest import Table

    SpecFor = Callable[..., GameSpec]
    TableFor = Callable[[GameSpec], Table]
    ByLot = Callable[[Ruleset, Random], tuple[str, ...]]
    PlayGame = Callable[..., tuple[Table, GameRecord]]
    Lively = Callable[[Game, Random], Action]

EVERY = [
    *ruleset_names(),
    *(f"isf+{switch}" for switch in switch_names() if switch != "infiltration"),
    "jumbo-81320/infiltrator+rescue+silent-defence+mobile-flag+lightning-captains+attackers-advantage",
    "vintage/lightning+silent-defence+mobile-bombs+rescue",
    "vintage/barrage+silent-defence+rescue+mobile-flag+exploding-bombs",
    "isf+lightning-captains+facing-attacks+silent-defence",
]
EVENT_VERBS = {b"moved", b"battle", b"reveal", b"rescued", b"guess"}
changed = msgspec.structs.replace


def record_of(table: "Table") -> GameRecord:
    """The record of a finished game, put together as `arena.match` does it."""
    referee = table.referee
    spec, (red, blue) = referee.spec, referee.seats
    assert referee.verdict is not None
    return GameRecord(
        id=spec.id,
        arena="0",
        ruleset=spec.ruleset.name,
        rules=tuple(spec.ruleset.lines()),
        time=spec.time,
        players=spec.players,
        seeds=spec.seeds,
        pair_seed=spec.pair_seed,
        declared=(red.declared, blue.declared),
        setups=("/".join(red.rows) if red.rows else None, "/".join(blue.rows) if blue.rows else None),
        actions=tuple(referee.actions),
        times_us=tuple(referee.times_us),
        notes=tuple(referee.notes),
        verdict=referee.verdict,
        stderr=("", ""),
        started=1.5,
        seconds=2.25,
    )


@pytest.fixture(scope="session")
def play_game(table_for: "TableFor", spec: "SpecFor", by_lot: "ByLot", lively: "Lively") -> "PlayGame":
    """Plays a game by lot: `play_game(ruleset, dice, plies)`; the bot that is to move after so many plies gives up."""

    def play(
        ruleset: Ruleset, dice: Random, plies: int = 10_000, last: str = "move resign"
    ) -> tuple["Table", GameRecord]:
        table = table_for(spec(ruleset, TimeControl(move_ms=1000)))
        rows = by_lot(ruleset, dice), by_lot(ruleset, dice)
        table.begin(*rows, red=["name Ann 1.0", "want board"], blue=["want board"])
        game = table.referee.game
        assert game is not None
        while table.referee.verdict is None and game.ply < plies:
            if dice.random() < 0.1:
                table.reply(game.to_move, "note hm")
            table.play(lively(game, dice).text, after=dice.random())
        if table.referee.verdict is None:
            table.reply(game.to_move, last)
        return table, record_of(table)

    return play


def refused(record: GameRecord) -> str:
    """That a record is refused, and with which words."""
    with pytest.raises(RecordError) as caught:
        check_record(record)
    assert caught.value.exit_code != 0
    return str(caught.value)


# --- as text --------------------------------------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)


@given(
    seed=st.integers(0, 2**32),
    plies=st.integers(0, 30),
    data=st.data(),
    stderr=st.tuples(texts, texts),
    notes=st.lists(st.builds(NoteLine, st.integers(0, 10**9), st.sampled_from(["red", "blue"]), texts), max_size=3),
    detail=texts,
    started=st.floats(0, 1e12),
)
@settings(deadline=None, max_examples=25)
def test_a_record_is_read_back_as_the_value_that_was_written(
    play_game: "PlayGame",
    any_rules: st.SearchStrategy[Ruleset],
    *,
    seed: int,
    plies: int,
    data: st.DataObject,
    stderr: tuple[str, str],
    notes: list[NoteLine],
    detail: str,
    started: float,
) -> None:
    _, played = play_game(data.draw(any_rules), Random(seed), plies)
    record = changed(
        played, stderr=stderr, notes=tuple(notes), verdict=changed(played.verdict, detail=detail), started=started
    )
    text = encode_record(record)
    assert decode_record(text) == record
    assert encode_record(decode_record(text)) == text


def test_a_record_without_set_ups_is_read_back_too(play_game: "PlayGame") -> None:
    _, played = play_game(load_ruleset("duel"), Random(1), 0)
    record = changed(played, setups=(None, played.setups[1]))
    assert decode_record(encode_record(record)) == record


@given(st.binary(max_size=60))
@settings(deadline=None, max_examples=100)
def test_anything_else_is_refused_as_a_record(data: bytes) -> None:
    with pytest.raises(RecordError, match="not a game record"):
        decode_record(data)


SINCE_LATER = ("cpu_us", "used", "confinement", "format", "pondered_us")
"""What records of older versions do not have."""


def test_a_record_cut_short_or_with_a_field_missing_or_of_the_wrong_type_is_refused(play_game: "PlayGame") -> None:
    data = encode_record(play_game(load_ruleset("duel"), Random(1), 5)[1])
    for end in range(0, len(data), 7):
        with pytest.raises(RecordError, match="not a game record"):
            decode_record(data[:end])
    fields = msgspec.json.decode(data)
    for name in fields:
        without = {key: value for key, value in fields.items() if key != name}
        if name in SINCE_LATER:
            decode_record(msgspec.json.encode(without))
        for wrong in [{**fields, name: False}] + ([] if name in SINCE_LATER else [without]):
            with pytest.raises(RecordError, match="not a game record"):
                decode_record(msgspec.json.encode(wrong))


# --- played again ---------------------------------------------------------------------------------------------------


@given(data=st.data(), seed=st.integers(0, 2**32))
@settings(deadline=None, max_examples=30)
def test_a_replay_brings_the_same_events_and_the_same_knowledge_as_the_game_did(
    play_game: "PlayGame", any_rules: st.SearchStrategy[Ruleset], data: st.DataObject, seed: int
) -> None:
    assert_replayed(play_game, data.draw(any_rules), seed)


@pytest.mark.parametrize("name", EVERY)
def test_the_same_is_replayed_under_every_ruleset_and_every_switch(play_game: "PlayGame", name: str) -> None:
    assert_replayed(play_game, load_ruleset(name), 1)


def assert_replayed(play_game: "PlayGame", ruleset: Ruleset, seed: int) -> None:
    """What the seats were sent live, line by line, against what the replay makes of the record."""
    table, record = play_game(ruleset, Random(seed), 100)
    replay = Replay(record)
    boards: dict[Color, list[bytes]] = {color: [] for color in Color}
    events: dict[Color, list[bytes]] = {color: [] for color in Color}

    def look() -> None:
        if replay.game.outcome is None:
            color = replay.game.to_move
            boards[color].append(" ".join(("board", *replay.views[color].cells())).encode())

    look()
    steps = []
    for step in replay.steps():
        steps.append(step)
        for color in Color:
            events[color] += [encode_for_bot(tell(event)[color]).rstrip(b"\n") for event in step.events]
        look()
    for color in Color:
        lines = b"".join(table.writes[color]).splitlines()
        assert [line for line in lines if line.split(b" ", 1)[0] in EVENT_VERBS] == events[color]
        assert [line for line in lines if line.startswith(b"board")] == boards[color]
    first = int(ruleset.starts is Starts.BLUE)
    assert [step.ply for step in steps] == list(range(1, len(record.actions) + 1))
    assert [step.color for step in steps] == [Color((first + number) % 2) for number in range(len(steps))]
    assert tuple(step.action for step in steps) == record.actions
    assert tuple(step.microseconds for step in steps) == record.times_us
    assert table.referee.game is not None
    assert true_cells(replay.game) == true_cells(table.referee.game)


def test_a_step_brings_the_engines_events(play_game: "PlayGame") -> None:
    _, record = play_game(load_ruleset("barrage"), Random(2), 60)
    red, blue = ((setup or "").split("/") for setup in record.setups)
    game = Game(load_ruleset("barrage"), red, blue)
    expected: list[tuple[Event, ...]] = [game.apply(action) for action in record.actions]
    assert [step.events for step in Replay(record).steps()] == expected


def test_the_position_of_a_replay_is_the_one_after_the_step_handed_out(play_game: "PlayGame") -> None:
    _, record = play_game(load_ruleset("duel"), Random(3), 10)
    replay = Replay(record)
    for number, step in enumerate(replay.steps(), start=1):
        assert replay.game.ply == step.ply == number


@pytest.mark.parametrize("missing", [(True, False), (False, True), (True, True)])
def test_there_is_no_replay_of_a_game_without_both_set_ups(play_game: "PlayGame", missing: tuple[bool, bool]) -> None:
    _, played = play_game(load_ruleset("duel"), Random(1), 0)
    red, blue = (None if gone else setup for gone, setup in zip(missing, played.setups, strict=True))
    verdict = Verdict(GameResult.BLUE, Reason.SETUP_TIMEOUT, 0, "red was late")
    record = changed(played, setups=(red, blue), actions=(), times_us=(), verdict=verdict)
    with pytest.raises(RecordError, match=r"before both sides had set up: red was late"):
        Replay(record)
    check_record(record)


# --- judged again ---------------------------------------------------------------------------------------------------


@given(data=st.data(), seed=st.integers(0, 2**32))
@settings(deadline=None, max_examples=30)
def test_a_game_that_was_played_to_its_end_is_judged_as_it_was(
    play_game: "PlayGame", any_rules: st.SearchStrategy[Ruleset], data: st.DataObject, seed: int
) -> None:
    assert_judged_again(play_game, data.draw(any_rules), seed)


@pytest.mark.parametrize("name", EVERY)
def test_the_same_is_judged_under_every_ruleset_and_every_switch(play_game: "PlayGame", name: str) -> None:
    assert_judged_again(play_game, load_ruleset(name), 2)


def assert_judged_again(play_game: "PlayGame", ruleset: Ruleset, seed: int) -> None:
    _, record = play_game(replace(ruleset, max_plies=150, max_quiet_plies=60), Random(seed))
    assert not record.verdict.reason.is_forfeit
    check_record(record)
    check_record(decode_record(encode_record(record)))


@pytest.mark.parametrize("letter", "FB")
def test_a_game_that_was_lost_by_moving_a_fixed_piece_is_judged_as_it_was(play_game: "PlayGame", letter: str) -> None:
    ruleset = load_ruleset("jumbo-09495/duel")
    for seed in range(5):
        _, record = play_game(ruleset, Random(seed), 0)
        square, beside = fixed_piece((record.setups[0] or "").split("/"), letter)
        _, record = play_game(ruleset, Random(seed), 0, f"move {square}-{beside}")
        assert (record.verdict.result, record.verdict.reason) == (GameResult.BLUE, Reason.MOVED_FIXED)
        check_record(record)


def fixed_piece(rows: list[str], letter: str) -> tuple[str, str]:
    """Where Red has such a piece, and an empty square beside it."""
    placed = {f"{'abcdefghij'[file]}{rank + 1}": rows[rank][file] for rank in range(4) for file in range(10)}
    return next(
        (square, beside)
        for square, piece in placed.items()
        if piece == letter
        for beside, other in placed.items()
        if other == "." and f"{square}-{beside}" in MOVES and not MOVES[f"{square}-{beside}"].between
    )


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        ("move resign", Reason.RESIGN),
        ("move a1-j10", Reason.ILLEGAL_ACTION),
        ("rubbish", Reason.PROTOCOL),
    ],
)
def test_a_game_that_broke_off_is_judged_as_it_was(play_game: "PlayGame", last: str, reason: Reason) -> None:
    for plies in range(12):
        _, record = play_game(load_ruleset("isf"), Random(plies), plies, last)
        assert record.verdict.reason is reason
        check_record(record)


def forgeries(record: GameRecord, dice: Random) -> dict[str, GameRecord]:
    """Records that differ from a finished one in one thing each."""
    verdict, actions, times = record.verdict, record.actions, record.times_us
    place = dice.randrange(len(actions))
    replay = Replay(record)
    steps = replay.steps()
    for _ in range(place):
        next(steps)
    legal = {move.text for move in replay.game.legal_moves()} | {"resign"}
    wrong = dice.choice([text for text in MOVES if text not in legal])
    results = [result for result in GameResult if result is not verdict.result]
    reasons = [reason for reason in Reason if reason is not verdict.reason]
    return {
        "result": changed(record, verdict=changed(verdict, result=dice.choice(results))),
        "reason": changed(record, verdict=changed(verdict, reason=dice.choice(reasons))),
        "changed action": changed(record, actions=(*actions[:place], wrong, *actions[place + 1 :])),
        "removed action": changed(
            record, actions=actions[:place] + actions[place + 1 :], times_us=times[:place] + times[place + 1 :]
        ),
        "repeated action": changed(
            record, actions=actions[: place + 1] + actions[place:], times_us=times[: place + 1] + times[place:]
        ),
        "cut short": changed(record, actions=actions[:-1], times_us=times[:-1]),
        "goes on": changed(record, actions=(*actions, "a1-a2"), times_us=(*times, 1)),
        "resigned after": changed(record, actions=(*actions, "resign"), times_us=(*times, 1)),
        "rubbish": changed(record, actions=(*actions[:place], "\x00 ?", *actions[place + 1 :])),
    }


@given(data=st.data(), seed=st.integers(0, 2**32), plies=st.integers(5, 200))
@settings(deadline=None, max_examples=25)
def test_a_forged_record_is_refused(
    play_game: "PlayGame", any_rules: st.SearchStrategy[Ruleset], data: st.DataObject, seed: int, plies: int
) -> None:
    dice = Random(seed)
    _, record = play_game(replace(data.draw(any_rules), max_plies=150, max_quiet_plies=60), dice, plies)
    check_record(record)
    for what, forged in forgeries(record, dice).items():
        try:
            check_record(forged)
        except RecordError as error:
            assert record.id in str(error)  # noqa: PT017  (one forgery of many; the name of it goes with the failure)
        else:
            pytest.fail(f"not noticed: {what}")


def test_a_forfeit_in_a_game_that_was_over_is_refused(play_game: "PlayGame") -> None:
    _, record = play_game(load_ruleset("barrage"), Random(4))
    forged = changed(record, verdict=changed(record.verdict, reason=Reason.TIMEOUT))
    assert "judged again as" in refused(forged)


def test_an_ending_on_the_board_without_both_set_ups_is_refused(play_game: "PlayGame") -> None:
    _, record = play_game(load_ruleset("barrage"), Random(4))
    assert "without both set-ups" in refused(changed(record, setups=(record.setups[0], None)))


def test_another_number_of_plies_than_there_are_actions_is_refused(play_game: "PlayGame") -> None:
    for last in ("move resign", "rubbish"):
        _, record = play_game(load_ruleset("barrage"), Random(4), 10, last)
        for plies in (record.verdict.plies - 1, record.verdict.plies + 1):
            refused(changed(record, verdict=changed(record.verdict, plies=plies)))


def test_more_or_fewer_times_than_actions_are_refused(play_game: "PlayGame") -> None:
    _, record = play_game(load_ruleset("barrage"), Random(4), 10)
    for times in (record.times_us[:-1], (*record.times_us, 1)):
        refused(changed(record, times_us=times))


@pytest.mark.parametrize("setup", ["", "x", "F", "F........./........../........../..........", "/".join(["FM2"] * 4)])
def test_a_set_up_that_is_not_one_is_refused(play_game: "PlayGame", setup: str) -> None:
    _, record = play_game(load_ruleset("barrage"), Random(4), 10)
    refused(changed(record, setups=(setup, record.setups[1])))


@pytest.mark.parametrize("rules", [(), (("army", "F:1"),), (("army", "X:1"), ("starts", "red"))])
def test_rules_that_cannot_be_read_are_refused(play_game: "PlayGame", rules: tuple[tuple[str, str], ...]) -> None:
    _, record = play_game(load_ruleset("barrage"), Random(4), 10)
    refused(changed(record, rules=rules))


# --- the rules in a record ------------------------------------------------------------------------------------------

counts = st.none() | st.integers(1, 10**6)


@st.composite
def rulesets(draw: st.DrawFn) -> Ruleset:
    """Any ruleset at all that does not contradict itself."""
    others = [rank for rank in Rank if rank is not Rank.FLAG]
    army = draw(st.dictionaries(st.sampled_from(others), st.integers(1, 3), min_size=1))
    bombs, flag, spy = draw(st.sampled_from(Bombs)), draw(st.sampled_from(Flag)), draw(st.sampled_from(Spy))
    if Rank.SPY not in army:
        spy = Spy.STRAIGHT
    if set(army) == {Rank.BOMB}:
        flag = Flag.MOBILE
    return Ruleset(
        name=draw(st.from_regex(r"[a-z]{1,8}", fullmatch=True)),
        title="A title",
        source="a source",
        army=tuple(draw(st.permutations([(Rank.FLAG, 1), *army.items()]))),
        starts=draw(st.sampled_from(Starts)),
        two_squares=draw(counts),
        chase=draw(st.sampled_from(Chase)),
        no_move=draw(st.sampled_from(NoMove)),
        needs_attacker=draw(st.booleans()),
        equal_ranks=draw(st.sampled_from(EqualRanks)),
        bombs=bombs,
        flag=flag,
        fixed_pieces=draw(st.sampled_from(FixedPieces)),
        rescues=draw(st.integers(0, 40)),
        defence=draw(st.sampled_from(Defence)),
        scouts=draw(st.sampled_from(Scouts)),
        captains=draw(st.sampled_from(Captains)) if Rank.CAPTAIN in army else Captains.ONE_STEP,
        infiltration=draw(st.booleans()) and Rank.INFILTRATOR in army,
        spy=spy,
        attacks=draw(st.sampled_from(Attacks)) if spy is Spy.STRAIGHT else Attacks.ALL_SIDES,
        max_plies=draw(counts),
        max_quiet_plies=draw(counts),
        notes=draw(st.sampled_from([(), (("army", "a note"),)])),
    )


def assert_read_back(ruleset: Ruleset) -> None:
    again = ruleset_from_lines(ruleset.name, ruleset.lines())
    assert again == replace(ruleset, title=ruleset.name, source="", notes=())
    assert again.lines() == ruleset.lines()
    assert again.digest() == ruleset.digest()


@pytest.mark.parametrize("name", EVERY)
def test_the_rules_that_come_with_the_arena_are_read_back_from_their_lines(name: str) -> None:
    assert_read_back(load_ruleset(name))


@given(rulesets())
@settings(deadline=None, max_examples=100)
def test_any_rules_are_read_back_from_their_lines(ruleset: Ruleset) -> None:
    assert_read_back(ruleset)


@given(rulesets(), rulesets())
@settings(deadline=None, max_examples=50)
def test_rules_that_differ_have_lines_that_differ(one: Ruleset, other: Ruleset) -> None:
    same = replace(one, name="", notes=()) == replace(other, name="", notes=())
    assert (one.lines() == other.lines()) == same


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("army", "F:1 X:2"),
        ("army", "F"),
        ("army", "F:one"),
        ("starts", "green"),
        ("chase", "never"),
        ("no-move", ""),
        ("two-squares", "three"),
        ("max-plies", "1.5"),
        ("rescues", "none"),
        ("needs-attacker", "true"),
        ("bombs", "soft"),
        ("two-square", "3"),
        ("title", "Another title"),
    ],
)
def test_a_line_that_no_ruleset_writes_is_refused(line: str, value: str) -> None:
    with pytest.raises(RulesetError, match="'duel' cannot be read"):
        ruleset_from_lines("duel", {**dict(load_ruleset("duel").lines()), line: value}.items())


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("army", "M:1"),
        ("army", "F:1 M:1 B:-1"),
        ("army", "F:1 F:1 M:1"),
        ("army", "F:1 M:40"),
        ("two-squares", "0"),
        ("max-plies", "0"),
        ("max-quiet-plies", "-1"),
        ("rescues", "-1"),
        ("infiltration", "yes"),
    ],
)
def test_a_line_that_makes_no_sense_in_a_ruleset_is_refused(line: str, value: str) -> None:
    with pytest.raises(RulesetError, match="duel"):
        ruleset_from_lines("duel", {**dict(load_ruleset("duel").lines()), line: value}.items())


@pytest.mark.parametrize("line", [line for line, _ in load_ruleset("duel").lines()])
def test_a_missing_line_is_refused(line: str) -> None:
    with pytest.raises(RulesetError, match=line):
        ruleset_from_lines("duel", [rule for rule in load_ruleset("duel").lines() if rule[0] != line])
