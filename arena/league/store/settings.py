"""The settings of an open store: one JSON document with its digest.

All games of a league have the same rules, clock and seed. These are kept as names with values, so that games under
other ones can never get into the same table by mistake.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from arena.errors import UsageError
from arena.game.spec import Player
from arena.league.store.database import Database
from arena.league.store.faults import Damage, DamagedError, StoreError
from arena.league.store.game_row import digest_of
from arena.league.store.kept import Document, Kept, decode_document, encode_document
from arena.league.store.setting_names import (
    NOT_CALIBRATED,
    RULES,
    RULESET,
    SEPARATOR,
    SETTINGS_OF_GAMES,
    TIME_OF,
    time_differences,
    without_known_times,
)
from arena.system.printable import printable

SETTINGS_CHANGED = "the settings were changed after they were stored"
SETTINGS_UNREADABLE = "the settings cannot be read any more"
NO_SETTINGS = (SETTINGS_CHANGED, SETTINGS_UNREADABLE)
"""The damage of a store whose settings are not to be believed."""
DIFFERENCES_SHOWN = 6
VALUE_SHOWN = 500
"""Characters of a setting that an error shows."""


class SettingsTable:
    """The settings of an open store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self) -> tuple[Document, tuple[Damage, ...]]:
        """Return the settings, or none and what is wrong with them."""
        try:
            found = self._database.query("SELECT document, digest FROM settings")
        except StoreError:
            return Document(), (Damage(None, SETTINGS_UNREADABLE),)
        if len(found) == 1 and isinstance(data := found[0][0], bytes) and digest_of(data) == found[0][1]:
            document = decode_document(data)
            if document is not None:
                return document, ()
        return Document(), (Damage(None, SETTINGS_CHANGED),)

    def checked(self) -> Document:
        """Return the settings. Raises `DamagedError` if they are not what was stored."""
        document, damage = self.read()
        if damage:
            raise DamagedError(self._database.path, damage)
        return document

    def unchecked(self) -> Document | None:
        """Return the settings whether they were changed or not; None if they cannot be read."""
        try:
            found = self._database.query("SELECT document FROM settings")
        except StoreError:
            return None
        return decode_document(found[0][0]) if found else None

    def agree(
        self,
        asked: Mapping[str, str],
        *,
        has_games: bool,
        players: Sequence[Player] = (),
        played: Callable[[], Collection[str]] = tuple,
    ) -> None:
        """Keep these settings of games, inside a transaction; `played` gives the digests of all who have games here.

        Raises `UsageError` if there are others already, and `DamagedError` if there are games and not what they were
        played under.
        """
        document = self.checked()
        present = {**NOT_CALIBRATED, **document.games} if has_games else document.games
        lost = [name for name in SETTINGS_OF_GAMES if name in asked and name not in present]
        if lost and has_games:
            words = f"it holds games, and not what they were played under ({', '.join(lost)})"
            raise DamagedError(self._database.path, (Damage(None, words),))
        of_all = {name: value for name, value in asked.items() if not name.startswith(TIME_OF)}
        of_all = {**NOT_CALIBRATED, **of_all} if of_all else {}
        different = _differences(present, of_all) + time_differences(
            present, asked, players, lambda: {*played(), *(player.digest for player in document.kept.entrants)}
        )
        if different:
            if len(different) > DIFFERENCES_SHOWN:
                different[DIFFERENCES_SHOWN:] = [f"    and {len(different) - DIFFERENCES_SHOWN} more"]
            raise UsageError(
                f"{self._database.path}: this store holds games under other settings:\n"
                + "\n".join(different)
                + "\nuse another file with --store, so that the two do not get into one table"
            )
        new = {name: value for name, value in without_known_times(asked, present).items() if name not in present}
        if new:
            self._write({**document.games, **new}, document.kept)

    def keep(self, changes: Callable[[Kept], Mapping[str, Any]]) -> None:
        """Change fields of what is kept next to the games, in a transaction of its own."""
        with self._database.transaction():
            document = self.checked()
            kept = replace(document.kept, **changes(document.kept))
            if kept != document.kept:
                self._write(document.games, kept)

    def _write(self, games: Mapping[str, str], kept: Kept) -> None:
        try:
            data = encode_document(games, kept)
        except UnicodeEncodeError:
            raise StoreError(f"{self._database.path}: expected text that can be stored as UTF-8") from None
        self._database.query("UPDATE settings SET document = ?, digest = ?", data, digest_of(data))


def _differences(present: Mapping[str, str], asked: Mapping[str, str]) -> list[str]:
    """Return a line for each difference. The rules are many: under another name they are not listed, else only those
    that differ."""
    lines = []
    different = [name for name, value in asked.items() if present.get(name, value) != value]
    for name in different:
        if name == RULES and RULESET in different:
            continue
        there, new = present[name], asked[name]
        if name == RULES:
            old, now = there.split(SEPARATOR), new.split(SEPARATOR)
            there = SEPARATOR.join(rule for rule in old if rule not in now) or "none of these"
            new = SEPARATOR.join(rule for rule in now if rule not in old) or "none of these"
        there, new = printable(there, VALUE_SHOWN), printable(new, VALUE_SHOWN)
        lines.append(f"    {name}: {there} (in the store), {new} (asked for)")
    return lines
