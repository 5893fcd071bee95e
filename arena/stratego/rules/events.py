"""The results of an action: its public events, which are messages of the protocol, or the rule that forbids it."""

import enum

from arena.errors import IllegalAnswerError
from protocol.messages import Battle, Guess, Moved, Rescued, Reveal

Event = Moved | Battle | Reveal | Rescued | Guess
"""A public event, as the host knows it: a `Battle` has the defender's rank also where the attacker's side may not know
it (`RuleTables.hides_defender`).
"""


class BrokenRule(enum.Enum):
    FORM = "form"
    OWN_PIECE = "own-piece"
    IMMOVABLE = "immovable"
    STEP = "one-step"
    LAKE = "lake"
    BLOCKED = "blocked"
    TARGET = "own-target"
    DIAGONAL = "diagonal"
    FACING = "facing"
    NO_ATTACK = "no-attack"
    CAPTAIN = "captain"
    RESCUE = "rescue"
    INFILTRATION = "infiltration"
    TWO_SQUARES = "two-squares"
    CHASE = "chase"
    OVER = "game-over"


class IllegalActionError(IllegalAnswerError):
    """An action that the rules do not allow. `rule` is the broken rule; the text names the piece and the square."""

    def __init__(self, rule: BrokenRule, sentence: str) -> None:
        super().__init__(f"{sentence} (rule: {rule.value})")
        self.rule: BrokenRule = rule
