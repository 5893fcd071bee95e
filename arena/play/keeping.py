"""Two games in the same two processes: what stays of the first one until the second begins.

A bot is kept if its conversation is between two games (the protocol lets another `game` follow an `end` then), and if
it has read all that it was sent, waits for more, has said nothing besides and is within its limits. If not, it is ended
as after any game, and a new process plays the second one.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import trio

from arena.bots import BotSpec
from arena.bots.process import BotProcess
from arena.game.seat import Introduction
from arena.game.spec import Player
from protocol.messages import Quit
from protocol.notation import Color


@dataclass(frozen=True)
class KeptBot:
    """A process between two games, and where its conversation stands."""

    process: BotProcess
    introduction: Introduction

    async def end(self) -> None:
        """Tell it that there are no more games, and end it."""
        self.process.write_now(self.introduction.connection.send(Quit()))
        await self.process.end()


class Keeper:
    """Holds the bots of a pair of games between the two. What it holds at the end must be ended with `end`."""

    def __init__(self) -> None:
        self.expects_another = True
        """Whether another game follows the one that is under way."""
        self._bots: dict[Player, KeptBot] = {}

    def keep(self, bot: BotSpec, kept: KeptBot) -> None:
        """This bot can play another game."""
        self._bots[bot.player] = kept

    async def take(self, bots: tuple[BotSpec, BotSpec]) -> Mapping[Color, KeptBot]:
        """Those of a game's bots that were kept and still are as they have to be; whoever takes them ends them."""
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
        """End the processes that are still held."""
        with trio.CancelScope(shield=True):
            async with trio.open_nursery() as nursery:
                for kept in self._bots.values():
                    nursery.start_soon(kept.end)
            self._bots.clear()
