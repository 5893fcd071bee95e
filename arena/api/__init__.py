"""The public API for any game, which `import arena` provides, for notebooks, tests and programs."""

from arena.api.leagues import League
from arena.api.matches import CompareResult, MatchResult, compare, match, play
from arena.api.shown_results import Result, Standings, Step, read_records, replay
from arena.errors import ArenaError, UsageError
from arena.game.record import GameRecord
from arena.play.game_events import ActionPlayed, EventsDropped, GameFinished, GameStarted

__all__ = [
    "ActionPlayed",
    "ArenaError",
    "CompareResult",
    "EventsDropped",
    "GameFinished",
    "GameRecord",
    "GameStarted",
    "League",
    "MatchResult",
    "Result",
    "Standings",
    "Step",
    "UsageError",
    "compare",
    "match",
    "play",
    "read_records",
    "replay",
]
