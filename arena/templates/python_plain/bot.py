#!/usr/bin/env python3
"""{{name}}: a bot that reads the arena's lines and answers with its own (docs/protocol.md of the arena)."""

import sys
from random import Random

NAME = "{{name}}"
AUTHOR = "{{author}}"
HOME_SQUARES = 40


class Bot:
    """What the bot knows of the game, and what it answers."""

    def __init__(self) -> None:
        self.army = ""  # one letter a piece
        self.legal: list[str] = []
        self.random = Random()

    def choose(self) -> str:
        """Your bot's thinking goes here.

        `self.legal` holds every legal action of this turn, such as "a4-a5"; return one of them. To have the whole board
        before each turn, too, ask for it ("want legal board" below) and read the line "board", which has 100 cells from
        a1 to j10. What happened since the last turn is in the lines "moved", "battle" and "reveal".
        """
        return self.random.choice(self.legal)

    def set_up(self) -> str:
        """Where the army stands: ten letters a row, the back row first, files a to j, '.' for an empty square.

        Here it is shuffled.
        """
        cells = list(self.army.ljust(HOME_SQUARES, "."))
        self.random.shuffle(cells)
        return "/".join("".join(cells[start : start + 10]) for start in range(0, HOME_SQUARES, 10))

    def answer(self, line: str) -> str | None:
        """What the bot answers to one line of the arena; None, to most of them."""
        match line.split():
            case ["hello", *_]:
                return f"name {NAME}\nauthor {AUTHOR}\nwant legal\nready"
            case ["rule", "army", *fields]:  # such as B:6
                self.army = "".join(letter * int(count) for letter, count in (field.split(":") for field in fields))
            case ["seed", number, *_]:
                self.random = Random(int(number))
            case ["setup", *_]:
                return f"setup {self.set_up()}"
            case ["legal", *actions]:  # a long list comes in several lines
                self.legal += actions
            case ["turn", *_]:
                action = self.choose()
                self.legal = []
                return f"move {action}"
        return None  # all else may be ignored, and what a later arena adds must be


def main() -> None:
    bot = Bot()
    for line in sys.stdin:
        if line.split()[:1] == ["quit"]:
            break
        answer = bot.answer(line)
        if answer is not None:
            print(answer, flush=True)


if __name__ == "__main__":
    main()
