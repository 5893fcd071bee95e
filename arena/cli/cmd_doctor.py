"""`arena doctor`: which sandbox levels work on this machine, and how to get more."""

from typing import TYPE_CHECKING

import click

from arena.cli.helping import ArenaCommand
from arena.cli.installation import refuse_windows
from arena.cli.interrupts import unwinding
from arena.cli.shared_options import json_option
from arena.cli.streams import result

if TYPE_CHECKING:
    from rich.console import RenderableType

    from arena.sandbox.levels import Health


@click.command(
    "doctor",
    cls=ArenaCommand,
    examples=(("arena doctor", ""),),
)
@json_option
def doctor_command(as_json: bool) -> None:
    """Show which levels of --sandbox work on this machine, and what they lack."""
    refuse_windows()
    from arena.report.consoles import results_console, to_json
    from arena.sandbox.levels import examine

    with unwinding():
        health = examine()
    if as_json:
        result(to_json(health))
    else:
        results_console().print(health_report(health))


def health_report(health: "Health") -> "RenderableType":
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    parts: list[RenderableType] = [
        Text(f"{health.system}, Python {health.python}, as {health.user}, {health.open_files} open files at most"),
        "",
    ]
    for trial in health.trials:
        state = "works" if trial.works else "does not work here"
        parts.append(Text.assemble("--sandbox ", (trial.level.value, "bold"), f": {state}"))
        remarks = [trial.reason] if trial.reason else [f"but {gap}" for gap in trial.gaps]
        parts += [Padding(Text(remark), (0, 0, 0, 4)) for remark in remarks]
    return Group(*parts)
