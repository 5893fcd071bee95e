"""Find the bots of stored games by their digests, without running any program."""

import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from arena.bots.archive import copies_in
from arena.bots.asked import AskedBot
from arena.bots.entering import as_player, may_be
from arena.bots.finding import bots_at
from arena.bots.loading import load_bot
from arena.bots.samples import PREFIX, SAMPLES, bot_path
from arena.bots.spec import BotSpec
from arena.errors import UsageError
from arena.game.game_spec import Player
from arena.system.printable import SHOWN, printable

MOST_LOOKED_AT = 500
"""The most entries of one folder that are examined."""
DIGITS = 12


class BotFinder:
    """Finds the bots of one game: at a path, among the sample bots, in the folders `near`, and in the `archive`.

    With `may_differ` a changed bot is accepted. Each bot is looked for with the arguments that it was started with.
    """

    def __init__(self, near: Sequence[Path], *, may_differ: bool, archive: Path | None = None) -> None:
        self._near = near
        self._may_differ = may_differ
        self._archive = archive

    def at(self, path: str, player: Player, arguments: tuple[str, ...] = ()) -> BotSpec:
        """Return the bot at a path, or in a folder of bots there. Raises `UsageError` if the player is not there."""
        bots = list(_loaded(bots_at(bot_path(path)), arguments))
        same = [bot for bot in bots if may_be(bot, player)]
        return self.checked(same[0] if same else load_bot(bot_path(path), AskedBot(path, arguments=arguments)), player)

    def anywhere(self, player: Player, named: str, arguments: tuple[str, ...] = ()) -> list[BotSpec]:
        """Return the places of the player's bot, in the order of preference.

        `named` is its name for `--bot`. Raises `UsageError` if there is none.
        """
        near = list(_loaded((*map(bot_path, SAMPLES), *self._entries()), arguments))
        archived = _loaded(copies_in(self._archive, player.digest), arguments) if self._archive else ()
        same = [bot for bot in (*near, *archived) if may_be(bot, player)]
        namesakes = [bot for bot in near if bot.name == player.name]
        if found := sorted(same, key=lambda bot: bot.name != player.name) or namesakes[:1]:
            return [self.checked(bot, player) for bot in found]
        folders = ["this folder" if folder == Path() else printable(str(folder)) for folder in self._near]
        looked = " or ".join(["the sample bots", *folders])
        raise UsageError(
            f"{named}: no bot with the digest {player.digest[:DIGITS]} was found{_with(arguments)}; looked for it in "
            f"{looked}; say where it is with --bot {named}=PATH{_or_arguments(named, arguments)}"
        )

    def checked(self, bot: BotSpec, player: Player) -> BotSpec:
        """Return the same bot as this player. Raises `UsageError` if it has changed, unless it may differ."""
        if not (self._may_differ or may_be(bot, player)):
            raise UsageError(
                f"{printable(str(bot.path))}: expected {player.name} as it played, digest {player.digest[:DIGITS]}, "
                f"got {bot.digest[:DIGITS]}{_with(bot.arguments)}: its files have changed since, or it had other "
                f"arguments; restore them, say its arguments with --arguments NAME=WORDS, or pass --changed-bots to "
                "play with it as it is now"
            )
        return replace(as_player(bot, player.digest), name=player.name)

    def _entries(self) -> Iterator[Path]:
        for folder in self._near:
            try:
                with os.scandir(folder) as entries:
                    found = sorted(Path(each.path) for each in islice(entries, MOST_LOOKED_AT) if not each.is_symlink())
            except OSError:
                continue
            for path in found:
                yield from bots_at(path)


def _loaded(paths: Iterable[Path], arguments: tuple[str, ...]) -> Iterator[BotSpec]:
    for path in {os.path.realpath(path): path for path in paths}.values():
        try:
            yield load_bot(path, AskedBot(str(path), arguments=arguments) if arguments else None)
            yield load_bot(path, AskedBot(f"{PREFIX}{path}", arguments=arguments))
        except (UsageError, OSError):
            continue


def _with(arguments: tuple[str, ...]) -> str:
    return f" with the arguments {printable(shlex.join(arguments), SHOWN)}" if arguments else ""


def _or_arguments(named: str, arguments: tuple[str, ...]) -> str:
    return "" if arguments else f", and its arguments, if it had some, with --arguments {named}=WORDS"
