"""Give the bots of a league distinct names, for tables, and distinct digests, which identify their games.

A bot is identified by its content and its arguments. Where several bots of a league share these, the name becomes part
of the digest, unless the bot has played without that under the same name.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from arena.bots.names import base_name
from arena.bots.spec import BotSpec
from arena.game.game_spec import Player
from arena.system.printable import printable

PLACE_DIGITS = 32
"""Hexadecimal digits of a place, enough that no author can pick a folder's name with another's fingerprint."""


def assign_identities(bots: Sequence[BotSpec], played: Sequence[Player] = ()) -> list[BotSpec]:
    """Return the same bots with distinct names and digests, independent of their order.

    `played` are the players of the store's games, the last ones at the end.
    """
    copies = Counter(bot.digest for bot in bots)
    called = {player.digest: player.name for player in played}
    return [_entered(bot, copies[bot.digest] > 1, called) for bot in _with_distinct_names(bots)]


def _entered(bot: BotSpec, has_copies: bool, called: dict[str, str]) -> BotSpec:
    with_name = digest_with_name(bot.digest, bot.name)
    is_content = called.get(bot.digest) == bot.name if has_copies else with_name not in called
    return as_player(bot, bot.digest if is_content else with_name)


def as_player(bot: BotSpec, digest: str) -> BotSpec:
    entered_as = "" if digest == bot.digest else digest
    return bot if bot.entered_as == entered_as else replace(bot, entered_as=entered_as)


def may_be(bot: BotSpec, player: Player) -> bool:
    """Return whether a player is this bot, alone or as one of several copies."""
    return player.digest in (bot.digest, digest_with_name(bot.digest, player.name))


def digest_with_name(digest: str, name: str) -> str:
    return hashlib.sha256(f"{digest} named {name}".encode(errors="surrogatepass")).hexdigest()


def broken(bot: BotSpec, fault: str) -> BotSpec:
    """Return the same bot as one that cannot be started, because of `fault`.

    A broken bot is another player than the working one, so that its forfeits do not count for the bot once it is fixed.
    """
    digest = hashlib.sha256(f"broken {bot.digest}".encode()).hexdigest()
    return replace(bot, digest=digest, fault=printable(fault, lines=True))


def place_of(bot: BotSpec) -> str:
    """Return a fingerprint of a bot's location: the store shows its readers no paths."""
    return fingerprint(own_files(bot))


def fingerprint(path: Path) -> str:
    return hashlib.sha256(b"place " + os.fsencode(path)).hexdigest()[:PLACE_DIGITS]


def copies_of_one(bots: Iterable[BotSpec]) -> list[str]:
    """Return a line for each group of startable bots with the same content."""
    alike: dict[str, list[BotSpec]] = {}
    for bot in bots:
        if bot.fault is None:
            alike.setdefault(bot.digest, []).append(bot)
    return [
        f"{', '.join(bot.name for bot in copies)}: the same files {len(copies)} times, so they are copies of one bot; "
        "each takes part, and under the same clock and limits only chance decides between them"
        for copies in alike.values()
        if len(copies) > 1
    ]


def _with_distinct_names(bots: Sequence[BotSpec]) -> list[BotSpec]:
    times = Counter(bot.name for bot in bots)
    taken = {name for name, number in times.items() if number == 1}
    names: dict[int, str] = {}
    paths = [own_files(bot) for bot in bots]
    keys = [(os.fsencode(path), bot.arguments) for path, bot in zip(paths, bots, strict=True)]
    namesakes = Counter((path.parent, bot.name) for path, bot in zip(paths, bots, strict=True))
    for place in sorted(range(len(bots)), key=keys.__getitem__):
        bot, path = bots[place], paths[place]
        if times[bot.name] > 1:
            folder = base_name(path) if namesakes[path.parent, bot.name] > 1 else path.parent.name
            name = f"{printable(folder)}/{bot.name}"
            numbered = (f"{name}#{number}" for number in count(2))
            names[place] = name if name not in taken else next(one for one in numbered if one not in taken)
            taken.add(names[place])
    return [replace(bot, name=names[place]) if place in names else bot for place, bot in enumerate(bots)]


def own_files(bot: BotSpec) -> Path:
    """Return a bot's folder, or only the file of a single-file bot, which may have other bots next to it.

    Of a link that is a broken bot it is the link itself: its target may be anybody's.
    """
    return Path(os.path.realpath(bot.path)) if bot.fault is None else place_of_link(bot.path)


def place_of_link(path: Path) -> Path:
    """Return a path with its folders resolved, but not its last component."""
    return Path(os.path.realpath(path.parent), path.name) if path.name not in ("", "..") else path.resolve()
