"""Where games are kept: one SQLite file for one league.

`store` is what others use of it; `database` is SQLite with errors as a user can act on them, `journal` looks at the
files beside it before SQLite does, `tables` says what each version has, `game_row` makes a row of a record.
"""

from arena.league.store.database import Damage, DamagedError, StoreError, damage_text
from arena.league.store.game_row import GameRow, PlayerTime
from arena.league.store.store import ENTRANTS, KEPT_BESIDE, Contents, Store
from arena.league.store.tables import APPLICATION_ID, VERSION

__all__ = [
    "APPLICATION_ID",
    "ENTRANTS",
    "KEPT_BESIDE",
    "VERSION",
    "Contents",
    "Damage",
    "DamagedError",
    "GameRow",
    "PlayerTime",
    "Store",
    "StoreError",
    "damage_text",
]
