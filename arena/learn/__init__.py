"""Stratego for reinforcement learning: many games in lockstep as arrays, under the rules of the arena's engine."""

from typing import TYPE_CHECKING, Any

from arena.errors import extra_named

if TYPE_CHECKING:
    from arena.learn.zoo_env import StrategoAECEnv, StrategoParallelEnv


def env(*ruleset: Any, **options: Any) -> "StrategoAECEnv":
    """Return a PettingZoo environment in which red and blue act in turn: see `StrategoAECEnv`."""
    with extra_named("learn"):
        from arena.learn.zoo_env import StrategoAECEnv
    return StrategoAECEnv(*ruleset, **options)


def parallel_env(*ruleset: Any, **options: Any) -> "StrategoParallelEnv":
    """Return a PettingZoo environment with simultaneous set-ups: see `StrategoParallelEnv`."""
    with extra_named("learn"):
        from arena.learn.zoo_env import StrategoParallelEnv
    return StrategoParallelEnv(*ruleset, **options)
