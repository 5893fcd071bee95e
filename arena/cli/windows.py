"""Where bots cannot be run: said by the commands that would run them, before anything else."""

import sys

from arena.errors import UsageError


def refuse_windows() -> None:
    """Raise `UsageError` where bots cannot be run: the arena waits for their pipes as only Unix can."""
    if sys.platform == "win32":
        raise UsageError(
            "bots run on Linux and macOS; on Windows run arena in WSL 2, where all of it works "
            "(stores can be read here: arena standings, games, show)"
        )
