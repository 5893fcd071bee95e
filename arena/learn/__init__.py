"""Stratego for reinforcement learning: many games in lockstep as arrays, under the rules of the arena's engine."""
