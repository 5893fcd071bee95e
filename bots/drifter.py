#!/usr/bin/env python3
"""Drifter: a random legal action. The shortest whole bot, and the bottom of the table."""

from protocol.bot import Bot, View, run


class Drifter(Bot):
    """Asks for the list of legal actions and draws one."""

    name = "drifter 1.0"

    def move(self, view: View) -> str:
        return view.random.choice(view.legal)


if __name__ == "__main__":
    run(Drifter)
