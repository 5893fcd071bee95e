"""Games that are being played, as whoever has begun them sees it."""

from collections.abc import Callable

from arena.game.spec import Player

TELLING_REPEATS = 3
"""So many times games have to be played again before it tells anything that one bot was in all of them."""


class Session:
    """Games that are being played, as it is seen from outside: how many there are, and whether more are begun.

    `dropped` are those that were stopped, or could not be judged; `unstored` were over, and could not be stored.
    `is_complete` tells whether there is no more to play: the pairing has no more games, and all that it has given out
    are stored.
    """

    def __init__(self) -> None:
        self.under_way = 0
        self.dropped = 0
        self.unstored = 0
        self.repeats: list[tuple[Player, Player]] = []
        """Who was to play, each time that a game had to be played again."""
        self.is_closing = False
        self.is_complete = False
        self.on_close: Callable[[], None] = lambda: None
        """What is to be told of `close`; set by who plays the games."""

    def in_all_repeats(self) -> tuple[str, int] | None:
        """The name of the one bot that was in all games that had to be played again, and how many times that was.

        None if there is no such bot or more than one, or if it was less than `TELLING_REPEATS` times.
        """
        if len(self.repeats) < TELLING_REPEATS:
            return None
        common = set[Player].intersection(*map(set, self.repeats))
        return (common.pop().name, len(self.repeats)) if len(common) == 1 else None

    def close(self) -> None:
        """Begin no game any more. Those under way are played to their end."""
        self.is_closing = True
        self.on_close()
