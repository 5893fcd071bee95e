"""Who takes part in what was asked for on the command line, and what is said of those that cannot."""

from collections.abc import Sequence

from arena.bots import BotSpec, find_entrants
from arena.cli.options import PlayOptions, option_value
from arena.cli.streams import remark
from arena.confine.build import BuildLimits, build_all
from arena.confine.levels import Level, runnable
from arena.confine.programs import HostPrograms
from arena.limits import Limits, check_processes, parse_memory, parse_size
from arena.model import UsageError, parse_duration


def entrants(paths: Sequence[str], level: Level, options: PlayOptions, strict: bool) -> list[BotSpec]:
    """The bots at these paths, built, names told apart: at least two that can be started, and broken ones.

    If it is `strict`, broken ones are refused. What is passed over and what is broken is said on standard error.
    Raises `UsageError` naming all that is wrong.
    """
    found = find_entrants(paths)
    bots = built(found.bots, level, options)
    faults = [bot.fault for bot in bots if bot.fault is not None]
    sound = [bot.name for bot in bots if bot.fault is None]
    if strict and faults:
        raise UsageError("\n".join(faults))
    if len(sound) < 2:
        got = f"only {sound[0]}" if sound else "none"
        raise UsageError("\n".join([*faults, *found.remarks, f"expected at least two bots, got {got}"]))
    for line in found.remarks:
        remark(line)
    for bot in bots:
        if bot.fault is not None:
            remark(f"broken: {bot.fault}")
            remark(f"    {bot.name} forfeits its games; --strict refuses the league instead")
    return bots


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
