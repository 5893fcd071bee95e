"""A search library for Stratego bots, under its public name: see docs/searching.md."""

from arena.stratego.search.armies import Armies, Army, NoArmyError
from arena.stratego.search.knowledge import Knowledge
from arena.stratego.search.pieces import EnemyPiece
from arena.stratego.search.seat_position import Position
from arena.stratego.search.weighted import WeightedArmies

__all__ = ["Armies", "Army", "EnemyPiece", "Knowledge", "NoArmyError", "Position", "WeightedArmies"]
