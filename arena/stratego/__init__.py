"""Stratego, the game that comes with the arena."""
