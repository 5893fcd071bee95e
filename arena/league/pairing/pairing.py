"""The source of a league's games, `Pairing`, and the common part of formats with games that depend on results.

A *pair* is two games of two players, with colours swapped and the same seeds.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from arena.game.game_spec import GameSpec, Player
from arena.game.verdict import GameResult
from arena.league.game_ids import Games
from arena.league.store import Disqualified, GameRow
from protocol.seats import Color


class Pairing(Protocol):
    """Gives out the games of a league in batches, in the order of play; they follow from players and results."""

    @property
    def planned(self) -> int | None:
        """The number of games; None where that depends on results."""

    def next(self, results: Sequence[GameRow]) -> Sequence[GameSpec] | None:
        """Return more games, each only once, or None when there are no more; none if results are needed first."""


class Format(Protocol):
    def __call__(self, games: Games, players: Sequence[Player], rounds: int, most: int | None) -> Pairing:
        """Return the pairing of these players for `rounds` rounds, or of the first `most` games."""


_HALF_POINTS = {
    GameResult.RED: (2, 0),
    GameResult.BLUE: (0, 2),
    GameResult.DRAW: (1, 1),
    GameResult.NEITHER: (0, 0),
}
PAIR_HALF_POINTS = 4
LARGEST_GAP = 64
"""The most missing numbers of pairs in a store: a stopped league has stored games of later rounds."""


def half_points(row: GameRow) -> tuple[int, int]:
    return _HALF_POINTS[row.result]


def faults(row: GameRow) -> tuple[bool, bool]:
    """Return whether Red, and whether Blue, lost the game by a fault; resigning is none."""
    if not row.reason.is_forfeit:
        return False, False
    return row.result.winner is not Color.RED, row.result.winner is not Color.BLUE


@dataclass(slots=True)
class Pair:
    """Two games of two players. Half points and faults are those of the first player, then of the second."""

    players: tuple[int, int]
    given: int = 0
    left: int = 0
    """The number of games given out, and of those that are not over."""
    half_points: list[int] = field(default_factory=lambda: [0, 0])
    faults: list[int] = field(default_factory=lambda: [0, 0])
    numbers: list[int] = field(default_factory=list)


class Ledger:
    """Gives out pairs of games, and counts their results. Players are numbers, in the order in which they take part."""

    def __init__(self, games: Games, players: Sequence[Player]) -> None:
        self.players = tuple(players)
        self.faults = Counter[int]()
        self._games = games
        self._numbers = Counter[tuple[int, int]]()
        self._open: dict[str, tuple[Pair, bool]] = {}
        """By the id of a game, the pair and whether its second player has Red."""

    def met(self, one: int, other: int) -> int:
        return self._numbers[min(one, other), max(one, other)]

    def give(self, one: int, other: int, most: int = 2) -> tuple[Pair, list[GameSpec]]:
        """Give out the next pair of these two, or the first `most` games of it; the first player has Red first."""
        number = self.met(one, other)
        self._numbers[min(one, other), max(one, other)] += 1
        pair = Pair((one, other))
        given: list[GameSpec] = []
        for is_return in (False, True)[:most]:
            red, blue = (other, one) if is_return else (one, other)
            game = self._games.game(self.players[red], self.players[blue], number)
            self._open[game.id] = pair, is_return
            given.append(game)
        pair.given = pair.left = len(given)
        return pair, given

    def give_known(self, rows: Sequence[GameRow]) -> list[tuple[Pair, list[GameSpec]]]:
        """Return the pairs that stored games belong to, with the games that are stored."""
        places = {
            version.digest: place
            for place, player in enumerate(self.players)
            for version in self._games.versions(player)
        }
        stored: dict[tuple[int, int], set[str]] = {}
        for row in rows:
            one, other = sorted(places.get(player.digest, -1) for player in row.players)
            if 0 <= one < other:
                stored.setdefault((one, other), set()).add(row.id)
        found: list[tuple[Pair, list[GameSpec]]] = []
        for (one, other), ids in sorted(stored.items()):
            gap = 0
            while ids and gap <= LARGEST_GAP:
                pair, games = self.give(one, other)
                kept = [game for game in games if game.id in ids]
                for game in games:
                    if game not in kept:
                        del self._open[game.id]
                ids.difference_update(game.id for game in kept)
                gap = 0 if kept else gap + 1
                pair.given = pair.left = len(kept)
                if kept:
                    found.append((pair, kept))
            self._numbers[one, other] -= gap
        return found

    def tell(self, results: Sequence[GameRow]) -> None:
        for row in results:
            pair, is_return = self._open.pop(row.id)
            for side, (points, fault) in enumerate(zip(half_points(row), faults(row), strict=True)):
                pair.half_points[side ^ is_return] += points
                pair.faults[side ^ is_return] += fault
                self.faults[pair.players[side ^ is_return]] += fault
            pair.left -= 1
            pair.numbers.append(row.number)

    def disqualified(self, limit: int | None) -> dict[int, int]:
        """Return the players with at least `limit` faults, and their faults."""
        return {player: count for player, count in sorted(self.faults.items()) if limit and count >= limit}

    def as_disqualified(self, players: Mapping[int, int]) -> tuple[Disqualified, ...]:
        return tuple(Disqualified(self.players[player], count, None) for player, count in players.items())
