"""Says the arena's part of a short game to the bot: python3 -m unittest"""

import unittest
from io import BytesIO
from unittest.mock import patch

from bot import Mine

from protocol.bot import run

HELLO = ("hello 1",)
GAME = ("game red barrage", "rule army F:1 B:1 S:1 2:2 3:1 9:1 M:1", "clock setup 5000 move 1000", "seed 7", "setup")


def answers(*lines: str) -> list[str]:
    """What the bot answers to these lines of the arena."""
    sink = BytesIO()
    run(Mine, BytesIO("".join(f"{line}\n" for line in lines).encode()), sink)
    return sink.getvalue().decode().splitlines()


class TestBot(unittest.TestCase):
    def test_it_introduces_itself_and_wants_its_legal_actions(self) -> None:
        self.assertEqual(answers(*HELLO)[-2:], ["want legal", "ready"])

    def test_it_sets_up_the_army_of_the_rules(self) -> None:
        rows = answers(*HELLO, *GAME)[-1].removeprefix("setup ").split("/")
        self.assertEqual([len(row) for row in rows], [10] * 4)
        self.assertEqual("".join(sorted("".join(rows).replace(".", ""))), "2239BFMS")

    def test_it_plays_one_of_the_actions_of_this_turn(self) -> None:
        turn = ("enemy a7", "legal a4-a5 b4-b5", "legal c4-c5", "turn 1 1000 1000")
        self.assertIn(answers(*HELLO, *GAME, *turn)[-1], ["move a4-a5", "move b4-b5", "move c4-c5"])

    def test_it_plays_what_scores_highest(self) -> None:
        turn = ("enemy a7", "legal a4-a5 c4-c5 b4-b5", "turn 1 1000 1000")
        with patch("bot.SCORE", lambda planes, facts, codes: codes), patch("bot.TEMPERATURE", 0):
            self.assertEqual(answers(*HELLO, *GAME, *turn)[-1], "move c4-c5")


if __name__ == "__main__":
    unittest.main()
