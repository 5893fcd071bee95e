"""The descriptors of this process that hold a lock of the system (flock) for longer than a call.

Such a lock is gone when the last descriptor of it is closed, however its process ends. A child that is forked has the
descriptors, too, and would hold the locks for as long as it lives; so it closes them. Programs are started without.
"""

import os

_held: set[int] = set()


def hold(lock: int) -> None:
    """Keep a descriptor from children that are forked."""
    _held.add(lock)


def release(lock: int) -> None:
    """Close a descriptor, and give up its lock."""
    _held.discard(lock)
    os.close(lock)


def _forget() -> None:
    """In a child that was forked."""
    for lock in _held:
        os.close(lock)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
