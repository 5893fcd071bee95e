"""What every format of a league is to whoever plays it: where the next games come from."""

from collections.abc import Sequence
from typing import Protocol

from arena.game.spec import GameSpec, Player
from arena.league.game_specs import Games
from arena.league.store import GameRow


class Pairing(Protocol):
    """Gives out the games of a league, a batch at a time, in the order in which they are to be played.

    The games follow from the settings, the players and the results, and from nothing else: a league that is resumed
    asks a new pairing, which gives out the same games again. Those that are stored are not played but are results.
    """

    @property
    def planned(self) -> int | None:
        """How many games there are in all; None where that depends on results."""
        ...

    def next(self, results: Sequence[GameRow]) -> Sequence[GameSpec] | None:
        """More games, none of which was given out before; None when there are no more.

        `results` are the games given out that are over and that no call before was told of, in the order in which they
        were stored or found to be: a pairing keeps of them what it needs. An empty batch says that the results of
        games which were given out are needed first; it is asked again when there are more.
        """
        ...


class Format(Protocol):
    """A kind of league: makes its pairing. `RoundRobin` is one."""

    def __call__(self, games: Games, players: Sequence[Player], rounds: int, most: int | None) -> Pairing:
        """The pairing of these players for so many rounds; with `most`, only so many games are played, the first ones.

        `games` makes the specification of each game.
        """
        ...
