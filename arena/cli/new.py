"""`arena new`: a first bot, which plays legally at once."""

from functools import partial
from pathlib import Path

import click

from arena.cli.helping import ArenaCommand
from arena.cli.streams import remark, result
from arena.cli.words import shell_line, this_command


@click.command(
    "new",
    cls=ArenaCommand,
    examples=(
        ("arena new hunter", "in Python, with the kit"),
        ("arena new digger --language rust", ""),
    ),
)
@click.argument("path", metavar="NAME", type=click.Path(path_type=Path))
@click.option(
    "-l",
    "--language",
    metavar="L",
    help="The language: python (the default), python-plain, c, c++, rust, go, java, javascript or shell.",
)
@click.option("--author", metavar="TEXT", default="", help="Who has made it, as the bot introduces itself.")
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def new_command(path: Path, language: str | None, author: str, as_json: bool) -> None:
    """Write a bot into a new folder NAME, to go on from: it plays legally at once, under every ruleset.

    In it are a program with a comment where your thinking goes, a bot.toml that says how it is built and started, a
    test and a README. Nothing is ever overwritten.
    """
    from arena.bots.languages import DEFAULT, find_language
    from arena.bots.new import write_bot
    from arena.report.new import new_json, new_page

    chosen = find_language(language) if language is not None else DEFAULT
    bot = write_bot(path, chosen, author)
    for tool in bot.missing:
        remark(
            f"arena: {bot.language.title} needs the program {tool.program}, which is not on the PATH here; on Debian: "
            f"apt install {tool.packages}"
        )
    result(new_json(bot) if as_json else new_page(bot, partial(shell_line, *this_command())))
