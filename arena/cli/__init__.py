"""The `arena` command, one short module a command. Slow imports are inside functions."""
