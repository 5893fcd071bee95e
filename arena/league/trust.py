"""Limit what a record, a store or a saved game, which may come from anyone, decides about sandboxes.

It can ask for a stronger sandbox than a match would have and for smaller limits, never for less. Programs run without a
sandbox only if the host has named them: by path, or by playing with them from that folder in that store.
"""

import os
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

from arena.bots.archive import ARCHIVE
from arena.bots.entering import fingerprint, place_of
from arena.bots.limits import Limits
from arena.bots.samples import is_sample
from arena.bots.spec import BotSpec
from arena.errors import UsageError
from arena.league.league_options import USUAL
from arena.league.stop import Say
from arena.sandbox.levels import AUTO, Level, choose, strongest
from arena.system.printable import SHOWN, printable
from protocol.seats import Color


def sandbox_for(asked: str | None, said: Iterable[str | None]) -> str:
    """Return the `asked` level, or the strongest of those in `said`, but no weaker one than a match's default."""
    if asked is not None:
        return asked
    levels = [level.value for level in Level]
    return strongest([USUAL.sandbox, *(word for word in said if word in levels)])


def level_for(asked: str | None, said: Iterable[str | None]) -> Level:
    """Return the level of `sandbox_for`. Raises `UsageError` if it does not work here: no weaker one replaces it."""
    word = sandbox_for(asked, said)
    try:
        return choose(word)
    except UsageError as error:
        if asked is not None:
            raise
        raise UsageError(f"this game was played with sandbox {word}; --sandbox chooses a weaker one\n{error}") from None


def limits_for(
    color: Color, name: str, said: Limits, of_store: Mapping[str, Limits], *, where: str, say: Say
) -> Limits:
    """Return the limits of a bot that a file says, at most the store's or otherwise the usual ones."""
    usual = Limits()
    limits = said.within(of_store.get(name, usual))
    if limits != said:
        most = "the limits that the store's settings say" if name in of_store else "the usual limits"
        say(f"{color.word}: {name} had {said.text} by {where}, which is more than {most}: it has {limits.text}")
    elif limits.within(usual) != limits:
        say(f"{color.word}: {name} has more than the usual limits, as the store says: {limits.text}")
    return limits


def is_trusted(bot: BotSpec, level: Level, asked: str | None, places: Mapping[str, str], *, is_named: bool) -> bool:
    """Return whether a bot may run at a level that may be no sandbox: the host has named it, or played with it."""
    if level is not Level.BASIC or asked not in (None, AUTO) or is_named:
        return True
    return place_of(bot) == places.get(bot.player.digest) or (not bot.arguments and is_sample(bot.path))


def is_archived(bot: BotSpec, archive: Path | None, places: Mapping[str, str]) -> bool:
    if archive is None or not bot.path.is_relative_to(archive):
        return False
    return places.get(ARCHIVE) == fingerprint(Path(os.path.realpath(archive)))


def bot_line(bot: BotSpec) -> str:
    words = f" {printable(shlex.join(bot.arguments), SHOWN)}" if bot.arguments else ""
    return f"{printable(str(bot.path))}{words}"


def untrusted_text(color: Color, bot: BotSpec, *options: str) -> str:
    """Return why a program that only a file names is not run; `options` would trust it, as --sandbox basic does."""
    trusting = " or ".join((*options, "--sandbox basic"))
    return (
        f"{color.word}: {bot.name} is {bot_line(bot)}; without a sandbox it could use your files and "
        f"network, so pass --sandbox bwrap to isolate it, or {trusting} to run it without a sandbox"
    )
