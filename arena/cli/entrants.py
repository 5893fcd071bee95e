"""Who takes part in what was asked for on the command line, and what is said of those that cannot."""

from collections.abc import Callable, Sequence
from pathlib import Path

from arena.bots import BotSpec, find_entrants, told_apart
from arena.bots.build import BuildLimits, build_all
from arena.bots.limits import Limits, check_processes, parse_memory, parse_size
from arena.bots.names import given_name
from arena.bots.sandbox.levels import Level
from arena.bots.sandbox.programs import HostPrograms
from arena.bots.starting import runnable
from arena.cli.options import PlayOptions, option_value
from arena.cli.streams import remark
from arena.errors import UsageError
from arena.game.spec import Player
from arena.game.time_control import parse_duration
from arena.league.store import Store
from arena.printable import printable

NAMED = 3
"""Files named of those that a build makes otherwise each time."""


def entrants(
    paths: Sequence[str],
    level: Level,
    options: PlayOptions,
    strict: bool,
    *,
    follow_links: bool,
    store: Callable[[Sequence[BotSpec]], Path],
) -> tuple[list[BotSpec], Path]:
    """The bots at these paths, built, names told apart: at least two that can be started, and broken ones; their store.

    If it is `strict`, broken ones are refused. `store` says where the games of these bots are kept, if there are any:
    who has played there keeps the name. What is passed over and what is broken is said on standard error.
    Raises `UsageError` naming all that is wrong.
    """
    found = find_entrants(paths, follow_links=follow_links)
    bots = built(found.bots, level, options)
    faults = [bot.fault for bot in bots if bot.fault is not None]
    sound = [bot.name for bot in bots if bot.fault is None]
    if strict and faults:
        raise UsageError("\n".join(faults))
    if len(sound) < 2:
        got = f"only {sound[0]}" if sound else "none"
        raise UsageError("\n".join([*faults, *found.remarks, f"expected at least two bots, got {got}"]))
    path = store(bots)
    played = _played(path)
    before = {player.digest for player in played}
    named = told_apart(bots, played)
    for line in [*found.remarks, *_renamed(named), *_unsteady(found.bots, named, before)]:
        remark(line)
    for bot in named:
        if bot.fault is not None:
            remark(f"broken: {bot.fault}")
            remark(f"    {bot.name} forfeits its games; --strict refuses the league instead")
    return named, path


def _played(path: Path) -> list[Player]:
    """All who have played in a store, which need not be there."""
    if not path.exists():
        return []
    with Store(path, create=False) as store:
        return store.players()


def _renamed(bots: Sequence[BotSpec]) -> list[str]:
    """A line for each bot that is not called what it calls itself."""
    return [
        f"{printable(str(bot.path))}: not the only bot of the name {given_name(bot.name)}: it is listed as {bot.name}"
        for bot in bots
        if bot.name != given_name(bot.name)
    ]


def _unsteady(found: Sequence[BotSpec], bots: Sequence[BotSpec], played: set[str]) -> list[str]:
    """A line for each bot that was as it had played, and is another one since it was built again."""
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


def built(bots: Sequence[BotSpec], level: Level, options: PlayOptions) -> list[BotSpec]:
    """The same bots, built where they have to be; those that cannot be, or cannot be run at this level, are broken.

    Raises `UsageError` for an option that makes no sense.
    """
    limits = BuildLimits(
        seconds=option_value("--build-time", parse_duration, options.build_time) / 1000,
        memory=option_value("--build-memory", parse_memory, options.build_memory),
        disk=option_value("--build-disk", parse_size, options.build_disk),
        network=options.build_network,
    )
    host = HostPrograms(options.interpreters, bots)
    return runnable(level, build_all(bots, level, limits, host, remark), host, usual_limits(options))


def usual_limits(options: PlayOptions) -> Limits:
    """The limits of each bot that has none of its own. Raises `UsageError` for an option that makes no sense."""
    return Limits(
        option_value("--memory", parse_memory, options.memory),
        option_value("--processes", check_processes, options.processes),
        option_value("--tmp", parse_size, options.tmp),
    )
