"""The dialect of 2012 as a seat speaks it: byte by byte what its manager printed, whatever is played and however the
bytes come. What is expected is worked out by a manager of these tests' own, which knows (x, y) and the dialect's own
letters, and nothing of the arena's squares."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.game.connection import connect
from arena.game.dialects import Dialect
from arena.game.dialogue import dialogue
from arena.game.dialogue_entries import Line, Speaker
from arena.game.judged import judged
from arena.game.recheck import check_record
from arena.game.record import GameRecord, RecordError, decode_record, encode_record
from arena.game.record_lines import decode_line, encode_line
from arena.game.referee import Referee
from arena.game.spec import GameSpec
from arena.game.time_control import TimeControl
from arena.game.ucc_connection import UccConnection
from arena.rules.loading import load_ruleset
from arena.rules.ruleset import Starts
from protocol.conversation import Phase
from protocol.lines import LocalProtocolError, RemoteProtocolError
from protocol.messages import BotMessage, Game, Hello, Move, Restore, Setup, SetupRequest, Turn
from protocol.notation import Color, Reason

Place = tuple[int, int]
Spec = Callable[..., GameSpec]

GOLDEN = Path(__file__).parent.parent / "golden" / "ucc-2012"
DIALECT = Path(__file__).parents[2] / "docs" / "ucc-2012.md"
RED, BLUE = Color.RED, Color.BLUE
PIECES = "F" + "B" * 6 + "s" + "9" * 8 + "8" * 5 + "7" * 4 + "6" * 4 + "5" * 4 + "4" * 3 + "3" * 2 + "2" + "1"
STEPS = {"UP": (0, -1), "DOWN": (0, 1), "LEFT": (-1, 0), "RIGHT": (1, 0)}
LAKES = {(x, y) for x in (2, 3, 6, 7) for y in (4, 5)}
PATIENT = TimeControl(move_ms=60_000)


class Seats:
    """A referee and two seats that speak this, and what each was sent, line by line."""

    def __init__(
        self,
        spec: GameSpec,
        dialects: tuple[Dialect, Dialect] = (Dialect.UCC_2012, Dialect.UCC_2012),
        *,
        is_turned: bool = False,
    ) -> None:
        """`is_turned`: colours are those that the bots are told, where the arena's Blue begins."""
        self._is_turned = is_turned
        red, blue = (connect(dialect) for dialect in dialects)
        self.referee = Referee(spec, (red, blue))
        self.sent: tuple[list[str], list[str]] = ([], [])
        self.write()

    def write(self) -> None:
        for color in self.referee.due():
            told = color.opponent if self._is_turned else color
            self.sent[told].extend(self.referee.take(color).decode("ascii").splitlines())
            self.referee.sent(color, 0.0)

    def say(self, told: Color, *lines: str) -> None:
        color = told.opponent if self._is_turned else told
        self.referee.receive(color, "".join(f"{line}\n" for line in lines).encode(), 0.0)
        self.write()

    def set_up(self, rows: tuple[list[str], list[str]]) -> None:
        for color in Color:
            self.say(color, *rows[color])

    def record(self) -> GameRecord:
        """The record of the game, as it is read back from a store."""
        record = judged(self.referee, arena="0", started=0.0, seconds=0.0, stderr=("", ""))
        return decode_record(encode_record(record))


def landing(x: int, y: int, way: str, count: int) -> Place:
    """Where a move ends."""
    return x + count * STEPS[way][0], y + count * STEPS[way][1]


class Manager:
    """What is played, by the manual: pieces are colour and letter on (x, y), with (0, 0) at the top left, Red's."""

    def __init__(self, rows: tuple[list[str], list[str]]) -> None:
        self.board = {
            (x, first + y): (color, letter)
            for color, first in ((RED, 0), (BLUE, 6))
            for y, row in enumerate(rows[color])
            for x, letter in enumerate(row)
        }
        self.turn = RED
        self.printed: tuple[list[str], list[str]] = ([], [])
        self.printed[RED].append("START")
        self.winner: Color | None = None

    def rows(self, color: Color) -> list[str]:
        def shown(x: int, y: int) -> str:
            if (x, y) in LAKES:
                return "+"
            owner, letter = self.board.get((x, y), (color, "."))
            return letter if owner is color else "#"

        return ["".join(shown(x, y) for x in range(10)) for y in range(10)]

    def moves(self) -> Iterator[tuple[int, int, str, int]]:
        """All that the side to move may do."""
        for (x, y), (owner, letter) in self.board.items():
            if owner is not self.turn or letter in "BF":
                continue
            for way in STEPS:
                for count in range(1, 10 if letter == "9" else 2):
                    place = landing(x, y, way, count)
                    is_inside = min(place) >= 0 and max(place) <= 9
                    if not is_inside or place in LAKES or self.board.get(place, (None,))[0] is owner:
                        break
                    yield x, y, way, count
                    if place in self.board:
                        break

    def play(self, x: int, y: int, way: str, count: int) -> None:
        """Make a move, and print what is printed of it."""
        place = landing(x, y, way, count)
        piece, other = self.board.pop((x, y)), self.board.pop(place, None)
        line = f"{x} {y} {way}" + (f" {count}" if count > 1 else "")
        mover, self.turn = self.turn, self.turn.opponent
        if other and other[1] == "F":
            self.winner = mover
            return
        if other is None:
            self.board[place] = piece
            line += " OK"
        else:
            outcome = self._fight(piece[1], other[1])
            if outcome == "KILLS":
                self.board[place] = piece
            elif outcome == "DIES":
                self.board[place] = other
            line += f" {outcome} {piece[1]} {other[1]}"
        mobile = [
            sum(owner is color and letter not in "BF" for owner, letter in self.board.values()) for color in Color
        ]
        if mobile[mover.opponent] == 0:
            self.winner = mover if mobile[mover] else None
            return
        for printed in self.printed:
            printed.append(line)
        if mobile[mover] == 0:
            self.winner = mover.opponent

    @staticmethod
    def _fight(attacker: str, defender: str) -> str:
        if defender == "B":
            return "KILLS" if attacker == "8" else "DIES"
        if (attacker, defender) == ("s", "1"):
            return "KILLS"
        strength = {letter: number for number, letter in enumerate("s987654321")}
        if strength[attacker] == strength[defender]:
            return "BOTHDIE"
        return "KILLS" if strength[attacker] > strength[defender] else "DIES"


def random_rows(random: Random) -> tuple[list[str], list[str]]:
    """Both sides' four rows, each from the top of the board down."""
    both = ["".join(random.sample(PIECES, 40)) for _ in Color]
    red, blue = ([text[start : start + 10] for start in range(0, 40, 10)] for text in both)
    return red, blue


# --- whole games ------------------------------------------------------------------------------------------------------


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(random=st.randoms(use_true_random=False), blue_begins=st.booleans())
def test_both_bots_are_sent_what_the_manager_printed(spec: Spec, random: Random, *, blue_begins: bool) -> None:
    """The arena sends a move's line with the next turn, and not at once: to who reads the lines that is the same.

    If the arena's Blue begins, it is the manager's Red.
    """
    starts = Starts.BLUE if blue_begins else Starts.RED
    seats = Seats(spec(replace(load_ruleset("ucc-2012"), starts=starts), PATIENT), is_turned=blue_begins)
    rows = random_rows(random)
    manager = Manager(rows)
    seats.set_up(rows)
    expected: tuple[list[str], list[str]] = (["RED opponent 10 10"], ["BLUE opponent 10 10"])
    plies, answers = random.randrange(20, 400), []
    while not seats.referee.is_over:
        color = manager.turn
        expected[color].extend([*manager.printed[color], *manager.rows(color)])
        manager.printed[color].clear()
        assert seats.sent == expected
        if len(seats.referee.actions) >= plies:
            answers.append("SURRENDER")
            seats.say(color, answers[-1])
            break
        moves = list(manager.moves())
        attacks = [move for move in moves if landing(*move) in manager.board]
        x, y, way, count = random.choice(attacks if attacks and random.random() < 0.5 else moves)
        is_counted = count > 1 or random.random() < 0.1
        answers.append(f"{x} {y} {way} {count}" if is_counted else f"{x} {y} {way}")
        seats.say(color, answers[-1])
        manager.play(x, y, way, count)
    for color in Color:
        expected[color].extend([*manager.printed[color], "QUIT"])
    assert seats.sent == expected
    verdict = seats.referee.verdict
    assert verdict
    if verdict.reason in (Reason.FLAG, Reason.NO_ATTACKER, Reason.BOTH_IMMOBILE):
        winner = verdict.result.winner
        assert (winner.opponent if winner is not None and blue_begins else winner) is manager.winner
    record = seats.record()
    check_record(record)
    assert heard(record) == (seats.sent[::-1] if blue_begins else seats.sent)
    first, second = (RED, BLUE) if not blue_begins else (BLUE, RED)
    lines = [entry.text for entry in dialogue(record) if isinstance(entry, Line) and entry.speaker is Speaker.BOT]
    assert lines[:8] == [*rows[first], *rows[second]]
    assert [line.removesuffix(" 1") for line in answers] == lines[8:]


def heard(record: GameRecord) -> tuple[list[str], list[str]]:
    """What each bot was sent, by the dialogue that is worked out from the record."""
    lines = [entry for entry in dialogue(record) if isinstance(entry, Line) and entry.speaker is Speaker.ARENA]
    red, blue = ([line.text for line in lines if line.color is color] for color in Color)
    return red, blue


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.txt")), ids=lambda path: str(path.stem))
def test_conversations_go_as_they_were_written_down(path: Path, spec: Spec) -> None:
    entries = [line.split("| ", 1) for line in path.read_text("ascii").splitlines() if not line.startswith(";")]
    seats = Seats(spec(load_ruleset("ucc-2012"), PATIENT))
    told: tuple[list[str], list[str]] = ([], [])
    for head, text in entries:
        verb, word = head.split()
        color = Color[word.upper()]
        if verb == "to":
            told[color].append(text)
            assert seats.sent[color][: len(told[color])] == told[color]
        else:
            assert seats.sent[color] == told[color], "it was sent more than it had read when it answered"
            seats.say(color, text)
    assert seats.sent == told
    assert seats.referee.is_over


def test_a_rank_is_never_shown_on_a_board_of_the_opponent(spec: Spec) -> None:
    seats, rows = Seats(spec(load_ruleset("ucc-2012"), PATIENT)), random_rows(Random(1))
    seats.set_up(rows)
    assert set("".join(seats.sent[RED][-4:])) == {"#"}


@pytest.mark.parametrize("red", Dialect)
@pytest.mark.parametrize("blue", Dialect)
def test_bots_of_both_protocols_play_each_other(spec: Spec, red: Dialect, blue: Dialect) -> None:
    """The same game, whatever each side speaks; the record says what, and nothing where both speak the arena's own."""
    seats = Seats(spec(load_ruleset("isf"), PATIENT), (red, blue))
    top, arena_rows = (
        ["FBB88888BB", "BB77776666", "5555444332", "99999999s1"],
        "FBB33333BB/BB44445555/6666777889/22222222SM",
    )
    for color, dialect in zip(Color, (red, blue), strict=True):
        if dialect is Dialect.ARENA_1:
            seats.say(color, "ready")
    for color, dialect in zip(Color, (red, blue), strict=True):
        rows = top if color is RED else top[::-1]
        seats.say(color, *([f"setup {arena_rows}"] if dialect is Dialect.ARENA_1 else rows))
    both = [("move a4-a7", "0 3 DOWN 3"), ("move j7-j6", "9 6 UP"), ("move i4-i5", "8 3 DOWN"), ("resign", "SURRENDER")]
    for color, lines in zip([RED, BLUE] * 2, both, strict=True):
        line = lines[(red, blue)[color] is Dialect.UCC_2012]
        seats.say(color, "move resign" if line == "resign" else line)
    record = seats.record()
    assert record.actions == ("a4-a7", "j7-j6", "i4-i5", "resign")
    assert record.setups == (arena_rows, arena_rows)
    assert record.dialects == (red, blue)
    assert bool(record.protocols) == (Dialect.UCC_2012 in (red, blue))
    assert heard(record) == seats.sent
    check_record(record)
    assert decode_line(encode_line(record, {})).record == record


# --- what a bot may not say -------------------------------------------------------------------------------------------


def asked(*, phase: Phase = Phase.THINKING, color: Color = RED) -> UccConnection:
    """A connection whose bot has been asked for its set-up, or has set up and been asked for a move."""
    connection = UccConnection()
    for message in (Hello(1), Game(color, "ucc-2012"), SetupRequest()):
        connection.send(message)
    connection.flushed()
    if phase is not Phase.SETTING_UP:
        rows = random_rows(Random(3))[color]
        list(connection.receive("".join(f"{row}\n" for row in rows).encode()))
    if phase is Phase.THINKING:
        connection.send(Turn(1, 100, 100))
        connection.flushed()
    assert connection.phase is phase
    return connection


@pytest.mark.parametrize(
    ("phase", "line", "words"),
    [
        (Phase.SETTING_UP, b"FBs8B974B", "expected row 1 of 4 of its set-up, ten of FBs123456789, got 'FBs8B974B'"),
        (Phase.SETTING_UP, b"", "expected row 1 of 4 of its set-up"),
        (Phase.SETTING_UP, b"FBS8B974B8", "expected row 1 of 4 of its set-up"),
        (Phase.SETTING_UP, b"FBs8B974B8 x", "expected row 1 of 4 of its set-up"),
        (Phase.SETTING_UP, b"ready", "this is version 1 of the arena's protocol"),
        (Phase.SETTING_UP, b"setup FB/22", "this is version 1 of the arena's protocol"),
        (Phase.THINKING, b"move a4-a5", "this is version 1 of the arena's protocol"),
        (Phase.THINKING, b"NO_MOVE", "expected X Y and one of UP, DOWN, LEFT, RIGHT .*, or SURRENDER, got 'NO_MOVE'"),
        (Phase.THINKING, b"0 3 down", "expected X Y and one of UP, DOWN, LEFT, RIGHT"),
        (Phase.THINKING, b"0 3 DOWN 2 3", "expected X Y and one of UP, DOWN, LEFT, RIGHT"),
        (Phase.THINKING, b"-1 3 DOWN", "expected X Y and one of UP, DOWN, LEFT, RIGHT"),
        (Phase.THINKING, b"0 0 UP", "expected a move of 1 or more squares on the board, 0 to 9, got '0 0 UP'"),
        (Phase.THINKING, b"9 3 RIGHT", "expected a move of 1 or more squares on the board"),
        (Phase.THINKING, b"0 3 DOWN 0", "expected a move of 1 or more squares on the board"),
        (Phase.THINKING, b"0 3 DOWN 7", "expected a move of 1 or more squares on the board"),
        (Phase.THINKING, b"10 3 DOWN", "expected a move of 1 or more squares on the board"),
        (Phase.THINKING, "0 3 D\u00d6WN".encode(), "expected printable ASCII characters"),
        (Phase.WAITING, b"0 3 DOWN", "the line '0 3 DOWN' came during the opponent's turn"),
    ],
)
def test_what_is_wrong_with_a_line_is_said_in_words(phase: Phase, line: bytes, words: str) -> None:
    with pytest.raises(RemoteProtocolError, match=words):
        list(asked(phase=phase).receive(line + b"\n"))


@pytest.mark.parametrize(
    ("line", "action"),
    [
        (b"0 3 DOWN\r", "a4-a5"),
        (b"0 3 DOWN 1", "a4-a5"),
        (b" 9  6 UP 6 ", "j7-j1"),
        (b"4 9 LEFT 4", "e10-a10"),
        (b"SURRENDER", "resign"),
    ],
)
def test_an_answer_may_be_spelled_in_several_ways(line: bytes, action: str) -> None:
    (move,) = asked().receive(line + b"\n")
    assert move == (action,)


def test_what_comes_before_the_turn_was_written_is_no_answer_to_it() -> None:
    connection = asked(phase=Phase.WAITING)
    connection.send(Turn(1, 100, 100))
    with pytest.raises(RemoteProtocolError, match="came during the opponent's turn"):
        list(connection.receive(b"0 3 DOWN\n"))


def test_a_line_that_began_before_the_turn_was_written_is_no_answer_to_it() -> None:
    connection = asked(phase=Phase.WAITING)
    assert list(connection.receive(b"0 3 D")) == []
    connection.send(Turn(1, 100, 100))
    connection.flushed()
    with pytest.raises(RemoteProtocolError, match="came during the opponent's turn"):
        list(connection.receive(b"OWN\n"))


@given(st.binary(max_size=60), st.sampled_from([Phase.SETTING_UP, Phase.THINKING, Phase.WAITING]))
@settings(max_examples=200)
def test_whatever_a_bot_sends_is_a_message_or_an_error_of_the_protocol(data: bytes, phase: Phase) -> None:
    with suppress(RemoteProtocolError):
        assert all(isinstance(message, Move | Setup) for message in asked(phase=phase).receive(data))


@given(st.lists(st.integers(1, 9)), st.sampled_from(Color))
@settings(max_examples=50)
def test_a_setup_is_the_same_however_it_is_cut_into_parts(sizes: list[int], color: Color) -> None:
    rows = random_rows(Random(5))[color]
    data = "".join(f"{row}\n" for row in rows).encode()
    whole = list(asked(phase=Phase.SETTING_UP, color=color).receive(data))
    connection = asked(phase=Phase.SETTING_UP, color=color)
    messages: list[BotMessage] = []
    for size in sizes:
        messages += connection.receive(data[:size])
        data = data[size:]
    messages += connection.receive(data)
    assert messages == whole
    assert connection.phase is Phase.WAITING


def test_a_game_cannot_be_taken_up_in_this_dialect() -> None:
    with pytest.raises(LocalProtocolError, match="ucc-2012 has no words for Restore"):
        UccConnection().send(Restore(("F" * 10,) * 4))


def test_a_game_that_has_begun_is_not_given_to_a_bot_that_cannot_be_told_it(spec: Spec) -> None:
    rows = "FBB33333BB/BB44445555/6666777889/22222222SM"
    begun = msgspec.structs.replace(spec(load_ruleset("isf"), PATIENT), opening=(rows, rows))
    with pytest.raises(LocalProtocolError, match="for a bot that cannot be told it"):
        Seats(begun)
    Seats(begun, (Dialect.ARENA_1, Dialect.ARENA_1))


# --- when the wrong protocol is spoken --------------------------------------------------------------------------------


def test_a_bot_of_2012_that_is_greeted_is_told_how_to_say_what_it_speaks(spec: Spec) -> None:
    seats = Seats(spec(), (Dialect.ARENA_1, Dialect.ARENA_1))
    seats.say(RED, "FBs8B974B8")
    seats.say(BLUE, "ready")
    verdict = seats.referee.verdict
    assert verdict
    assert verdict.reason is Reason.PROTOCOL
    assert 'a bot that speaks it has protocol = "ucc-2012" in its bot.toml, or is named ucc:PATH' in verdict.detail


def test_a_bot_that_starts_while_it_sets_up_has_both_times_for_that(spec: Spec) -> None:
    time = TimeControl(move_ms=50, start_ms=7000, setup_ms=2000, margin_ms=100)
    seats = Seats(spec(load_ruleset("ucc-2012"), time))
    assert seats.referee.deadline == 9.1
    seats.say(BLUE, *random_rows(Random(1))[BLUE])
    seats.referee.expire(9.2)
    verdict = seats.referee.verdict
    assert verdict
    assert verdict.reason is Reason.SETUP_TIMEOUT
    assert "expected a set-up within 9000 ms (and a margin of 100 ms), none came in 9200 ms; " in verdict.detail
    assert verdict.detail.endswith("it was asked as a bot that speaks ucc-2012")


# --- records ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"interrupted": ((1, 5),)}, "red spoke ucc-2012, in which no game is begun or taken up in the middle"),
        ({"kept": (True, False)}, "red spoke ucc-2012, in which a process plays one game, and is kept"),
    ],
)
def test_a_record_of_what_the_dialect_cannot_do_is_refused(spec: Spec, changes: dict[str, object], words: str) -> None:
    seats = Seats(spec(load_ruleset("ucc-2012"), PATIENT))
    seats.set_up(random_rows(Random(2)))
    seats.say(RED, "SURRENDER")
    record = seats.record()
    check_record(record)
    with pytest.raises(RecordError, match=words):
        check_record(msgspec.structs.replace(record, **changes))


def test_a_record_of_another_army_is_refused(spec: Spec) -> None:
    seats = Seats(spec(), (Dialect.ARENA_1, Dialect.ARENA_1))
    seats.say(RED, "nonsense")
    seats.say(BLUE, "ready")
    record = seats.record()
    check_record(record)
    with pytest.raises(RecordError, match="blue: ucc-2012 knows the original army of 40 pieces alone"):
        check_record(msgspec.structs.replace(record, protocols=(Dialect.ARENA_1, Dialect.UCC_2012)))


def test_the_game_of_the_reference_is_as_it_stands_there(spec: Spec) -> None:
    (block,) = re.findall(r"```text\n(.*?)```", DIALECT.read_text("utf-8"), re.DOTALL)
    seats = Seats(spec(load_ruleset("ucc-2012"), PATIENT))
    seats.say(BLUE, "99999999s1", "5555444332", "BB77776666", "FBB88888BB")
    for line in block.splitlines():
        if line.startswith("< "):
            seats.say(RED, line[2:])
            if line == "< 0 3 DOWN 3":
                seats.say(BLUE, "9 6 UP")
    assert seats.sent[RED] == [line[2:] for line in block.splitlines() if line.startswith("> ")]
