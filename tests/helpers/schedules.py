"""All games of a round robin in a list, and stored games that are given in a list."""

from collections.abc import Iterable, Sequence

from arena.game.game_spec import GameSpec, Player
from arena.league.game_ids import Games
from arena.league.pairing.round_robin import RoundRobin
from arena.league.settings import Settings
from arena.league.store import GameRow
from arena.league.stored_league import GamesBetween


def schedule(settings: Settings, players: Sequence[Player], rounds: int) -> list[GameSpec]:
    """Return all games of a round robin, in the order of play."""
    pairing = RoundRobin(Games(settings), players, rounds)
    games: list[GameSpec] = []
    while batch := pairing.next(()):
        games += batch
    return games


class Listed(GamesBetween):
    """Stored games without a store."""

    def __init__(self, rows: Iterable[GameRow]) -> None:
        self._rows = {row.id: row for row in rows}
        self.left = len(self._rows)

    def take(self, games: Sequence[GameSpec]) -> list[GameRow]:
        rows = [self._rows[game.id] for game in games if game.id in self._rows]
        self.left -= len(rows)
        return rows
