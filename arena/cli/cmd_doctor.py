"""`arena doctor`: which sandbox levels work on this machine, and how to get more."""

from typing import TYPE_CHECKING

from arena.cli.helping import command
from arena.cli.interrupts import unwinding
from arena.cli.shared_options import json_option
from arena.cli.streams import result

if TYPE_CHECKING:
    from arena.sandbox.levels import Health
    from arena.system.terminal_text import Block


@command(("arena doctor", ""), runs_bots=True)
@json_option
def doctor_command(as_json: bool) -> None:
    """Show which levels of --sandbox work on this machine, and what they lack."""
    from arena.sandbox.levels import examine
    from arena.system.terminal_text import print_blocks, to_json

    with unwinding():
        health = examine()
    if as_json:
        result(to_json(health))
    else:
        print_blocks(health_report(health))


def health_report(health: "Health") -> "list[Block]":
    blocks: list[Block] = [
        f"{health.system}, Python {health.python}, as {health.user}, {health.open_files} open files at most",
        "",
    ]
    for trial in health.trials:
        blocks.append(f"--sandbox {trial.level.value}: {'works' if trial.works else 'does not work here'}")
        remarks = [trial.reason] if trial.reason else [f"but {gap}" for gap in trial.gaps]
        blocks += [f"    {remark}" for remark in remarks]
    return blocks
