"""Who takes part in what was asked for on the command line, and what is said of those that cannot."""

from collections.abc import Sequence

import click

from arena.bots import BotSpec, find_entrants
from arena.confine.levels import Level, runnable
from arena.model import UsageError


def entrants(paths: Sequence[str], level: Level, strict: bool) -> list[BotSpec]:
    """The bots at these paths, names told apart: at least two that can be started, and, unless `strict`, broken ones.

    What is passed over and what is broken is said on standard error. Raises `UsageError` naming all that is wrong.
    """
    found = find_entrants(paths)
    bots = runnable(level, found.bots)
    faults = [bot.fault for bot in bots if bot.fault is not None]
    sound = [bot.name for bot in bots if bot.fault is None]
    if strict and faults:
        raise UsageError("\n".join(faults))
    if len(sound) < 2:
        got = f"only {sound[0]}" if sound else "none"
        raise UsageError("\n".join([*faults, *found.remarks, f"expected at least two bots, got {got}"]))
    for remark in found.remarks:
        click.echo(remark, err=True)
    for bot in bots:
        if bot.fault is not None:
            click.echo(f"broken: {bot.fault}", err=True)
            click.echo(f"    {bot.name} forfeits its games; --strict refuses the league instead", err=True)
    return bots
