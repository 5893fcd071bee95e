"""What every format of a league is to whoever plays it: where the next games come from."""

from collections.abc import Sequence
from typing import Protocol

from arena.game.spec import GameSpec
from arena.league.store import GameRow


class Pairing(Protocol):
    """Gives out the games of a league, a batch at a time, in the order in which they are to be played.

    The games follow from the settings, the players and the results: a league that is resumed asks a new pairing, is
    given the games that are stored as well, and passes over them.
    """

    @property
    def planned(self) -> int | None:
        """How many games there are in all; None where that depends on results."""
        ...

    def next(self, results: Sequence[GameRow]) -> Sequence[GameSpec] | None:
        """More games, none of which was given out before; None when there are no more.

        `results` are all games of the league that are over. An empty batch says that the results of games which were
        given out are needed first.
        """
        ...
