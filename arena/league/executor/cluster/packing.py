"""A bot's files as bytes, and the other way: what its digest covers, and nothing else.

A pack has files and links by their names. Its key is the digest of its bytes; the same files make the same pack. What
is unpacked may come from anywhere: names are plain, no link leads out of the folder, sizes and numbers are bounded, and
the folder is a new one.
"""

import hashlib
import os
from pathlib import Path, PurePath

import msgspec

from arena.bots import BotSpec
from arena.bots.bot_files import MOST_FILES, BotFiles
from arena.bots.identity import identify_again
from arena.bots.limits import MIB, size_text
from arena.bots.links import climbs
from arena.bots.look import Parts
from arena.errors import UsageError
from arena.printable import printable

MOST_BYTES = 512 * MIB
"""What the files of a bot may have that is sent to other machines."""
LONGEST_NAME = 255
DEEPEST = 64


class PackError(Exception):
    """The bytes are no pack that could be unpacked; the text says why."""


class PackedFile(msgspec.Struct, frozen=True, array_like=True):
    """A file or a link. `path` is the names of its folders and its own; of a link `target` is the text."""

    path: tuple[bytes, ...]
    content: bytes
    runs: bool
    target: bytes | None = None


class Pack(msgspec.Struct, frozen=True, array_like=True):
    """The files of a bot, in the order of their paths. A bot that is one file has one, of a single name; those of a
    folder lie in one of its name."""

    files: tuple[PackedFile, ...]


_decoder = msgspec.msgpack.Decoder(Pack)


def key_of(pack: bytes) -> str:
    """What a pack is known by: the hexadecimal SHA-256 of its bytes."""
    return hashlib.sha256(pack).hexdigest()


def pack_bot(bot: BotSpec) -> bytes:
    """The files that a bot's digest covers. Raises `UsageError` if they cannot be sent, or are not what it says."""
    assert bot.look is not None
    covered = bot.look.covered
    root = os.fsencode(covered.folder)
    reader = BotFiles(root)
    names = reader.covered_files(covered)
    above = () if covered.only is not None else (os.fsencode(covered.folder.name),)
    files, room = [], MOST_BYTES
    for parts in names:
        source, target = _source(reader, parts, bot)
        content = b"" if source is None else _read(reader, source, room, bot)
        room -= len(content)
        runs = source is not None and os.access(b"/".join((root, *source)), os.X_OK)
        files.append(PackedFile((*above, *parts), content, runs, target))
    if bot.digest_of(identify_again(covered, names).digest) != bot.digest:
        raise UsageError(f"{printable(str(bot.path))}: its files have changed since they were looked at")
    return msgspec.msgpack.encode(Pack(tuple(files)))


def _source(reader: BotFiles, parts: Parts, bot: BotSpec) -> tuple[Parts | None, bytes | None]:
    """The file whose content is sent under a name, or the text of the link that is. A digest takes a link to a file of
    the folder as that file, and so does a pack."""
    text = reader.link(parts)
    if text is None:
        return parts, None
    source = reader.behind(parts)
    if source is not None:
        return source, None
    if not _stays(parts, text):
        name = printable(os.fsdecode(b"/".join(parts)))
        raise UsageError(
            f"{printable(str(bot.path))}: {name} is a link out of the bot's folder: expected a bot with all its files "
            "in its folder, as it is sent to other machines"
        )
    return None, text


def _stays(parts: Parts, target: bytes) -> bool:
    """Whether a link leads to no place outside by its text."""
    folder = PurePath(*map(os.fsdecode, parts[:-1]))
    return b"\0" not in target and not target.startswith(b"/") and not climbs(folder, os.fsdecode(target))


def _read(reader: BotFiles, parts: Parts, room: int, bot: BotSpec) -> bytes:
    _, content = reader.content(parts, most_kept=room)
    if content is None and reader.content(parts)[0] != hashlib.sha256(b"").hexdigest().encode():
        raise UsageError(
            f"{printable(str(bot.path))}: its files have more than the {size_text(MOST_BYTES)} that are sent to other "
            "machines"
        )
    return content or b""


def unpack(data: bytes, folder: Path) -> None:
    """Write the files of a pack into an empty folder that nobody else writes to. Raises `PackError` and `OSError`."""
    for file in _checked(data):
        path = os.path.join(os.fsencode(folder), *file.path)
        os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
        if file.target is not None:
            os.symlink(file.target, path)
            continue
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as copy:
            copy.write(file.content)
            os.fchmod(copy.fileno(), 0o755 if file.runs else 0o644)


def _checked(data: bytes) -> tuple[PackedFile, ...]:
    """The files of a pack, if it can be unpacked: no file is where another has a folder or a link."""
    try:
        files = _decoder.decode(data).files
    except (msgspec.MsgspecError, RecursionError) as error:
        raise PackError(f"expected a pack of files: {error}") from None
    if len(files) > MOST_FILES or sum(len(file.content) for file in files) > MOST_BYTES:
        raise PackError(f"expected at most {MOST_FILES} files of {size_text(MOST_BYTES)} together")
    leaves = {file.path for file in files}
    for file in files:
        shown = printable(os.fsdecode(b"/".join(file.path)), 200)
        if not 1 <= len(file.path) <= DEEPEST or not all(map(_is_plain, file.path)):
            raise PackError(f"expected a plain name of a file, got {shown!r}")
        if any(file.path[:depth] in leaves for depth in range(1, len(file.path))):
            raise PackError(f"{shown} lies in what is a file or a link")
        if file.target is not None and not _stays(file.path, file.target):
            raise PackError(f"{shown} is a link out of the folder")
    if len(leaves) < len(files):
        raise PackError("a name is there twice")
    return files


def _is_plain(name: bytes) -> bool:
    return name not in (b"", b".", b"..") and len(name) <= LONGEST_NAME and not {0, ord("/")}.intersection(name)
