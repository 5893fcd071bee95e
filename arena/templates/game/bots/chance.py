#!/usr/bin/env python3
"""Plays any game that lists its legal actions, at random."""

from protocol.game_bot import GameBot, run


class Chance(GameBot):
    name = "chance 1"

    def move(self) -> str:
        return self.random.choice(self.legal)


run(Chance)
