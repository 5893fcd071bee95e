"""Served pages. No request names a file, and a server never runs in a process that times games."""
