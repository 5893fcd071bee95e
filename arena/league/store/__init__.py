"""Where games are kept: one SQLite file for one league.

`store` is what others use of it, made of `games` and `settings`. `game_row` makes a row of a record, `sums` are the
checksums of all together, `own_times` the settings of bots with a time control of their own. `tables` says what each
version has, `upgrades` makes a store of this version of an older one. `database` is SQLite with errors as a user can
act on them, `journal` looks at the files beside a store first.
"""

from arena.league.store.database import Damage, DamagedError, StoreError, damage_text
from arena.league.store.game_row import GameRow, PlayerTime
from arena.league.store.own_times import own_times_in, time_key
from arena.league.store.settings import ENTRANTS, KEPT_BESIDE
from arena.league.store.store import Contents, Store
from arena.league.store.tables import APPLICATION_ID, VERSION
from arena.league.store.upgrades import is_empty_file

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
    "is_empty_file",
    "own_times_in",
    "time_key",
]
