"""A search library for bots: the knowledge of a seat, and positions to search in. See docs/searching.md."""

from arena.search.armies import Armies, Army, NoArmyError
from arena.search.knowledge import Knowledge
from arena.search.pieces import EnemyPiece
from arena.search.seat_position import Position
from arena.search.weighted import WeightedArmies

__all__ = ["Armies", "Army", "EnemyPiece", "Knowledge", "NoArmyError", "Position", "WeightedArmies"]
