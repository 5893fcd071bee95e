"""The compiled sample bot plays every ruleset legally, with its memory watched, and follows what it is told."""

import random
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

import pytest

from arena.game.game_spec import GameSpec, Player
from arena.game.referee import Referee
from arena.game.time_control import TimeControl
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset
from protocol.bot import Bot, Conversation, View
from protocol.bot_codec import decode_for_bot, encode_from_bot
from protocol.notation import Color
from tests.test_bots import VARIANTS

FOLDER = Path(__file__).parent.parent / "bots" / "veteran"
PLIES = 24
ANSWERS = (b"ready", b"setup ", b"move ")
NOTHING_IN_HAND = TimeControl(move_ms=40)
"""Two milliseconds to think: a few worlds."""

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler (cc) here")


class Drifter(Bot):
    name = "drifter"

    def move(self, view: View) -> str:
        return view.random.choice(view.legal)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The bot, built so that a wrong access to memory ends it; plainly where that cannot be had."""
    path = str(tmp_path_factory.mktemp("veteran") / "veteran")
    flags = ["-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror"]
    line = ["cc", *flags, "-o", path, *map(str, FOLDER.glob("*.c")), "-lm"]
    watched = subprocess.run(
        [*line, "-fsanitize=address,undefined", "-fno-sanitize-recover=all"], capture_output=True, check=False
    )
    if watched.returncode:
        subprocess.run(line, check=True)
    return path


class Seat:
    """The program at one side of a game: what is said to it, and its next answer."""

    def __init__(self, program: "subprocess.Popen[bytes]") -> None:
        assert program.stdin is not None
        assert program.stdout is not None
        self.input: IO[bytes] = program.stdin
        self.output: IO[bytes] = program.stdout

    def say(self, text: bytes) -> None:
        self.input.write(text)
        self.input.flush()

    def lines(self) -> Iterator[bytes]:
        """What it says until it has answered."""
        for line in self.output:
            yield line
            if line.startswith(ANSWERS):
                return
        raise AssertionError("the program has ended")


@contextmanager
def seated(program: str) -> Iterator[Seat]:
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        seat = Seat(process)
        try:
            yield seat
            seat.say(b"quit\n")
            assert process.wait(30) == 0
        finally:
            process.kill()


def play(variant: str, color: Color, seat: Seat, seed: int, plies: int = PLIES) -> Referee:
    """A game of the program against a random bot, cut off at some ply."""
    ruleset = replace(load_ruleset(variant), max_plies=plies)
    players = (Player("r", "1"), Player("b", "2"))
    referee = Referee(GameSpec("0" * 16, variant_of(ruleset), NOTHING_IN_HAND, players, (seed, seed + 1), 5))
    drifter = Conversation(Drifter)
    while referee.verdict is None:
        for due in referee.due():
            text = referee.take(due)
            referee.sent(due, 0.0)
            if due is color:
                seat.say(text)
                for line in seat.lines():
                    referee.receive(due, line, 0.0)
                continue
            for line in text.splitlines(keepends=True):
                message = decode_for_bot(line)
                assert message is not None
                for answer in drifter.receive(message):
                    referee.receive(due, encode_from_bot(answer), 0.0)
    return referee


@pytest.mark.parametrize("variant", VARIANTS)
def test_it_plays_legally_under_every_ruleset(program: str, variant: str) -> None:
    color, seed = Color(VARIANTS.index(variant) % 2), random.Random(variant).randrange(2**32 - 1)
    with seated(program) as seat:
        verdict = play(variant, color, seat, seed).verdict
    assert verdict is not None
    assert not verdict.reason.is_forfeit, (color, verdict)


def test_it_beats_a_random_bot_in_a_whole_game(program: str) -> None:
    with seated(program) as seat:
        verdict = play("barrage", Color.BLUE, seat, seed=7, plies=2000).verdict
    assert verdict is not None
    assert verdict.result.winner is Color.BLUE, verdict


def chosen(program: str, happened: str, legal: str, move_ms: int) -> str:
    """What it plays as red in a game that goes on after what has happened."""
    army = "rule army F:1 B:6 S:1 2:8 3:5 4:4 5:4 6:4 7:3 8:2 9:1 M:1\n"
    rows = "3BFB323B32/45B427B4S5/2658329627/62M546B827"
    begun = f"game red isf\n{army}rule two-squares 3\nclock setup 5000 move {move_ms}\nseed 1\nrestore {rows}\n"
    with seated(program) as seat:
        seat.say(b"hello 1\n")
        assert b"ready\n" in list(seat.lines())
        seat.say(f"{begun}{happened}legal {legal}\nturn 5 {move_ms} {move_ms}\n".encode())
        return list(seat.lines())[-1].decode()


def test_an_interrupted_game_goes_on(program: str) -> None:
    """It takes its set-up and what has happened from the lines, and answers from the position that they lead to."""
    happened = "moved red j4-j5\nmoved blue j7-j6\nmoved red j5-j6\nbattle j6 7 2 attacker\nmoved blue i7-i6\n"
    assert chosen(program, happened, "j6-i6 a4-a5", 40) in ("move j6-i6\n", "move a4-a5\n")


GENERAL_COMES = """\
moved blue e7-e6
moved red i4-i5
moved blue e6-e5
moved red i5-i4
moved blue e5-e4
battle e4 9 4 attacker
"""
"""After which a known general stands beside the captain on f4."""


def test_a_piece_that_may_be_a_bomb_does_not_run_from_a_known_general(program: str) -> None:
    """What has not moved is safe beside it, as it may be a bomb, and what runs is hunted. What has moved does run."""
    captain_moves = "moved red f4-f5\nmoved blue a7-a6\nmoved red f5-f4\nmoved blue a6-a7\n"
    assert chosen(program, GENERAL_COMES, "f4-f5 a4-a5", 10) == "move a4-a5\n"
    assert chosen(program, captain_moves + GENERAL_COMES, "f4-f5 a4-a5", 10) == "move f4-f5\n"
