"""Detect changes of a bot's files while it plays.

Files may be edited or rebuilt in the middle of a league, or the bot may write to them. Their stamps (`Look`) are
compared first, without reading; only where these differ, or are too young to be trusted, the digests are computed
again. New files next to the covered ones are reported separately: they usually are logs.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from arena.bots.bot_files import look_at, program_content
from arena.bots.covered import Look, Parts
from arena.bots.identity import identify_again
from arena.bots.spec import BotSpec
from arena.errors import UsageError
from arena.system.printable import printable


@dataclass(frozen=True)
class Change:
    """A change of a bot: `files` by the name they are shown under, each "new", "changed" or "gone".

    If they cannot be examined any more, `fault` says why.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    fault: str = ""
    is_only_new: bool = False
    """No file that the digest covers has changed."""


def compare(bot: BotSpec, known: Look) -> tuple[Look, Change | None]:
    """Compare a bot with an earlier look at it; return a look for the next comparison, and the change or None."""
    try:
        return _compare(bot, known)
    except UsageError as error:
        return known, Change(fault=str(error))


def _compare(bot: BotSpec, known: Look) -> tuple[Look, Change | None]:
    seen = look_at(known.covered)
    there = {parts: stamp for parts, stamp in seen.stamps.items() if parts in known.stamps}
    changed: dict[str, str] = {}
    if there != known.stamps or not known.is_settled:
        identity = identify_again(known.covered, list(there))
        if bot.digest_of(identity.digest) != bot.digest:
            gone = [parts for parts in known.stamps if parts not in there]
            touched = [parts for parts, stamp in there.items() if stamp != known.stamps[parts]]
            changed = dict.fromkeys(_names(touched), "changed")
            if bot.files and identity.files:
                contents = identity.files.items()
                changed = {name: "changed" for name, content in contents if bot.files.get(name) != content}
            changed |= dict.fromkeys(_names(gone), "gone")
            if not changed:  # too many files to remember the content of each
                return known, Change(fault="the content of its files is another")
    if known.covered.never is not None and not _is_same_program(known, seen):
        program = os.path.relpath(known.covered.never, known.covered.folder)
        changed[printable(program)] = "changed" if seen.program else "gone"
    new = dict.fromkeys(_names(parts for parts in seen.stamps if parts not in known.stamps), "new")
    if changed:
        return known, Change({**new, **changed})
    seen = replace(seen, stamps=there, made=known.made)
    return seen, Change(new, is_only_new=True) if new else None


def _is_same_program(known: Look, seen: Look) -> bool:
    return seen.program == known.program or (known.made is not None and program_content(seen.covered) == known.made)


def _names(files: Iterable[Parts]) -> list[str]:
    return [printable(os.fsdecode(b"/".join(parts))) for parts in files]
