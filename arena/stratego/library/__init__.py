"""The names of `import arena` that belong to Stratego: its rules and its positions."""

from arena.api.keywords import plain_errors
from arena.stratego.library.position_board import Board
from arena.stratego.rules.action_types import IllegalActionError
from arena.stratego.rules.engine import EngineGame as Game
from arena.stratego.rules.ruleset import Ruleset
from arena.stratego.rules.rulesets import as_ruleset
from arena.stratego.rules.setup import IllegalSetupError

__all__ = [
    "Board",
    "Game",
    "IllegalActionError",
    "IllegalSetupError",
    "Ruleset",
    "rules",
]


def rules(name: str | Ruleset = "isf") -> Ruleset:
    """Return the ruleset of `NAME[+SWITCH...]` or `FILE.toml[+SWITCH...]`: `arena.rules("vintage/barrage+rescue")`.

    `arena.Game(ruleset, red_rows, blue_rows)` starts a game under it. Raises `UsageError` for an unknown name.
    """
    with plain_errors():
        return as_ruleset(name)
