"""A game with the views of both its seats next to it, for tests of the library for searching."""

from collections.abc import Sequence
from random import Random

from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import Ruleset
from arena.stratego.seat_view import begun_view, enemy_squares, told_to
from protocol.bot import random_rows
from protocol.messages import ArenaMessage, Turn
from protocol.notation import Color
from protocol.view import View


class Table:
    """A game, and the views of both seats, which are given what a referee would tell them."""

    def __init__(self, ruleset: Ruleset, red: Sequence[str], blue: Sequence[str]) -> None:
        self.ruleset = ruleset
        self.rows = (tuple(red), tuple(blue))
        self.game = EngineGame(ruleset, red, blue)
        self.views = tuple(
            begun_view(ruleset, color, self.rows[color], enemy_squares(self.game, color)) for color in Color
        )
        self.actions: list[str] = []
        self._ask()

    def _ask(self) -> None:
        if self.game.outcome is None:
            self.views[self.game.to_move].apply(Turn(self.game.ply + 1, 1000, 1000))

    @property
    def view(self) -> View:
        """The view of the side to move."""
        return self.views[self.game.to_move]

    def play(self, action: str) -> None:
        self.actions.append(action)
        events = self.game.apply(action)
        for view in self.views:
            for event in told_to(events, self.game.tables, view.color):
                view.apply(event)
        self._ask()


def told(ruleset: Ruleset, rows: Sequence[Sequence[str]], actions: Sequence[str], color: Color) -> list[str]:
    """All that a seat is told in the game of these set-ups and actions, and whether it then goes on."""
    game = EngineGame(ruleset, *rows)
    messages: list[ArenaMessage] = []
    for action in actions:
        messages += told_to(game.apply(action), game.tables, color)
    return [*map(repr, messages), repr(game.outcome)]


def random_table(ruleset: Ruleset, seed: object) -> Table:
    rng = Random(f"{ruleset.name} {seed}")
    army = dict(ruleset.army)
    while True:  # a set-up in which a side has no move ends the game before it begins
        table = Table(ruleset, random_rows(army, rng), random_rows(army, rng))
        if table.game.outcome is None:
            return table
