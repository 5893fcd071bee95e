"""Records: what was played can be written, read, played again and judged again, and a forged one is refused."""

import re
from dataclasses import dataclass, fields, replace
from random import Random

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from random_play import any_rules, lively, random_rows
from scripted import Table, game_spec, record_from

import arena.stratego.rules.ruleset as ruleset_module
from arena.game.faults import Fault, GameResult, Illegal, Verdict, forfeit, words_of
from arena.game.game_spec import Player
from arena.game.recheck import check_record
from arena.game.record import GameRecord, NoteLine, RecordError, Use, decode_record, encode_record
from arena.game.recorded import Replay
from arena.game.time_control import TimeControl
from arena.stratego.rules.board import MOVES
from arena.stratego.rules.ruleset import (
    DEFAULTS,
    FIRST_RULES,
    RULE_KEYS,
    Ruleset,
    RulesetError,
    Starts,
    ruleset_from_lines,
)
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.seat_view import told_to, true_cells
from arena.stratego.state import as_stratego
from arena.system.printable import printable
from protocol.codec import encode_for_bot
from protocol.notation import Color, Reason

EVENT_VERBS = {b"moved", b"battle", b"reveal", b"rescued", b"guess"}
changed = msgspec.structs.replace


def play_game(
    ruleset: Ruleset, rng: Random, plies: int = 10_000, last: str = "move resign"
) -> tuple[Table, GameRecord]:
    """Play a random game; the bot that is to move after so many plies gives up."""
    table = Table(game_spec(ruleset, TimeControl(move_ms=1000)))
    rows = random_rows(ruleset, rng), random_rows(ruleset, rng)
    table.begin(*rows, red=["name Ann 1.0", "want board"], blue=["want board"])
    assert table.referee.state is not None
    game = as_stratego(table.referee.state).board
    while table.referee.verdict is None and game.ply < plies:
        if rng.random() < 0.1:
            table.reply(game.to_move, "note hm")
        table.play(lively(game, rng).text, after=rng.random())
    if table.referee.verdict is None:
        table.reply(game.to_move, last)
    return table, record_from(table)


def refused(record: GameRecord) -> str:
    """That a record is refused, and with which words."""
    with pytest.raises(RecordError) as caught:
        check_record(record)
    assert caught.value.exit_code != 0
    return str(caught.value)


# --- as text --------------------------------------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["C", "Z"]), max_size=10).map(printable)
any_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)


@given(
    seed=st.integers(0, 2**32),
    plies=st.integers(0, 30),
    ruleset=any_rules,
    stderr=st.tuples(texts, texts),
    notes=st.lists(st.builds(NoteLine, st.integers(0, 10**9), st.sampled_from(["red", "blue"]), texts), max_size=3),
    detail=texts,
    started=st.floats(0, 1e12),
)
@settings(deadline=None, max_examples=25)
def test_a_record_is_read_back_as_the_value_that_was_written(
    *,
    seed: int,
    plies: int,
    ruleset: Ruleset,
    stderr: tuple[str, str],
    notes: list[NoteLine],
    detail: str,
    started: float,
) -> None:
    _, played = play_game(ruleset, Random(seed), plies)
    record = changed(
        played, stderr=stderr, notes=tuple(notes), verdict=changed(played.verdict, detail=detail), started=started
    )
    text = encode_record(record)
    assert decode_record(text) == record
    assert encode_record(decode_record(text)) == text


@given(text=any_texts)
@example(text="\x7f")
@example(text="\x1b[2J")
@example(text="\u202e")
@settings(deadline=None, max_examples=50)
def test_text_in_a_record_from_anywhere_is_made_printable(text: str) -> None:
    _, played = play_game(load_ruleset("duel"), Random(1), 3)
    player = Player(text, text)
    forged = changed(
        played,
        players=(player, player),
        declared=(text, text),
        ruleset=text,
        notes=(NoteLine(1, text, text),),
        verdict=changed(played.verdict, detail=text),
        stderr=(text + "\n" + text, ""),
        confinement=(text, text),
    )
    read = decode_record(encode_record(forged))
    assert read.players[0] == Player(printable(text), printable(text))
    shown = [*read.declared, read.ruleset, *read.confinement, read.verdict.detail]
    assert shown == [printable(text)] * 6
    assert read.notes == (NoteLine(1, printable(text), printable(text)),)
    assert read.stderr == (printable(text + "\n" + text, lines=True), "")
    assert read.actions == played.actions


@given(st.binary(max_size=60))
@example(b"[" * 100_000)
@example(b'{"format":' + b"9" * 400 + b"}")
@example(b'"\\ud800"')
@example(b"1e999")
@settings(deadline=None, max_examples=50)
def test_anything_else_is_refused_as_a_record(data: bytes) -> None:
    with pytest.raises(RecordError, match="not a game record"):
        decode_record(data)


SINCE_LATER = ("cpu_us", "used", "confinement", "format", "interrupted", "forgiven_us", "pondered_us", "wants")
"""What records of older versions do not have."""


def test_a_record_cut_short_or_with_a_field_missing_or_of_the_wrong_type_is_refused() -> None:
    data = encode_record(play_game(load_ruleset("duel"), Random(1), 5)[1])
    for end in range(0, len(data), 97):
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


@given(ruleset=any_rules, seed=st.integers(0, 2**32))
@settings(deadline=None, max_examples=20)
def test_a_replay_brings_the_same_events_and_the_same_knowledge_as_the_game_did(ruleset: Ruleset, seed: int) -> None:
    """What the seats were sent live, line by line, against what the replay makes of the record."""
    table, record = play_game(ruleset, Random(seed), 100)
    replay = Replay(record)
    state = as_stratego(replay.state)
    boards: dict[Color, list[bytes]] = {color: [] for color in Color}
    events: dict[Color, list[bytes]] = {color: [] for color in Color}

    def look() -> None:
        if state.outcome is None:
            color = state.to_move
            boards[color].append(" ".join(("board", *state.view(color).cells())).encode())

    look()
    steps = []
    for step in replay.steps():
        steps.append(step)
        for color in Color:
            said = told_to(state.events, state.board.tables, color)
            told = [encode_for_bot(event).rstrip(b"\n") for event in said]
            assert [line.encode() for line in step.told[color]] == told
            events[color] += told
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
    assert table.referee.state is not None
    assert true_cells(state.board) == true_cells(as_stratego(table.referee.state).board)


@pytest.mark.parametrize("missing", [(True, False), (False, True), (True, True)])
def test_there_is_no_replay_of_a_game_without_both_set_ups(missing: tuple[bool, bool]) -> None:
    _, played = play_game(load_ruleset("duel"), Random(1), 0)
    red, blue = (None if gone else setup for gone, setup in zip(missing, played.setups, strict=True))
    late = {(True, False): GameResult.BLUE, (False, True): GameResult.RED, (True, True): GameResult.NEITHER}
    verdict = judged_so(played, 0, Reason.SETUP_TIMEOUT, late[missing])
    record = changed(played, setups=(red, blue), actions=(), times_us=(), verdict=verdict)
    with pytest.raises(RecordError, match=f"before both sides had set up: {re.escape(verdict.detail)}"):
        Replay(record)
    check_record(record)


# --- judged again ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("letter", "FB")
def test_a_game_that_was_lost_by_moving_a_fixed_piece_is_judged_as_it_was(letter: str) -> None:
    ruleset = load_ruleset("jumbo-09495/duel")
    for seed in range(2):
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
def test_a_game_that_broke_off_is_judged_as_it_was(last: str, reason: Reason) -> None:
    for plies in (0, 1, 6, 11):
        _, record = play_game(load_ruleset("isf"), Random(plies), plies, last)
        assert record.verdict.reason is reason
        check_record(record)


def forgeries(record: GameRecord, rng: Random) -> dict[str, GameRecord]:
    """Records that differ from a finished one in one thing each."""
    verdict, actions, times = record.verdict, record.actions, record.times_us
    place = rng.randrange(len(actions))
    replay = Replay(record)
    steps = replay.steps()
    for _ in range(place):
        next(steps)
    legal = {move.text for move in as_stratego(replay.state).board.legal_moves()} | {"resign"}
    wrong = rng.choice([text for text in MOVES if text not in legal])
    results = [result for result in GameResult if result is not verdict.result]
    reasons = [reason for reason in Reason if reason is not verdict.reason]
    return {
        "result": changed(record, verdict=changed(verdict, result=rng.choice(results))),
        "reason": changed(record, verdict=changed(verdict, reason=rng.choice(reasons))),
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


@given(ruleset=any_rules, seed=st.integers(0, 2**32), plies=st.integers(5, 200))
@settings(deadline=None, max_examples=25)
def test_a_forged_record_is_refused(ruleset: Ruleset, seed: int, plies: int) -> None:
    rng = Random(seed)
    _, record = play_game(replace(ruleset, max_plies=150, max_quiet_plies=60), rng, plies)
    check_record(record)
    check_record(decode_record(encode_record(record)))
    for what, forged in forgeries(record, rng).items():
        try:
            check_record(forged)
        except RecordError as error:
            assert record.id in str(error)  # noqa: PT017  (one forgery of many; the name of it goes with the failure)
        else:
            pytest.fail(f"not noticed: {what}")


def test_what_does_not_belong_together_is_refused() -> None:
    _, record = play_game(load_ruleset("barrage"), Random(4), 10)
    verdict, times, (_red, blue) = record.verdict, record.times_us, record.setups
    for plies in (verdict.plies - 1, verdict.plies + 1):
        refused(changed(record, verdict=changed(verdict, plies=plies)))
    for wrong_times in (times[:-1], (*times, 1)):
        refused(changed(record, times_us=wrong_times))
    for setup in ("", "x", "F", "F........./........../........../..........", "/".join(["FM2"] * 4)):
        refused(changed(record, setups=(setup, blue)))
    _, ended = play_game(load_ruleset("barrage"), Random(4))
    assert "without both set-ups" in refused(changed(ended, setups=(ended.setups[0], None)))


# --- what the engine cannot tell, and the referee can only have written so -------------------------------------------


def broken_off(plies: int, reason: Reason, result: GameResult) -> GameRecord:
    """A game with both set-ups that ended after so many plies by a fault, and not by anything on the board."""
    _, record = play_game(load_ruleset("isf"), Random(plies), plies, "rubbish")
    return changed(record, verdict=judged_so(record, plies, reason, result))


def judged_so(record: GameRecord, plies: int, reason: Reason, result: GameResult) -> Verdict:
    """What the referee may have said of such a game."""
    cause = Illegal("a1-j10", "form") if reason is Reason.ILLEGAL_ACTION else None
    fault = Fault(reason, f"ply {plies + 1}: a1-j10: so it was", cause)
    verdict = forfeit(record.players, [(color, fault) for color in Color if result.winner is not color], plies)
    return changed(verdict, result=result)


@pytest.mark.parametrize("plies", [0, 7])
@pytest.mark.parametrize("reason", [Reason.TIMEOUT, Reason.ILLEGAL_ACTION])
def test_only_the_side_to_move_can_have_lost_on_time_or_by_an_illegal_action(plies: int, reason: Reason) -> None:
    waits = GameResult.win(Color(plies % 2).opponent)
    check_record(broken_off(plies, reason, waits))
    for result in set(GameResult) - {waits}:
        refused(broken_off(plies, reason, result))


@pytest.mark.parametrize("reason", [Reason.CRASH, Reason.PROTOCOL, Reason.OVER_LIMIT, Reason.NO_START])
def test_either_side_can_have_lost_by_what_can_happen_at_any_time(reason: Reason) -> None:
    for plies in (0, 7):
        for result in (GameResult.RED, GameResult.BLUE):
            check_record(broken_off(plies, reason, result))
        assert "cannot be" in refused(broken_off(plies, reason, GameResult.DRAW))


@pytest.mark.parametrize("reason", [Reason.ILLEGAL_SETUP, Reason.SETUP_TIMEOUT])
def test_nobody_can_have_lost_at_setting_up_once_both_had(reason: Reason) -> None:
    for plies in (0, 7):
        assert "both sides had set up" in refused(broken_off(plies, reason, GameResult.RED))


RED_SET_UP, BLUE_SET_UP, NEITHER_SET_UP = (True, False), (False, True), (False, False)


@pytest.mark.parametrize(
    ("reason", "result", "there", "can_be"),
    [
        (Reason.ILLEGAL_SETUP, GameResult.RED, RED_SET_UP, True),
        (Reason.ILLEGAL_SETUP, GameResult.RED, BLUE_SET_UP, False),
        (Reason.ILLEGAL_SETUP, GameResult.RED, NEITHER_SET_UP, False),
        (Reason.SETUP_TIMEOUT, GameResult.NEITHER, NEITHER_SET_UP, True),
        (Reason.SETUP_TIMEOUT, GameResult.NEITHER, RED_SET_UP, False),
        (Reason.CRASH, GameResult.BLUE, BLUE_SET_UP, True),
        (Reason.CRASH, GameResult.BLUE, RED_SET_UP, False),
        (Reason.CRASH, GameResult.BLUE, NEITHER_SET_UP, True),
        (Reason.NO_START, GameResult.BLUE, NEITHER_SET_UP, True),
        (Reason.NO_START, GameResult.BLUE, BLUE_SET_UP, False),
        (Reason.NO_START, GameResult.NEITHER, NEITHER_SET_UP, True),
        (Reason.TIMEOUT, GameResult.BLUE, NEITHER_SET_UP, False),
        (Reason.ILLEGAL_ACTION, GameResult.BLUE, BLUE_SET_UP, False),
    ],
)
def test_who_can_have_lost_before_the_game_follows_from_the_set_ups_that_are_there(
    reason: Reason, result: GameResult, there: tuple[bool, bool], can_be: bool
) -> None:
    _, played = play_game(load_ruleset("duel"), Random(1), 0)
    red, blue = (setup if is_there else None for is_there, setup in zip(there, played.setups, strict=True))
    record = changed(
        played,
        setups=(red, blue),
        actions=(),
        times_us=(),
        notes=(),
        verdict=judged_so(played, 0, reason, result),
    )
    if can_be:
        check_record(record)
    else:
        refused(record)


def test_a_game_without_both_set_ups_has_no_actions_and_no_illegal_set_up() -> None:
    _, played = play_game(load_ruleset("duel"), Random(1), 4)
    verdict = judged_so(played, 4, Reason.CRASH, GameResult.RED)
    assert "actions" in refused(changed(played, setups=(played.setups[0], None), verdict=verdict))
    verdict, nothing = changed(verdict, plies=0), {"actions": (), "times_us": (), "cpu_us": (), "notes": ()}
    check_record(changed(played, setups=(played.setups[0], None), verdict=verdict, **nothing))
    empty = "/".join([".........."] * 4)
    assert "expected the army" in refused(changed(played, setups=(empty, None), verdict=verdict, **nothing))


LIMITED = TimeControl(move_ms=1000, bank_ms=2000, increment_ms=100, margin_ms=50)


@pytest.mark.parametrize(
    ("times_ms", "can_be"),
    [
        ((1000, 1000, 1000), True),
        ((1050, 1, 1), True),
        ((1051, 1, 1), False),
        ((1, 1051, 1), False),
        ((1000, 0, 1000, 0, 250), True),  # a bank of 2000 ms and two increments, and the margin
        ((1000, 0, 1000, 0, 251), False),
        ((1050, 0, 1000, 0, 201), False),  # what the margin forgave is gone from the bank
    ],
)
def test_no_action_can_have_taken_longer_than_the_clocks_allowed(times_ms: tuple[int, ...], can_be: bool) -> None:
    record = broken_off(len(times_ms), Reason.PROTOCOL, GameResult.RED)
    record = changed(record, time=LIMITED, times_us=tuple(1000 * taken for taken in times_ms))
    if can_be:
        check_record(record)
    else:
        assert "were allowed" in refused(record)


def test_what_an_interrupted_turn_had_used_is_gone_from_the_bank() -> None:
    record = broken_off(5, Reason.PROTOCOL, GameResult.RED)
    record = changed(record, time=LIMITED, times_us=(1_000_000, 0, 1_000_000, 0, 150_000))
    check_record(changed(record, interrupted=((5, 100_000),)))
    check_record(changed(record, interrupted=((4, 900_000),)))
    assert "were allowed" in refused(changed(record, interrupted=((5, 100_100),)))
    assert "were allowed" in refused(changed(record, interrupted=((3, 60_000), (5, 60_000))))
    for nonsense in (((0, 1),), ((7, 1),), ((5, -1),)):
        assert "an interruption" in refused(changed(record, interrupted=nonsense))


@pytest.mark.parametrize(
    "time",
    [
        TimeControl(move_ms=None, bank_ms=None),
        TimeControl(move_ms=0),
        TimeControl(move_ms=10**30),
        TimeControl(bank_ms=1000, increment_ms=-1),
        TimeControl(margin_ms=-1),
        TimeControl(start_ms=0),
    ],
)
def test_limits_that_no_game_has_are_refused(time: TimeControl) -> None:
    assert "time control" in refused(changed(broken_off(0, Reason.CRASH, GameResult.RED), time=time))


def test_numbers_and_notes_that_nothing_can_have_written_are_refused() -> None:
    record = broken_off(4, Reason.CRASH, GameResult.RED)
    check_record(changed(record, cpu_us=(1, 2, 3, 4), used=(Use(1, 2), Use(3, 4))))
    for wrong in (
        changed(record, cpu_us=(1, 2, 3)),
        changed(record, cpu_us=(1, 2, 3, -4)),
        changed(record, times_us=(1, 2, 3, -4)),
        changed(record, used=(Use(-1, 2), Use(3, 4))),
        changed(record, started=-1.0),
        changed(record, seconds=-1.0),
        changed(record, notes=(NoteLine(0, "red", ""),)),
        changed(record, notes=(NoteLine(6, "red", ""),)),
        changed(record, notes=(NoteLine(1, "green", ""),)),
    ):
        refused(wrong)


def test_an_action_that_lost_as_illegal_has_to_be_illegal() -> None:
    record = broken_off(6, Reason.ILLEGAL_ACTION, GameResult.BLUE)
    replay = Replay(record)
    for _ in replay.steps():
        pass
    legal = as_stratego(replay.state).board.legal_moves()[0].text

    def tried(action: str, text: str = "", rule: str = "") -> GameRecord:
        fault = Fault(Reason.ILLEGAL_ACTION, text or f"ply 7: {action}: a reason", Illegal(action, rule))
        return changed(record, verdict=forfeit(record.players, [(Color.RED, fault)], 6))

    check_record(tried("a1-j10", rule="form"))
    check_record(tried("a5-a6", rule="own-piece"))
    assert "for another rule than that of its fault" in refused(tried("a5-a6", rule="diagonal"))
    for action in (legal, "resign"):
        assert f"{action}, which is legal" in refused(tried(action))
    for action in ("", "prize", "a1-a2 "):
        assert "which is none: expected" in refused(tried(action))
    for text in ("ply 7: a1-j9: a reason", "ply 8: a1-j10: a reason", "a1-j10"):
        assert "expected the words 'ply 7: a1-j10: '" in refused(tried("a1-j10", text))
    without = changed(record, verdict=forfeit(record.players, [(Color.RED, Fault(Reason.ILLEGAL_ACTION, "ply 7"))], 6))
    assert "which its fault does not have" in refused(without)


def test_the_words_of_a_verdict_are_those_that_follow_from_it() -> None:
    _, record = play_game(load_ruleset("duel"), Random(1))
    for words in ("", "the winner by prize is red (x)", record.verdict.detail + " ", "blue (bob) resigned"):
        assert "expected the words" in refused(changed(record, verdict=changed(record.verdict, detail=words)))
    for broken in (
        broken_off(4, Reason.CRASH, GameResult.RED),
        broken_off(0, Reason.NO_START, GameResult.NEITHER),
    ):
        check_record(broken)
        detail = broken.verdict.detail
        for words in ("", "blue (bob) stopped running", detail.replace("so it", "it"), detail.replace("bob", "eve")):
            assert "expected the words" in refused(changed(broken, verdict=changed(broken.verdict, detail=words)))


def test_the_faults_of_a_verdict_are_those_of_the_sides_that_lost() -> None:
    _, played = play_game(load_ruleset("duel"), Random(1))
    crash, timeout = Fault(Reason.CRASH, "it ended"), Fault(Reason.TIMEOUT, "it was late")
    one, both = (broken_off(0, Reason.CRASH, result) for result in (GameResult.RED, GameResult.NEITHER))
    for record, faults, words in [
        (played, (None, crash), "but its faults are: blue crash"),
        (one, (None, None), "but its faults are: none"),
        (one, (crash, None), "but its faults are: red crash"),
        (one, (crash, crash), "but its faults are: red crash, blue crash"),
        (one, (None, timeout), "but its faults are: blue timeout"),
        (both, (crash, None), "but its faults are: red crash"),
        (both, (crash, timeout), "lost by both by timeout, but only one side can lose by that"),
    ]:
        forged = changed(record.verdict, faults=faults)
        detail = words_of(record.players, forged)
        assert words in refused(changed(record, verdict=changed(forged, detail=detail)))


# --- the rules in a record ------------------------------------------------------------------------------------------


@given(ruleset=any_rules)
@settings(deadline=None, max_examples=100)
def test_any_rules_are_read_back_from_their_lines(ruleset: Ruleset) -> None:
    again = ruleset_from_lines(ruleset.name, ruleset.lines())
    assert again == replace(ruleset, title=ruleset.name, source="", notes=())
    assert again.lines() == ruleset.lines()
    assert again.digest() == ruleset.digest()


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("army", "F:1 X:2"),
        ("starts", "green"),
        ("two-squares", "three"),
        ("max-plies", "1.5"),
        ("title", "Another title"),
    ],
)
def test_a_line_that_no_ruleset_writes_is_refused(line: str, value: str) -> None:
    with pytest.raises(RulesetError, match="'duel' cannot be read"):
        ruleset_from_lines("duel", {**dict(load_ruleset("duel").lines()), line: value}.items())


@pytest.mark.parametrize("line", [line for line, _ in load_ruleset("duel").lines() if line != "army"])
def test_a_rule_without_a_line_has_its_default(line: str) -> None:
    """The lines may have been written before there was such a rule."""
    duel = load_ruleset("duel")
    key = line.replace("-", "_")
    again = ruleset_from_lines("duel", [rule for rule in duel.lines() if rule[0] != line])
    assert getattr(again, key) == DEFAULTS[key]
    assert again == replace(duel, title="duel", source="", notes=(), **{key: DEFAULTS[key]})


def test_rules_of_a_newer_version_are_refused_with_the_names_of_what_is_new() -> None:
    lines = [*load_ruleset("duel").lines(), ("night-moves", "yes"), ("fog", "3")]
    with pytest.raises(RulesetError, match=r"'night-moves', 'fog'; they were written by a newer version"):
        ruleset_from_lines("duel", lines)


@dataclass(frozen=True)
class LaterRuleset(Ruleset):
    """The rules of a version to come, with a rule that is not there yet."""

    fog: int = 0


def test_a_rule_that_a_later_version_adds_changes_no_digest_where_it_has_its_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ids of games, and so whether a store can be resumed, follow from the digest."""
    duel = load_ruleset("duel")
    values = {field.name: getattr(duel, field.name) for field in fields(duel)}
    digest, lines = duel.digest(), duel.lasting_lines()
    monkeypatch.setattr(ruleset_module, "RULE_KEYS", (*RULE_KEYS[:3], "fog", *RULE_KEYS[3:]))
    monkeypatch.setitem(DEFAULTS, "fog", 0)
    clear, foggy = LaterRuleset(**values), LaterRuleset(**values, fog=2)
    assert ("fog", "0") in clear.lines()
    assert (clear.digest(), clear.lasting_lines()) == (digest, lines)
    assert foggy.digest() != digest
    assert foggy.lasting_lines() == [*lines, ("fog", "2")]


def test_the_digest_covers_every_rule_of_the_first_version_default_or_not() -> None:
    assert RULE_KEYS[: len(FIRST_RULES)] == FIRST_RULES
    assert load_ruleset("duel").lasting_lines()[: len(FIRST_RULES)] == load_ruleset("duel").lines()[: len(FIRST_RULES)]
    assert load_ruleset("duel").digest() == "e15f6224368ed6f3e849623ee57deda7aaa0da94d10d63f0459c418bd80a8db6"
