"""Where the `arena` command begins: Ctrl-C ends it without a traceback before anything that is slow to import."""

import sys


def main() -> None:
    """Entry point of the `arena` command."""
    from arena.cli.interrupts import leave_at_once

    leave_at_once()
    from arena.cli import front

    if front.answers(sys.argv[1:]):
        sys.exit(front.tell(sys.argv[1:]))
    from arena.cli.main import main as run

    run()
