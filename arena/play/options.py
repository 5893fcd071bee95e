"""What a game is played under, and the ways in which it can be broken off."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from arena.bots import BotSpec
from arena.bots.limits import Limits
from arena.bots.process import BotProcess
from arena.bots.sandbox.launch import Launch
from arena.errors import ArenaError
from arena.game.clock import NEVER
from arena.game.record import History
from arena.play.events import GameEvent
from arena.play.keeping import Keeper
from arena.play.peer import Peer
from protocol.notation import Color

MOST_TRIES = 10
"""How often a game is begun, at the most, because the arena is stopped in it again and again."""

MOST_EXCUSED = 3
"""How often a game is begun again, at the most, because the machine has kept a bot from a CPU until it was late."""

Spawn = Callable[[BotSpec], Peer]
TryOut = Callable[[Sequence[BotSpec]], Awaitable[None]]
Watch = Callable[[GameEvent], None]


def start_bot(bot: BotSpec, cpus: frozenset[int] = frozenset()) -> BotProcess:
    """Start a bot as a plain child process, with the usual limits, on these CPUs (none named: on all)."""
    return BotProcess.start(Launch(bot.words, bot.folder, bot.environment, Limits(), cpus=cpus))


@dataclass(frozen=True)
class GameOptions:
    """What bots play under: how they are started and held, and whether they may think in the opponent's time.

    `try_out` finds out, with no file of theirs, whether what holds these bots still works. It raises `ArenaError` if it
    does not. `watch` is called with each event of the game as it happens (see `arena.play.events`), between two turns,
    when no clock runs; what it raises ends the game. A `keeper` gives the game the processes of the one before,
    and gets them for the next one. `told_at_once` are the seats that are told of each action as soon as it is played,
    and not with their next turn: those of people. With `excuses_delays` a game that a bot would lose on time because
    this machine has kept it from a CPU is not judged.
    """

    spawn: Spawn = start_bot
    pondering: bool = True
    try_out: TryOut | None = None
    watch: Watch | None = None
    keeper: Keeper | None = None
    told_at_once: tuple[Color, ...] = ()
    excuses_delays: bool = True


USUAL = GameOptions()


class ArenaStoppedError(ArenaError):
    """A game that cannot be judged fairly, because the arena was stopped in it or the machine had no memory left; it is
    to be played again.

    `history` is what had been played by then, to go on from: None before both sides had set up. `is_excused` says that
    the machine has kept a bot from a CPU until it was late.
    """

    def __init__(self, why: str, history: History | None, *, is_excused: bool = False) -> None:
        super().__init__(f"the game cannot be judged: {why}")
        self.why = why
        self.is_excused = is_excused
        self.history = history


class Interrupt:
    """A wish to interrupt a game: after so many plies, or when `request` is called."""

    def __init__(self, after: int | None = None) -> None:
        self.after = NEVER if after is None else after
        self.interrupt: Callable[[], None] = lambda: None
        """What stops the game under way; set by the game."""
        self.why_not: Callable[[], str] = lambda: ""
        """Why the game under way could not go on later, in words, empty if it can; set by the game."""

    def request(self) -> None:
        """Interrupt the game now, in the middle of a turn if need be."""
        self.after = 0
        self.interrupt()
