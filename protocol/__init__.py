"""The arena protocol for bot authors: messages, the wire codec and a kit for bots in Python.

It needs the standard library only, and not `arena`.

PYTEST_DONT_REWRITE: a program may import this before it starts pytest, which would warn that it comes too late.
"""
