"""Which arena this is: its version, and a digest of its own modules. Only equals play together."""

import hashlib
from functools import lru_cache
from pathlib import Path

from arena.version import __version__

SUFFIXES = frozenset({".py", ".toml"})
LEFT_OUT = frozenset({"samples", "templates"})
"""Folders of the package with what travels as bots, or is only copied."""


@lru_cache(maxsize=1)
def this_arena() -> str:
    """The version, and sixteen hexadecimal digits of its source, separated by a space."""
    package = Path(__file__).parents[3]
    whole = hashlib.sha256()
    for folder in (package, package.parent / "protocol"):
        for path in sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES):
            parts = path.relative_to(folder.parent).parts
            if parts[1] not in LEFT_OUT:
                whole.update(f"{'/'.join(parts)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return f"{__version__} {whole.hexdigest()[:16]}"
