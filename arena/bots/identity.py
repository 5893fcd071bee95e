r"""What a bot is: a fingerprint of its files, by their names and contents.

A bot is its content: the same files elsewhere are the same bot, and a changed one is a new bot to a league. What it is
called is no part of it: neither the name of its folder, nor that of its only file, nor `name` in its bot.toml. What
arguments a host has it started with is.

The fingerprint is the SHA-256 of one line for each file, in the order of their paths: `path sha256-of-content\n`. What
such a line cannot say stands in lines that begin with a NUL, which no path has in it: names with a line end in them,
links by the text of their target, and a bot's only file, which has no name.
"""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from arena.bots.bot_files import BUILD_FOLDERS, BotFiles, program_content
from arena.bots.covered import NOTHING_IGNORED, Covered, Ignored, Look, Parts
from arena.bots.names import without_name
from arena.system.printable import printable

MANIFEST = b"bot.toml"
MANIFEST_BYTES = 16 * 1024
"""What a bot.toml may have at most (see `arena.bots.manifest`)."""
FILES_KEPT = 1000
"""A bot of more files is remembered by its digest alone."""
SHORT = 16
"""Hexadecimal digits that tell two contents of one file apart."""


@dataclass(frozen=True)
class Identity:
    """A bot's digest, and its files by the names they are shown under with a short fingerprint of each.

    `look` was taken before anything was read.
    """

    digest: str
    files: dict[str, str] = field(default_factory=dict)
    look: Look | None = field(default=None, compare=False, repr=False)


def digest_with(arguments: Sequence[str], digest: str) -> str:
    """Return the digest of a bot that is started with these arguments, made from that of its files."""
    if not arguments:
        return digest
    line = b"arguments " + b"\0".join([digest.encode(), *map(os.fsencode, arguments)])
    return hashlib.sha256(line).hexdigest()


def identify_file(file: Path) -> Identity:
    """Return the identity of a bot that is a single file, at a path without links. Raises `UsageError`."""
    return _identify(Covered(file.parent, only=file.name))


def identify_folder(
    folder: Path, ignored: Ignored = NOTHING_IGNORED, always: tuple[Path, ...] = (), never: Path | None = None
) -> Identity:
    """Return the identity of a bot that is a folder, at a path without links. Raises `UsageError`.

    `always` and `never` are those of `Covered`.
    """
    return _identify(Covered(folder, None, ignored, always, never))


def _identify(covered: Covered) -> Identity:
    bot = BotFiles(os.fsencode(covered.folder))
    files = bot.covered_files(covered)
    look = bot.look(covered, files)
    look = replace(look, made=program_content(covered))
    return replace(_identity_of(bot, files, is_named=covered.only is None), look=look)


def identify_again(covered: Covered, files: Sequence[Parts]) -> Identity:
    """Return the identity that these of the covered files make now, whatever others have come. Raises `UsageError`."""
    return _identity_of(BotFiles(os.fsencode(covered.folder)), sorted(files), is_named=covered.only is None)


def _identity_of(bot: BotFiles, files: list[Parts], *, is_named: bool) -> Identity:
    """Return the identity that these files and links make, in this order. Raises `UsageError`.

    `is_named`: whether names count, as those in a folder do and that of a file alone does not.
    """
    whole = hashlib.sha256()
    short = {}
    for parts in files:
        name = b"/".join(parts)
        link = bot.link(parts)
        source = parts if link is None else bot.behind(parts)
        if source is not None:
            raw, data = bot.content(source, most_kept=MANIFEST_BYTES if parts == (MANIFEST,) else 0)
            content = raw if data is None else hashlib.sha256(without_name(data)).hexdigest().encode()
            whole.update(_line(name if is_named else b"", content))
        elif parts[-1] in BUILD_FOLDERS:
            continue
        else:
            content = hashlib.sha256(link or b"").hexdigest().encode()
            whole.update(_line(name, content, b"link"))
        short[printable(os.fsdecode(name))] = content[:SHORT].decode()
    return Identity(whole.hexdigest(), short if len(short) <= FILES_KEPT else {})


def _line(name: bytes, content: bytes, kind: bytes = b"file") -> bytes:
    if kind == b"file" and name and b"\n" not in name:
        return b"%s %s\n" % (name, content)
    return b"\0%s %s %s\n" % (kind, name.hex().encode(), content)
