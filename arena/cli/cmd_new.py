"""`arena new`: a first bot, which plays legally at once."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.helping import command
from arena.cli.installation import arena_line
from arena.cli.shared_options import json_option, offer_languages
from arena.cli.streams import remark, result
from arena.system.printable import printable

if TYPE_CHECKING:
    from arena.bots.new import NewBot

RIVAL = "warden"


@command(
    ("arena new hunter", "in Python, with the kit"),
    ("arena new digger --language rust", ""),
)
@click.argument("path", metavar="NAME", type=click.Path(path_type=Path))
@click.option(
    *("-l", "--language"),
    metavar="L",
    shell_complete=offer_languages,
    help="One of python (default), python-plain, policy, c, c++, rust, go, java, javascript, shell.",
)
@click.option("--author", metavar="TEXT", default="", help="Author, as the bot introduces itself.")
@json_option
def new_command(path: Path, language: str | None, author: str, as_json: bool) -> None:
    """Write a first bot into a new folder NAME. It plays legally at once, under every ruleset.

    The folder has a program with a place for your ideas, a bot.toml that says how to build and start it, a test and a
    README. Nothing is overwritten.
    """
    from arena.bots.languages import DEFAULT, find_language
    from arena.bots.new import write_bot
    from arena.system.terminal_text import to_json

    chosen = find_language(language) if language is not None else DEFAULT
    bot = write_bot(path, chosen, author)
    for tool in bot.missing:
        remark(
            f"arena: {bot.language.title} needs the program {tool.program}, which is not on the PATH here; on Debian: "
            f"apt install {tool.packages}"
        )
    if not as_json:
        result(_page(bot))
        return
    result(
        to_json(
            {
                "name": bot.name,
                "folder": printable(str(bot.folder)),
                "language": bot.language.name,
                "files": bot.files,
                "source": bot.language.source,
                "build": bot.build,
                "test": bot.language.test,
                "missing": {tool.program: tool.packages for tool in bot.missing},
            }
        )
    )


def _page(bot: "NewBot") -> str:
    import shlex

    folder = str(bot.folder)
    play = "play two games (the arena builds it first)" if bot.build else "play two games"
    lines = [
        f"{printable(folder)}: a bot in {bot.language.title}.",
        "It plays legally at once, under every ruleset. Your ideas go into",
        f"    {printable(str(bot.folder / bot.language.source))}",
        "",
        f"{play}:",
        f"    {printable(arena_line('match', folder, RIVAL))}",
        "check it as a host would:",
        f"    {printable(arena_line('check', folder))}",
        "test its answers:",
        f"    cd {printable(shlex.quote(folder))} && {bot.language.test}",
    ]
    return "\n".join(lines)
