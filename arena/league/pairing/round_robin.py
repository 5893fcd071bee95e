"""Everybody meets everybody: in each round every pair plays twice, with colours swapped and the same seeds.

At any time all bots have played about equally often: each round is played in match days, on which every bot plays once
(with an odd number of bots one sits out), and the return games follow in the same order.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from arena.game.spec import GameSpec, Player
from arena.league.game_specs import Games
from arena.league.store import GameRow


class RoundRobin:
    """A match day at a time. No result is needed for any game: `next` never gives an empty batch.

    At any time the numbers of games that two players have played differ by one at most, or by two where the number of
    players is odd. With `most`, only so many games are played, the first ones. Where bots are kept for the
    return game, that follows at once, and these numbers may differ by one more.
    """

    def __init__(self, games: Games, players: Sequence[Player], rounds: int, most: int | None = None) -> None:
        self._games = games
        self._players = tuple(players)
        in_all = rounds * len(players) * (len(players) - 1)
        self._planned = in_all if most is None else min(in_all, most)
        self._left = self._planned
        self._days = self._match_days(rounds)

    @property
    def planned(self) -> int:
        return self._planned

    def next(self, results: Sequence[GameRow]) -> Sequence[GameSpec] | None:
        del results
        day = list(islice(next(self._days, iter(())), self._left))
        self._left -= len(day)
        return day or None

    def _match_days(self, rounds: int) -> Iterator[Iterator[GameSpec]]:
        for number in range(rounds):
            if self._games.are_in_pairs:
                for day in match_days(self._players):
                    yield (self._games.game(*who, number) for pair in day for who in (pair, pair[::-1]))
                continue
            for is_return in (False, True):
                for day in match_days(self._players):
                    yield (self._games.game(*(pair[::-1] if is_return else pair), number) for pair in day)


def match_days(players: Sequence[Player]) -> Iterator[list[tuple[Player, Player]]]:
    """Every pair once, match day by match day, with Red first (the circle method).

    One player stays, the others move on by one seat each day, and those who sit opposite each other meet. With an odd
    number of players nobody stays. Colours change with the seats, so that all have either about as often.
    """
    if len(players) < 2:
        return
    seated: list[Player | None] = [*[None] * (len(players) % 2), *players]
    stays, *circle = seated
    for day in range(len(circle)):
        seats = [stays, *circle]
        meetings: list[tuple[Player, Player]] = []
        for place in range(len(seats) // 2):
            one, other = seats[place], seats[-1 - place]
            if one is not None and other is not None:
                meetings.append((other, one) if (place or day) % 2 else (one, other))
        yield meetings
        circle = [circle[-1], *circle[:-1]]
