"""How one game of a check is meant to go: under which rules, what the opponent does, and where it is broken off."""

from dataclasses import replace

import trio

from arena.check.opponent import Opponent, narrow_rows
from arena.check.situations import Situation, Twist
from arena.game.referee import Referee
from arena.game.spec import Opening
from arena.rules.loading import load_ruleset
from arena.rules.ruleset import Ruleset, Starts
from protocol.conversation import Phase
from protocol.notation import Color

now = trio.current_time


def ruleset_of(situation: Situation) -> Ruleset:
    """The rules of a situation; where players choose who starts, the bot does."""
    ruleset = load_ruleset(situation.rules)
    if ruleset.starts is not Starts.CHOSEN:
        return ruleset
    return replace(ruleset, starts=Starts.RED if situation.color is Color.RED else Starts.BLUE)


class PlannedGame:
    """How the opponent plays a game, and when the game is broken off."""

    def __init__(self, situation: Situation, seed: int, *, breaks: bool = False) -> None:
        self._situation = situation
        self._opponent = Opponent(situation.foe, seed)
        self._breaks = breaks or situation.twist in (Twist.BROKEN_OFF, Twist.INPUT_ENDS)
        self._begun: float | None = None
        """When the opponent made its first move: what a busy machine takes to start a program is none of the game's."""
        ruleset = ruleset_of(situation)
        self._rows = self._opponent.rows(ruleset)
        self.opening: Opening | None = None
        if situation.twist is Twist.OPENING:
            rows, foe = "/".join(narrow_rows(ruleset, seed)), "/".join(self._rows)
            self.opening = (rows, foe) if situation.color is Color.RED else (foe, rows)

    def answer(self, referee: Referee) -> bytes | None:
        """What the opponent says."""
        situation = self._situation
        phase = referee.seats[situation.color.opponent].phase
        if phase is Phase.INTRODUCING:
            return None if situation.twist is Twist.NO_GAME else b"ready\n"
        if phase is Phase.SETTING_UP:
            return f"setup {'/'.join(self._rows)}\n".encode()
        game = referee.game
        assert game is not None
        if self._begun is None:
            self._begun = now()
        is_long = situation.plies is not None and game.ply >= situation.plies and not self._breaks
        if is_long or now() - self._begun > situation.seconds:
            return b"move resign\n"
        return f"move {self._opponent.action(game)}\n".encode()

    def is_at_break(self, referee: Referee) -> bool:
        """Whether the game is to be broken off here: the bot has its turn, and has been told so."""
        situation, game = self._situation, referee.game
        if not self._breaks or game is None or situation.plies is None:
            return False
        seat = referee.seats[situation.color]
        return game.ply >= situation.plies and seat.phase is Phase.THINKING and not seat.due
