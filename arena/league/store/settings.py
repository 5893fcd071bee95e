"""The settings of a store: what all its games share, and what a league keeps beside them.

All games of a league have the same rules, clock and seed. They stand here as names with values, so that games under
other ones can never get into the same table by mistake. Entrants, their files and places and the number of planned
games are kept in the same table (`KEPT_BESIDE`), and may change.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from arena.bots.limits import Limits, read_limits
from arena.errors import UsageError
from arena.game.spec import Player
from arena.league.store.arguments import ARGUMENTS
from arena.league.store.database import Database
from arena.league.store.disqualified import DISQUALIFIED
from arena.league.store.faults import Damage, DamagedError, StoreError
from arena.league.store.not_counted import NOT_COUNTED
from arena.league.store.own_times import TIME_OF, time_differences, without_known
from arena.league.store.setting_names import (
    CALIBRATION,
    HIDDEN,
    KEEP_BOTS,
    LIMITS_OF,
    NO_OPENINGS,
    OPENINGS,
    OPPONENTS,
    RULES,
    RULESET,
    SETTINGS_OF_GAMES,
)
from arena.league.store.sums import Sums
from arena.printable import printable

PLANNED = "planned games"
ENTRANTS = "entrants"
FILES = "files of "
PLACES = "places"
MEETS_ALL = "all bots meet"
LADDER = "ladder"
SANDBOX = "sandbox"
FORMAT = "format"
KEPT_BESIDE = (
    *(ENTRANTS, FILES, PLACES, PLANNED, MEETS_ALL, FORMAT, LADDER, SANDBOX),
    *(DISQUALIFIED, NOT_COUNTED, ARGUMENTS),
)
"""How the names of settings begin that are none of the games: who takes part, the files of a version of a bot,
the places that players last played from, how many games are to be played, whether all are to meet equally often, in
which format the last league was played and with which games the last ladder began, the level at which bots were held
the last time, who was disqualified then, which games did not count, and with which arguments bots are started."""
NOT_CALIBRATED = {CALIBRATION: "no"}
"""What is asked for where nothing is said of it; it is not kept."""
SETTINGS_OF_OLDER = {KEEP_BOTS: "no", OPENINGS: NO_OPENINGS, OPPONENTS: HIDDEN, **NOT_CALIBRATED}
"""What is true of games in a store that does not say it, as it was made before there was a choice."""
SETTINGS_CHANGED = "the settings were changed after they were stored"
SETTINGS_UNREADABLE = "the settings cannot be read any more"
NO_SETTINGS = (SETTINGS_CHANGED, SETTINGS_UNREADABLE)
"""What is said of a store whose settings are not to be believed."""
SEPARATOR = "; "
"""Between the rules in their setting."""
DIFFERENCES_SHOWN = 6
VALUE_SHOWN = 500
"""Characters of a setting that an error shows."""
LONGEST_NUMBER = 15
"""Digits of a number of games."""
MOST_OF_FILES = 64 * 1024


class KeptFiles(NamedTuple):
    """The fingerprints of a player's files. Those of other players of its name stay if they are `versions`."""

    player: Player
    files: Mapping[str, str]
    versions: Sequence[Player] = ()


class SettingsTable:
    """The settings of an open store. `sums` is None for a store of a version that has no checksums."""

    def __init__(self, database: Database, sums: Sums | None) -> None:
        self._database = database
        self._sums = sums

    def raw(self) -> dict[str, str]:
        """The settings as they lie there, unchecked. Raises `StoreError`."""
        return dict(self._database.query("SELECT name, value FROM settings"))

    def text(self) -> dict[str, str]:
        """The same. Raises `DamagedError` if anything in them is no text."""
        settings = self.raw()
        if not _are_text(settings):
            raise DamagedError(self._database.path, (Damage(None, SETTINGS_CHANGED),))
        return settings

    def checked(self) -> dict[str, str]:
        """The settings. Raises `DamagedError` if they are not what was stored."""
        settings = self.raw()
        damage = self._damage(settings)
        if damage:
            raise DamagedError(self._database.path, damage)
        return settings

    def read(self) -> tuple[dict[str, str], tuple[Damage, ...]]:
        """The settings, or none and what is wrong with them."""
        try:
            settings = self.raw()
            damage = self._damage(settings)
        except StoreError:
            settings, damage = {}, (Damage(None, SETTINGS_UNREADABLE),)
        return ({}, damage) if damage else (settings, ())

    def _damage(self, settings: Mapping[str, str]) -> tuple[Damage, ...]:
        try:
            unchanged = _are_text(settings) and (self._sums is None or self._sums.are_of(settings))
            entrants_in(settings)
        except (msgspec.MsgspecError, TypeError, UnicodeEncodeError, StoreError):
            unchanged = False
        return () if unchanged else (Damage(None, SETTINGS_CHANGED),)

    def agree(
        self,
        asked: Mapping[str, str],
        *,
        has_games: bool,
        players: Sequence[Player] = (),
        played: Callable[[], Collection[str]] = tuple,
    ) -> None:
        """Keep these settings, inside a transaction; `played` gives the digests of all who have games here.

        Raises `UsageError` if there are others already, and `DamagedError` if there are games and not what they were
        played under.
        """
        present = self.checked()
        if has_games:
            present = {**SETTINGS_OF_OLDER, **present}
        lost = [name for name in SETTINGS_OF_GAMES if name in asked and name not in present]
        if lost and has_games:
            words = f"it holds games, and not what they were played under ({', '.join(lost)})"
            raise DamagedError(self._database.path, (Damage(None, words),))
        of_all = {name: value for name, value in asked.items() if not name.startswith(TIME_OF)}
        of_all = {**NOT_CALIBRATED, **of_all} if of_all else {}
        different = _differences(present, of_all) + time_differences(
            present, asked, players, lambda: {*played(), *(player.digest for player in entrants_in(present))}
        )
        if different:
            raise UsageError(
                f"{self._database.path}: this store holds games under other settings:\n"
                + "\n".join(_first_ones(different))
                + "\nuse another file with --store, so that the two do not get into one table"
            )
        asked = without_known(asked, present)
        self._change({name: value for name, value in asked.items() if name not in present})

    def set(self, name: str, value: str) -> None:
        """Keep one setting, inside a transaction."""
        self.checked()
        self._change({name: value})

    def set_files(self, kept: Iterable[KeptFiles]) -> None:
        """Keep the fingerprints of files of players of different names, inside a transaction."""
        present = self.checked()
        called: dict[str, list[str]] = {}
        for name in present:
            called.setdefault(name.rpartition("@")[0], []).append(name)
        changes: dict[str, str | None] = {}
        for player, files, versions in kept:
            stay = {_files_key(version) for version in (player, *versions)}
            changes |= dict.fromkeys(name for name in called.get(FILES + player.name, ()) if name not in stay)
            value = msgspec.json.encode(files).decode()
            if files and len(value) <= MOST_OF_FILES and present.get(_files_key(player)) != value:
                changes[_files_key(player)] = value
        self._change(changes)

    def set_places(self, places: Mapping[str, str], played: Collection[str]) -> None:
        """Keep from where players take part now, inside a transaction. See `Store.set_places`."""
        present = self.checked()
        kept = {digest: place for digest, place in places_in(present).items() if digest in played}
        value = msgspec.json.encode({**kept, **places}, order="sorted").decode()
        if present.get(PLACES) != value:
            self._change({PLACES: value})

    def _change(self, changes: Mapping[str, str | None]) -> None:
        """Change settings; None takes one away."""
        for name, value in changes.items():
            if value is None:
                self._database.query("DELETE FROM settings WHERE name = ?", name)
            else:
                self._database.query("INSERT OR REPLACE INTO settings VALUES (?, ?)", name, value)
        if changes and self._sums is not None:
            self._sums.set_settings(self.raw())


def _are_text(settings: Mapping[str, str]) -> bool:
    """Whether all of them are text: SQLite lets any value stand in any column, and keeps bytes as such."""
    return all(isinstance(name, str) and isinstance(value, str) for name, value in settings.items())


def entrants_in(settings: Mapping[str, str]) -> tuple[Player, ...]:
    """Who took part when the store was last used. Raises `msgspec.MsgspecError` if that was changed."""
    value = settings.get(ENTRANTS)
    players = msgspec.json.decode(value, type=tuple[Player, ...]) if value else ()
    return tuple(Player(printable(player.name), printable(player.digest)) for player in players)


def encode_entrants(players: tuple[Player, ...]) -> str:
    """The same as the value of a setting."""
    return msgspec.json.encode(players).decode()


def planned_in(settings: Mapping[str, str]) -> int | None:
    """How many games were to be played when the store was last used; None where that was not kept."""
    value = settings.get(PLANNED, "")
    return int(value) if value.isascii() and value.isdecimal() and len(value) <= LONGEST_NUMBER else None


def meets_all_in(settings: Mapping[str, str]) -> bool | None:
    """Whether all bots were to meet equally often when the store was last used; None if no league was ever played here,
    as where all games came by import.

    In stores of earlier versions, which do not say it, they were.
    """
    if MEETS_ALL in settings:
        return settings[MEETS_ALL] != "no"
    return True if settings.get(ENTRANTS) or settings.get(PLANNED) else None


class LadderStart(msgspec.Struct, frozen=True):
    """With which games a ladder began: those up to this number, between players of these digests."""

    players: tuple[str, ...]
    since: int


def ladder_start_in(settings: Mapping[str, str]) -> LadderStart | None:
    """How the last ladder began; None if there was none."""
    try:
        return msgspec.json.decode(settings.get(LADDER, "null"), type=LadderStart | None)
    except msgspec.MsgspecError:
        return None


def encode_ladder_start(start: LadderStart) -> str:
    """The same as the value of a setting."""
    return msgspec.json.encode(start).decode()


def files_in(settings: Mapping[str, str], player: Player) -> dict[str, str]:
    """The fingerprints of a player's files as they were kept; empty if they were not."""
    try:
        files = msgspec.json.decode(settings.get(_files_key(player), "{}"), type=dict[str, str])
    except msgspec.MsgspecError:
        return {}
    return {printable(name): content for name, content in files.items()}


def places_in(settings: Mapping[str, str]) -> dict[str, str]:
    """For each player, by its digest, from where it last played; empty if that was not kept."""
    try:
        return msgspec.json.decode(settings.get(PLACES, "{}"), type=dict[str, str])
    except msgspec.MsgspecError:
        return {}


def limits_in(settings: Mapping[str, str]) -> dict[str, Limits]:
    """What bots may use by the settings of the games, by their names; without those that cannot be read."""
    read = {
        name.removeprefix(LIMITS_OF): read_limits(value)
        for name, value in settings.items()
        if name.startswith(LIMITS_OF)
    }
    return {name: limits for name, limits in read.items() if limits}


def _files_key(player: Player) -> str:
    return f"{FILES}{player.name}@{player.digest}"


def _differences(present: Mapping[str, str], asked: Mapping[str, str]) -> list[str]:
    """What differs, a line each. The rules are many: under another name they are not told, else only those that
    differ."""
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


def _first_ones(lines: list[str]) -> list[str]:
    if len(lines) > DIFFERENCES_SHOWN:
        lines[DIFFERENCES_SHOWN:] = [f"    and {len(lines) - DIFFERENCES_SHOWN} more"]
    return lines
