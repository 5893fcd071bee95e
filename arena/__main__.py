"""`python -m arena` is the `arena` command.

The trap: Python puts the current folder first among those it imports from, and there may lie strangers' bots.
"""

import os
import sys

if __name__ == "__main__":
    if not sys.flags.safe_path and sys.path[0] != os.path.dirname(os.path.dirname(__file__)):
        del sys.path[0]

    from arena.cli.entry import main

    main()
