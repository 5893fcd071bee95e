r"""Identify a bot by the names and contents of its files.

The same files elsewhere are the same bot, and a changed one is a new bot to a league. The name of the folder, of a
single file, or in bot.toml does not count; the arguments that a host gives do.

The digest is the SHA-256 of one line for each file, in the order of their paths: `path sha256-of-content\ `. Names with
a line end, links (by the text of their target) and a bot's only file, which has no name, are on lines that begin with a
NUL.
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
"""The largest size of a bot.toml (see `arena.bots.manifest`)."""
FILES_KEPT = 1000
"""A bot with more files is remembered by its digest alone."""
SHORT = 16
"""Hexadecimal digits that distinguish two contents of one file."""


@dataclass(frozen=True)
class Identity:
    """A bot's digest, and its files by the names they are shown under with a short fingerprint of each.

    `look` was taken before any file was read.
    """

    digest: str
    files: dict[str, str] = field(default_factory=dict)
    look: Look | None = field(default=None, compare=False, repr=False)


def digest_with(arguments: Sequence[str], digest: str) -> str:
    """Return the digest of a bot with these arguments, from that of its files."""
    if not arguments:
        return digest
    line = b"arguments " + b"\0".join([digest.encode(), *map(os.fsencode, arguments)])
    return hashlib.sha256(line).hexdigest()


def identify_file(file: Path) -> Identity:
    """Return the identity of a bot that is a single file, at a path free of links. Raises `UsageError`."""
    return _identify(Covered(file.parent, only=file.name))


def identify_folder(
    folder: Path, ignored: Ignored = NOTHING_IGNORED, always: tuple[Path, ...] = (), never: Path | None = None
) -> Identity:
    return _identify(Covered(folder, None, ignored, always, never))


def _identify(covered: Covered) -> Identity:
    bot = BotFiles(os.fsencode(covered.folder))
    files = bot.covered_files(covered)
    look = bot.look(covered, files)
    look = replace(look, made=program_content(covered))
    return replace(_identity_of(bot, files, is_named=covered.only is None), look=look)


def identify_again(covered: Covered, files: Sequence[Parts]) -> Identity:
    """Return the identity that these of the covered files have now, without any new ones. Raises `UsageError`."""
    return _identity_of(BotFiles(os.fsencode(covered.folder)), sorted(files), is_named=covered.only is None)


def _identity_of(bot: BotFiles, files: list[Parts], *, is_named: bool) -> Identity:
    """Return the identity of these files and links, in this order. Raises `UsageError`.

    `is_named`: whether names count, as in a folder.
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
