"""Gives the bot scores in place of the network's: python3 -m unittest"""

import unittest
from unittest.mock import patch

from test_bot import GAME, HELLO, answers


class TestPolicy(unittest.TestCase):
    def test_it_plays_what_scores_highest(self) -> None:
        turn = ("enemy a7", "legal a4-a5 c4-c5 b4-b5", "turn 1 1000 1000")
        with patch("bot.SCORE", lambda planes, facts, codes: codes), patch("bot.TEMPERATURE", 0):
            self.assertEqual(answers(*HELLO, *GAME, *turn)[-1], "move c4-c5")


if __name__ == "__main__":
    unittest.main()
