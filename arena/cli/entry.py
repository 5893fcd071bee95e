"""Where the `arena` command begins: Ctrl-C ends it without a traceback before anything that is slow to import."""


def main() -> None:
    """Entry point of the `arena` command."""
    from arena.cli.interrupts import leave_at_once

    leave_at_once()
    from arena.cli.main import main as run

    run()
