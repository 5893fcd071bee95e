"""What the exit code of a command says; 0 is that all of it has been done."""

FAILED = 1
"""Something failed: the disk, the store, the machine, or the results could not be written."""
NOT_BETTER = 1
"""`arena compare`: the new bot is not better."""
USAGE = 2
"""What was asked for makes no sense; nothing was played."""
UNDECIDED = 3
"""`arena compare`: the games that there may be were not enough to tell."""
INTERRUPTED = 130
"""A signal stopped it; what was played is stored."""
