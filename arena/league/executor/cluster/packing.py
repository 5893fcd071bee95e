"""Pack the files of a bot that its digest covers, and its folders, as a tar archive, and unpack them.

Folders that become empty because their files are not sent are sent, because a bot may write there.
"""

import hashlib
import io
import os
import tarfile
from pathlib import Path

from arena.bots.bot_files import BotFiles, FileListing
from arena.bots.covered import Parts
from arena.bots.identity import identify_again
from arena.bots.limits import MIB, size_text
from arena.bots.spec import BotSpec
from arena.errors import UsageError
from arena.system.printable import printable

MOST_BYTES = 512 * MIB
LEFT_NAMED, LONGEST_SHOWN = 3, 40


class _SentFiles:
    """The names of the files of a bot that are sent. Raises `UsageError` for a file that cannot be sent."""

    def __init__(self, bot: BotSpec) -> None:
        assert bot.look is not None
        self._bot = bot
        self.covered = bot.look.covered
        self.root = os.fsencode(self.covered.folder)
        self.reader = BotFiles(self.root)
        self.names = self.reader.covered_files(self.covered)
        listing = FileListing() if self.covered.only is not None else self.reader.listing(self.covered.ignored)
        self.folders = sorted(listing.folders | set(filter(self._is_sent_empty, listing.ignored_folders)))
        sent = {*self.names, *filter(self._is_empty, listing.ignored_folders)}
        self.left_out = sorted(parts for parts in listing.left_out if parts[-1] != b"__pycache__" and parts not in sent)

    def _is_sent_empty(self, folder: Parts) -> bool:
        return self._bot.build is None or self._is_empty(folder)

    def _is_empty(self, folder: Parts) -> bool:
        try:
            with os.scandir(self.path(folder)) as entries:
                return next(entries, None) is None
        except OSError:
            return False

    def path(self, parts: Parts) -> bytes:
        return b"/".join((self.root, *parts))

    def source(self, parts: Parts) -> tuple[Parts | None, bytes]:
        """Return the file with the content for a name, or None and the text of a link out of the covered files."""
        text = self.reader.link(parts)
        if text is None:
            return parts, b""
        source = self.reader.behind(parts)
        if source is None and not _stays(parts, text):
            raise self.error(
                f"{_shown(parts)} is a link out of the bot's folder, to {printable(os.fsdecode(text), 100)}; with "
                "--cluster a bot is sent as the files of its folder: put there what it leads to, or name it under "
                "ignore in bot.toml if its build makes it"
            )
        return source, text

    def too_large(self) -> UsageError:
        return self.error(
            f"its files have more than {size_text(MOST_BYTES)}, which is the most that is sent to other machines with "
            "--cluster: make them fewer; what its build makes can be named under ignore in bot.toml"
        )

    def error(self, words: str) -> UsageError:
        return UsageError(f"{printable(str(self._bot.path))}: {words}")


def not_sent(bot: BotSpec) -> str:
    """Describe the files of a bot that are not sent to other machines; an empty string if all are."""
    sent = _SentFiles(bot)
    if sent.covered.only is not None:
        return (
            "a bot that is one file is sent to workers without the files next to it: make it a folder with a bot.toml"
        )
    if not sent.left_out:
        return ""
    names = ", ".join(_shown(parts, LONGEST_SHOWN) for parts in sent.left_out[:LEFT_NAMED])
    more = f" and {len(sent.left_out) - LEFT_NAMED} more" if len(sent.left_out) > LEFT_NAMED else ""
    return f"not sent to workers, as it is ignored, hidden or made by tools: {names}{more}"


def pack_bot(bot: BotSpec) -> bytes:
    """Return the files of a bot as an archive. Raises `UsageError` for a bot that cannot be sent to other machines."""
    sent = _SentFiles(bot)
    above = () if sent.covered.only is not None else (os.fsencode(sent.covered.folder.name),)
    buffer, room = io.BytesIO(), MOST_BYTES
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for parts in sent.folders:
            archive.addfile(_entry((*above, *parts), tarfile.DIRTYPE))
        for parts in sent.names:
            source, target = sent.source(parts)
            if source is None:
                archive.addfile(_entry((*above, *parts), tarfile.SYMTYPE, target=target))
                continue
            content = _read(sent, source, room)
            room -= len(content)
            runs = os.access(sent.path(source), os.X_OK)
            entry = _entry((*above, *parts), tarfile.REGTYPE, runs=runs, size=len(content))
            archive.addfile(entry, io.BytesIO(content))
    if bot.digest_of(identify_again(sent.covered, sent.names).digest) != bot.digest:
        raise sent.error("its files have changed since they were looked at")
    return buffer.getvalue()


def unpack(data: bytes, folder: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        archive.extractall(folder, filter="data")


def _entry(path: Parts, kind: bytes, *, runs: bool = True, size: int = 0, target: bytes = b"") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(os.fsdecode(b"/".join(path)))
    entry.type, entry.mode, entry.size, entry.linkname = kind, 0o755 if runs else 0o644, size, os.fsdecode(target)
    return entry


def _shown(parts: Parts, most: int = 100) -> str:
    return printable(os.fsdecode(b"/".join(parts)), most)


def _stays(parts: Parts, target: bytes) -> bool:
    """Return whether a link surely stays in the folder: not if `..` follows a name, which may be a link itself."""
    steps = [step for step in target.split(b"/") if step not in (b"", b".")]
    ups = next((number for number, step in enumerate(steps) if step != b".."), len(steps))
    return not target.startswith(b"/") and b".." not in steps[ups:] and ups < len(parts)


def _read(sent: _SentFiles, parts: Parts, room: int) -> bytes:
    digest, content = sent.reader.content(parts, most_kept=room)
    if content is None and digest != hashlib.sha256(b"").hexdigest().encode():
        raise sent.too_large()
    return content or b""
