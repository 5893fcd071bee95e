"""A library to search with, for bots: what is known of a game, positions to search in. See docs/searching.md."""

from arena.search.armies import Armies, Army, NoArmyError
from arena.search.knowledge import Knowledge
from arena.search.pieces import EnemyPiece
from arena.search.seat_position import Position
from arena.search.weighted import WeightedArmies

__all__ = ["Armies", "Army", "EnemyPiece", "Knowledge", "NoArmyError", "Position", "WeightedArmies"]
