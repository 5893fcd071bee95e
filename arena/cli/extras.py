"""What an installation may lack: packages that only some commands need, and how to get them."""

import importlib.util

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


def needs(package: str, extra: str, command: str) -> None:
    """Raises `UsageError` if a package is not installed that a command needs: it comes with an extra."""
    if importlib.util.find_spec(package) is None:
        raise UsageError(
            f"{command} needs {package}, which is not installed: python -m pip install {package} "
            f"(it comes with the extra {extra!r} of stratego-arena)"
        )
