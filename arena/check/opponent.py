"""The built-in opponent of a bot that is checked, and the course of a game."""

from random import Random

import trio

from arena.check.situations import Situation, Twist
from arena.game import Game, Variant
from arena.game.game_spec import Opening
from arena.game.referee import Referee
from protocol.conversation import Phase

TAKES_MORE = frozenset({"hello", "game", "clock", "seed", "setup", "restore", "turn", "end", "quit"})
"""Verbs that allow more fields in all games. None are ever added after a TEXT or a VALUE, or to lists."""


def noisy(data: bytes, open_verbs: frozenset[str]) -> bytes:
    """Return lines with others among them that a bot has to ignore; `open_verbs` are those of the game."""
    lines = []
    for line in data.decode("ascii").splitlines():
        verb = line.split(" ")[0]
        lines.append(f"{line} later 7" if verb in TAKES_MORE | open_verbs else line)
        if verb in ("hello", "moved", "seed", "enemy"):
            lines += ["", "# a comment", f"later {verb} is not for you 1 2 3"]
        if verb == "game":
            lines.append("rule later yes")
        if verb == "quit":
            break
    return "".join(f"{line}\n" for line in lines).encode("ascii")


now = trio.current_time


def variant_in(game: Game, situation: Situation) -> Variant:
    """Return the rules of a situation; if players choose who begins, the bot does."""
    # as a seed of a pair, the colour draws this seat
    return game.settled(game.variant(situation.rules), situation.color)


class PlannedGame:
    """One game of a situation from the side of the opponent; the same seed plays the same."""

    def __init__(self, game: Game, situation: Situation, seed: int, *, breaks: bool = False) -> None:
        self._game = game
        self._situation = situation
        self._random = Random(seed)
        self._breaks = breaks or situation.twist in (Twist.BROKEN_OFF, Twist.INPUT_ENDS)
        self._begun: float | None = None
        self._setup = ""
        self.opening: Opening | None = None
        if game.has_setups:
            color, variant = situation.color, variant_in(game, situation)
            self._setup = game.random_setup(variant, color.opponent, seed)
            if situation.twist is Twist.OPENING:
                given = game.tight_setup(variant, color, seed)
                self.opening = (self._setup, given) if color else (given, self._setup)

    def answer(self, referee: Referee) -> bytes | None:
        situation = self._situation
        phase = referee.seats[situation.color.opponent].phase
        if phase is Phase.INTRODUCING:
            return None if situation.twist is Twist.NO_GAME else b"ready\n"
        if phase is Phase.SETTING_UP:
            return f"setup {self._setup}\n".encode()
        state = referee.state
        assert state is not None
        if self._begun is None:
            self._begun = now()
        is_long = situation.plies is not None and state.ply >= situation.plies and not self._breaks
        if is_long or now() - self._begun > situation.seconds:
            return b"move resign\n"
        return f"move {self._game.policy(state, self._random.getrandbits(64), situation.manner)}\n".encode()

    def is_at_break(self, referee: Referee) -> bool:
        """Whether to break the game off here, where the bot has received its turn."""
        situation = self._situation
        if not self._breaks or referee.state is None or situation.plies is None:
            return False
        seat = referee.seats[situation.color]
        return referee.state.ply >= situation.plies and seat.phase is Phase.THINKING and not seat.due
