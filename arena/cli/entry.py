"""Where the `arena` command begins: Ctrl-C ends it without a traceback before anything that is slow to import."""

import sys

OBJECTS_AT_ONCE = 50_000
"""So many new objects are looked through for cycles at a time. With Python's 700 that is a tenth of the time of what
reads a large store; nothing keeps memory by it, as the arena's own objects make no cycles to speak of."""


def main() -> None:
    """Entry point of the `arena` command."""
    import gc

    from arena.cli.interrupts import leave_at_once

    leave_at_once()
    from arena.cli import front

    if front.answers(sys.argv[1:]):
        sys.exit(front.tell(sys.argv[1:]))
    gc.set_threshold(OBJECTS_AT_ONCE)
    from arena.cli.main import main as run

    run()
