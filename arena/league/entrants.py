"""The bots that take part: found, built, and compared with their last games in the store.

A changed bot is a new player, and the old games stay; a renamed bot is the same player. The store keeps a fingerprint
of each file of each bot, its arguments, and its place, which distinguishes copies of one bot (`arena.bots.entering`).
"""

import os
import re
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from arena.bots.covered import file_changes, named
from arena.bots.entering import assign_identities, copies_of_one, place_of
from arena.bots.finding import Found, broken, find_entrants, fitting
from arena.bots.folders import BotFolders
from arena.bots.names import given_name
from arena.bots.spec import BotSpec
from arena.bots.starting import runnable
from arena.bots.trial import Run
from arena.errors import UsageError
from arena.game.game_spec import Player
from arena.league.league_options import LARGEST_SEED, PlayOptions, variant_of
from arena.league.option_values import apart_from_bots, build_limits, usual_limits
from arena.league.settings import is_seed
from arena.league.stop import Say
from arena.league.store import KeptFiles, Store, is_empty_file
from arena.league.store.document import SEED
from arena.sandbox.levels import Level
from arena.sandbox.programs import HostPrograms
from arena.system.printable import printable

NAMED = 3
"""The most files that are named of those that differ after each build."""
LEFT_OUT = "is left out"
LISTED = "stays in the table; --skip-broken leaves it out, --strict refuses the league"


def enrolled(
    paths: Sequence[str],
    options: PlayOptions,
    *,
    follow_links: bool,
    leave_out: bool = False,
    store: Callable[[Sequence[BotSpec]], Path],
) -> tuple[Found, Path]:
    """Find the bots at these paths, without building or starting them; return them and the path of their store.

    The path is known first, so that another arena that plays there is noticed before anything is changed. Raises
    `UsageError`.
    """
    found = find_entrants(paths, follow_links=follow_links, asked=options.asked, leave_out=leave_out)
    return found, apart_from_bots(store(found.bots), found.bots)


def entrants(
    found: Found,
    level: Level,
    options: PlayOptions,
    *,
    strict: bool,
    skip_broken: bool = False,
    distinct: bool = False,
    least: int = 2,
    store: Path,
    folders: BotFolders,
    say: Say,
    run: Run,
) -> list[BotSpec]:
    """Build the bots and give them distinct names; return them, at least `least` of them startable.

    If `strict`, broken bots are refused; with `skip_broken` they are left out; with `distinct`, copies of one bot are
    refused. Players with games in the `store` keep their names. `folders` keeps folders of built bots locked. `say`
    receives remarks, line by line; `run` runs builds and trials. Raises `UsageError` with all that is wrong, and
    `BotInUseError`.
    """
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
    played = _played(store)
    before = {player.digest for player in played}
    unsteady = _unsteady(found.bots, bots, before)
    entered = [bot for bot in bots if bot.fault is None] if skip_broken else bots
    named = assign_identities(entered, played)
    for line in [*found.remarks, *_renamed(named), *copies_of_one(named), *unsteady]:
        say(line)
    for bot in bots if skip_broken else named:
        if bot.fault is not None:
            say(f"broken: {bot.fault}")
            say(f"    {bot.name} {LEFT_OUT if skip_broken else LISTED}")
    return named


def _played(path: Path) -> list[Player]:
    if not os.path.exists(path) or is_empty_file(path):
        return []
    with Store(path, create=False) as store:
        return store.players()


def with_seed(options: PlayOptions, path: Path) -> PlayOptions:
    """Return the options with the seed of a game with chance, if none was given: the store's, or a random one."""
    if not options.draws_seed or not variant_of(options).kind.has_chance:
        return options
    known = ""
    if os.path.exists(path) and not is_empty_file(path):
        with Store(path, create=False) as store:
            known = store.settings().get(SEED, "")
    return replace(options, seed=int(known) if is_seed(known) else secrets.randbelow(LARGEST_SEED) + 1)


def _renamed(bots: Sequence[BotSpec]) -> list[str]:
    return [
        f"{printable(str(bot.path))}: another bot is named {given_name(bot.name)}: this one is listed as {bot.name}"
        for bot in bots
        if bot.name != given_name(bot.name)
    ]


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
    """Build the bots that need it; those that cannot be built, or run at this level, are broken.

    `folders` keeps folders of built bots locked. Raises `UsageError` for an invalid option, and `BotInUseError`.
    """
    limits = build_limits(options)
    host = HostPrograms(options.interpreters, bots)
    if any(bot.build and bot.fault is None for bot in bots):
        from arena.bots.build import build_all  # most leagues build no bot

        bots = build_all(bots, level, limits, host, say, folders=folders, run=run)
    return runnable(level, bots, host, usual_limits(options), run)


_WRITTEN = re.compile(
    r"(.*/)?((logs?|tmp|temp|cache)/[\w./-]+"
    r"|([\w-]+[._-])?logs?([._-][\w-]+)*\.(txt|csv|jsonl?)"
    r"|[\w.-]+\.(log|tmp|out|err|pid|lock|db|sqlite))"
)
"""Names of files that a bot is likely to have written itself."""


def note_versions(store: Store, bots: Sequence[BotSpec], former: Collection[str] = ()) -> list[str]:
    """Store files, places and arguments of these bots; return a line for each that has changed since it played.

    Bots with digests in `former` replace their older versions in the league.
    """
    played = store.players()
    present = {bot.player.digest for bot in bots}
    known = {player.digest for player in played}
    called: dict[str, list[Player]] = {}
    for player in played:
        called.setdefault(player.name, []).append(player)
    lines, kept = [], []
    for bot in bots:
        versions = called.get(bot.name, [])
        older = [player for player in versions if player.digest not in present]  # the others play on, renamed
        if bot.fault is None and older and bot.player.digest not in known:
            lines.append(_line(bot, older[-1], store.kept().files_of(older[-1]), goes_on=bot.player.digest in former))
        if bot.fault is None:
            kept.append(KeptFiles(bot.player, bot.files, versions))
    store.set_files(kept)
    store.set_places({bot.player.digest: place_of(bot) for bot in bots}, known)
    store.set_arguments({bot.player.digest: bot.arguments for bot in bots if bot.fault is None}, known)
    return lines


def _line(bot: BotSpec, old: Player, files: Mapping[str, str], *, goes_on: bool) -> str:
    where = f"the old games stay under {old.name}@{old.digest[:6]}"
    if goes_on:
        where += ", and count for its place in this league, where it keeps playing"
    if not files or not bot.files:
        return f"{bot.name} has changed since its games in this store; {where}"
    changed = file_changes(files, bot.files)
    line = f"{bot.name} has changed since its games in this store: {named(changed)}; {where}"
    if are_likely_its_own(bot, changed):
        line += f"; {ignore_hint(changed)}"
    return line


def are_likely_its_own(bot: BotSpec, changed: Mapping[str, str]) -> bool:
    """Return whether a bot is likely to have written all these files itself, and could list them in `ignore`."""
    return bool(changed) and all(_WRITTEN.fullmatch(name) for name in changed) and bot.path.is_dir()


def ignore_hint(changed: Mapping[str, str]) -> str:
    return f'files that it writes itself can be left out: ignore = ["{min(changed)}"] in its bot.toml'
