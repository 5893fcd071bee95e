"""The folder that a site is written to.

All is written beside the folder first and put in its place at the end, so that who looks at a site that is made anew
sees the old one or the new one. Only a folder that is empty, or that a site was written to before, is ever replaced.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arena.errors import ArenaError, UsageError
from arena.hostfile import draft_folder, remove_drafts

MARK = "arena-site.json"
"""A file that says that a folder holds a site, and nothing else: it may be replaced."""
PAGES = re.compile(
    rf"{re.escape(MARK)}|(index|crosstable|rounds|rules|games(-\d+)?)\.html|(games|words)\.js|static/arena\.(css|js)"
    r"|bots/\d+\.html|games/\d+\.(html|js)"
)
"""What a site consists of: a folder with anything else in it is not replaced."""


def refuse_other_folder(out: Path) -> None:
    """Raises `UsageError` for a path with something that is no site and no empty folder, or more than a site, and for
    one in a folder that is not there, or that the system cannot look at."""
    try:
        _refuse_other_folder(out)
    except OSError as error:  # a name that is too long, a folder that may not be searched
        raise UsageError(f"{out}: the pages cannot be written: {error.strerror or error}") from error


def _refuse_other_folder(out: Path) -> None:
    if not out.parent.is_dir():
        raise UsageError(f"{out}: expected a folder to make it in; there is no folder {out.parent}")
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise UsageError(f"{out}: expected a folder, or nothing yet, and it is something else")
    if not out.is_dir():
        return
    if out.samefile("."):
        raise UsageError(f"{out}: expected another folder than the current one, which is replaced as a whole")
    if any(out.iterdir()) and not (out / MARK).is_file():
        raise UsageError(f"{out}: expected an empty folder, or one with a site in it ({MARK}): nothing is overwritten")
    for folder, _, names in os.walk(out):
        for name in names:
            inside = (Path(folder) / name).relative_to(out).as_posix()
            if not PAGES.fullmatch(inside):
                raise UsageError(
                    f"{out}: expected a site and nothing else, as it is replaced whole: {inside} is no page"
                )


@contextmanager
def new_folder_for(out: Path) -> Iterator[Path]:
    """A new folder beside `out`, which takes its place at the end, if nothing has gone wrong."""
    remove_drafts(out.parent)
    try:
        with draft_folder(out.parent) as folder:
            yield folder
            folder.chmod(0o777 & ~_umask())
            if out.exists():
                refuse_other_folder(out)  # it may have changed meanwhile
                old = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
                out.rename(old / "old")
                folder.rename(out)
                shutil.rmtree(old)
            else:
                folder.rename(out)
    except OSError as error:
        raise ArenaError(f"{out}: the pages cannot be written: {_reason(error)}") from error


def _reason(error: OSError) -> str:
    """What the system says of it. `shutil` has a list of all that failed, with paths that are nobody's business."""
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list):
        words = str(error.args[0][0][-1])
        number = re.match(r"\[Errno (\d{1,4})\] ", words)
        return os.strerror(int(number[1])) if number else words
    return error.strerror or str(error)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
