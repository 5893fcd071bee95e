"""All games of a round robin at once, for who can have them in memory."""

from collections.abc import Sequence

from arena.game.spec import GameSpec, Player
from arena.league.games import Games, Settings
from arena.league.pairing import RoundRobin


def schedule(settings: Settings, players: Sequence[Player], rounds: int) -> list[GameSpec]:
    """Return all games of a league, in the order of play."""
    pairing = RoundRobin(Games(settings), players, rounds)
    games: list[GameSpec] = []
    while batch := pairing.next(()):
        games += batch
    return games
