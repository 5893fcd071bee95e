"""The directive `arena-commands`: a section for each command, made from the command itself."""

import re
from inspect import cleandoc
from typing import Any

import click
from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from arena.cli.catalog import COMMANDS
from arena.cli.helping import ArenaCommand, full, grouped
from arena.cli.main import CONTEXT, cli

CONVERSATIONS = ("arena", "bot", "game")
"""What blocks of the page on the protocol are called: who says their lines. In pages they are plain text."""


def context_of(name: str) -> click.Context:
    """The context that help of a command is made in, at a width that breaks no line."""
    above = click.Context(cli, info_name="arena", help_option_names=CONTEXT["help_option_names"])
    return click.Context(cli.commands[name], info_name=name, parent=above)


def usage_of(name: str) -> str:
    """How a command is called."""
    command = cli.commands[name]
    return " ".join(["arena", name, *command.collect_usage_pieces(context_of(name))])


def paragraphs_of(name: str) -> list[str]:
    """What a command does."""
    return [" ".join(part.split()) for part in cleandoc(cli.commands[name].help or "").split("\n\n")]


def page() -> str:
    """All commands in Markdown."""
    lines = []
    for _, name, _ in COMMANDS:
        command = cli.commands[name]
        lines += [f"## arena {name}", "", "```text", usage_of(name), "```", ""]
        for paragraph in paragraphs_of(name):
            lines += [_escaped(paragraph), ""]
        for heading, options in grouped(command, context_of(name)):
            lines += [f"**{heading}**", ""]
            for option in options:
                names, words = full(option, context_of(name))
                lines += [f"- `{names}`: {_escaped(words)}"]
            lines += [""]
        if isinstance(command, ArenaCommand) and command.examples:
            lines += ["```sh", *(line for line, _ in command.examples), "```", ""]
    return "\n".join(lines)


def _escaped(text: str) -> str:
    """Plain text with nothing in it that Markdown would act on."""
    return re.sub(r"([\\`*_<>\[\]{}|])", r"\\\1", text)


class Commands(SphinxDirective):
    """All commands, below the section that this stands in."""

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes(page(), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("arena-commands", Commands)
    for kind in CONVERSATIONS:
        app.add_lexer(kind, TextLexer)
    return {"parallel_read_safe": True}
