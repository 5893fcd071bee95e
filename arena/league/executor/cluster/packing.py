"""A bot's files as bytes, and the other way: what its digest covers and the folders for it, and nothing else.

A pack has files, links and folders by their names. Its key is the digest of its bytes; the same files make the same
pack. What is unpacked may come from anywhere: names are plain, no link leads out of the folder, sizes and numbers are
bounded, and the folder is a new one.

What a digest does not cover stays at home: hidden files, what `ignore` names, what tools and builds make. The folders
that are emptied by that are sent, for a bot may write there.
"""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from arena.bots import BotSpec
from arena.bots.bot_files import MOST_FILES, BotFiles, Listing
from arena.bots.identity import identify_again
from arena.bots.limits import MIB, size_text
from arena.bots.look import Parts
from arena.errors import UsageError
from arena.system.printable import printable

MOST_BYTES = 512 * MIB
"""What the files of a bot may have that is sent to other machines."""
LONGEST_NAME = 255
DEEPEST = 64
LEFT_NAMED, LONGEST_SHOWN = 3, 40
"""Names that are told of what stays at home, and their characters."""
IGNORABLE = "name it under ignore in bot.toml if its build makes it"


class PackError(Exception):
    """The bytes are no pack that could be unpacked; the text says why."""


class PackedFile(msgspec.Struct, frozen=True, array_like=True):
    """A file or a link. `path` is the names of its folders and its own; of a link `target` is the text."""

    path: tuple[bytes, ...]
    content: bytes
    runs: bool
    target: bytes | None = None


class Pack(msgspec.Struct, frozen=True, array_like=True):
    """The files of a bot, in the order of their paths, and its folders. A bot that is one file has one, of a single
    name; those of a folder lie in one of its name."""

    files: tuple[PackedFile, ...]
    folders: tuple[tuple[bytes, ...], ...] = ()


_decoder = msgspec.msgpack.Decoder(Pack)


def key_of(pack: bytes) -> str:
    """What a pack is known by: the hexadecimal SHA-256 of its bytes."""
    return hashlib.sha256(pack).hexdigest()


class _Sent:
    """What of a bot is sent: names, and nothing read. Raises `UsageError` for what cannot be."""

    def __init__(self, bot: BotSpec) -> None:
        assert bot.look is not None
        self._bot = bot
        self.covered = bot.look.covered
        self.root = os.fsencode(self.covered.folder)
        self.reader = BotFiles(self.root)
        self.names = self.reader.covered_files(self.covered)
        listing = Listing() if self.covered.only is not None else self.reader.listing(self.covered.ignored)
        self.folders = sorted(listing.folders | set(filter(self._is_sent_empty, listing.ignored_folders)))
        sent = {*self.names, *filter(self._is_empty, listing.ignored_folders)}
        self.left_out = sorted(parts for parts in listing.left_out if parts[-1] != b"__pycache__" and parts not in sent)

    def _is_sent_empty(self, folder: Parts) -> bool:
        """Whether an ignored folder is to be there: one with something in it may be what a build makes."""
        return self._bot.build is None or self._is_empty(folder)

    def _is_empty(self, folder: Parts) -> bool:
        try:
            with os.scandir(self.path(folder)) as entries:
                return next(entries, None) is None
        except OSError:
            return False

    def path(self, parts: Parts) -> bytes:
        return b"/".join((self.root, *parts))

    def source(self, parts: Parts) -> tuple[Parts | None, bytes | None]:
        """The file whose content is sent under a name, or the text of the link that is. A digest takes a link to a file
        of the folder as that file, and so does a pack."""
        text = self.reader.link(parts)
        if text is None:
            return parts, None
        source = self.reader.behind(parts)
        if source is not None:
            return source, None
        if not _stays(parts, text):
            raise self.error(
                f"{_shown(parts)} is a link out of the bot's folder, to {printable(os.fsdecode(text), 100)}; with "
                f"--cluster a bot is sent as the files of its folder: put there what it leads to, or {IGNORABLE}"
            )
        return None, text

    def refuse_others(self) -> None:
        """Raise `UsageError` for what would not be unpacked."""
        if len(self.names) + len(self.folders) >= MOST_FILES:
            raise self.error(f"more than {MOST_FILES} files and folders are in it")
        for parts in (*self.names, *self.folders):
            if len(parts) >= DEEPEST:
                raise self.error(
                    f"{_shown(parts)}: with --cluster folders may lie {DEEPEST} deep in one another, got more"
                )

    def too_large(self) -> UsageError:
        return self.error(
            f"its files have more than {size_text(MOST_BYTES)}, which is the most that is sent to other machines with "
            f"--cluster: make them fewer; what its build makes can be named under ignore in bot.toml"
        )

    def error(self, words: str) -> UsageError:
        return UsageError(f"{printable(str(self._bot.path))}: {words}")


def check_sendable(bot: BotSpec) -> None:
    """Raise `UsageError` for a bot that cannot be sent to other machines. Reads no file."""
    sent = _Sent(bot)
    sent.refuse_others()
    room = MOST_BYTES
    for parts in sent.names:
        source, _ = sent.source(parts)
        if source is not None:
            try:
                room -= os.lstat(sent.path(source)).st_size
            except OSError as error:
                raise sent.error(f"{_shown(parts)}: cannot be read: {error.strerror}") from None
        if room < 0:
            raise sent.too_large()


def not_sent(bot: BotSpec) -> str:
    """What a bot has at home and not on the machines that it is sent to, in words; empty if that is nothing."""
    sent = _Sent(bot)
    if sent.covered.only is not None:
        return "a bot that is one file is sent to workers without what lies beside it: make it a folder with a bot.toml"
    if not sent.left_out:
        return ""
    names = ", ".join(_shown(parts, LONGEST_SHOWN) for parts in sent.left_out[:LEFT_NAMED])
    more = f" and {len(sent.left_out) - LEFT_NAMED} more" if len(sent.left_out) > LEFT_NAMED else ""
    return f"not sent to workers, as it is ignored, hidden or made by tools: {names}{more}"


def pack_bot(bot: BotSpec) -> bytes:
    """The files that a bot's digest covers. Raises `UsageError` if they cannot be sent, or are not what it says."""
    sent = _Sent(bot)
    sent.refuse_others()
    above = () if sent.covered.only is not None else (os.fsencode(sent.covered.folder.name),)
    files, room = [], MOST_BYTES
    for parts in sent.names:
        source, target = sent.source(parts)
        content = b"" if source is None else _read(sent, source, room)
        room -= len(content)
        runs = source is not None and os.access(sent.path(source), os.X_OK)
        files.append(PackedFile((*above, *parts), content, runs, target))
    if bot.digest_of(identify_again(sent.covered, sent.names).digest) != bot.digest:
        raise sent.error("its files have changed since they were looked at")
    folders = tuple((*above, *parts) for parts in sent.folders)
    return msgspec.msgpack.encode(Pack(tuple(files), folders))


def _shown(parts: Parts, most: int = 100) -> str:
    return printable(os.fsdecode(b"/".join(parts)), most)


def _stays(parts: Parts, target: bytes) -> bool:
    """Whether a link leads to no place outside by its text. Behind a name `..` may be anywhere, if that is a link."""
    steps = [step for step in target.split(b"/") if step not in (b"", b".")]
    ups = next((number for number, step in enumerate(steps) if step != b".."), len(steps))
    is_plain = b"\0" not in target and not target.startswith(b"/") and b".." not in steps[ups:]
    return is_plain and ups < len(parts)


def _read(sent: _Sent, parts: Parts, room: int) -> bytes:
    _, content = sent.reader.content(parts, most_kept=room)
    if content is None and sent.reader.content(parts)[0] != hashlib.sha256(b"").hexdigest().encode():
        raise sent.too_large()
    return content or b""


def unpack(data: bytes, folder: Path) -> None:
    """Write the files of a pack into an empty folder that nobody else writes to. Raises `PackError` and `OSError`."""
    pack = _checked(data)
    root = os.fsencode(folder)
    for parts in pack.folders:
        os.makedirs(os.path.join(root, *parts), 0o755, exist_ok=True)
    for file in pack.files:
        path = os.path.join(root, *file.path)
        os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
        if file.target is not None:
            os.symlink(file.target, path)
            continue
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as copy:
            copy.write(file.content)
            os.fchmod(copy.fileno(), 0o755 if file.runs else 0o644)


def _checked(data: bytes) -> Pack:
    """The pack, if it can be unpacked: nothing is where something else has a file or a link."""
    try:
        pack = _decoder.decode(data)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise PackError(f"expected a pack of files: {error}") from None
    files, count = pack.files, len(pack.files) + len(pack.folders)
    if count > MOST_FILES or sum(len(file.content) for file in files) > MOST_BYTES:
        raise PackError(f"expected at most {MOST_FILES} files and folders of {size_text(MOST_BYTES)} together")
    leaves = {file.path for file in files}
    if len(leaves) < len(files):
        raise PackError("a name is there twice")
    _check_names(leaves, leaves)
    _check_names(pack.folders, leaves)
    if not leaves.isdisjoint(pack.folders):
        raise PackError("a name is that of a file and of a folder")
    for file in files:
        if file.target is not None and not _stays(file.path, file.target):
            raise PackError(f"{_shown(file.path)} is a link out of the folder")
    return pack


def _check_names(paths: Iterable[Parts], leaves: set[Parts]) -> None:
    for parts in paths:
        if not 1 <= len(parts) <= DEEPEST or not all(map(_is_plain, parts)):
            raise PackError(f"expected a plain name of a file, got {_shown(parts)!r}")
        if any(parts[:depth] in leaves for depth in range(1, len(parts))):
            raise PackError(f"{_shown(parts)} lies in what is a file or a link")


def _is_plain(name: bytes) -> bool:
    return name not in (b"", b".", b"..") and len(name) <= LONGEST_NAME and not {0, ord("/")}.intersection(name)
