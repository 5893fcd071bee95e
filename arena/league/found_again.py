"""Bots of stored games, found again by what they are.

A store knows a bot by the digest of its files, and where it lay only as a fingerprint of the path. So it is looked
for by content: at a path that is given, else among the sample bots and in folders that are near. Nothing here is run.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from arena.bots import BotSpec, load_bot
from arena.bots.asked import AskedBot
from arena.bots.entering import as_player, may_be, place_of
from arena.bots.loading import made_to_speak
from arena.bots.manifest import MANIFEST
from arena.bots.names import PROGRAM_ENDINGS
from arena.bots.samples import SAMPLES, bot_path
from arena.errors import UsageError
from arena.game.dialects import Dialect
from arena.game.spec import Player
from arena.printable import printable

MOST_LOOKED_AT = 500
"""Files and folders of one folder that are looked at."""
DIGITS = 12


class BotFinder:
    """Finds the bots of one game. `places` are those of the store; with `may_differ` a bot that has changed will do."""

    def __init__(self, places: Mapping[str, str], near: Sequence[Path], *, may_differ: bool) -> None:
        self._places = places
        self._near = near
        self._may_differ = may_differ
        self._seen: list[BotSpec] | None = None

    def at(self, path: str, player: Player) -> BotSpec:
        """The bot at a path, as this player. Raises `UsageError` if it is another one, or none at all."""
        bot = load_bot(bot_path(path), AskedBot(path))
        return self.checked(_as_spoken_to(bot, player), player)

    def anywhere(self, player: Player, named: str) -> BotSpec:
        """The player's bot, wherever it is; `named` is how `--bot` calls it. Raises `UsageError` if it is not found."""
        if self._seen is None:
            self._seen = list(self._candidates())
        same = [bot for bot in self._seen if may_be(bot, player)]
        if same:
            at_its_place = [bot for bot in same if place_of(bot) == self._places.get(player.digest)]
            namesakes = [bot for bot in same if bot.name == player.name]
            return self.checked((at_its_place or namesakes or same)[0], player)
        namesakes = [bot for bot in self._seen if bot.name == player.name]
        if namesakes:
            return self.checked(namesakes[0], player)
        folders = ["this folder" if folder == Path() else printable(str(folder)) for folder in self._near]
        looked = " or ".join(["the sample bots", *folders])
        raise UsageError(
            f"{named}: no bot with the digest {player.digest[:DIGITS]} was found; looked for it in {looked}; say "
            f"where it is with --bot {named}=PATH"
        )

    def checked(self, bot: BotSpec, player: Player) -> BotSpec:
        """The same bot as this player. Raises `UsageError` if it is not what it was then, unless it may differ."""
        if not (self._may_differ or may_be(bot, player)):
            raise UsageError(
                f"{printable(str(bot.path))}: expected {player.name} as it played, digest {player.digest[:DIGITS]}, "
                f"got {bot.digest[:DIGITS]}: its files have changed since; restore them, or pass --changed-bots to "
                "play with it as it is now"
            )
        return replace(as_player(bot, player.digest), name=player.name)

    def _candidates(self) -> Iterator[BotSpec]:
        """All that can be loaded as a bot; what cannot is somebody else's."""
        paths = {os.path.realpath(path): path for path in (*map(bot_path, SAMPLES), *self._entries())}
        for path in paths.values():
            try:
                bot = load_bot(path)
            except (UsageError, OSError):
                continue
            yield bot
            yield from (made_to_speak(bot, dialect) for dialect in Dialect if dialect is not bot.dialect)

    def _entries(self) -> Iterator[Path]:
        for folder in self._near:
            try:
                with os.scandir(folder) as entries:
                    found = sorted(islice((Path(entry.path) for entry in entries), MOST_LOOKED_AT))
            except OSError:
                continue
            yield from filter(_may_be_bot, found)


def _as_spoken_to(bot: BotSpec, player: Player) -> BotSpec:
    """The bot in the dialect in which it was this player, if it was; else as it is."""
    ways = [bot, *(made_to_speak(bot, dialect) for dialect in Dialect if dialect is not bot.dialect)]
    return next((way for way in ways if may_be(way, player)), bot)


def _may_be_bot(path: Path) -> bool:
    """Whether a path looks like a bot, before any of it is read. Links are left alone: they may be anybody's."""
    if path.is_symlink():
        return False
    if path.is_dir():
        return (path / MANIFEST).is_file()
    return path.is_file() and (path.suffix in PROGRAM_ENDINGS or os.access(path, os.X_OK))
