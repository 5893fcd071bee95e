"""The checksums of a store as a whole: of all its games together, and of its settings.

A row's own checksum cannot tell that the row is gone. So the store keeps the count of its games and the exclusive or of
their rows' checksums, which a game that is added changes at no cost, and one checksum over all settings.
"""

from collections.abc import Mapping
from hashlib import blake2b

import msgspec

from arena.league.store.database import Database
from arena.league.store.faults import Damage, DamagedError
from arena.league.store.game_row import SUM_BYTES

COUNT_BYTES = 8
SMALLEST_ROW = 64
"""Fewer bytes than any row takes: so a file's size bounds its games, whatever else it says."""
COUNT_CHANGED = "the count of games was changed after it was stored"

GAMES, SETTINGS = "games", "settings"
"""The two rows of the table."""


class Sums:
    """The table `sums` of an open store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def _value(self, name: str) -> bytes:
        found = self._database.query("SELECT value FROM sums WHERE name = ?", name)
        return found[0][0] if found and isinstance(found[0][0], bytes) else b""

    def _set(self, name: str, value: bytes) -> None:
        self._database.query("INSERT OR REPLACE INTO sums VALUES (?, ?)", name, value)

    def games(self) -> tuple[int, int]:
        """How many games were stored, and the exclusive or of the checksums of their rows.

        Raises `DamagedError` if that cannot be what was stored.
        """
        value = self._value(GAMES)
        count = int.from_bytes(value[:COUNT_BYTES])
        if len(value) != COUNT_BYTES + SUM_BYTES or count > self._database.size() // SMALLEST_ROW:
            raise DamagedError(self._database.path, (Damage(None, COUNT_CHANGED),))
        return count, int.from_bytes(value[COUNT_BYTES:])

    def set_games(self, count: int, every: int) -> None:
        """Keep these two, inside the transaction that stores the games."""
        self._set(GAMES, count.to_bytes(COUNT_BYTES) + every.to_bytes(SUM_BYTES))

    def are_of(self, settings: Mapping[str, str]) -> bool:
        """Whether these settings are those that were stored."""
        return _settings_sum(settings) == self._value(SETTINGS)

    def set_settings(self, settings: Mapping[str, str]) -> None:
        """Keep the checksum of these settings, inside the transaction that stores them."""
        self._set(SETTINGS, _settings_sum(settings))


def _settings_sum(settings: Mapping[str, str]) -> bytes:
    return blake2b(msgspec.msgpack.encode(sorted(settings.items())), digest_size=SUM_BYTES).digest()
