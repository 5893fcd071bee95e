"""The options of a game, its interruption, and bots that are kept for a second game."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import trio

from arena.bots.limits import Limits
from arena.bots.spec import BotSpec
from arena.errors import ArenaError
from arena.game.game_spec import Player
from arena.game.live import LiveGame
from arena.game.record import History
from arena.game.seat import Introduction
from arena.game.time_control import NEVER
from arena.play.game_events import GameEvent
from arena.play.participant import Participant
from arena.processes.process import BotProcess
from arena.sandbox.launch import Launch
from protocol.messages import Quit
from protocol.seats import Color

MOST_TRIES = 10
"""Attempts to play a game, as the arena may be suspended in each of them."""

MOST_EXCUSED = 3
"""Repetitions of a game because the machine has kept a bot from a CPU until it was late."""

Spawn = Callable[[BotSpec], Participant]
TryOut = Callable[[], Awaitable[None]]
Watch = Callable[[GameEvent], None]


def start_bot(bot: BotSpec, cpus: frozenset[int] = frozenset()) -> BotProcess:
    return BotProcess.start(Launch(bot.words, bot.folder, bot.environment, Limits(), cpus=cpus))


class VoidGameError(ArenaError):
    """A game that cannot be judged fairly and is to be played again.

    The arena was suspended, or the machine had no memory left. `history` is what had been played, for resuming: None
    before both sides had set up. `is_excused` tells that the machine has kept a bot from a CPU until it was late.
    """

    def __init__(self, why: str, history: History | None, *, is_excused: bool = False) -> None:
        super().__init__(f"the game cannot be judged: {why}")
        self.why = why
        self.is_excused = is_excused
        self.history = history


class Interrupt:
    """A request to interrupt a game: after a number of plies, or when `request` is called.

    A game that `can_pause` is played only with bots that could resume it.
    """

    def __init__(self, after: int | None = None, *, can_pause: bool = False) -> None:
        self.after = NEVER if after is None else after
        self.can_pause = can_pause
        self.interrupt: Callable[[], None] = lambda: None
        """Stops the running game; set by the game."""
        self.why_not: Callable[[], str] = lambda: ""
        """Returns why the running game could not be resumed, or an empty string; set by the game."""
        self.live: LiveGame | None = None
        """The running game, to look at; set by the game."""

    def request(self) -> None:
        self.after = 0
        self.interrupt()


# --- two games in the same processes ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class KeptBot:
    """A process between two games, and the state of its conversation."""

    process: BotProcess
    introduction: Introduction

    async def end(self) -> None:
        self.process.write_now(self.introduction.connection.send(Quit()))
        await self.process.end()


class Keeper:
    """Holds the bots of a pair of games between the two. Call `end` when both are over.

    A bot is kept if it has read all input, waits for more, has sent no extra output and is within its limits. Otherwise
    its process is ended as after any game, and a new one plays the second game.
    """

    def __init__(self) -> None:
        self.expects_another = True
        self._bots: dict[Player, KeptBot] = {}

    def keep(self, bot: BotSpec, kept: KeptBot) -> None:
        self._bots[bot.player] = kept

    async def take(self, bots: tuple[BotSpec, BotSpec]) -> Mapping[Color, KeptBot]:
        """Return the kept processes of these bots that are still ready, and end the others. The caller ends them."""
        taken: dict[Color, KeptBot] = {}
        for color, bot in zip(Color, bots, strict=True):
            if bot.player in self._bots and self._bots[bot.player].process.is_ready:
                taken[color] = self._bots.pop(bot.player)
        try:
            await self.end()
        except BaseException:
            self._bots.update((bots[color].player, kept) for color, kept in taken.items())
            raise
        for kept in taken.values():
            kept.process.begin_anew()
        return taken

    async def end(self) -> None:
        with trio.CancelScope(shield=True):
            async with trio.open_nursery() as nursery:
                for kept in self._bots.values():
                    nursery.start_soon(kept.end)
            self._bots.clear()


@dataclass(frozen=True)
class GameOptions:
    """How the bots of a game are started and isolated, and who receives its events.

    `try_out` tests without any file of the bots whether the sandbox still works, and raises `ArenaError` if not.
    `watch` is called with each event of the game between two turns, when no clock runs; an exception ends the game. A
    `keeper` gives the game the processes of the one before. The seats `told_at_once` receive each action as soon as it
    is played, instead of with their next turn: those of people. With `excuses_delays` a game is not judged if a bot
    would lose on time because this machine has kept it from a CPU.
    """

    spawn: Spawn = start_bot
    pondering: bool = True
    try_out: TryOut | None = None
    watch: Watch | None = None
    keeper: Keeper | None = None
    told_at_once: tuple[Color, ...] = ()
    excuses_delays: bool = True


USUAL = GameOptions()
