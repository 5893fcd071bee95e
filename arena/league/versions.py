"""The versions of bots: changes since their last games in the store, and during the games.

No game counts that was played across a change of a bot. Decisive is the comparison after the game, which shows any
change since the last; before a game a recent result is enough. The stamps of files (`Look`) are compared first, without
reading; only where these differ, or are too young to be trusted, the digests are computed again. New files next to the
covered ones are reported separately: they usually are logs.
"""

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import trio

from arena.bots.bot_files import look_at, program_content
from arena.bots.covered import Look, Parts, file_changes, named
from arena.bots.entering import place_of
from arena.bots.identity import identify_again
from arena.bots.spec import BotSpec
from arena.errors import UsageError
from arena.game.game_spec import Player
from arena.league.store import BotNote, Store
from arena.system.printable import printable

RECENT_SECONDS = 0.1
"""The oldest valid comparison before a game. Two for each of 400 games a second were the parent's largest cost."""
NEVER = float("-inf")


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


class Versions:
    """The changes of the bots of one run, found in a thread, one comparison after the other."""

    def __init__(self) -> None:
        self._looks: dict[Player, Look] = {}
        self._looked: dict[Player, float] = {}
        self._changed: dict[Player, tuple[BotSpec, Change]] = {}
        self._grown: dict[Player, tuple[BotSpec, Change]] = {}
        self._one_reader = trio.Lock()

    async def are_unchanged(self, bots: Iterable[BotSpec]) -> bool:
        """Return whether these bots match their digests, and did at every earlier call; new files are no change."""
        return not await self.changed_of(bots)

    async def were_unchanged(self, bots: Collection[BotSpec]) -> bool:
        """Return whether these bots match their digests, by a comparison up to `RECENT_SECONDS` old."""
        since = trio.current_time() - RECENT_SECONDS
        old = [bot for bot in bots if self._looked.get(bot.player, NEVER) < since]
        changed = await self.changed_of(old) if old else ()
        return not changed and not any(bot.player in self._changed for bot in bots)

    async def changed_of(self, bots: Iterable[BotSpec]) -> set[Player]:
        asked = {bot.player: bot for bot in bots}
        async with self._one_reader:
            to_see = [
                (bot, look)
                for player, bot in asked.items()
                if bot.fault is None and player not in self._changed and (look := self._looks.get(player, bot.look))
            ]
            if to_see:
                begun = trio.current_time()
                seen = await trio.to_thread.run_sync(_compare_all, to_see, abandon_on_cancel=True)
                for (bot, _), (look, change) in zip(to_see, seen, strict=True):
                    if change is None or change.is_only_new:
                        self._looks[bot.player] = look
                    if change is not None:
                        (self._grown if change.is_only_new else self._changed)[bot.player] = (bot, change)
                    self._looked[bot.player] = begun
        return asked.keys() & self._changed.keys()

    def errors(self) -> list[str]:
        lines = []
        for bot, change in self._changed.values():
            line = f"{bot.name} ({bot.path}) has changed while it was played: {change.fault or named(change.files)}"
            if are_likely_its_own(bot, change.files):
                line += f"; {ignore_hint(change.files)}"
            lines.append(line)
        return lines

    def remarks(self) -> list[str]:
        return [
            f"{bot.name}: files were added to its folder while it played: {named(change.files)}; its games "
            f"count, but with these files it is a new version; {ignore_hint(change.files)}"
            for player, (bot, change) in self._grown.items()
            if player not in self._changed
        ]


def _compare_all(bots: Sequence[tuple[BotSpec, Look]]) -> list[tuple[Look, Change | None]]:
    return [compare(bot, look) for bot, look in bots]


_WRITTEN = re.compile(
    r"(.*/)?((logs?|tmp|temp|cache)/[\w./-]+"
    r"|([\w-]+[._-])?logs?([._-][\w-]+)*\.(txt|csv|jsonl?)"
    r"|[\w.-]+\.(log|tmp|out|err|pid|lock|db|sqlite))"
)


def note_versions(store: Store, bots: Sequence[BotSpec], former: Collection[str] = ()) -> list[str]:
    """Store notes on these bots; return a line for each that has changed since it played.

    Bots with digests in `former` replace their older versions in the league.
    """
    played = store.players()
    present = {bot.player.digest for bot in bots}
    known = {player.digest for player in played}
    called: dict[str, list[Player]] = {}
    for player in played:
        called.setdefault(player.name, []).append(player)
    lines, notes = [], {}
    for bot in bots:
        older = [player for player in called.get(bot.name, ()) if player.digest not in present]  # others are renamed
        if bot.fault is None and older and bot.player.digest not in known:
            lines.append(_line(bot, older[-1], store.kept().files_of(older[-1]), goes_on=bot.player.digest in former))
        of_files = (bot.arguments, bot.files) if bot.fault is None else ((), {})
        notes[bot.player.digest] = BotNote(place_of(bot), *of_files)
    store.note_bots(notes, known)
    return lines


def _line(bot: BotSpec, old: Player, files: Mapping[str, str], *, goes_on: bool) -> str:
    where = f"the old games stay under {old.name}@{old.digest[:6]}"
    if goes_on:
        where += ", and count for its place in this league, where it keeps playing"
    if not files or not bot.files:
        return f"{bot.name} has changed since its games in this store; {where}"
    changed = file_changes(files, bot.files)
    line = f"{bot.name} has changed since its games in this store: {named(changed)}; {where}"
    if are_likely_its_own(bot, changed):
        line += f"; {ignore_hint(changed)}"
    return line


def are_likely_its_own(bot: BotSpec, changed: Mapping[str, str]) -> bool:
    """Return whether a bot is likely to have written all these files itself, and could list them in `ignore`."""
    return bool(changed) and all(_WRITTEN.fullmatch(name) for name in changed) and bot.path.is_dir()


def ignore_hint(changed: Mapping[str, str]) -> str:
    return f'files that it writes itself can be left out: ignore = ["{min(changed)}"] in its bot.toml'
