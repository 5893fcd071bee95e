#!/usr/bin/env python3
"""{{name}}: a bot made with the arena's kit, which reads and writes the lines and keeps a view of the game."""

from protocol.bot import Bot, View, random_setup, run


class Mine(Bot):
    """Plays random legal actions, until you have it do better."""

    name = "{{name}}"
    author = "{{author}}"

    def setup(self, view: View) -> str:
        """Where the army stands: ten letters a row, the back row first, files a to j, '.' for an empty square.

        Here it is shuffled.
        """
        return random_setup(view)

    def move(self, view: View) -> str:
        """Your bot's thinking goes here.

        `view.legal` holds every legal action of this turn, such as "a4-a5"; return one of them. `view.board` is the
        board: a piece, with what is known of it, or None for each of 100 squares; `view.at("e6")` asks by name.
        """
        return view.random.choice(view.legal)


if __name__ == "__main__":
    run(Mine)
