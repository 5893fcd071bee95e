"""All games of a round robin in a list."""

from collections.abc import Sequence

from arena.game.spec import GameSpec, Player
from arena.league.game_specs import Games
from arena.league.pairing.round_robin import RoundRobin
from arena.league.settings import Settings


def schedule(settings: Settings, players: Sequence[Player], rounds: int) -> list[GameSpec]:
    """Return all games of a round robin, in the order of play."""
    pairing = RoundRobin(Games(settings), players, rounds)
    games: list[GameSpec] = []
    while batch := pairing.next(()):
        games += batch
    return games
