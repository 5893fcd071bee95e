"""What formats share whose next games depend on results: pairs of games given out, and what came of them.

Players are numbers here, their places in the order in which they take part. A *pair* is two games of two players, with
colours swapped and the same seeds. Each time that two players meet again the pair has the next number, so that the ids
of its games are their own, and the same in every run.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from arena.game.spec import GameSpec, Player
from arena.game.verdict import GameResult
from arena.league.game_specs import Games
from arena.league.store import GameRow
from protocol.notation import Color

_HALF_POINTS = {
    GameResult.RED: (2, 0),
    GameResult.BLUE: (0, 2),
    GameResult.DRAW: (1, 1),
    GameResult.NEITHER: (0, 0),
}
PAIR_HALF_POINTS = 4
"""What there is to win in a pair of games, in half points."""
LARGEST_GAP = 64
"""So many numbers of pairs may be missing before the next one that is looked for: games of later rounds, stored in a
league that was stopped."""


def half_points(row: GameRow) -> tuple[int, int]:
    """What a game gave to Red and to Blue, in half points."""
    return _HALF_POINTS[row.result]


def faults(row: GameRow) -> tuple[bool, bool]:
    """Whether Red, and whether Blue, lost the game by a fault of its own. Resigning is none."""
    if not row.reason.is_forfeit:
        return False, False
    return row.result.winner is not Color.RED, row.result.winner is not Color.BLUE


@dataclass(slots=True)
class Pair:
    """Two games of two players. Half points and faults are those of the first, then of the second of the two."""

    players: tuple[int, int]
    given: int = 0
    left: int = 0
    """Games given out, and those of them that are not over."""
    half_points: list[int] = field(default_factory=lambda: [0, 0])
    faults: list[int] = field(default_factory=lambda: [0, 0])
    numbers: list[int] = field(default_factory=list)
    """Those that its games which are over have in the store."""


class Ledger:
    """Gives out pairs of games, and enters results into them."""

    def __init__(self, games: Games, players: Sequence[Player]) -> None:
        self.players = tuple(players)
        self._games = games
        self._numbers = Counter[tuple[int, int]]()
        self._open: dict[str, tuple[Pair, bool]] = {}
        """By the id of a game: the pair, and whether its second player has Red."""

    def met(self, one: int, other: int) -> int:
        """How many pairs of games of these two were given out."""
        return self._numbers[min(one, other), max(one, other)]

    def give(self, one: int, other: int, most: int = 2) -> tuple[Pair, list[GameSpec]]:
        """The next pair of these two, of which the first one has Red first; only so many of its games."""
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
        """The pairs that stored games belong to, with those of their games that are stored."""
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
        """Enter the results of games that were given out."""
        for row in results:
            pair, is_return = self._open.pop(row.id)
            for side, (points, fault) in enumerate(zip(half_points(row), faults(row), strict=True)):
                pair.half_points[side ^ is_return] += points
                pair.faults[side ^ is_return] += fault
            pair.left -= 1
            pair.numbers.append(row.number)
