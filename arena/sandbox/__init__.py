"""Sandbox: confine a bot's program, in levels, from limits on a plain child to namespaces and control groups."""
