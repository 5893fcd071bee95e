"""Find the bots at the paths of a command, broken ones included.

A sample bot's bare name means its file (`arena.bots.samples`); any other path is loaded by `arena.bots.loading`. A path
that is no bot is an error for a command about this bot alone. In a league it is a broken entrant: it takes part and
forfeits its games, so that one entrant's mistake never stops the others. A symbolic link is broken too, and not
followed: its target may be a rival's or the host's.
"""

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

from arena.bots.asked import AskedBot, asked_bot
from arena.bots.entering import assign_identities, broken, place_of_link
from arena.bots.identity import Identity, digest_with, identify_file, identify_folder
from arena.bots.loading import MissingProgramError, NotThereError, load_bot
from arena.bots.manifest import MANIFEST, MOST_LOOKED_AT, read_manifest
from arena.bots.names import PROGRAM_ENDINGS, base_name, made_name, name_of_file
from arena.bots.samples import bot_path, name_clashes
from arena.bots.spec import BotSpec
from arena.errors import UsageError
from arena.game import Variant
from arena.system.printable import printable
from arena.system.user_files import HOST_ERRORS

DOCUMENT_ENDINGS = (".md", ".txt", ".rst")
DOCUMENTS = ("README", "LICENSE", "LICENCE", "COPYING", "NOTICE", "CHANGELOG", "AUTHORS", "CONTRIBUTING")
SETTINGS = ("arena.toml", "pyproject.toml")
_Entrant = tuple[Path, AskedBot]


@dataclass(frozen=True)
class Found:
    """The bots at some paths, broken ones included, with distinct names; and remarks on other paths and names."""

    bots: tuple[BotSpec, ...]
    remarks: tuple[str, ...] = ()

    def sound(self) -> list[BotSpec]:
        """Return the bots if all can be started. Raises `UsageError` with everything that is wrong."""
        faults = [bot.fault for bot in self.bots if bot.fault is not None]
        if faults:
            raise UsageError("\n".join(faults))
        return list(self.bots)


def find_entrants(
    paths: Sequence[str], *, follow_links: bool = False, asked: Sequence[AskedBot] = (), leave_out: bool = False
) -> Found:
    """Return the bots at these paths, broken ones included.

    A link is broken unless `follow_links`; links among its folders are followed. Hidden files that are no bots,
    `__pycache__` and documents are ignored, so that a shell's `bots/*` works. With `leave_out`, so are bots that need a
    missing program. `asked` are the bots as they were named, if more than paths were given. Raises `UsageError` for
    paths that do not exist.
    """
    words = asked or list(map(asked_bot, paths))
    seen = [(path, word) for word in words if not _is_hidden(path := bot_path(word.path))]
    documents = [path for path, _ in seen if _is_document(path)]
    remarks = [f"{printable(str(path))}: ignored: a document, not a bot" for path in documents]
    remarks += name_clashes([word.path for word in words])
    entrants = [(path, word) for path, word in seen if path not in documents]
    bots: list[BotSpec] = []
    missing: list[str] = []
    for path, word in chain.from_iterable(_opened(path, word) for path, word in entrants):
        try:
            if not follow_links and _is_link(path):
                bots.append(_as_asked(_refused_link(path), word))
                continue
            bots.append(load_bot(path, word))
        except NotThereError as error:
            missing.append(str(error))
        except UsageError as error:
            if leave_out and isinstance(error, MissingProgramError):
                name = word.name or error.name
                remarks.append(f"{name} {error.needs}: left out")
                continue
            bots.append(_as_asked(_broken_at(path, str(error)), word))
    if missing:
        raise UsageError("\n".join(missing + [bot.fault for bot in bots if bot.fault is not None]))
    return Found(tuple(assign_identities(bots)), tuple(remarks))


def find_one(asked: AskedBot, *, follow_links: bool = True) -> BotSpec:
    """Return the bot that was named, perhaps a broken one. Raises `UsageError` if there is none, or several."""
    found, path = find_entrants([], follow_links=follow_links, asked=[asked]), printable(asked.path)
    if len(found.bots) > 1:
        raise UsageError(f"{path}: expected one bot, got a folder of {len(found.bots)}: name one of them")
    if not found.bots:
        what = "a document" if found.remarks else "a hidden file or folder"
        raise UsageError(f"{path}: expected a bot, got {what}")
    return found.bots[0]


def bots_at(path: Path) -> list[Path]:
    """List the paths that may be bots: this one, or those in an entrant's folder, or in a folder of such folders."""
    opened = (at for at, _ in _opened(path, AskedBot(str(path))))
    return [at for at in opened if _may_be_bot(at) and (at == path or not _is_link(at))]


def _opened(path: Path, asked: AskedBot) -> Iterator[_Entrant]:
    """Yield the bots of an entrant's folder, or of a folder of such folders; any other path as it is.

    An entrant's folder has no bot.toml and one bot in it, which is named after the folder. Links among entrants'
    folders are yielded as they are, other links and documents are ignored.
    """
    listed = _listed(path)
    inside = [at for at in listed if not _is_link(at)]
    bots = list(filter(_may_be_bot, inside))
    holders = [at for at in inside if at not in bots and len(_bots_in(at)) == 1]
    is_plain = asked == AskedBot(asked.path, own=asked.own)
    if is_plain and inside and all(map(Path.is_dir, inside)) and (len(bots) != 1 or holders):
        for entry in listed:
            plain = AskedBot(str(entry), own=asked.own)
            yield _alone_in(entry, plain) or (entry, plain)
    else:
        yield _alone_in(path, asked) or (path, asked)


def _alone_in(folder: Path, asked: AskedBot) -> _Entrant | None:
    inside = _inside(folder)
    bots = list(filter(_may_be_bot, inside))
    if len(bots) != 1 or any(len(_bots_in(at)) == 1 for at in inside if at != bots[0]):
        return None
    return bots[0], replace(asked, name=asked.name or made_name(name_of_file(folder.resolve().name)))


def _bots_in(folder: Path) -> list[Path]:
    return list(filter(_may_be_bot, _inside(folder)))


def _inside(folder: Path) -> list[Path]:
    return [at for at in _listed(folder) if not _is_link(at)]


def _listed(folder: Path) -> list[Path]:
    if _is_link(folder) or not os.path.isdir(folder) or os.path.lexists(folder / MANIFEST):
        return []
    with suppress(OSError):  # `load_bot` says what is wrong
        found = sorted(islice((at for at in folder.iterdir() if not _is_hidden(at)), MOST_LOOKED_AT))
        return [at for at in found if not _is_document(at)]
    return []


def _is_hidden(path: Path) -> bool:
    if path.name == "__pycache__":
        return True
    has_dot = path.name.startswith(".") and path.name not in (".", "..")
    return has_dot and os.path.lexists(path) and not _may_be_bot(path)


def _may_be_bot(path: Path) -> bool:
    if os.path.isdir(path):
        return os.path.lexists(path / MANIFEST)
    return path.suffix in PROGRAM_ENDINGS or os.access(path, os.X_OK)


def _is_document(path: Path) -> bool:
    is_named_so = path.suffix.lower() in DOCUMENT_ENDINGS or path.name in (*DOCUMENTS, *SETTINGS)
    return is_named_so and os.path.isfile(path)


def _as_asked(bot: BotSpec, asked: AskedBot) -> BotSpec:
    digest = digest_with(asked.identifying, bot.digest)
    return replace(bot, name=asked.name or bot.name, digest=digest, asked=asked)


def _broken_at(path: Path, fault: str) -> BotSpec:
    full = Path(os.path.realpath(path))
    name = name_of_file(full.name if os.path.isdir(full) else base_name(path))
    identity = Identity("")
    try:
        if os.path.isdir(full):
            name = read_manifest(path).name or name
            identity = identify_folder(full)
        elif os.path.isfile(full):
            identity = identify_file(full)
    except (UsageError, OSError) as error:
        if isinstance(error, OSError) and error.errno in HOST_ERRORS:
            raise
        # else what is known of it is enough
    return broken(BotSpec(made_name(name), path, (), full, identity.digest), fault)


def _is_link(path: Path) -> bool:
    try:
        return path.is_symlink()
    except (OSError, ValueError):  # ValueError: a NUL, as no path has
        return False


def _refused_link(path: Path) -> BotSpec:
    try:
        target = os.readlink(path)
    except OSError as error:
        raise UsageError(f"{printable(str(path))}: cannot be examined: {error.strerror}") from None
    fault = (
        f"{printable(str(path))}: expected the bot itself, got a link to {printable(target, 200)}; name what it leads "
        "to, or start the league with --follow-links if the links in this folder are yours"
    )
    digest = hashlib.sha256(b"link " + os.fsencode(target)).hexdigest()
    return broken(BotSpec(made_name(name_of_file(base_name(path))), path, (), place_of_link(path), digest), fault)


def why_unfit(bot: BotSpec, variant: Variant) -> str:
    """Return why a bot cannot play under these rules, or an empty string if it can."""
    return variant.kind.why_not_of_2012(variant) if bot.is_of_2012 else ""


def fitting(bot: BotSpec, variant: Variant, *, has_openings: bool) -> BotSpec:
    """Return the same bot, broken if it cannot play under these rules or with openings."""
    why = why_unfit(bot, variant)
    if has_openings and bot.is_of_2012:
        why = "in ucc-2012 each bot chooses its set-up: expected no --openings"
    return broken(bot, f"{printable(str(bot.path))}: {why}") if why and bot.fault is None else bot
