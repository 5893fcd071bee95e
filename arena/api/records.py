"""The games of a file of records: `arena.read_records`."""

from collections.abc import Iterator

from arena.api.settings import AnyPath, path_of
from arena.game.record import GameRecord
from arena.league import record_file


def read_records(path: AnyPath) -> Iterator[GameRecord]:
    """The games of a file that `arena export` wrote, one after the other, as records.

    Each line is checked by itself; `arena verify FILE` plays the games again. Raises `UsageError` if the file cannot be
    read, is none of records or holds only what one side may know (`--view`), and `ArenaError` with the number of the
    line that is not as it was written.
    """
    return record_file.read_records(path_of(path, "path"))
