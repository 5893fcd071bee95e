"""Copies of the files that a bot's digest covers, in an archive by digest: a version can be run again when it is gone.

What a build makes is not copied, as it is built again. Nor is what the digest leaves out: hidden and ignored files, and
folders such as `node_modules`.
"""

import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from arena.bots.bot_files import BotFiles
from arena.bots.covered import Covered
from arena.bots.identity import identify_again
from arena.bots.spec import BotSpec
from arena.errors import UsageError
from arena.system.printable import printable

ARCHIVE = "archive"
"""The name of the archive's own path in a store's table of places."""


def archive_of(store: Path) -> Path:
    return store.with_name(f"{store.stem}.bots")


def keep_copies(archive: Path, bots: Sequence[BotSpec]) -> list[str]:
    """Copy the bots that are not in the archive yet; return a line for each that cannot be copied."""
    if archive.is_symlink():
        raise UsageError(f"{printable(str(archive))}: expected the store's folder of bots, got a link")
    lines = []
    for bot in bots:
        if bot.fault is None and bot.look is not None and not (archive / bot.player.digest).exists():
            try:
                _copy(archive, bot)
            except (OSError, UsageError) as error:
                lines.append(printable(f"{bot.name}: not copied to {archive}: {error}"))
    return lines


def copies_in(archive: Path, digest: str) -> Iterator[Path]:
    """Return the paths at which a version of a bot is, in an archive: one or none."""
    if digest.isalnum() and (archive / digest).is_dir():
        yield from (archive / digest).iterdir()


def _copy(archive: Path, bot: BotSpec) -> None:
    assert bot.look is not None
    covered = bot.look.covered
    reader = BotFiles(os.fsencode(covered.folder))
    draft = archive / f".{secrets.token_hex(8)}"
    copy = draft / (covered.only or covered.folder.name)
    try:
        files = reader.covered_files(covered)
        for parts in files:
            target = copy if covered.only else copy.joinpath(*map(os.fsdecode, parts))
            target.parent.mkdir(parents=True, exist_ok=True)
            reader.copy(parts, target)
        made = Covered(draft, covered.only) if covered.only else Covered(copy)
        if bot.digest_of(identify_again(made, files).digest) != bot.digest:
            raise UsageError("its files have changed meanwhile")
        draft.rename(archive / bot.player.digest)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
