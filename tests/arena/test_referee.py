"""Whole games before the referee, with scripted bots: every ending, every byte that is sent, every second charged."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_play import random_rows
from scripted import Table, seat_bots

from arena.game.faults import MAX_FAULT, Cause, Excess, GameResult, Verdict
from arena.game.live import MAX_NOTE_BYTES
from arena.game.referee import Referee
from arena.game.seat import MAX_LINES_A_TURN, SETTLE_SECONDS
from arena.game.time_control import NEVER, Suspension, TimeControl
from arena.stratego.rules.ruleset import Starts
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.seat_view import legal_actions
from arena.stratego.state import as_stratego
from arena.system.printable import printable
from protocol.bot_codec import decode_for_bot
from protocol.lines import MAX_BOT_LINE
from protocol.messages import BoardLine, Legal
from protocol.notation import LAKE_SQUARES, SQUARES, Color, Rank, Reason

RED, BLUE = Color.RED, Color.BLUE
DUEL = load_ruleset("duel")
MOVE, SETUP, START = TimeControl().move_ms or 0, TimeControl().setup_ms, TimeControl().start_ms
MARGIN = TimeControl().margin_ms / 1000

# A duel in which the scouts on a4, a7 and on j4, j10's flag look each other in the eye along their files.
RED_ROWS = ("FBB.......", "S33.......", "9.........", "2M.......2")
BLUE_ROWS = ("BB.......F", "S33.......", "9.........", "2M2.......")
RED_SETUP, BLUE_SETUP = "setup " + "/".join(RED_ROWS), "setup " + "/".join(BLUE_ROWS)

# One mobile piece a side.
LONERS = replace(DUEL, army=((Rank.FLAG, 1), (Rank.BOMB, 2), (Rank.MARSHAL, 1)))
SHUT_IN = ("MB........", "BF........", "..........", "..........")

RULES = [
    "rule army F:1 B:2 S:1 2:2 3:2 9:1 M:1",
    "rule starts red",
    "rule two-squares 3",
    "rule chase isf",
    "rule no-move at-once",
    "rule needs-attacker no",
    "rule equal-ranks both-leave",
    "rule bombs fixed",
    "rule flag fixed",
    "rule fixed-pieces illegal",
    "rule rescues 0",
    "rule defence named",
    "rule scouts seen",
    "rule captains one-step",
    "rule infiltration no",
    "rule spy straight",
    "rule attacks all-sides",
    "rule max-plies 2000",
    "rule max-quiet-plies 200",
]


def rows_text(rows: Sequence[str]) -> str:
    return "setup " + "/".join(rows)


@pytest.fixture
def duel() -> Table:
    """A duel at its first turn; Red's first turn is still to be looked at."""
    table = seat_bots()
    table.begin(RED_ROWS, BLUE_ROWS)
    return table


def verdict_of(table: Table) -> Verdict:
    assert table.referee.verdict is not None, "the game goes on"
    return table.referee.verdict


def assert_lost(table: Table, loser: Color, reason: Reason, *, words: str = "", plies: int | None = None) -> None:
    """The verdict is against `loser`, and both seats have been told so, in the last lines that they get."""
    verdict = verdict_of(table)
    assert (verdict.result, verdict.reason) == (GameResult.win(loser.opponent), reason)
    assert words in verdict.detail
    name = ("ann", "bob")[loser]
    assert verdict.detail.startswith(f"{loser.word} ({name}) {reason.sentence}")
    if plies is not None:
        assert verdict.plies == plies
    assert sent_to(table, loser).endswith(f"\nend loss {reason.value}\nquit\n".encode())
    assert sent_to(table, loser.opponent).endswith(f"\nend win {reason.value}\nquit\n".encode())
    assert (b"\nerror " in sent_to(table, loser)) == reason.is_forfeit
    assert b"\nerror " not in sent_to(table, loser.opponent)
    assert table.referee.awaited() == table.referee.due() == []
    assert table.referee.deadline == NEVER


def assert_drawn(table: Table, reason: Reason, plies: int) -> None:
    verdict = verdict_of(table)
    assert verdict == Verdict(GameResult.DRAW, reason, plies, f"drawn: {reason.sentence}")
    for color in Color:
        assert sent_to(table, color).endswith(f"\nend draw {reason.value}\nquit\n".encode())
        assert b"\nerror " not in sent_to(table, color)


def sent_to(table: Table, color: Color) -> bytes:
    return b"".join(table.writes[color])


# --- the conversation -----------------------------------------------------------------------------------------------


def test_a_whole_game_byte_by_byte_and_write_by_write() -> None:
    """What each seat is sent, and in which write: nothing while it need not answer, all that has happened when it must.

    Each move takes a quarter of a second, and the arena half a second to pass it on.
    """
    table = seat_bots(time=TimeControl(move_ms=1000, bank_ms=10_000, increment_ms=100), lag=0.5)
    table.send()
    table.expect(RED, "hello 1")
    table.expect(BLUE, "hello 1")
    table.reply(BLUE, "ready")
    table.expect_nothing(RED)
    table.reply(RED, "name Ann 1.0", "author A. Nonymous", "want legal", "ready")
    table.expect(
        RED, "game red duel", *RULES, "clock setup 5000 move 1000 bank 10000 increment 100", "seed 11", "setup"
    )
    table.expect(
        BLUE, "game blue duel", *RULES, "clock setup 5000 move 1000 bank 10000 increment 100", "seed 22", "setup"
    )
    table.reply(RED, RED_SETUP)
    table.expect_nothing(RED)
    table.expect_nothing(BLUE)
    table.reply(BLUE, BLUE_SETUP)
    table.expect_nothing(BLUE)
    table.expect(
        RED,
        "enemy a7 b7 c7 a8 a9 b9 c9 a10 b10 j10",
        "legal b2-b3 c2-d2 c2-c3 a3-b3 a4-a5 a4-a6 a4-a7 b4-b3 b4-c4 b4-b5 "
        "j4-j1 j4-j2 j4-j3 j4-c4 j4-d4 j4-e4 j4-f4 j4-g4 j4-h4 j4-i4 j4-j5 j4-j6 j4-j7 j4-j8 j4-j9 j4-j10",
        "turn 1 1000 1000 10000 10000",
    )
    table.reply(RED, "note let us see", "move a4-a6", after=0.25)
    table.expect_nothing(RED)
    table.expect(
        BLUE,
        "enemy a1 b1 c1 a2 b2 c2 a3 a4 b4 j4",
        "moved red a4-a6",
        "reveal a6 2",
        "turn 2 1000 1000 10000 9850",
    )
    table.reply(BLUE, "move a7-a6", after=0.25)
    table.expect_nothing(BLUE)
    table.expect(
        RED,
        "moved red a4-a6",
        "reveal a6 2",
        "moved blue a7-a6",
        "battle a6 2 2 neither",
        "legal b2-b3 c2-d2 c2-c3 a3-b3 a3-a4 b4-b3 b4-a4 b4-c4 b4-b5 "
        "j4-j1 j4-j2 j4-j3 j4-c4 j4-d4 j4-e4 j4-f4 j4-g4 j4-h4 j4-i4 j4-j5 j4-j6 j4-j7 j4-j8 j4-j9 j4-j10",
        "turn 3 1000 1000 9850 9850",
    )
    table.reply(RED, "move b4-b5", after=0.25)
    table.expect(BLUE, "moved blue a7-a6", "battle a6 2 2 neither", "moved red b4-b5", "turn 4 1000 1000 9850 9700")
    table.reply(BLUE, "move b7-b6", after=0.25)
    table.next_write(RED)
    table.reply(RED, "move j4-j10", after=0.25)
    table.expect(RED, "moved red j4-j10", "battle j10 2 F attacker", "end win flag", "quit")
    table.expect(BLUE, "moved blue b7-b6", "moved red j4-j10", "battle j10 2 F attacker", "end loss flag", "quit")
    referee = table.referee
    assert referee.verdict == Verdict(GameResult.RED, Reason.FLAG, 5, "blue (bob) lost its flag")
    assert referee.actions == ["a4-a6", "a7-a6", "b4-b5", "b7-b6", "j4-j10"]
    assert referee.times_us == [250_000] * 5
    assert [(note.ply, note.color, note.text) for note in referee.notes] == [(1, "red", "let us see")]
    assert [seat.declared for seat in referee.seats] == ["Ann 1.0", ""]


def test_the_last_introduction_counts() -> None:
    table = seat_bots()
    table.begin(RED_ROWS, BLUE_ROWS, red=["name A", "want board", "name B", "want legal"])
    assert table.referee.seats[RED].declared == "B"
    verbs = [line.split(" ")[0] for line in table.next_write(RED)]
    assert verbs == ["enemy", "legal", "turn"]


def test_blue_moves_first_where_the_rules_say_so() -> None:
    table = seat_bots(replace(DUEL, starts=Starts.BLUE))
    table.begin(RED_ROWS, BLUE_ROWS)
    table.expect_nothing(RED)
    assert table.next_write(BLUE)[-1] == "turn 1 100 100"


# --- what a bot may ask for -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["duel", "isf"])
def test_a_wanted_board_has_a_hundred_cells_and_a_wanted_list_is_the_engines(name: str) -> None:
    ruleset, rng = load_ruleset(name), Random(5)
    table = seat_bots(ruleset)
    table.begin(random_rows(ruleset, rng), random_rows(ruleset, rng), red=["want board legal"])
    assert table.referee.state is not None
    game = as_stratego(table.referee.state).board
    for _ in range(40):
        messages = [decode_for_bot(line.encode()) for line in table.next_write(RED)]
        board, legal = messages[-3], messages[-2]
        assert isinstance(board, BoardLine)
        assert isinstance(legal, Legal)
        assert len(board.cells) == 100
        assert {index for index, cell in enumerate(board.cells) if cell == "~~"} == LAKE_SQUARES
        assert legal.actions == legal_actions(game)
        assert sorted(legal.actions) == sorted(move.text for move in game.legal_moves())
        table.play_random(rng, 2)
        if table.referee.verdict:
            break
    blue = b"\n".join(table.writes[BLUE]).split(b"\n")
    assert not [line for line in blue if line.startswith((b"board", b"legal"))]


# --- endings on the board -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loser", Color)
def test_resigning_is_a_ply(duel: Table, loser: Color) -> None:
    actions = ["resign"] if loser is RED else ["a4-a5", "resign"]
    duel.play(" ".join(actions))
    assert_lost(duel, loser, Reason.RESIGN, plies=len(actions))
    assert duel.referee.actions == actions
    assert f"\nmoved {loser.word} resign\nend ".encode() in b"\n" + sent_to(duel, loser.opponent)


def test_both_immobile_at_the_very_start() -> None:
    table = seat_bots(LONERS)
    table.begin(SHUT_IN, SHUT_IN)
    assert_drawn(table, Reason.BOTH_IMMOBILE, plies=0)
    table.expect(RED, "enemy a9 b9 a10 b10", "end draw both-immobile", "quit")


# --- faults in a game -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ("a7-a6", "red has no piece on a7"),
        ("a4?a7M", "has no infiltration"),
    ],
)
def test_an_illegal_action_loses_and_the_author_is_told_why(duel: Table, action: str, words: str) -> None:
    duel.reply(RED, f"move {action}")
    assert_lost(duel, RED, Reason.ILLEGAL_ACTION, words=f"ply 1: {action}: ", plies=0)
    assert words in verdict_of(duel).detail
    assert duel.referee.actions == []
    assert duel.referee.times_us == []


@pytest.mark.parametrize("data", [b"\x00\n", b" move a4-a5\n", b"move a4a5\n", b"turn 1 100 100\n", b"want legal\n"])
def test_a_malformed_line_breaks_the_protocol(duel: Table, data: bytes) -> None:
    duel.pass_on(RED, data)
    duel.send()
    assert_lost(duel, RED, Reason.PROTOCOL, words="expected", plies=0)


@pytest.mark.parametrize("line", ["move c7-d7", "note too early", "rubbish"])
def test_the_side_that_waits_must_say_nothing(duel: Table, line: str) -> None:
    duel.reply(BLUE, line)
    assert_lost(duel, BLUE, Reason.PROTOCOL, plies=0)


def test_two_answers_at_once_break_the_protocol_though_the_first_one_was_played(duel: Table) -> None:
    duel.reply(RED, "move a4-a5", "move a5-a6")
    assert_lost(duel, RED, Reason.PROTOCOL, words="'move' came during the opponent's turn", plies=1)
    assert duel.referee.actions == ["a4-a5"]


def test_what_comes_after_the_last_action_of_a_game_is_not_held_against_a_bot(duel: Table) -> None:
    duel.reply(RED, "move j4-j10", "move j10-j9", "rubbish")
    assert_lost(duel, BLUE, Reason.FLAG)


@pytest.mark.parametrize("line", ["note hm", "# a comment", ""])
def test_a_flood_of_lines_breaks_the_protocol(duel: Table, line: str) -> None:
    duel.reply(RED, *[line] * MAX_LINES_A_TURN)
    assert duel.referee.verdict is None
    duel.reply(RED, line)
    assert_lost(duel, RED, Reason.PROTOCOL, words=f"more than {MAX_LINES_A_TURN} lines")


def test_lines_are_counted_anew_each_turn(duel: Table) -> None:
    for action, answer in (("a4-a5", "c7-d7"), ("b4-b5", "d7-e7")):
        duel.reply(RED, *["note hm"] * (MAX_LINES_A_TURN - 1), f"move {action}")
        duel.reply(BLUE, f"move {answer}")
    assert duel.referee.verdict is None


def test_a_line_may_be_as_long_as_the_limit_and_no_longer(duel: Table) -> None:
    duel.reply(RED, "note " + "x" * (MAX_BOT_LINE - 5))
    assert duel.referee.verdict is None
    duel.reply(RED, "note " + "x" * (MAX_BOT_LINE - 4))
    assert_lost(duel, RED, Reason.PROTOCOL, words=f"more than {MAX_BOT_LINE} bytes")


@pytest.mark.parametrize("thinking", [True, False])
@pytest.mark.parametrize(("exited", "reason"), [(True, Reason.CRASH), (False, Reason.PROTOCOL)])
def test_a_bot_whose_output_ends_has_crashed_if_it_is_dead_and_broken_the_protocol_if_not(
    duel: Table, thinking: bool, exited: bool, reason: Reason
) -> None:
    loser = RED if thinking else BLUE
    duel.gone(loser, "went away", exited=exited)
    assert_lost(duel, loser, reason, words="the bot went away", plies=0)


def test_half_a_line_is_no_answer_and_is_shown_to_the_author(duel: Table) -> None:
    duel.pass_on(RED, b"move a4-a5")
    assert duel.referee.verdict is None
    duel.gone(RED)
    assert_lost(duel, RED, Reason.CRASH, words="its last line was not ended: 'move a4-a5'", plies=0)


def test_a_bot_that_answered_before_it_died_has_made_its_move(duel: Table) -> None:
    duel.pass_on(RED, b"move a4-a5\n")
    duel.gone(RED)
    assert_lost(duel, RED, Reason.CRASH, plies=1)


@pytest.mark.parametrize("phase", ["setting up", "thinking"])
def test_a_bot_that_does_not_read_loses_on_time(phase: str) -> None:
    table = seat_bots()
    table.introduce()
    table.reply(BLUE, BLUE_SETUP)
    if phase == "thinking":
        table.reply(RED, RED_SETUP)
    table.referee.stalled(RED)
    table.send()
    assert_lost(table, RED, Reason.TIMEOUT if phase == "thinking" else Reason.SETUP_TIMEOUT, words="did not read")


def test_nothing_changes_a_verdict(duel: Table) -> None:
    duel.reply(RED, "move resign")
    verdict, sent = verdict_of(duel), [sent_to(duel, color) for color in Color]
    for color in Color:
        duel.reply(color, "rubbish")
        duel.gone(color)
    duel.now += 1e6
    duel.referee.expire(duel.now)
    duel.send()
    assert duel.referee.verdict is verdict
    assert [sent_to(duel, color) for color in Color] == sent


@pytest.mark.parametrize(
    "line",
    [
        "want " + "\\" * (MAX_BOT_LINE - 5),
        "ready " + "x" * (MAX_BOT_LINE - 6),
    ],
)
def test_an_error_is_no_longer_than_a_line_may_be(line: str) -> None:
    table = seat_bots()
    table.send()
    table.reply(BLUE, "ready")
    table.reply(RED, line)
    assert_lost(table, RED, Reason.PROTOCOL)
    assert max(len(sent) for sent in sent_to(table, RED).split(b"\n")) <= MAX_BOT_LINE


# --- time -----------------------------------------------------------------------------------------------------------


def test_a_bot_that_does_not_answer_loses_at_its_deadline(duel: Table) -> None:
    assert duel.referee.deadline == pytest.approx(duel.now + MOVE / 1000 + MARGIN)
    duel.referee.expire(duel.referee.deadline - 0.001)
    assert duel.referee.verdict is None
    duel.expire()
    assert_lost(duel, RED, Reason.TIMEOUT, words="none came in 150 ms", plies=0)


@pytest.mark.parametrize("late", [-0.001, 0.001])
def test_an_answer_counts_up_to_the_deadline_and_not_after_it(duel: Table, late: float) -> None:
    duel.reply(RED, "move a4-a5", after=MOVE / 1000 + MARGIN + late)
    if late < 0:
        assert duel.referee.actions == ["a4-a5"]
    else:
        assert_lost(duel, RED, Reason.TIMEOUT, words="none came in 151 ms", plies=0)


@pytest.mark.parametrize("answers", [True, False])
def test_a_side_that_is_excused_for_being_late_has_not_lost_and_the_game_cannot_be_judged(
    duel: Table, answers: bool
) -> None:
    asked = []

    def excuse(color: Color, taken: float, limit: float) -> str:
        asked.append((color, round(taken, 3), limit))
        return "had to wait"

    duel.referee.excuse = excuse
    if answers:
        duel.reply(RED, "move a4-a5", after=MOVE / 1000 + MARGIN + 0.001)
    else:
        duel.expire()
    assert (duel.referee.verdict, duel.referee.void, duel.referee.is_excused) == (None, "red (ann) had to wait", True)
    assert asked == [(RED, 0.151 if answers else 0.15, MOVE / 1000)]


def test_even_a_broken_answer_after_the_deadline_is_a_timeout(duel: Table) -> None:
    duel.reply(RED, "rubbish", after=1.0)
    assert_lost(duel, RED, Reason.TIMEOUT)


def test_a_bank_runs_out() -> None:
    table = seat_bots(time=TimeControl(move_ms=None, bank_ms=1000, increment_ms=100))
    table.begin(RED_ROWS, BLUE_ROWS)
    assert table.next_write(RED)[-1] == "turn 1 1000 1000"
    table.play("a4-a5 c7-d7", after=0.6)
    assert table.next_write(RED)[-1] == "turn 3 500 500"
    assert table.referee.deadline == pytest.approx(table.now + 0.55)
    table.expire()
    assert_lost(table, RED, Reason.TIMEOUT, words="within 500 ms", plies=2)


def test_the_arenas_own_time_is_charged_to_nobody() -> None:
    """Five seconds pass between each answer and the write that follows from it: far more than the banks hold."""
    table = seat_bots(time=TimeControl(move_ms=None, bank_ms=1000), lag=5.0)
    table.begin(RED_ROWS, BLUE_ROWS)
    table.skip()
    table.play("a4-a5 c7-d7 a5-a4 d7-c7", after=0.1)
    assert table.next_write(BLUE)[-1] == "turn 2 1000 900"
    table.skip()
    table.play("b4-b5", after=0.1)
    assert table.next_write(BLUE)[-1] == "turn 6 800 700"
    assert table.referee.times_us == [100_000] * 5


def test_a_bot_that_sends_notes_for_ever_loses_at_its_deadline_all_the_same(duel: Table) -> None:
    deadline = duel.referee.deadline
    for _ in range(14):
        duel.reply(RED, "note still thinking", after=0.01)
        assert duel.referee.deadline == deadline
    duel.reply(RED, "note still thinking", after=0.02)
    assert_lost(duel, RED, Reason.TIMEOUT)


def test_the_side_that_waits_has_no_deadline(duel: Table) -> None:
    """Neither before its clock starts, with the write, nor after it stops, with the answer."""
    duel.pass_on(RED, b"move a4-a5\n")
    assert duel.referee.deadline == NEVER
    duel.referee.expire(duel.now + 1e6)
    assert duel.referee.verdict is None


@pytest.mark.parametrize("late", ["silent", "answers"])
def test_a_set_up_has_a_limit_of_its_own(late: str) -> None:
    table = seat_bots()
    table.introduce()
    table.reply(BLUE, BLUE_SETUP)
    assert table.referee.deadline == pytest.approx(table.now + SETUP / 1000 + MARGIN)
    if late == "silent":
        table.expire()
    else:
        table.reply(RED, RED_SETUP, after=SETUP / 1000 + MARGIN + 0.001)
    assert_lost(table, RED, Reason.SETUP_TIMEOUT, words=f"within {SETUP} ms", plies=0)


def test_nothing_before_the_first_turn_is_charged_to_a_bank() -> None:
    table = seat_bots(time=TimeControl(move_ms=None, bank_ms=1000))
    table.send()
    for color in Color:
        table.reply(color, "ready", after=3.0)
    for color, line in ((RED, RED_SETUP), (BLUE, BLUE_SETUP)):
        table.reply(color, line, after=2.0)
    assert table.next_write(RED) == ["hello 1"]
    table.next_write(RED)
    table.expect(RED, "enemy a7 b7 c7 a8 a9 b9 c9 a10 b10 j10", "turn 1 1000 1000")


def test_a_clock_runs_from_the_moment_at_which_the_arena_begins_to_write(duel: Table) -> None:
    """How long the write takes is the bot's affair: it is the one that reads."""
    duel.pass_on(RED, b"move a4-a5\n")
    duel.referee.take(BLUE)
    duel.referee.sent(BLUE, duel.now)
    assert duel.referee.deadline == pytest.approx(duel.now + MOVE / 1000 + MARGIN)


def test_what_is_forgiven_of_each_answer_is_bounded_and_kept() -> None:
    table = seat_bots(time=TimeControl(move_ms=None, bank_ms=10_000))
    table.introduce()
    table.reply(RED, RED_SETUP)
    table.reply(BLUE, BLUE_SETUP)
    referee, start = table.referee, table.now
    referee.receive(RED, b"move a4-a5\n", start + 1.0, start + 1.005)
    table.send()
    referee.receive(BLUE, b"move a7-a6\n", start, start + 2.0)
    assert referee.times_us == [1_000_000, 1_980_000]
    assert referee.forgiven_us == [5000, 20_000]
    history = referee.history()
    assert history is not None
    assert history.forgiven_us == (5000, 20_000)


def test_what_is_told_of_a_past_is_charged_and_forgiven_as_it_was(duel: Table) -> None:
    duel.referee.receive(RED, b"move a4-a5\n", duel.now + 0.1, duel.now + 0.105)
    history = duel.referee.history()
    assert history is not None
    again = Referee(duel.referee.spec, history=history)
    for color in (RED, BLUE):
        again.take(color)
        again.sent(color, 0.0)
        again.receive(color, b"ready\n", 0.0)
    assert (again.times_us, again.forgiven_us) == ([100_000], [5000])


# --- stops of the arena ---------------------------------------------------------------------------------------------

RAN = Suspension(12.3, unsure=12.3)
"""The arena was stopped; the bots were not, as far as anybody knows."""
SLEPT = Suspension(12.3, unsure=0.0)
"""The whole machine was."""


def test_who_answers_in_a_stop_may_have_been_late_and_the_game_cannot_be_judged(duel: Table) -> None:
    duel.referee.stopped(RAN, duel.now)
    duel.reply(RED, "move a4-a5")
    assert (duel.referee.verdict, duel.referee.actions) == (None, [])
    assert duel.referee.void == "the arena was stopped for 12.3 s, and red (ann) may have been late because of it"
    assert duel.referee.is_over


@pytest.mark.parametrize("phase", ["starting", "setting up"])
def test_before_the_game_too_who_answers_in_a_stop_may_have_been_late(phase: str) -> None:
    table = seat_bots(time=TimeControl(start_ms=1000, setup_ms=1000))
    table.send()
    if phase == "setting up":
        for color in (RED, BLUE):
            table.reply(color, "ready")
    table.referee.stopped(RAN, table.now)
    table.reply(BLUE, "ready" if phase == "starting" else BLUE_SETUP)
    assert table.referee.void == "the arena was stopped for 12.3 s, and blue (bob) may have been late because of it"


def test_a_stop_is_of_no_account_to_turns_before_and_after_it(duel: Table) -> None:
    duel.reply(RED, "move a4-a5")
    duel.pass_on(BLUE, b"move a7-a6\n")
    duel.referee.stopped(RAN, duel.now)
    duel.send()
    duel.reply(RED, "move b4-b5", after=MOVE / 2000)
    assert duel.referee.void is None
    assert len(duel.referee.actions) == 3


def test_who_answers_in_time_after_the_machine_slept_has_done_nothing_wrong(duel: Table) -> None:
    duel.referee.stopped(SLEPT, duel.now)
    duel.reply(RED, "move a4-a5", after=MOVE / 1000)
    assert duel.referee.actions == ["a4-a5"]
    assert duel.referee.forgiven_us == [0]


@pytest.mark.parametrize("stop", [RAN, SLEPT], ids=["ran", "slept"])
def test_nobody_loses_on_time_right_after_a_stop_and_who_answers_late_then_is_not_judged(
    duel: Table, stop: Suspension
) -> None:
    deadline = duel.referee.deadline
    duel.referee.stopped(stop, deadline - 0.001)
    duel.referee.expire(deadline)
    assert duel.referee.verdict is None
    duel.now = deadline + 0.1
    duel.reply(RED, "move a4-a5")
    assert duel.referee.void is not None
    assert duel.referee.verdict is None


def test_nobody_loses_on_time_in_a_turn_right_after_a_stop(duel: Table) -> None:
    """The arena may be late itself: it has games to end and to begin again."""
    duel.referee.stopped(RAN, duel.now)
    duel.referee.receive(RED, b"move a4-a5\n", duel.now - RAN.unsure)
    duel.send()
    limit = duel.now + MOVE / 1000 + MARGIN
    duel.referee.expire(limit + 0.1)
    assert duel.referee.verdict is None
    duel.now = limit + 0.2
    duel.reply(BLUE, "move a7-a6")
    assert duel.referee.void is not None


def test_in_a_turn_right_after_a_stop_answers_in_time_count_as_ever(duel: Table) -> None:
    duel.referee.stopped(RAN, duel.now)
    duel.referee.receive(RED, b"move a4-a5\n", duel.now - RAN.unsure)
    duel.send()
    duel.reply(BLUE, "move a7-a6", after=MOVE / 1000)
    assert duel.referee.void is None
    assert duel.referee.times_us[1] == MOVE * 1000


@pytest.mark.parametrize("stop", [RAN, SLEPT], ids=["ran", "slept"])
def test_who_is_silent_for_its_whole_time_and_long_after_a_stop_loses(duel: Table, stop: Suspension) -> None:
    duel.referee.stopped(stop, duel.referee.deadline - 0.001)
    duel.expire()
    assert_lost(duel, RED, Reason.TIMEOUT)


def test_stop_after_stop_does_not_keep_a_silent_bot_from_losing(duel: Table) -> None:
    """Each stop would put its deadline off once more: who could bring them about would never have to answer."""
    limit = duel.referee.deadline
    for tenth in range(1, 10):
        duel.referee.stopped(RAN, limit + tenth / 10)
    assert duel.referee.deadline == limit + SETTLE_SECONDS
    duel.expire()
    assert_lost(duel, RED, Reason.TIMEOUT)


def test_a_game_that_cannot_be_judged_is_over_whatever_comes(duel: Table) -> None:
    duel.referee.stopped(RAN, duel.now)
    duel.reply(RED, "move a4-a5")
    duel.gone(RED)
    duel.referee.over_limit(BLUE, Excess(Cause.MEMORY, "used too much"))
    duel.referee.stalled(RED)
    duel.reply(BLUE, "rubbish")
    duel.referee.expire(duel.now + 1e6)
    assert duel.referee.verdict is None


# --- before the game ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("why", ["\x1b]52;c;aGk=\x07\n\u202e\udcff", "x" * 3_000_000])
def test_whatever_is_in_the_words_of_a_fault_the_verdict_is_short_and_printable(why: str) -> None:
    for is_start in (True, False):
        table = seat_bots()
        if is_start:
            table.referee.no_start(RED, why)
        else:
            table.referee.over_limit(RED, Excess(Cause.MEMORY, why))
        table.referee.gone(BLUE, why, exited=True)
        detail = verdict_of(table).detail
        assert detail.isprintable()
        assert len(detail) < 3 * MAX_FAULT
        assert printable(why, 20)[:20] in detail
        detail.encode("utf-8")


@pytest.mark.parametrize("broken", [(RED,), (BLUE,), (RED, BLUE)])
def test_a_game_of_a_bot_that_is_known_to_be_broken_is_over_before_it_begins(broken: tuple[Color, ...]) -> None:
    table = seat_bots()
    table.referee.called_off(dict.fromkeys(broken, "no bot.toml"))
    verdict = verdict_of(table)
    assert verdict.reason is Reason.NO_START
    assert verdict.result.winner is (None if len(broken) == 2 else broken[0].opponent)
    assert verdict.detail.count("no bot.toml") == len(broken)
    assert table.referee.awaited() == []


@pytest.mark.parametrize("late", ["silent", "answers"])
def test_a_bot_that_is_not_ready_in_time_did_not_start(late: str) -> None:
    table = seat_bots()
    table.send()
    table.reply(BLUE, "ready")
    assert table.referee.deadline == pytest.approx(table.now + START / 1000)
    if late == "silent":
        table.expire()
    else:
        table.reply(RED, "ready", after=START / 1000 + 0.001)
    assert_lost(table, RED, Reason.NO_START, words=f"expected 'ready' within {START} ms", plies=0)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (("FBB.......", "S33.......", "9.........", "2M........"), "2 x 2 (got 1)"),
        (("FBB.......", "S33.......", "9.........", "2M......22"), "2 x 2 (got 3)"),
        (("FBB.......", "S33.......", "9.........", "2M.......8"), "no piece '8'"),
        (("..........", "..........", "..........", ".........."), "1 x F (got 0)"),
    ],
)
def test_a_set_up_of_another_army_is_illegal(rows: Sequence[str], words: str) -> None:
    table = seat_bots()
    table.introduce()
    table.reply(RED, rows_text(rows))
    assert table.referee.verdict is None
    table.reply(BLUE, BLUE_SETUP)
    assert_lost(table, RED, Reason.ILLEGAL_SETUP, words=words, plies=0)
    assert table.referee.seats[RED].rows is None


Behaviour = Callable[[Table, Color], None]


def answers(*lines: str) -> Behaviour:
    return lambda table, color: table.pass_on(color, "".join(f"{line}\n" for line in lines).encode())


def answers_late(table: Table, color: Color) -> None:
    table.now = table.referee.seats[color].deadline + 1
    table.pass_on(color, b"ready\n")


def dies(table: Table, color: Color) -> None:
    table.referee.gone(color, "exited with code 1", exited=True)


def closes_its_output(table: Table, color: Color) -> None:
    table.referee.gone(color, "closed its standard output", exited=False)


def does_not_read(table: Table, color: Color) -> None:
    table.referee.stalled(color)


def is_not_there(table: Table, color: Color) -> None:
    table.referee.no_start(color, "no such file")


STARTING: dict[str, tuple[Behaviour, Reason | None]] = {
    "ready": (answers("name x", "ready"), None),
    "rubbish": (answers("rubbish"), Reason.PROTOCOL),
    "sends ahead": (answers("ready", BLUE_SETUP), Reason.PROTOCOL),
    "answers late": (answers_late, Reason.NO_START),
    "dies": (dies, Reason.NO_START),
    "closes its output": (closes_its_output, Reason.NO_START),
    "does not read": (does_not_read, Reason.NO_START),
    "is not there": (is_not_there, Reason.NO_START),
}
SETTING_UP: dict[str, tuple[Behaviour, Reason | None]] = {
    "sets up": (answers("note hm", BLUE_SETUP), None),
    "rubbish": (answers("rubbish"), Reason.PROTOCOL),
    "sends ahead": (answers(BLUE_SETUP, "move a4-a5"), Reason.PROTOCOL),
    "illegal": (answers(rows_text(SHUT_IN)), Reason.ILLEGAL_SETUP),
    "answers late": (answers_late, Reason.SETUP_TIMEOUT),
    "dies": (dies, Reason.CRASH),
    "closes its output": (closes_its_output, Reason.PROTOCOL),
    "does not read": (does_not_read, Reason.SETUP_TIMEOUT),
}


def judged(table: Table, behaviours: tuple[Behaviour, Behaviour], first: Color) -> tuple[Verdict | None, bytes, bytes]:
    """Two bots do what they do, `first` first. The other one's clock starts later: it must not be overdue by then."""
    referee = table.referee
    for color in (first, first.opponent):
        table.writes[color].append(referee.take(color))
        referee.sent(color, table.now)
        table.now += 100.0
    table.now -= 200.0
    for color in (first, first.opponent):
        behaviours[color](table, color)
        table.now = table.now if color is not first else max(table.now, referee.seats[first.opponent].started)
    table.send()
    return referee.verdict, sent_to(table, RED), sent_to(table, BLUE)


@pytest.mark.parametrize("phase", ["starting", "setting up"])
def test_before_the_game_the_verdict_does_not_depend_on_who_is_noticed_first(phase: str) -> None:
    """Every pair of behaviours, in both orders. If one is at fault it loses; if both are, both do."""
    known = STARTING if phase == "starting" else SETTING_UP
    for red, blue in product(known, repeat=2):
        outcomes = []
        for first in Color:
            table = seat_bots()
            if phase == "setting up":
                table.send()
                table.pass_on(RED, b"ready\n")
                table.pass_on(BLUE, b"ready\n")
            outcomes.append(judged(table, (known[red][0], known[blue][0]), first))
        assert outcomes[0] == outcomes[1], f"red {red}, blue {blue}"
        verdict, to_red, to_blue = outcomes[0]
        reasons = known[red][1], known[blue][1]
        if reasons == (None, None):
            assert verdict is None, f"red {red}, blue {blue}"
            continue
        assert verdict is not None, f"red {red}, blue {blue}"
        assert verdict.plies == 0
        for color, sent in ((RED, to_red), (BLUE, to_blue)):
            own, other = reasons[color], reasons[color.opponent]
            assert (b"\nerror " in b"\n" + sent) == (own is not None), f"red {red}, blue {blue}"
            end = f"end loss {own.value}" if own else f"end win {other.value if other else ''}"
            assert sent.endswith(f"{end}\nquit\n".encode()), f"red {red}, blue {blue}"
        if None not in reasons:
            assert (verdict.result, verdict.reason) == (GameResult.NEITHER, reasons[RED])
            assert "red (ann) " in verdict.detail
            assert "; blue (bob) " in verdict.detail
        else:
            winner = BLUE if reasons[RED] else RED
            assert (verdict.result, verdict.reason) == (GameResult.win(winner), reasons[RED] or reasons[BLUE])


@pytest.mark.parametrize("phase", ["starting", "setting up"])
def test_two_silent_bots_both_lose(phase: str) -> None:
    table = seat_bots()
    table.send()
    if phase == "setting up":
        for color in Color:
            table.reply(color, "ready")
    table.expire()
    reason = Reason.NO_START if phase == "starting" else Reason.SETUP_TIMEOUT
    assert (verdict_of(table).result, verdict_of(table).reason) == (GameResult.NEITHER, reason)


def test_a_faulty_bot_is_told_so_only_when_the_other_has_answered() -> None:
    table = seat_bots()
    table.send()
    table.skip()
    table.reply(RED, "rubbish")
    table.expect_nothing(RED)
    assert table.referee.awaited() == [BLUE]
    table.reply(RED, "ready")
    table.reply(BLUE, "ready", after=9.0)
    assert_lost(table, RED, Reason.PROTOCOL)


# --- notes ----------------------------------------------------------------------------------------------------------


def test_notes_belong_to_the_ply_that_they_come_before() -> None:
    table = seat_bots()
    table.introduce()
    table.reply(RED, "note at random", RED_SETUP)
    table.reply(BLUE, BLUE_SETUP)
    table.reply(RED, "note one", "note two", "move a4-a5")
    table.reply(BLUE, "note  spaces  stay ", "move c7-d7")
    assert [(note.ply, note.color, note.text) for note in table.referee.notes] == [
        (1, "red", "at random"),
        (1, "red", "one"),
        (1, "red", "two"),
        (2, "blue", " spaces  stay "),
    ]


def test_what_is_kept_of_a_bots_notes_is_bounded_and_more_are_no_fault(duel: Table) -> None:
    duel.reply(RED, "move a4-a5")
    duel.reply(BLUE, "note mine", "move c7-d7")
    for _ in range(2):
        duel.reply(RED, *["note " + "x" * 4000] * 20)
    assert duel.referee.verdict is None
    assert sum(len(note.text) for note in duel.referee.notes if note.color == "red") <= MAX_NOTE_BYTES
    assert len(duel.referee.notes) == 1 + MAX_NOTE_BYTES // 4000
    duel.reply(RED, "move a5-a6")
    duel.reply(BLUE, "note still heard", "move d7-e7")
    assert duel.referee.notes[-1].text == "still heard"


@pytest.mark.parametrize("text", ["", '"' * 80])
def test_notes_are_bounded_by_what_they_take_in_a_record(duel: Table, text: str) -> None:
    """A thousand of them before each of a thousand moves would make a record of tens of megabytes."""
    actions = [("b4-b5", "b7-b6"), ("c2-d2", "c9-d9"), ("b5-b4", "b6-b7"), ("d2-c2", "d9-c9")]
    for turn in range(80):
        for color in Color:
            flood = [f"note {text}"] * 999 if color is RED else []
            duel.reply(color, *flood, f"move {actions[turn % 4][color]}")
    assert duel.referee.verdict is None
    assert MAX_NOTE_BYTES // 2 < len(msgspec.json.encode(duel.referee.notes)) <= MAX_NOTE_BYTES


# --- bytes ----------------------------------------------------------------------------------------------------------


TURN_OF_RED = [
    b"note hm\r\n# hm\n\nmove a4-a5\n",
    b"move a4-a5\r\n",
    b"move b4-b5\nmove b5-b6\n",
    b"move resign\nmove a4-a5\n",
    b"note " + b"x" * 4100 + b"\n",
    b"note " + b"x" * 4091 + b"\r\nmove a4-a5\n",
    b"x" * 5000,
    b"\n" * 1001,
    b"\n" * 1000,
    b"move a4-a6",
    b"rubbish\nmove a4-a5\n",
    b"move a1-a2\nmove a4-a5\n",
    b"note\n\rmove a4-a5\n",
    b"m\xc3\xb6ve a4-a5\n",
]


@given(st.one_of(st.sampled_from(TURN_OF_RED), st.binary(max_size=40)), st.lists(st.integers(0, 5100), max_size=8))
@settings(deadline=None, max_examples=60)
def test_it_does_not_matter_how_the_bytes_of_an_answer_are_cut(data: bytes, cuts: list[int]) -> None:
    outcomes = []
    for places in ([], sorted(cuts), list(range(min(len(data), 60)))):
        table = seat_bots()
        table.begin(RED_ROWS, BLUE_ROWS)
        for start, end in zip([0, *places], [*places, len(data)], strict=True):
            table.pass_on(RED, data[start:end])
        table.send()
        referee = table.referee
        outcomes.append((referee.verdict, table.writes, referee.actions, referee.notes, referee.awaited()))
    assert outcomes[0] == outcomes[1] == outcomes[2]


# --- anything at all ------------------------------------------------------------------------------------------------

lines = st.sampled_from(
    [
        b"ready\n",
        b"name x\n",
        b"want board legal\n",
        b"want x\n",
        b"note hm\n",
        b"# hm\n",
        b"\r\n",
        b"resign\n",
        b"move resign\n",
        b"move a1?a2M\n",
        RED_SETUP.encode() + b"\n",
        rows_text(SHUT_IN).encode() + b"\n",
    ]
)
moves = st.builds(lambda a, b: f"move {a}-{b}\n".encode(), st.sampled_from(SQUARES), st.sampled_from(SQUARES))
chunks = st.lists(st.one_of(lines, lines, moves, st.binary(max_size=12)), max_size=4).map(b"".join)
deeds = st.one_of(
    st.tuples(st.just("legal"), st.integers(0, 1000)),
    st.tuples(st.just("legal"), st.integers(0, 1000)),
    st.tuples(st.just("send"), chunks),
    st.tuples(st.just("wait"), st.floats(0, 0.2)),
    st.tuples(st.just("write"), st.none()),
    st.tuples(st.just("gone"), st.booleans()),
    st.tuples(st.just("stalled"), st.none()),
)


def honest_answer(table: Table, color: Color, choice: int) -> bytes:
    """What a bot without faults would say now, if anything."""
    seat, state = table.referee.seats[color], table.referee.state
    if seat.due or seat.fault or not seat.phase.bot_must_answer:
        return b""
    if state is not None:
        actions = legal_actions(as_stratego(state).board)
        return f"move {actions[choice % len(actions)]}\n".encode()
    return b"ready\n" if b"setup\n" not in sent_to(table, color) else (BLUE_SETUP + "\n").encode()


def do(table: Table, color: Color, deed: str, detail: object) -> None:
    """What a bot may do, or what may happen to it, at any time."""
    match deed, detail:
        case "legal", int(number):
            table.send()
            table.pass_on(color, honest_answer(table, color, number))
        case "send", bytes(data):
            table.pass_on(color, data)
        case "wait", float(seconds):
            table.now += seconds
            table.referee.expire(table.now)
        case "write", _:
            table.send()
        case "gone", bool(exited):
            table.referee.gone(color, "went away", exited)
        case "stalled", _ if table.referee.seats[color].phase.bot_must_answer:
            table.referee.stalled(color)


@given(st.sampled_from(Color), st.lists(deeds, max_size=40), st.integers(0, 1000))
@settings(deadline=None, max_examples=100)
def test_whatever_a_bot_does_the_referee_judges_it_and_nobody_else(
    wild: Color, deeds: list[tuple[str, object]], choice: int
) -> None:
    """One bot does anything at any time, the other answers honestly and at once.

    Nothing raises, the honest bot is never at fault, and there is a verdict against the wild one or the game goes on.
    """
    table = seat_bots()
    referee, honest = table.referee, wild.opponent
    table.send()
    for deed, detail in deeds:
        do(table, wild, deed, detail)
        table.send()
        table.pass_on(honest, honest_answer(table, honest, choice))
    table.send()
    assert referee.seats[honest].fault is None
    for color in Color:
        sent = sent_to(table, color)
        assert all(decode_for_bot(line) is not None for line in sent.splitlines())
        assert sent.count(b"\nend ") == sent.count(b"\nquit\n") == (referee.verdict is not None)
    if referee.verdict is None:
        assert referee.seats[wild].fault is None or referee.awaited() == [honest]
    elif referee.verdict.reason.is_forfeit:
        assert referee.verdict.result is GameResult.win(honest)
        assert sent_to(table, wild).endswith(f"end loss {referee.verdict.reason.value}\nquit\n".encode())


@given(st.lists(st.tuples(st.sampled_from(Color), deeds), max_size=40))
@settings(deadline=None, max_examples=100)
def test_even_two_wild_bots_never_make_the_referee_raise(script: list[tuple[Color, tuple[str, object]]]) -> None:
    table = seat_bots()
    referee = table.referee
    for color, (deed, detail) in script:
        do(table, color, deed, detail)
    if referee.verdict is None:
        assert referee.awaited() or referee.due()
    else:
        assert referee.awaited() == []
