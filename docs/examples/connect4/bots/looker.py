#!/usr/bin/env python3
"""Plays Connect Four: wins if it can, stops the opponent from winning, and else prefers the middle columns."""

from protocol.game_bot import GameBot, run

DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))


class Looker(GameBot):
    name = "looker 1"

    def __init__(self) -> None:
        super().__init__()
        self.discs: dict[tuple[int, int], str] = {}
        """The colours of the discs by column, from 1, and row, from 0."""

    def told(self, line: str) -> None:
        verb, color, action = line.split(" ")[:3]
        if verb == "moved" and action != "resign":
            self.discs[int(action), self.height(int(action))] = color

    def move(self) -> str:
        middle = (int(self.rules["columns"]) + 1) / 2
        columns = sorted(map(int, self.legal), key=lambda column: abs(column - middle))
        for color in (self.color.word, self.color.opponent.word):
            for column in columns:
                if self.makes_four(column, color):
                    return str(column)
        return str(columns[0] if self.random.random() < 0.7 else self.random.choice(columns))

    def height(self, column: int) -> int:
        return sum(1 for there, _ in self.discs if there == column)

    def makes_four(self, column: int, color: str) -> bool:
        """Whether a disc of this colour in this column would be part of four in a line."""
        row = self.height(column)
        for right, up in DIRECTIONS:
            count = 1
            for way in (1, -1):
                step = way
                while self.discs.get((column + step * right, row + step * up)) == color:
                    count, step = count + 1, step + way
            if count >= 4:
                return True
        return False


run(Looker)
