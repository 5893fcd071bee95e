"""The store of games: one SQLite file for one league.

`store` is the interface, made of `game_table` and `store_tables`. `game_row` makes a row of a record, `groups` counts
rows, and `document` has the settings. `database` is SQLite with errors that users can act on, and `sole_use` keeps two
arenas from playing with one store.
"""

from arena.league.store.database import (
    Damage,
    DamagedError,
    StoreChangedError,
    StoreError,
    damage_text,
    is_record_file,
    refuse_other_files,
)
from arena.league.store.document import (
    NO_GAMES,
    Disqualified,
    GameNumbers,
    Kept,
    runs_of,
)
from arena.league.store.game_row import GameRow, PlayerTime
from arena.league.store.game_table import Stored
from arena.league.store.groups import Groups, SideTimes
from arena.league.store.sole_use import StoreInUseError, sole_use
from arena.league.store.store import Contents, KeptFiles, Store
from arena.league.store.store_tables import NO_SETTINGS, is_empty_file

__all__ = [
    "NO_GAMES",
    "NO_SETTINGS",
    "Contents",
    "Damage",
    "DamagedError",
    "Disqualified",
    "GameNumbers",
    "GameRow",
    "Groups",
    "Kept",
    "KeptFiles",
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
    "refuse_other_files",
    "runs_of",
    "sole_use",
]
