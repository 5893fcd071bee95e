"""The store of games: one SQLite file for one league.

`store` is the interface, made of `game_table` and `document`. `game_row` makes a row of a record, `groups` counts rows.
`database` is SQLite with errors that users can act on, and `store_file` has the tables and the lock.
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
    Disqualified,
    Kept,
    runs_of,
)
from arena.league.store.game_row import GameRow, PlayerTime
from arena.league.store.game_table import Stored
from arena.league.store.groups import Groups, PairCount, SideTimes
from arena.league.store.store import NO_SETTINGS, BotNote, Contents, Store
from arena.league.store.store_file import StoreInUseError, is_empty_file, sole_use

__all__ = [
    "NO_SETTINGS",
    "BotNote",
    "Contents",
    "Damage",
    "DamagedError",
    "Disqualified",
    "GameRow",
    "Groups",
    "Kept",
    "PairCount",
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
