"""Whether bots stay what their digests say: no game counts that was played across a change of one."""

from collections.abc import Iterable

import trio

from arena.bots import BotSpec
from arena.bots.changed import Change, compare
from arena.bots.look import Look
from arena.game.spec import Player
from arena.league.changes import are_likely_its_own, ignore_hint, named


class Versions:
    """What has become of the bots of one run. Looks at their files in a thread, at one bot at a time."""

    def __init__(self) -> None:
        self._looks: dict[Player, Look] = {}
        self._changed: dict[Player, tuple[BotSpec, Change]] = {}
        self._grown: dict[Player, tuple[BotSpec, Change]] = {}
        self._one_reader = trio.CapacityLimiter(1)

    async def are_unchanged(self, bots: Iterable[BotSpec]) -> bool:
        """Whether these bots are what their digests say, and have been whenever this was asked.

        New files in a bot's folder are remembered, but change nothing. Bots with a `fault` are never started.
        """
        bots = tuple(bots)
        for bot in bots:
            if any(one.player in self._changed for one in bots):
                return False
            known = self._looks.get(bot.player, bot.look)
            if known is None or bot.fault is not None:
                continue
            look, change = await trio.to_thread.run_sync(
                compare, bot, known, limiter=self._one_reader, abandon_on_cancel=True
            )
            if change is None or change.is_only_new:
                self._looks[bot.player] = look
            if change is not None:
                (self._grown if change.is_only_new else self._changed)[bot.player] = (bot, change)
        return not any(bot.player in self._changed for bot in bots)

    def errors(self) -> list[str]:
        """A line for each bot that has changed."""
        lines = []
        for bot, change in self._changed.values():
            line = f"{bot.name} ({bot.path}) has changed while it was played: {change.fault or named(change.files)}"
            if are_likely_its_own(bot, change.files):
                line += f"; {ignore_hint(change.files)}"
            lines.append(line)
        return lines

    def remarks(self) -> list[str]:
        """A line for each bot into whose folder files have come."""
        return [
            f"{bot.name}: while it was played, files have come into its folder: {named(change.files)}; its games "
            f"count, but with these files it is a new version; {ignore_hint(change.files)}"
            for player, (bot, change) in self._grown.items()
            if player not in self._changed
        ]
