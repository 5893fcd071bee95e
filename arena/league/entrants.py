"""The bots that take part: found and built, with names that distinguish them.

A changed bot is a new player, and the old games stay; a renamed bot is the same player.
"""

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from arena.bots.entering import assign_identities, broken, copies_of_one
from arena.bots.finding import find_entrants, fitting
from arena.bots.folders import BotFolders
from arena.bots.names import given_name
from arena.bots.runnable import runnable
from arena.bots.spec import BotSpec
from arena.errors import UsageError
from arena.game.game_spec import Player
from arena.league.league_options import LARGEST_SEED, PlayOptions, variant_of
from arena.league.option_values import apart_from_bots, build_limits, check_values, usual_limits
from arena.league.settings import is_seed
from arena.league.stop import Say
from arena.league.store import Store, is_empty_file, sole_use
from arena.league.store.document import SEED
from arena.sandbox.levels import Level, choose
from arena.sandbox.programs import HostPrograms
from arena.system.concurrency import Run
from arena.system.printable import printable

NAMED = 3
LEFT_OUT = "is left out"
LISTED = "stays in the table; --skip-broken leaves it out, --strict refuses the league"


@dataclass(frozen=True)
class Entrants:
    """The bots of some games, built, with the options they play under and the path of their store."""

    bots: tuple[BotSpec, ...]
    options: PlayOptions
    level: Level
    path: Path


@contextlib.contextmanager
def entrants(
    paths: Sequence[str],
    options: PlayOptions,
    store: Callable[[Sequence[BotSpec]], Path],
    say: Say,
    run: Run,
    *,
    follow_links: bool = True,
    strict: bool = True,
    skip_broken: bool = False,
    distinct: bool = False,
    least: int = 2,
) -> Iterator[Entrants]:
    """Find and build the bots at these paths and give them distinct names, at least `least` of them startable.

    Broken bots are refused if `strict`, left out with `skip_broken`, and listed otherwise. Copies of one bot are
    refused with `distinct`. Within the `with` statement no other arena plays with the store, or builds in the bots'
    folders. Raises `UsageError` with all that is wrong, and other `ArenaError`.
    """
    check_values(options)
    level = choose(options.sandbox)
    found = find_entrants(paths, follow_links=follow_links, asked=options.asked, leave_out=not strict)
    path = apart_from_bots(store(found.bots), found.bots)
    with sole_use(path), BotFolders() as folders:
        played, seed = list[Player](), ""
        if os.path.exists(path) and not is_empty_file(path):
            with Store(path, create=False) as before:
                played, seed = before.players(), before.read_document()[0].games.get(SEED, "")
        if options.draws_seed and variant_of(options).kind.has_chance:
            options = replace(options, seed=int(seed) if is_seed(seed) else secrets.randbelow(LARGEST_SEED) + 1)
        able = [fitting(bot, variant_of(options), has_openings=options.openings is not None) for bot in found.bots]
        bots = built(able, level, options, say, folders=folders, run=run)
        if options.cluster is not None:
            bots = [_sendable(bot) for bot in bots]
        faults = [bot.fault for bot in bots if bot.fault is not None]
        sound = [bot.name for bot in bots if bot.fault is None]
        if strict and faults:
            raise UsageError("\n".join(faults))
        if len(sound) < least:
            got = f"only {sound[0]}" if sound else "none"
            raise UsageError("\n".join([*faults, *found.remarks, f"expected at least two bots, got {got}"]))
        if distinct and len({bot.digest for bot in bots}) < len(bots):
            alike = " and ".join(printable(str(bot.path)) for bot in bots)
            raise UsageError(f"{alike}: expected two different bots, got the same files twice")
        unsteady = _unsteady(found.bots, bots, {player.digest for player in played})
        named = assign_identities([bot for bot in bots if bot.fault is None] if skip_broken else bots, played)
        renamed = [
            f"{printable(str(bot.path))}: another bot is named {given_name(bot.name)}: this one is listed as {bot.name}"
            for bot in named
            if bot.name != given_name(bot.name)
        ]
        for line in [*found.remarks, *renamed, *copies_of_one(named), *unsteady]:
            say(line)
        for bot in bots if skip_broken else named:
            if bot.fault is not None:
                say(f"broken: {bot.fault}")
                say(f"    {bot.name} {LEFT_OUT if skip_broken else LISTED}")
        yield Entrants(tuple(named), options, level, path)


def _unsteady(found: Sequence[BotSpec], bots: Sequence[BotSpec], played: set[str]) -> list[str]:
    """Return a line for each bot that had played as it was, and differs after its build."""
    lines = []
    for old, new in zip(found, bots, strict=True):
        if new.build and new.fault is None and new.digest != old.digest and old.digest in played:
            names = sorted(name for name, content in new.files.items() if old.files.get(name) != content)
            shown = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
            lines.append(
                f"{new.name}: its build makes other files each time: {shown or 'too many to name'}; so it is a new bot "
                "in each run, and plays all its games again: name them under ignore in its bot.toml"
            )
    return lines


def _sendable(bot: BotSpec) -> BotSpec:
    from arena.league.executor.cluster.packing import check_sendable

    if bot.fault is None:
        try:
            check_sendable(bot)
        except UsageError as error:
            return broken(bot, str(error))
    return bot


def built(
    bots: Sequence[BotSpec], level: Level, options: PlayOptions, say: Say, *, folders: BotFolders, run: Run
) -> list[BotSpec]:
    """Build the bots that need it, in locked folders; those that cannot be built, or run at this level, are broken."""
    limits = build_limits(options)
    host = HostPrograms(options.interpreters, bots)
    if not options.built and any(bot.build and bot.fault is None for bot in bots):
        from arena.bots.build import build_all  # most leagues build no bot

        bots = build_all(bots, level, limits, host, say, folders=folders, run=run)
    return runnable(level, bots, host, usual_limits(options), run)
