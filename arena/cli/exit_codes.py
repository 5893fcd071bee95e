"""The exit codes of the commands, which the table of docs/cli.md explains.

A code is the outcome of the command, and not who won; but where a command answers a question (is the store sound, is
the new bot better), 0 is yes and 1 is no.
"""

DONE = 0
FAILED = 1
FOUND = 1
"""`arena check`, `verify`, `rerun`, and what reads a store: something is not as it should be."""
NOT_BETTER = 1
"""`arena compare`: the new bot is not better."""
USAGE = 2
UNDECIDED = 3
"""`arena compare`: the games that there may be were not enough to tell."""
NO_VERDICT = 4
"""`arena compare`: something failed, which 1 says after every other command."""
INTERRUPTED = 130
HUNG_UP, TERMINATED = 129, 143
"""What a shell says of a process that SIGHUP or SIGTERM has ended."""
