"""The compiled sample bot plays every ruleset legally, with its memory watched, and follows what it is told."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from talking import play, talking

from arena.game.time_control import TimeControl
from protocol.notation import Color
from tests.test_bots import VARIANTS

FOLDER = Path(__file__).parent.parent / "bots" / "veteran"
PLIES = 16
NOTHING_IN_HAND = TimeControl(move_ms=40)
"""Two milliseconds to think: a few worlds."""

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler (cc) here")


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


def test_it_plays_legally_under_every_ruleset(program: str) -> None:
    """All games in the same two processes: so nothing may be carried over to the next."""
    with talking([program]) as red, talking([program]) as blue:
        for variant in VARIANTS:
            verdict = play(variant, PLIES, (red, blue), NOTHING_IN_HAND).verdict
            assert verdict is not None
            assert not verdict.reason.is_forfeit, (variant, verdict)


def test_it_beats_a_random_bot_in_a_whole_game(program: str) -> None:
    drifter = [sys.executable, str(FOLDER.parent / "drifter.py")]
    with talking(drifter, FOLDER.parents[1], {"PYTHONPATH": "."}) as red, talking([program]) as blue:
        verdict = play("barrage", 2000, (red, blue), NOTHING_IN_HAND).verdict
    assert verdict is not None
    assert verdict.result.winner is Color.BLUE, verdict


def chosen(program: str, happened: str, legal: str, move_ms: int) -> str:
    """What it plays as red in a game that goes on after what has happened."""
    army = "rule army F:1 B:6 S:1 2:8 3:5 4:4 5:4 6:4 7:3 8:2 9:1 M:1\n"
    rows = "3BFB323B32/45B427B4S5/2658329627/62M546B827"
    begun = f"game red isf\n{army}rule two-squares 3\nclock setup 5000 move {move_ms}\nseed 1\nrestore {rows}\n"
    with talking([program]) as talk:
        talk.input.write(f"hello 1\n{begun}{happened}legal {legal}\nturn 5 {move_ms} {move_ms}\n".encode())
        talk.input.flush()
        return next(line for line in talk.output if line.startswith(b"move ")).decode()


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
