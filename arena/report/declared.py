"""What bots have said of themselves, out of the records of their games. Tables call them by other names."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import msgspec

from arena.game.record import GameRecord
from arena.league.store import GameRow
from arena.report.standings import Line


class Declared(NamedTuple):
    """What a bot has said of itself with the protocol's `name` and `author`; None for what it has not."""

    name: str | None = None
    author: str | None = None


NOT_LOOKED_AT: Mapping[str, Declared] = {}
"""For tables of which nobody has read the records."""


def declared_in(record: GameRecord | None, digest: str) -> Declared:
    """What the bot of this digest said of itself in a game of its own, if it came to that."""
    sides = [side for side, player in enumerate(record.players) if player.digest == digest] if record else []
    if record is None or not sides:
        return Declared()
    authors = record.authors or ("", "")
    return Declared(record.declared[sides[0]] or None, authors[sides[0]] or None)


def declared_last(rows: Iterable[GameRow], record_of: Callable[[int], GameRecord | None]) -> dict[str, Declared]:
    """What each bot said of itself in the last of these games that it played, by digest."""
    last = {player.digest: row.number for row in rows for player in row.players}
    return {digest: declared_in(record_of(number), digest) for digest, number in last.items()}


def with_declared(line: Line, declared: Mapping[str, Declared]) -> Line:
    """A line of a table with what its bot has said of itself, if somebody has looked."""
    said = declared.get(line.digest)
    return msgspec.structs.replace(line, declared=said.name, author=said.author) if said else line
