"""The dialect in the word that names a bot: `ucc:PATH`, for a bot of the competition of 2012 that has no bot.toml.

A path that exists is always what it says, as with the names of the sample bots: `./ucc:mine` is a file of that name.
"""

import hashlib
import os

from arena.game.dialects import Dialect

PREFIXES: dict[str, Dialect] = {"ucc:": Dialect.UCC_2012}


def split_word(word: str) -> tuple[Dialect | None, str]:
    """The dialect that a word asks for, if it does for one, and the path that is left."""
    prefix, path = split_prefix(word)
    return (PREFIXES[prefix], path) if prefix and not os.path.lexists(word) else (None, word)


def split_prefix(word: str) -> tuple[str, str]:
    """What stands before a path to ask for a dialect, or nothing, and the path; whatever there is of these names."""
    prefix = next((prefix for prefix in PREFIXES if word.startswith(prefix)), "")
    return prefix, word.removeprefix(prefix)


def digest_in(dialect: Dialect, digest: str) -> str:
    """The digest of a bot that is made to speak a dialect, made from that of its files: it is another one."""
    return hashlib.sha256(f"speaking {dialect.value} {digest}".encode()).hexdigest()
