"""Who plays the games of a league: the seam between what is to be played and where that happens."""

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

        A task is asked for when there is room for it: `tasks` may wait for outcomes of earlier ones. If the task that
        waits for an outcome is cancelled, no outcome is lost: the same iterator goes on. Raises `ArenaError` for what
        keeps all games from being played.
        """
        ...

    def close(self) -> None:
        """Begin no further game; games under way are played to their ends, and so are those that were `Lost`."""
        ...

    def stop(self) -> None:
        """End the games under way as well: the outcomes end once none of their processes is left."""
        ...

    def interrupt(self, game: str) -> None:
        """Interrupt the game of this id if it can be paused; its outcome is `Paused`."""
        ...
