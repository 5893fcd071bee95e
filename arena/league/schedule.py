"""All games of a round robin at once, for who can have them in memory."""

from collections.abc import Sequence

from arena.game.spec import GameSpec, Player
from arena.league.games import NOTHING_STORED, Games, Settings, Stored
from arena.league.pairing import RoundRobin


def schedule(
    settings: Settings, players: Sequence[Player], rounds: int, stored: Stored = NOTHING_STORED
) -> list[GameSpec]:
    """All games of a league, in the order of play. Those that are `stored` under older ids have these."""
    pairing = RoundRobin(Games(settings, stored), players, rounds)
    games: list[GameSpec] = []
    while batch := pairing.next(()):
        games += batch
    return games
