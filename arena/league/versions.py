"""Whether bots stay what their digests say: no game counts that was played across a change of one.

Bots are looked at in a thread, all that are asked for at a time together: to go to a thread and back costs the parent
more than the look. Before a game one of a moment ago will do, for games wait in a worker after it anyway; what counts
is the one after the game, which shows whatever has changed since the last.
"""

from collections.abc import Collection, Iterable, Sequence

import trio

from arena.bots.changed import Change, compare, named
from arena.bots.covered import Look
from arena.bots.spec import BotSpec
from arena.game.spec import Player
from arena.league.entrants import are_likely_its_own, ignore_hint

RECENT_SECONDS = 0.1
"""So old a look may be before a game. Two looks for each of 400 games a second took the parent more than all else."""
NEVER = float("-inf")


class Versions:
    """What has become of the bots of one run. Looks at their files in a thread, one at a time."""

    def __init__(self) -> None:
        self._looks: dict[Player, Look] = {}
        self._looked: dict[Player, float] = {}
        """When the last look at each was begun."""
        self._changed: dict[Player, tuple[BotSpec, Change]] = {}
        self._grown: dict[Player, tuple[BotSpec, Change]] = {}
        self._one_reader = trio.Lock()

    async def are_unchanged(self, bots: Iterable[BotSpec]) -> bool:
        """Whether these bots are what their digests say, and have been whenever this was asked.

        New files in a bot's folder are remembered, but change nothing. Bots with a `fault` are never started.
        """
        return not await self.changed_of(bots)

    async def were_unchanged(self, bots: Collection[BotSpec]) -> bool:
        """The same as they were `RECENT_SECONDS` ago, or are now: a short-cut for who will ask again."""
        since = trio.current_time() - RECENT_SECONDS
        old = [bot for bot in bots if self._looked.get(bot.player, NEVER) < since]
        changed = await self.changed_of(old) if old else ()
        return not changed and not any(bot.player in self._changed for bot in bots)

    async def changed_of(self, bots: Iterable[BotSpec]) -> set[Player]:
        """Which of these bots are not what their digests say, or have not been when this was asked before."""
        asked = {bot.player: bot for bot in bots}
        async with self._one_reader:
            to_see = [
                (bot, look)
                for player, bot in asked.items()
                if bot.fault is None and player not in self._changed and (look := self._looks.get(player, bot.look))
            ]
            if to_see:
                begun = trio.current_time()
                seen = await trio.to_thread.run_sync(_compare_all, to_see, abandon_on_cancel=True)
                for (bot, _), (look, change) in zip(to_see, seen, strict=True):
                    self._note(bot, look, change)
                    self._looked[bot.player] = begun
        return asked.keys() & self._changed.keys()

    def _note(self, bot: BotSpec, look: Look, change: Change | None) -> None:
        if change is None or change.is_only_new:
            self._looks[bot.player] = look
        if change is not None:
            (self._grown if change.is_only_new else self._changed)[bot.player] = (bot, change)

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
        """Return a remark for each bot whose folder has new files."""
        return [
            f"{bot.name}: files were added to its folder while it played: {named(change.files)}; its games "
            f"count, but with these files it is a new version; {ignore_hint(change.files)}"
            for player, (bot, change) in self._grown.items()
            if player not in self._changed
        ]


def _compare_all(bots: Sequence[tuple[BotSpec, Look]]) -> list[tuple[Look, Change | None]]:
    return [compare(bot, look) for bot, look in bots]
