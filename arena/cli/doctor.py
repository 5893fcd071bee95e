"""`arena doctor`: what this machine can enforce, and how to get more."""

import click

from arena.cli.helping import ArenaCommand
from arena.cli.interrupts import unwinding
from arena.cli.streams import result
from arena.cli.windows import refuse_windows


@click.command(
    "doctor",
    cls=ArenaCommand,
    examples=(("arena doctor", ""),),
)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def doctor_command(as_json: bool) -> None:
    """Show which levels of --sandbox work on this machine, what each enforces, and how to get more."""
    refuse_windows()
    from arena.bots.sandbox.levels import AUTO, enter_scope
    from arena.bots.sandbox.probe import examine
    from arena.report.consoles import results_console
    from arena.report.doctor import health_json, health_report

    enter_scope(AUTO)  # as 'arena league' does: what works there is to be shown
    with unwinding():
        health = examine()
    if as_json:
        result(health_json(health))
    else:
        console = results_console()
        console.print(health_report(health))
