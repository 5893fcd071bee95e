"""Bots of 2012 (`docs/ucc-2012.md`): the prefix that marks one on the command line, and the adapter that runs it.

A path that exists is always what it says, as with the names of the sample bots: `./ucc:mine` is a file of that name.
"""

import os
import sys

PREFIX = "ucc:"
ADAPTER = (sys.executable, "-P", "-m", "protocol.ucc2012")
"""The words before the command of a bot of 2012."""


def split_word(word: str) -> tuple[str, str]:
    """Return the prefix of a word that names a bot, or an empty string, and the path that is left."""
    return ("", word) if os.path.lexists(word) else split_prefix(word)


def split_prefix(word: str) -> tuple[str, str]:
    """Split a word like `split_word`, without looking for a file of that name."""
    return (PREFIX, word.removeprefix(PREFIX)) if word.startswith(PREFIX) else ("", word)
