"""The public API, which `import arena` gives: what a notebook, a test or a program of one's own needs."""

from arena.api.bot import OpenBot, open_bot
from arena.api.compare import CompareResult, compare
from arena.api.games import MatchResult, match, play
from arena.api.league import League
from arena.api.records import read_records
from arena.api.results import Result, Standings
from arena.api.settings import rules
from arena.api.steps import Board, Step, replay
from arena.errors import ArenaError, UsageError
from arena.game.record import GameRecord
from arena.play.events import ActionPlayed, EventsDropped, GameFinished, GameStarted
from arena.rules.events import IllegalActionError
from arena.rules.game import Game
from arena.rules.ruleset import Ruleset
from arena.rules.setup import IllegalSetupError

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
