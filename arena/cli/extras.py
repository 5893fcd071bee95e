"""What an installation may lack: packages that only some commands need, and how to get them."""

import importlib.util

from arena.errors import UsageError


def needs(package: str, extra: str, command: str) -> None:
    """Raises `UsageError` if a package is not installed that a command needs: it comes with an extra."""
    if importlib.util.find_spec(package) is None:
        raise UsageError(
            f"{command} needs {package}, which is not installed: python -m pip install {package} "
            f"(it comes with the extra {extra!r} of stratego-arena)"
        )
