"""Where games are kept: one SQLite file for one league.

`store` is what others use of it, made of `games`, `rows` and `settings`; `contents` is what is read of it at one
moment, `kept_beside` what a league keeps beside its games. `game_row` makes a row of a record, `groups` counts rows,
`sums` are the checksums of all together. `setting_names` is what the settings of games are called, `own_times` are
those of bots with a time control of their own, `disqualified` that of bots that play no more, `not_counted` that of
games, `arguments` that of bots that are started with some; `kept_forms` says in which form such settings stand.
`tables` and `layout` say what each version has and where, `upgrades` makes a store of this version of an older one.
`database` is SQLite with errors as a user can act on them, `other_files` says what was named in the place of a store,
`journal` looks at the files beside a store first, and `sole_use` keeps two arenas from playing with one store.
"""

from arena.league.store.contents import Contents
from arena.league.store.disqualified import Disqualified
from arena.league.store.faults import Damage, DamagedError, StoreChangedError, StoreError, damage_text
from arena.league.store.game_row import GameRow, PlayerTime, is_number
from arena.league.store.games import Stored
from arena.league.store.groups import Groups, SideTimes
from arena.league.store.kept_forms import KEPT_FORMS
from arena.league.store.not_counted import NO_GAMES, GameNumbers
from arena.league.store.other_files import is_record_file, refuse_other_files
from arena.league.store.own_times import TIME_OF, own_times_in, time_key
from arena.league.store.setting_names import (
    CALIBRATION,
    HIDDEN,
    KEEP_BOTS,
    LIMITS_OF,
    NAMED,
    NO_OPENINGS,
    OPENINGS,
    OPPONENTS,
    OTHER_TIMES,
    PONDERING,
    RULES,
    RULESET,
    SEED,
    SETTINGS_OF_GAMES,
    TIME,
)
from arena.league.store.settings import (
    ENTRANTS,
    FILES,
    FORMAT,
    KEPT_BESIDE,
    MEETS_ALL,
    PLANNED,
    SANDBOX,
    SETTINGS_OF_OLDER,
    KeptFiles,
    files_in,
    planned_in,
)
from arena.league.store.sole_use import StoreInUseError, sole_use
from arena.league.store.store import Store
from arena.league.store.tables import APPLICATION_ID, VERSION
from arena.league.store.upgrades import is_empty_file

__all__ = [
    "APPLICATION_ID",
    "CALIBRATION",
    "ENTRANTS",
    "FILES",
    "FORMAT",
    "HIDDEN",
    "KEEP_BOTS",
    "KEPT_BESIDE",
    "KEPT_FORMS",
    "LIMITS_OF",
    "MEETS_ALL",
    "NAMED",
    "NO_GAMES",
    "NO_OPENINGS",
    "OPENINGS",
    "OPPONENTS",
    "OTHER_TIMES",
    "PLANNED",
    "PONDERING",
    "RULES",
    "RULESET",
    "SANDBOX",
    "SEED",
    "SETTINGS_OF_GAMES",
    "SETTINGS_OF_OLDER",
    "TIME",
    "TIME_OF",
    "VERSION",
    "Contents",
    "Damage",
    "DamagedError",
    "Disqualified",
    "GameNumbers",
    "GameRow",
    "Groups",
    "KeptFiles",
    "PlayerTime",
    "SideTimes",
    "Store",
    "StoreChangedError",
    "StoreError",
    "StoreInUseError",
    "Stored",
    "damage_text",
    "files_in",
    "is_empty_file",
    "is_number",
    "is_record_file",
    "own_times_in",
    "planned_in",
    "refuse_other_files",
    "sole_use",
    "time_key",
]
