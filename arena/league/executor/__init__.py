"""The interface between the games to be played and the place where they are played."""

from collections.abc import AsyncIterable, AsyncIterator
from typing import Protocol

from arena.league.executor.task import (
    Begun,
    Failed,
    GameTask,
    Lost,
    Notice,
    NotPlayed,
    Outcome,
    Paused,
    Played,
    PlaySettings,
    Watched,
)

__all__ = [
    "Begun",
    "Executor",
    "Failed",
    "GameTask",
    "Lost",
    "NotPlayed",
    "Notice",
    "Outcome",
    "Paused",
    "PlaySettings",
    "Played",
    "Watched",
]


class Executor(Protocol):
    """Plays games, several at once. No two of them have the same id."""

    def play(self, tasks: AsyncIterable[GameTask]) -> AsyncIterator[Outcome]:
        """Play these games and yield their outcomes.

        `tasks` is iterated when there is room for a game: it may wait for outcomes of earlier ones. Cancelling the task
        that waits for an outcome loses none: the same iterator continues. Raises `ArenaError` for errors that prevent
        all games.
        """
        ...

    def close(self) -> None:
        """Begin no further game; games under way, and those that were `Lost`, are played to their end."""
        ...

    def stop(self) -> None:
        """End the games under way as well: the outcomes end once all their processes have ended."""
        ...

    def interrupt(self, game: str) -> None:
        """Interrupt the game of this id if it can be paused; its outcome is `Paused`."""
        ...
