"""The sample bots by their bare names: `arena match mine.py warden` works in any installation.

They are the top-level folder `bots` of a clone, and `arena/samples` in the wheel. An existing path of that name always
wins over a sample bot. In the wheel the sample bots are in the Python that every bot in Python can read. They are
public, so that is no leak; but a check that refuses bots which others could read has to ask `is_packaged`.

A path may have a prefix that marks a bot of 2012 (`docs/ucc-2012.md`), which an adapter runs.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

PREFIX = "ucc:"
ADAPTER = (sys.executable, "-P", "-m", "protocol.ucc2012")
"""The words before the command of a bot of 2012."""


def split_word(word: str) -> tuple[str, str]:
    """Split a word that names a bot into its prefix, or an empty string, and the path."""
    return ("", word) if os.path.lexists(word) else split_prefix(word)


def split_prefix(word: str) -> tuple[str, str]:
    """Split a word like `split_word`, even if a file of that name exists."""
    return (PREFIX, word.removeprefix(PREFIX)) if word.startswith(PREFIX) else ("", word)


SAMPLES = ("drifter", "forager", "raider", "skirmisher", "warden", "scholar", "tactician", "strategist")
"""From the weakest to the strongest."""
ENDING = ".py"

_PACKAGE = Path(__file__).parent.parent
PACKAGED = _PACKAGE / "samples"
"""The folder of the samples in an installed wheel; absent in a clone."""


def samples_folder() -> Path:
    return PACKAGED if PACKAGED.is_dir() else _PACKAGE.parent / "bots"


def bot_path(word: str) -> Path:
    """Return the path of a bot, without the prefix of a bot of 2012; for a sample's bare name, the sample's file."""
    _, word = split_word(word)
    if word not in SAMPLES or os.path.lexists(word):
        return Path(word)
    file = sample_file(word)
    return file if file.is_file() else Path(word)


def sample_file(name: str) -> Path:
    return samples_folder() / f"{name}{ENDING}"


def name_clashes(words: Iterable[str]) -> Iterator[str]:
    """Return a line for each bare name that could mean a sample bot or a file of the current folder."""
    for word in words:
        if word not in SAMPLES:
            continue
        if os.path.lexists(word):
            yield f"{word}: what is here by that name plays, and not the sample bot"
        elif os.path.lexists(f"{word}{ENDING}"):
            yield f"{word}: the sample bot plays; for the file here write {word}{ENDING}"


def meant_sample(path: Path) -> str | None:
    """Return the sample bot that a missing path was meant for, as in `bots/warden.py` without a clone."""
    name = path.name.removesuffix(ENDING)
    return name if name in SAMPLES else None


def is_packaged(file: Path) -> bool:
    """Return whether a file, at a path free of links, is a sample bot of the installed package."""
    return file.parent == PACKAGED.resolve() and file.name.removesuffix(ENDING) in SAMPLES


def is_sample(path: Path) -> bool:
    full = Path(os.path.realpath(path))
    return full.parent == Path(os.path.realpath(samples_folder())) and full.name.removesuffix(ENDING) in SAMPLES
