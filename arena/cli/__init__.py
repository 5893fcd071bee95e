"""The `arena` command. One short file a command; what is slow to import is imported inside."""
