"""What `arena new` prints: where a bot was written, what is to be typed next, and the same as JSON."""

import shlex
from collections.abc import Callable

import msgspec

from arena.bots.new import NewBot
from arena.bots.samples import SAMPLES
from arena.printable import printable
from arena.report.json import to_json

RIVAL = "warden"
assert RIVAL in SAMPLES


def new_page(bot: NewBot, arena_line: Callable[..., str]) -> str:
    """The page for people; `arena_line` makes a line for a shell of the words that follow `arena`."""
    folder = str(bot.folder)
    play = "play two games (the arena builds it first)" if bot.build else "play two games"
    lines = [
        f"{printable(folder)}: a bot in {bot.language.title}.",
        "It plays legally at once, under every ruleset. Your thinking goes into",
        f"    {printable(str(bot.folder / bot.language.source))}",
        "",
        f"{play}:",
        f"    {arena_line('match', folder, RIVAL)}",
        "hear what a host would say of it:",
        f"    {arena_line('check', folder)}",
        "test its answers:",
        f"    cd {printable(shlex.quote(folder))} && {bot.language.test}",
    ]
    return "\n".join(lines)


class _NewJson(msgspec.Struct, frozen=True):
    """`missing` are the packages of Debian's by the programs that are not there."""

    name: str
    folder: str
    language: str
    files: tuple[str, ...]
    source: str
    build: str | None
    test: str
    missing: dict[str, str]


def new_json(bot: NewBot) -> str:
    """The same as JSON. Paths in `files` and `source` are those in the folder."""
    return to_json(
        _NewJson(
            name=bot.name,
            folder=printable(str(bot.folder)),
            language=bot.language.name,
            files=bot.files,
            source=bot.language.source,
            build=bot.build,
            test=bot.language.test,
            missing={tool.program: tool.packages for tool in bot.missing},
        )
    )
