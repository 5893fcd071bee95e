"""The exit codes of the commands, which the table of docs/cli.md explains."""

DONE = 0
FAILED = 1
FOUND = 1
"""`arena check`, `verify`, `rerun`, and readers of a store: there is a finding."""
NOT_BETTER = 1
USAGE = 2
UNDECIDED = 3
"""`arena compare`: the games did not decide."""
NO_VERDICT = 4
"""`arena compare`: a failure, which is 1 for every other command."""
INTERRUPTED = 130
