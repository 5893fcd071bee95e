"""The public API, which `import arena` provides, for notebooks, tests and programs."""

from arena.api.keywords import rules
from arena.api.leagues import League
from arena.api.matches import CompareResult, MatchResult, compare, match, play
from arena.api.opened_bot import OpenBot, open_bot
from arena.api.record_steps import Board, Step, read_records, replay
from arena.api.shown_results import Result, Standings
from arena.errors import ArenaError, UsageError
from arena.game.record import GameRecord
from arena.play.game_events import ActionPlayed, EventsDropped, GameFinished, GameStarted
from arena.stratego.rules.events import IllegalActionError
from arena.stratego.rules.game import Game
from arena.stratego.rules.ruleset import Ruleset
from arena.stratego.rules.setup import IllegalSetupError

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
    "compare",
    "match",
    "open_bot",
    "play",
    "read_records",
    "replay",
    "rules",
]
