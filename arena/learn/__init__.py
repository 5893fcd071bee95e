"""Stratego for reinforcement learning: many games in lockstep as arrays, under the rules of the arena's engine."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.learn.zoo_env import StrategoAECEnv, StrategoParallelEnv


def env(*ruleset: Any, **options: Any) -> "StrategoAECEnv":
    """Return a PettingZoo environment in which red and blue act in turn: see `StrategoAECEnv`."""
    with extra_named():
        from arena.learn.zoo_env import StrategoAECEnv
    return StrategoAECEnv(*ruleset, **options)


def parallel_env(*ruleset: Any, **options: Any) -> "StrategoParallelEnv":
    """Return a PettingZoo environment with simultaneous set-ups: see `StrategoParallelEnv`."""
    with extra_named():
        from arena.learn.zoo_env import StrategoParallelEnv
    return StrategoParallelEnv(*ruleset, **options)


@contextmanager
def extra_named() -> Iterator[None]:
    """Let an import that fails say what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ImportError(f"{error}: install stratego-arena with its extra 'learn', or {error.name}") from None
