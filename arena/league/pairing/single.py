"""Every pair once in each round: half the games of a round robin, with the colours balanced.

Two rounds, one after the other, are the two games of each pair: the second has the colours and no other seeds. So the
games of `2 n` rounds are those of `n` rounds of the round robin, which goes on with them.
"""

from collections.abc import Iterator, Sequence

from arena.errors import UsageError
from arena.game.spec import GameSpec, Player
from arena.league.game_specs import Games
from arena.league.pairing.round_robin import match_days
from arena.league.store import GameRow


class SingleRoundRobin:
    """A match day at a time. No result is needed for any game. Raises `UsageError` where bots are kept for a pair."""

    def __init__(self, games: Games, players: Sequence[Player], rounds: int) -> None:
        if games.are_in_pairs:
            raise UsageError(
                "--keep-bots plays the two games of a pair in the same processes: expected another format than "
                "single-round-robin, in which bots meet once a round"
            )
        self._games = games
        self._planned = rounds * len(players) * (len(players) - 1) // 2
        self._days = self._match_days(players, rounds)

    @property
    def planned(self) -> int:
        return self._planned

    def next(self, results: Sequence[GameRow]) -> Sequence[GameSpec] | None:
        del results
        return next(self._days, None)

    def _match_days(self, players: Sequence[Player], rounds: int) -> Iterator[list[GameSpec]]:
        for number in range(rounds):
            for day in match_days(players):
                yield [self._games.game(*(pair[::-1] if number % 2 else pair), number // 2) for pair in day]
