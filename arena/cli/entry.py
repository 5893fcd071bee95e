"""The entry point of the `arena` command: Ctrl-C ends it without a traceback before slow imports."""

import sys

OBJECTS_AT_ONCE = 50_000
"""New objects between two runs of the garbage collector; Python's 700 take a tenth of the time of reading a large
store."""


def main() -> None:
    import gc

    from arena.cli.interrupts import leave_at_once

    leave_at_once()
    from arena.cli.catalog import TEXTS

    if len(sys.argv) == 2 and sys.argv[1] in TEXTS:
        sys.exit(_answer(TEXTS[sys.argv[1]]()))
    gc.set_threshold(OBJECTS_AT_ONCE)
    from arena.cli.main import main as run

    run()


def _answer(text: str) -> int:
    from arena.cli import streams
    from arena.cli.exit_codes import DONE, FAILED
    from arena.system.terminal_text import folded, width_of

    streams.take_over()
    is_printed = streams.try_to_print(lambda: streams.result(folded(text, width_of(sys.stdout)), end=""))
    return DONE if is_printed else FAILED
