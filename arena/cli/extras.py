"""What an installation may lack: packages that only some commands need, and how to get them."""

import importlib.util
from collections.abc import Sequence

from arena.errors import UsageError

SERVING = ("jinja2", "starlette", "hypercorn", "h11")
"""The packages without which nothing is served."""


def needs_serving(command: str) -> None:
    """Raises `UsageError` if what a command lacks is any of the packages that serve pages."""
    missing = [package for package in SERVING if importlib.util.find_spec(package) is None]
    if missing:
        raise UsageError(
            f"{command} needs {' and '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed: "
            "python -m pip install jinja2 starlette 'hypercorn[trio]' "
            "(they come with the extra 'web' of stratego-arena)"
        )


def needs(packages: Sequence[str], extra: str, command: str) -> None:
    """Raises `UsageError` if any of the packages that a command needs is not installed: they come with an extra."""
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    if missing:
        are, they = ("is", "it comes") if len(missing) == 1 else ("are", "they come")
        raise UsageError(
            f"{command} needs {' and '.join(missing)}, which {are} not installed: "
            f"python -m pip install {' '.join(missing)} ({they} with the extra {extra!r} of stratego-arena)"
        )
