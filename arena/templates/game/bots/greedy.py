#!/usr/bin/env python3
"""Takes as much as it can, and remembers its cup."""

from protocol.game_bot import GameBot, run


class Greedy(GameBot):
    name = "greedy 1"
    cup = 0

    def told(self, line: str) -> None:
        """Called with each line that belongs to the game."""
        verb, *fields = line.split(" ")
        if verb == "cup":
            self.cup = int(fields[0])

    def move(self) -> str:
        self.note(f"{self.cup} in the cup")
        return max(self.legal, key=int)


run(Greedy)
