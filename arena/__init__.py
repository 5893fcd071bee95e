"""A bot arena for the board game Stratego, as a library: see docs/api.md. What is imported is imported at first use.

PYTEST_DONT_REWRITE: a program may import this before it starts pytest, which would warn that it comes too late.
"""

import sys
from typing import TYPE_CHECKING

from arena.lazy import ApiModule, without_mark
from arena.version import __version__

if TYPE_CHECKING:
    from arena.api import (
        ActionPlayed,
        ArenaError,
        Board,
        CompareResult,
        EventsDropped,
        Game,
        GameFinished,
        GameRecord,
        GameStarted,
        IllegalActionError,
        IllegalSetupError,
        League,
        MatchResult,
        OpenBot,
        Result,
        Ruleset,
        Standings,
        Step,
        UsageError,
        compare,
        match,
        open_bot,
        play,
        read_records,
        replay,
        rules,
    )

__all__ = [
    "ActionPlayed",
    "ArenaError",
    "Board",
    "CompareResult",
    "EventsDropped",
    "Game",
    "GameFinished",
    "GameRecord",
    "GameStarted",
    "IllegalActionError",
    "IllegalSetupError",
    "League",
    "MatchResult",
    "OpenBot",
    "Result",
    "Ruleset",
    "Standings",
    "Step",
    "UsageError",
    "__version__",
    "compare",
    "match",
    "open_bot",
    "play",
    "read_records",
    "replay",
    "rules",
]

sys.modules[__name__].__doc__ = without_mark(__doc__)
sys.modules[__name__].__class__ = ApiModule
