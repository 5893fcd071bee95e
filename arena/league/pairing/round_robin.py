"""Formats with games that do not depend on results: round robins and the gauntlet, also without disqualified bots.

A batch is a match day, on which no bot is in two pairs. So at any time all bots have played about equally often.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from arena.errors import UsageError
from arena.game.game_spec import GameSpec, Player
from arena.league.game_ids import Games
from arena.league.pairing.pairing import Pairing, Placing, faults
from arena.league.store import Disqualified, GameRow


class _MatchDays(Pairing):
    def __init__(self, planned: int, days: Iterator[list[GameSpec]]) -> None:
        self._planned = self._left = planned
        self._days = days

    @property
    def planned(self) -> int:
        return self._planned

    def next(self, results: Sequence[GameRow]) -> Sequence[GameSpec] | None:
        del results
        day = list(islice(next(self._days, ()), self._left))
        self._left -= len(day)
        return day or None


class RoundRobin(_MatchDays):
    """Every pair of players meets twice a round, with colours swapped and the same seeds. `most` limits the games."""

    def __init__(self, games: Games, players: Sequence[Player], rounds: int, most: int | None = None) -> None:
        in_all = rounds * len(players) * (len(players) - 1)
        super().__init__(in_all if most is None else min(in_all, most), _double_days(games, players, rounds))


def _double_days(games: Games, players: Sequence[Player], rounds: int) -> Iterator[list[GameSpec]]:
    for number in range(rounds):
        if games.are_in_pairs:
            for day in match_days(players):
                yield [games.game(*who, number) for pair in day for who in (pair, pair[::-1])]
            continue
        for is_return in (False, True):
            for day in match_days(players):
                yield [games.game(*(pair[::-1] if is_return else pair), number) for pair in day]


class SingleRoundRobin(_MatchDays):
    """Every pair meets once in each round. Raises `UsageError` where bots are kept for a pair of games."""

    def __init__(self, games: Games, players: Sequence[Player], rounds: int) -> None:
        if games.are_in_pairs:
            raise UsageError(
                "--keep-bots plays the two games of a pair in the same processes: expected another format than "
                "single-round-robin, in which bots meet once a round"
            )
        days = (
            [games.game(*(pair[::-1] if number % 2 else pair), number // 2) for pair in day]
            for number in range(rounds)
            for day in match_days(players)
        )
        super().__init__(rounds * len(players) * (len(players) - 1) // 2, days)


class Gauntlet(_MatchDays):
    """In each round each of the first players, the challengers, meets each other bot in a pair of games."""

    def __init__(
        self, games: Games, players: Sequence[Player], challengers: int, rounds: int, idle: Collection[str] = ()
    ) -> None:
        if not 1 <= challengers < len(players):
            most = f"from 1 to {len(players) - 1} of {len(players)} bots"
            raise UsageError(f"--challengers: expected a number {most}, got {challengers}")
        sides = [
            tuple(player for player in side if player.digest not in idle)
            for side in (players[:challengers], players[challengers:])
        ]
        if not all(sides):
            which = "challengers" if sides[1] else "others"
            raise UsageError(f"--challengers: none of the {which} can be started, so that there are no games")
        few, many = sorted(sides, key=len)
        super().__init__(2 * rounds * len(few) * len(many), _gauntlet_days(games, few, many, rounds))


def _gauntlet_days(
    games: Games, few: Sequence[Player], many: Sequence[Player], rounds: int
) -> Iterator[list[GameSpec]]:
    for number in range(rounds):
        for day in range(len(many)):
            pairs = [(one, many[(place + day) % len(many)], (place + day) % 2) for place, one in enumerate(few)]
            yield [
                games.game(*((other, one) if swaps ^ is_return else (one, other)), number)
                for one, other, swaps in pairs
                for is_return in (False, True)
            ]


def match_days(players: Sequence[Player]) -> Iterator[list[tuple[Player, Player]]]:
    """Yield every pair once, match day by match day, with Red first (the circle method)."""
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


MOST_WAITING = 1000


class WithoutDisqualified(Pairing):
    """Another pairing without the games of bots that have had `limit` faults before.

    Whether a game is left out depends on the earlier games of its two bots in the pairing's order; it waits for these.
    """

    def __init__(self, pairing: Pairing, limit: int) -> None:
        self._pairing = pairing
        self._limit = limit
        self._waiting: list[GameSpec] = []
        self._is_exhausted = False
        self._given: dict[str, GameSpec] = {}
        self._open = Counter[str]()
        self._faults = Counter[str]()
        self._left_out = Counter[str]()
        self._players: dict[str, Player] = {}

    @property
    def planned(self) -> None:
        return None

    @property
    def at_most(self) -> int | None:
        return self._pairing.planned

    def next(self, results: Sequence[GameRow]) -> Sequence[GameSpec] | None:
        for row in results:
            game = self._given.pop(row.id)
            for player, is_fault in zip(game.players, faults(row), strict=True):
                self._open[player.digest] -= 1
                self._faults[player.digest] += is_fault
        while True:
            batch = self._decided()
            if batch or (self._waiting and (self._is_exhausted or len(self._waiting) > MOST_WAITING)):
                return batch
            if self._is_exhausted:
                return None
            more = self._pairing.next(())
            self._is_exhausted = more is None
            self._waiting += more or ()

    def _decided(self) -> list[GameSpec]:
        batch: list[GameSpec] = []
        waiting: list[GameSpec] = []
        held: set[str] = set()
        for game in self._waiting:
            digests = [player.digest for player in game.players]
            self._players.update(zip(digests, game.players, strict=True))
            out = [digest for digest in digests if self._faults[digest] >= self._limit]
            if not held.isdisjoint(digests) or (
                not out and any(self._faults[digest] + self._open[digest] >= self._limit for digest in digests)
            ):
                held.update(digests)
                waiting.append(game)
            elif out:
                self._left_out.update(out)
            else:
                self._given[game.id] = game
                self._open.update(digests)
                batch.append(game)
        self._waiting = waiting
        return batch

    def placing(self) -> Placing:
        """Return the disqualified bots, and how many games of each were left out so far."""
        is_so_far = bool(not self._is_exhausted or self._waiting or self._given)
        return Placing(
            disqualified=tuple(
                Disqualified(self._players[digest], count, self._left_out[digest], is_so_far)
                for digest, count in sorted(self._faults.items())
                if count >= self._limit
            )
        )
