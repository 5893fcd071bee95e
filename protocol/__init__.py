"""The arena protocol for bot authors: messages, the wire codec and a kit for bots in Python.

Standard library only, and nothing from `arena`: a bot that uses it carries no more than it needs.

PYTEST_DONT_REWRITE: a program may import this before it starts pytest, which would warn that it comes too late.
"""
