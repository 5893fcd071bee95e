"""Bots of stored games, found again by what they are.

A store knows a bot by the digest of its files, and where it lay only as a fingerprint of the path. So it is looked
for by content: at a path that is given, else among the sample bots, in folders that are near, and below these where a
path has the fingerprint. Nothing here is run.
"""

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

from arena.bots import BotSpec, load_bot
from arena.bots.archive import copies_in
from arena.bots.asked import AskedBot
from arena.bots.entering import as_player, fingerprint, may_be, place_of
from arena.bots.manifest import MANIFEST
from arena.bots.names import PROGRAM_ENDINGS
from arena.bots.old_bots import PREFIX
from arena.bots.samples import SAMPLES, bot_path
from arena.errors import UsageError
from arena.game.spec import Player
from arena.system.printable import SHOWN, printable

MOST_LOOKED_AT = 500
"""Files and folders of one folder that are looked at."""
MOST_BELOW, DEPTH = 20_000, 4
"""Files and folders whose paths are compared with fingerprints, and how far below a folder they may be."""
DIGITS = 12


class BotFinder:
    """Finds the bots of one game. `places` are those of the store; with `may_differ` a bot that has changed will do.

    Each is looked for as it is with the arguments that it was started with, as they are part of what it is.
    """

    def __init__(
        self, places: Mapping[str, str], near: Sequence[Path], *, may_differ: bool, archive: Path | None = None
    ) -> None:
        self._places = places
        self._archive = archive
        self._near = near
        self._may_differ = may_differ
        self._seen: dict[tuple[str, ...], list[BotSpec]] = {}

    def at(self, path: str, player: Player, arguments: tuple[str, ...] = ()) -> BotSpec:
        """The bot at a path, as this player. Raises `UsageError` if it is another one, or none at all."""
        bot = load_bot(bot_path(path), AskedBot(path, arguments=arguments))
        of_2012 = load_bot(bot.path, AskedBot(f"{PREFIX}{bot.path}", arguments=arguments))
        return self.checked(of_2012 if may_be(of_2012, player) else bot, player)

    def anywhere(self, player: Player, named: str, arguments: tuple[str, ...] = ()) -> BotSpec:
        """The player's bot, wherever it is; `named` is how `--bot` calls it. Raises `UsageError` if it is not found."""
        if arguments not in self._seen:
            self._seen[arguments] = list(self._candidates(arguments))
        seen = self._seen[arguments]
        same = [bot for bot in seen if may_be(bot, player)]
        if not same and self._archive:
            same = [
                bot for bot in self._loaded(copies_in(self._archive, player.digest), arguments) if may_be(bot, player)
            ]
        if same:
            at_its_place = [bot for bot in same if place_of(bot) == self._places.get(player.digest)]
            namesakes = [bot for bot in same if bot.name == player.name]
            return self.checked((at_its_place or namesakes or same)[0], player)
        namesakes = [bot for bot in seen if bot.name == player.name]
        if namesakes:
            return self.checked(namesakes[0], player)
        folders = ["this folder" if folder == Path() else printable(str(folder)) for folder in self._near]
        looked = " or ".join(["the sample bots", *folders])
        raise UsageError(
            f"{named}: no bot with the digest {player.digest[:DIGITS]} was found{_with(arguments)}; looked for it in "
            f"{looked}; say where it is with --bot {named}=PATH{_or_arguments(named, arguments)}"
        )

    def checked(self, bot: BotSpec, player: Player) -> BotSpec:
        """The same bot as this player. Raises `UsageError` if it is not what it was then, unless it may differ."""
        if not (self._may_differ or may_be(bot, player)):
            raise UsageError(
                f"{printable(str(bot.path))}: expected {player.name} as it played, digest {player.digest[:DIGITS]}, "
                f"got {bot.digest[:DIGITS]}{_with(bot.arguments)}: its files have changed since, or it had other "
                f"arguments; restore them, say its arguments with --arguments NAME=WORDS, or pass --changed-bots to "
                "play with it as it is now"
            )
        return replace(as_player(bot, player.digest), name=player.name)

    def _candidates(self, arguments: tuple[str, ...]) -> Iterator[BotSpec]:
        found = (*map(bot_path, SAMPLES), *self._entries(), *self._at_places())
        yield from self._loaded({os.path.realpath(path): path for path in found}.values(), arguments)

    @staticmethod
    def _loaded(paths: Iterable[Path], arguments: tuple[str, ...]) -> Iterator[BotSpec]:
        """Load the bots at these paths, in each dialect; what is no bot is passed over."""
        for path in paths:
            try:
                yield load_bot(path, AskedBot(str(path), arguments=arguments) if arguments else None)
                yield load_bot(path, AskedBot(f"{PREFIX}{path}", arguments=arguments))
            except (UsageError, OSError):
                continue

    def _entries(self) -> Iterator[Path]:
        for folder in self._near:
            try:
                with os.scandir(folder) as entries:
                    found = sorted(islice((Path(entry.path) for entry in entries), MOST_LOOKED_AT))
            except OSError:
                continue
            yield from filter(_may_be_bot, found)

    def _at_places(self) -> Iterator[Path]:
        """What is below the folders that are near where a bot of the store lay."""
        places = set(self._places.values())
        below = chain.from_iterable(_below(folder, DEPTH) for folder in self._near) if places else iter(())
        for path in islice(below, MOST_BELOW):
            if fingerprint(Path(os.path.realpath(path))) in places and _may_be_bot(path):
                yield path


def _below(folder: Path, depth: int) -> Iterator[Path]:
    """All that is in a folder and so far below it, links left alone."""
    try:
        with os.scandir(folder) as entries:
            found = sorted(Path(entry.path) for entry in islice(entries, MOST_BELOW) if not entry.is_symlink())
    except OSError:
        return
    yield from found
    for path in found:
        if depth > 1 and path.is_dir():
            yield from _below(path, depth - 1)


def _with(arguments: tuple[str, ...]) -> str:
    return f" with the arguments {printable(shlex.join(arguments), SHOWN)}" if arguments else ""


def _or_arguments(named: str, arguments: tuple[str, ...]) -> str:
    return "" if arguments else f", and its arguments, if it had some, with --arguments {named}=WORDS"


def _may_be_bot(path: Path) -> bool:
    """Whether a path looks like a bot, before any of it is read. Links are left alone: they may be anybody's."""
    if path.is_symlink():
        return False
    if path.is_dir():
        return (path / MANIFEST).is_file()
    return path.is_file() and (path.suffix in PROGRAM_ENDINGS or os.access(path, os.X_OK))
