"""Stores that are only read, and what is said of a file that is a paused game in the place of one."""

from pathlib import Path

from arena.cli.words import shell_line, this_command
from arena.counted import counted
from arena.errors import UsageError
from arena.league.store import Store


def open_to_read(path: Path, *, is_doubtful: bool = False) -> Store:
    """The store at a path. Raises `UsageError` if there is none; of a paused game it says how to go on with it.

    `is_doubtful` is as for `Store`.
    """
    try:
        return Store(path, create=False, is_doubtful=is_doubtful)
    except UsageError:
        words = _paused_words(path)
        if words is None:
            raise
        raise UsageError(words) from None


def _paused_words(path: Path) -> str | None:
    from arena.play.saved_game import load_saved

    try:
        paused = load_saved(path)
    except UsageError:
        return None
    red, blue = (player.name for player in paused.players)
    words = ("play", "--resume") if paused.persons else ("resume",)
    go_on = shell_line(*this_command(), *words, str(path))
    done = counted(len(paused.history.actions), "ply", "plies")
    return (
        f"{path}: expected a store, got a paused game, {red} - {blue}, after {done}; "
        f"go on with: {go_on}\nits result goes to {paused.store}"
    )
