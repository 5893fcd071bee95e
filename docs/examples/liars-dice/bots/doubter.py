#!/usr/bin/env python3
"""Plays Liar's Dice by the chances: raises while the bid is likely true, and calls a lie when it is not."""

from math import comb

from protocol.game_bot import GameBot, run


class Doubter(GameBot):
    name = "doubter 1"

    def __init__(self) -> None:
        super().__init__()
        self.dice: list[int] = []
        self.lost = {"red": 0, "blue": 0}
        self.bid = ""
        """The last bid of this round."""

    def told(self, line: str) -> None:
        verb, *fields = line.split(" ")
        if verb == "dice":
            self.dice, self.bid = list(map(int, fields)), ""
        elif verb == "moved":
            self.bid = fields[1]
        elif verb == "lost":
            self.lost[fields[0]] += 1

    def move(self) -> str:
        bids = [action for action in self.legal if action != "liar"]
        best = max(bids, key=lambda bid: (round(self.chance(bid), 1), self.random.random()), default="liar")
        if self.bid and self.chance(self.bid) < 0.3 and self.chance(self.bid) < self.chance(best):
            return "liar"
        if self.bid and (best == "liar" or self.chance(best) < 1 - self.chance(self.bid)):
            return "liar"
        return best

    def chance(self, bid: str) -> float:
        """Return the probability that a bid is true, as far as this seat knows."""
        if bid == "liar":
            return 0.0
        count, face = map(int, bid.split("x"))
        is_wild = self.rules["ones-are-wild"] == "yes"
        needed = count - sum(die == face or (is_wild and die == 1) for die in self.dice)
        hidden = int(self.rules["dice"]) - self.lost[self.color.opponent.word]
        hit = 2 / 6 if is_wild and face != 1 else 1 / 6
        return sum(
            comb(hidden, hits) * hit**hits * (1 - hit) ** (hidden - hits) for hits in range(max(0, needed), hidden + 1)
        )


run(Doubter)
