"""What an installation may lack: packages that only some commands need, and how to get them."""

import importlib.util
from collections.abc import Sequence

from arena.errors import UsageError

SERVING = ("jinja2", "starlette", "hypercorn", "h11")
"""The packages without which nothing is served."""
_INSTALLED_AS = {"hypercorn": "'hypercorn[trio]'", "h11": "'hypercorn[trio]'"}
"""What is installed to have a package, where that is not its name."""


def needs(packages: Sequence[str], extra: str, command: str) -> None:
    """Raises `UsageError` if any of the packages that a command needs is not installed: they come with an extra."""
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    if missing:
        are, they = ("is", "it comes") if len(missing) == 1 else ("are", "they come")
        install = dict.fromkeys(_INSTALLED_AS.get(package, package) for package in missing)
        raise UsageError(
            f"{command} needs {' and '.join(missing)}, which {are} not installed: "
            f"python -m pip install {' '.join(install)} ({they} with the extra {extra!r} of stratego-arena)"
        )
