"""Where games are kept: one SQLite file for one league.

`store` is what others use of it, made of `games`, `settings` and `tables`; `contents` is what is read of it at one
moment. `game_row` makes a row of a record, `groups` counts rows, `kept` is the document of settings, with the names in
`setting_names`. `database` is SQLite with errors as a user can act on them (`faults`), `other_files` says what was
named in the place of a store, and `sole_use` keeps two arenas from playing with one store.
"""

from arena.league.store.contents import Contents
from arena.league.store.faults import Damage, DamagedError, StoreChangedError, StoreError, damage_text
from arena.league.store.game_row import GameRow, PlayerTime
from arena.league.store.games import Stored
from arena.league.store.groups import Groups, SideTimes
from arena.league.store.kept import NO_GAMES, Disqualified, Document, GameNumbers, Kept, LadderStart, runs_of
from arena.league.store.other_files import is_record_file, refuse_other_files
from arena.league.store.setting_names import (
    CALIBRATION,
    HIDDEN,
    KEEP_BOTS,
    LIMITS_OF,
    NAMED,
    NO_OPENINGS,
    NOT_CALIBRATED,
    OPENINGS,
    OPPONENTS,
    OTHER_TIMES,
    PONDERING,
    RULES,
    RULESET,
    SEED,
    SEPARATOR,
    SETTINGS_OF_GAMES,
    TIME,
    TIME_OF,
    own_times_in,
    time_key,
)
from arena.league.store.settings import NO_SETTINGS
from arena.league.store.sole_use import StoreInUseError, sole_use
from arena.league.store.store import KeptFiles, Store
from arena.league.store.tables import APPLICATION_ID, VERSION, is_empty_file

__all__ = [
    "APPLICATION_ID",
    "CALIBRATION",
    "HIDDEN",
    "KEEP_BOTS",
    "LIMITS_OF",
    "NAMED",
    "NOT_CALIBRATED",
    "NO_GAMES",
    "NO_OPENINGS",
    "NO_SETTINGS",
    "OPENINGS",
    "OPPONENTS",
    "OTHER_TIMES",
    "PONDERING",
    "RULES",
    "RULESET",
    "SEED",
    "SEPARATOR",
    "SETTINGS_OF_GAMES",
    "TIME",
    "TIME_OF",
    "VERSION",
    "Contents",
    "Damage",
    "DamagedError",
    "Disqualified",
    "Document",
    "GameNumbers",
    "GameRow",
    "Groups",
    "Kept",
    "KeptFiles",
    "LadderStart",
    "PlayerTime",
    "SideTimes",
    "Store",
    "StoreChangedError",
    "StoreError",
    "StoreInUseError",
    "Stored",
    "damage_text",
    "is_empty_file",
    "is_record_file",
    "own_times_in",
    "refuse_other_files",
    "runs_of",
    "sole_use",
    "time_key",
]
