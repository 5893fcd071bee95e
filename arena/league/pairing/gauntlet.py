"""The first bots, the challengers, each meet all others; neither meet among themselves.

What it takes to place a new bot among old ones, or to compare a few with the same opposition.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from arena.errors import UsageError
from arena.game.spec import GameSpec, Player
from arena.league.game_specs import Games
from arena.league.store import GameRow


class Gauntlet:
    """In each round each challenger meets each other bot in a pair of games. No result is needed for any game.

    A batch is a match day, on which nobody is in two pairs. Bots of the digests in `idle` are not paired. Raises
    `UsageError` unless there is a challenger, and somebody to challenge.
    """

    def __init__(
        self, games: Games, players: Sequence[Player], challengers: int, rounds: int, idle: Collection[str] = ()
    ) -> None:
        if not 1 <= challengers < len(players):
            most = f"from 1 to {len(players) - 1} of {len(players)} bots"
            raise UsageError(f"--challengers: expected a number {most}, got {challengers}")
        self._games = games
        sides = [
            tuple(player for player in side if player.digest not in idle)
            for side in (players[:challengers], players[challengers:])
        ]
        if not all(sides):
            which = "challengers" if sides[1] else "others"
            raise UsageError(f"--challengers: none of the {which} can be started, so that there are no games")
        self._few, self._many = sorted(sides, key=len)
        self._planned = 2 * rounds * len(self._few) * len(self._many)
        self._days = islice(self._match_days(), rounds * len(self._many))

    @property
    def planned(self) -> int:
        return self._planned

    def next(self, results: Sequence[GameRow]) -> Sequence[GameSpec] | None:
        del results
        return next(self._days, None)

    def _match_days(self) -> Iterator[list[GameSpec]]:
        number = 0
        while True:
            for day in range(len(self._many)):
                pairs = [
                    (one, self._many[(place + day) % len(self._many)], (place + day) % 2)
                    for place, one in enumerate(self._few)
                ]
                yield [
                    self._games.game(*((other, one) if swaps ^ is_return else (one, other)), number)
                    for one, other, swaps in pairs
                    for is_return in (False, True)
                ]
            number += 1
