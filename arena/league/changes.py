"""What has changed in a bot since it last played in a store: so that a new version is no surprise to its author.

A changed bot is a new player, and the games of the old one stay as they are; a renamed one is no new player. With each
bot of a league the store keeps a short fingerprint of each of its files; for a bot of the same name these say what is
new. It keeps its arguments, too, and from where it plays, which tells copies of one bot apart (`arena.bots.entering`).
"""

import re
from collections.abc import Collection, Mapping, Sequence

from arena.bots import BotSpec
from arena.bots.changed import named
from arena.bots.entering import place_of
from arena.game.spec import Player
from arena.league.store import KeptFiles, Store

_WRITTEN = re.compile(
    r"(.*/)?((logs?|tmp|temp|cache)/[\w./-]+"
    r"|([\w-]+[._-])?logs?([._-][\w-]+)*\.(txt|csv|jsonl?)"
    r"|[\w.-]+\.(log|tmp|out|err|pid|lock|db|sqlite))"
)
"""Files that a bot is likely to have written itself."""


def note_versions(store: Store, bots: Sequence[BotSpec], former: Collection[str] = ()) -> list[str]:
    """Keep files, places and arguments of these bots in the store; returns a line for each that changed since it
    played.

    Bots of the digests in `former` take the place of their older versions in the league.
    """
    played = store.players()
    present = {bot.player.digest for bot in bots}
    known = {player.digest for player in played}
    called: dict[str, list[Player]] = {}
    for player in played:
        called.setdefault(player.name, []).append(player)
    lines, kept = [], []
    for bot in bots:
        versions = called.get(bot.name, [])
        older = [player for player in versions if player.digest not in present]  # the others play on, renamed
        if bot.fault is None and older and bot.player.digest not in known:
            lines.append(_line(bot, older[-1], store.files_of(older[-1]), goes_on=bot.player.digest in former))
        if bot.fault is None:
            kept.append(KeptFiles(bot.player, bot.files, versions))
    store.set_files(kept)
    store.set_places({bot.player.digest: place_of(bot) for bot in bots}, known)
    store.set_arguments({bot.player.digest: bot.arguments for bot in bots if bot.fault is None}, known)
    return lines


def _line(bot: BotSpec, old: Player, files: Mapping[str, str], *, goes_on: bool) -> str:
    where = f"the old games stay under {old.name}@{old.digest[:6]}"
    if goes_on:
        where += ", and count for its place in this league, in which it goes on"
    if not files or not bot.files:
        return f"{bot.name} has changed since its games in this store; {where}"
    changed = file_changes(files, bot.files)
    line = f"{bot.name} has changed since its games in this store: {named(changed)}; {where}"
    if are_likely_its_own(bot, changed):
        line += f"; {ignore_hint(changed)}"
    return line


def file_changes(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """What has become of files, by their fingerprints: `new`, `gone` or `changed`, by their names in order."""
    changed = {name: "new" for name in now if name not in before}
    changed |= {name: "gone" for name in before if name not in now}
    changed |= {name: "changed" for name, content in now.items() if before.get(name, content) != content}
    return dict(sorted(changed.items()))


def are_likely_its_own(bot: BotSpec, changed: Mapping[str, str]) -> bool:
    """Whether a bot is likely to have written all these files itself, and can say so."""
    return bool(changed) and all(_WRITTEN.fullmatch(name) for name in changed) and bot.path.is_dir()


def ignore_hint(changed: Mapping[str, str]) -> str:
    """How a bot's author takes such files out of its digest."""
    return f'files that it writes itself can be left out: ignore = ["{min(changed)}"] in its bot.toml'
