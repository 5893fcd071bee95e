"""A bot arena for the board game Stratego, as a library: see docs/api.md. What is imported is imported at first use."""

import sys
from typing import TYPE_CHECKING

from arena.lazy import ApiModule
from arena.version import __version__

if TYPE_CHECKING:
    from arena.api import (
        ArenaError,
        Board,
        Game,
        GameRecord,
        League,
        MatchResult,
        OpenBot,
        Result,
        Ruleset,
        Standings,
        Step,
        UsageError,
        match,
        open_bot,
        play,
        replay,
        rules,
    )

__all__ = [
    "ArenaError",
    "Board",
    "Game",
    "GameRecord",
    "League",
    "MatchResult",
    "OpenBot",
    "Result",
    "Ruleset",
    "Standings",
    "Step",
    "UsageError",
    "__version__",
    "match",
    "open_bot",
    "play",
    "replay",
    "rules",
]

sys.modules[__name__].__class__ = ApiModule
