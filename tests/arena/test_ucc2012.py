"""The adapter for bots of 2012: an old bot is sent what the manager printed, byte by byte, whatever is played.

A manager of these tests' own works out what is expected. It knows (x, y) and the dialect's own letters, and nothing of
the arena's squares.
"""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scripted import game_spec

from arena.game.game_spec import GameSpec
from arena.game.recheck import check_record
from arena.game.recorded import judged
from arena.game.referee import Referee
from arena.game.time_control import TimeControl
from arena.stratego.rules.board import MOVES
from arena.stratego.rules.ruleset import Starts
from arena.stratego.rules.rulesets import load_ruleset, ruleset_names
from protocol.bot import Conversation
from protocol.bot_codec import decode_for_bot, encode_from_bot
from protocol.lines import ProtocolError, RemoteProtocolError
from protocol.notation import Color, Reason
from protocol.ucc2012 import OldBot, OldProgram, read_action, read_row, result_line, unspeakable

Place = tuple[int, int]
Answer = Callable[[], str]

GOLDEN = Path(__file__).parent.parent / "golden" / "ucc-2012"
DIALECT = Path(__file__).parents[2] / "docs" / "ucc-2012.md"
RED, BLUE = Color.RED, Color.BLUE
PIECES = "F" + "B" * 6 + "s" + "9" * 8 + "8" * 5 + "7" * 4 + "6" * 4 + "5" * 4 + "4" * 3 + "3" * 2 + "2" + "1"
STEPS = {"UP": (0, -1), "DOWN": (0, 1), "LEFT": (-1, 0), "RIGHT": (1, 0)}
LAKES = {(x, y) for x in (2, 3, 6, 7) for y in (4, 5)}
PATIENT = TimeControl(move_ms=60_000)
PLAYABLE = {
    *("ucc-2012", "isf", "jumbo-494", "original-2000", "milton-bradley", "lattaque"),
    *("jumbo-81320/original", "jumbo-09495/original", "travel/original", "vintage/original"),
}


class Script(OldProgram):
    """An old bot without a process: what it is sent is kept, and a function gives what it answers."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(())
        self.sent: list[str] = []
        self._answer = answer

    def start(self) -> None:
        assert not self.sent, "each game has a process of its own"

    def ask(self, lines: Sequence[str]) -> None:
        self.sent += lines

    def answer(self) -> bytes:
        return self._answer().encode()

    def quit(self, lines: Sequence[str] = ()) -> None:
        self.sent += lines


def play(spec: GameSpec, scripts: tuple[Script, Script]) -> Referee:
    """Have a referee play Red's and Blue's old bots to the end of the game, each behind its adapter."""
    referee = Referee(spec)
    conversations = [Conversation(partial(OldBot, script)) for script in scripts]
    while due := referee.due():
        for color in due:
            data = referee.take(color)
            referee.sent(color, 0.0)
            for line in data.splitlines():
                message = decode_for_bot(line)
                assert message is not None
                answers = conversations[color].receive(message)
                referee.receive(color, b"".join(map(encode_from_bot, answers)), 0.0)
    assert referee.verdict
    check_record(judged(referee, arena="0", started=0.0, seconds=0.0, stderr=("", "")))
    return referee


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
def test_both_bots_are_sent_what_the_manager_printed(random: Random, *, blue_begins: bool) -> None:
    """The line of a move comes with the next turn, and not at once: a bot that reads the lines sees no difference.

    If the arena's Blue begins, it is the manager's Red.
    """
    starts = Starts.BLUE if blue_begins else Starts.RED
    rows = random_rows(random)
    manager, plies = Manager(rows), random.randrange(20, 400)
    expected: tuple[list[str], list[str]] = (["RED opponent 10 10"], ["BLUE opponent 10 10"])
    setups: tuple[Iterator[str], Iterator[str]] = (iter(rows[RED]), iter(rows[BLUE]))
    played = 0

    def answer(color: Color) -> str:
        nonlocal played
        if row := next(setups[color], None):
            return row
        assert color is manager.turn
        expected[color].extend([*manager.printed[color], *manager.rows(color)])
        manager.printed[color].clear()
        assert scripts[color].sent == expected[color]
        played += 1
        if played > plies:
            return "SURRENDER"
        moves = list(manager.moves())
        attacks = [move for move in moves if landing(*move) in manager.board]
        x, y, way, count = random.choice(attacks if attacks and random.random() < 0.5 else moves)
        manager.play(x, y, way, count)
        return f"{x} {y} {way} {count}" if count > 1 or random.random() < 0.1 else f"{x} {y} {way}"

    scripts = Script(partial(answer, RED)), Script(partial(answer, BLUE))
    ruleset = replace(load_ruleset("ucc-2012"), starts=starts)
    referee = play(game_spec(ruleset, PATIENT), scripts[::-1] if blue_begins else scripts)
    for color in Color:
        assert scripts[color].sent == [*expected[color], *manager.printed[color], "QUIT"]
    verdict = referee.verdict
    assert verdict
    assert verdict.reason in (Reason.FLAG, Reason.NO_ATTACKER, Reason.BOTH_IMMOBILE, Reason.RESIGN, Reason.NO_MOVE)
    if verdict.reason not in (Reason.RESIGN, Reason.NO_MOVE):
        winner = verdict.result.winner
        assert (winner.opponent if winner is not None and blue_begins else winner) is manager.winner


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.txt")), ids=lambda path: str(path.stem))
def test_conversations_go_as_they_were_written_down(path: Path) -> None:
    entries = [line.split("| ", 1) for line in path.read_text("ascii").splitlines() if not line.startswith(";")]
    said: dict[str, list[str]] = {}
    for head, text in entries:
        said.setdefault(" ".join(head.split()), []).append(text)
    red, blue = iter(said["from red"]), iter(said["from blue"])
    scripts = Script(partial(next, red)), Script(partial(next, blue))
    play(game_spec(load_ruleset("ucc-2012"), PATIENT), scripts)
    assert [script.sent for script in scripts] == [said["to red"], said["to blue"]]
    assert [*red, *blue] == []


def test_the_game_of_the_reference_is_as_it_stands_there() -> None:
    (block,) = re.findall(r"```text\n(.*?)```", DIALECT.read_text("utf-8"), re.DOTALL)
    red = iter([line[2:] for line in block.splitlines() if line.startswith("< ")])
    blue = iter(["99999999s1", "5555444332", "BB77776666", "FBB88888BB", "9 6 UP"])
    scripts = Script(partial(next, red)), Script(partial(next, blue))
    play(game_spec(load_ruleset("ucc-2012"), PATIENT), scripts)
    assert scripts[RED].sent == [line[2:] for line in block.splitlines() if line.startswith("> ")]


def test_a_bot_is_told_the_name_of_its_opponent_as_one_word_where_names_are_told() -> None:
    rows = random_rows(Random(1))
    scripts = Script(partial(next, iter([*rows[RED], "SURRENDER"]))), Script(partial(next, iter(rows[BLUE])))
    named = game_spec(load_ruleset("ucc-2012"), PATIENT, names=("ann", "Red Rex 2"))
    play(msgspec.structs.replace(named, names_told=True), scripts)
    assert scripts[RED].sent[0] == "RED Red_Rex_2 10 10"


# --- lines ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"FBs8B974B", "expected row 1 of 4 of a set-up, ten of FBs123456789, got 'FBs8B974B'"),
        (b"setup FB/22", "this is version 1 of the protocol"),
        (b"F\xd6s8B974B8", "expected printable ASCII characters"),
    ],
)
def test_what_is_wrong_with_a_row_is_said_in_words(line: bytes, words: str) -> None:
    with pytest.raises(RemoteProtocolError, match=words):
        read_row(line, 1)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"move a4-a5", "this is version 1 of the protocol"),
        (b"NO_MOVE", "expected X Y and one of UP, DOWN, LEFT, RIGHT .*, or SURRENDER, got 'NO_MOVE'"),
        (b"0 0 UP", "expected a move of 1 or more squares on the board, 0 to 9, got '0 0 UP'"),
        (b"10 3 DOWN", "expected a move of 1 or more squares on the board"),
        ("0 3 D\u00d6WN".encode(), "expected printable ASCII characters"),
    ],
)
def test_what_is_wrong_with_a_move_is_said_in_words(line: bytes, words: str) -> None:
    with pytest.raises(RemoteProtocolError, match=words):
        read_action(line)


@pytest.mark.parametrize(
    ("line", "action"),
    [
        (b"0 3 DOWN\r", "a4-a5"),
        (b"0 3 DOWN 1", "a4-a5"),
        (b" 9  6 UP 6 ", "j7-j1"),
    ],
)
def test_an_answer_may_be_spelled_in_several_ways(line: bytes, action: str) -> None:
    assert read_action(line) == action


@given(st.binary(max_size=60))
@settings(max_examples=200)
def test_whatever_a_bot_writes_can_be_read_or_is_an_error_of_the_protocol(line: bytes) -> None:
    with suppress(RemoteProtocolError):
        read_action(line)
    with suppress(RemoteProtocolError):
        read_row(line, 1)


def test_every_straight_move_is_read_back_as_it_was_written() -> None:
    assert all(read_action(result_line(action, None).removesuffix(" OK").encode()) == action for action in MOVES)


# --- rules ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ruleset_names())
def test_there_are_words_for_the_original_army_and_plain_moves(name: str) -> None:
    lacking = unspeakable(dict(load_ruleset(name).lines()))
    if name in PLAYABLE:
        assert lacking == ""
    else:
        assert ("diagonal moves" if name == "tek" else "an army other than the original one") in lacking


@pytest.mark.parametrize(
    ("switch", "words"),
    [
        ("rescue", "pieces that come back (rescues)"),
        ("lightning-captains", "moves with a turn (captains two-steps)"),
        ("attackers-advantage", ""),
    ],
)
def test_there_are_no_words_for_some_switches(switch: str, words: str) -> None:
    assert unspeakable(dict(load_ruleset(f"isf+{switch}").lines())) == words


def test_a_game_that_the_dialect_has_no_words_for_is_not_begun() -> None:
    silent = Script(lambda: "")
    with pytest.raises(ProtocolError, match=r"no words for an army other than the original one .*, which duel has"):
        play(game_spec(load_ruleset("duel")), (silent, silent))
    assert silent.sent == []


# --- the process ------------------------------------------------------------------------------------------------------


def old_program(code: str) -> OldProgram:
    program = OldProgram([sys.executable, "-u", "-c", code])
    program.start()
    return program


def test_a_line_that_nobody_has_asked_for_is_an_error_and_no_answer() -> None:
    program = old_program("input(); print('one\\ntwo'); input()")
    program.ask(["RED"])
    assert program.answer() == b"one"
    with pytest.raises(RemoteProtocolError, match="nothing during the opponent's turn, got 'two'"):
        program.ask(["START"])
    program.kill()


@pytest.mark.parametrize("code", [0, 3])
def test_the_adapter_exits_as_the_old_bot_does(code: int) -> None:
    program = old_program(f"import sys; input(); sys.exit({code})")
    program.ask(["RED"])
    with pytest.raises(SystemExit) as caught:
        program.answer()
    assert caught.value.code == code
    program.kill()


def test_an_old_bot_that_does_not_exit_at_the_end_is_ended() -> None:
    program = old_program("import time; print(input()); input(); time.sleep(60)")
    program.ask(["RED"])
    assert program.answer() == b"RED"
    program.quit(["QUIT"])
    program.start()
    program.kill()
