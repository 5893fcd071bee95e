"""Says the arena's part of a short game to the bot: python3 -m unittest"""

import unittest

from bot import Bot


class TestBot(unittest.TestCase):
    def setUp(self) -> None:
        self.bot = Bot()

    def answer(self, line: str) -> str:
        answer = self.bot.answer(line)
        assert answer is not None, line
        return answer

    def tell(self, *lines: str) -> None:
        """Say lines to which it may not answer."""
        for line in lines:
            self.assertIsNone(self.bot.answer(line), line)

    def test_it_introduces_itself_and_wants_its_legal_actions(self) -> None:
        self.assertEqual(self.answer("hello 1").splitlines()[-2:], ["want legal", "ready"])

    def test_it_sets_up_the_army_of_the_rules(self) -> None:
        self.tell("game red barrage", "rule army F:1 B:1 S:1 2:2 3:1 9:1 M:1", "seed 7")
        rows = self.answer("setup").removeprefix("setup ").split("/")
        self.assertEqual([len(row) for row in rows], [10] * 4)
        self.assertEqual("".join(sorted("".join(rows).replace(".", ""))), "2239BFMS")

    def test_it_plays_one_of_the_actions_of_this_turn(self) -> None:
        self.tell("", "a verb that it does not know", "legal a4-a5 b4-b5", "legal c4-c5")
        self.assertIn(self.answer("turn 1 1000 1000"), ["move a4-a5", "move b4-b5", "move c4-c5"])
        self.tell("legal d4-d5")
        self.assertEqual(self.answer("turn 3 1000 1000"), "move d4-d5")


if __name__ == "__main__":
    unittest.main()
