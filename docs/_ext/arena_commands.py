"""The directive `arena-commands`: a section for each command, made from the command itself."""

import re
from typing import Any

from docutils import nodes
from pygments.lexers.special import TextLexer
from reference import described
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

PLAIN = ("arena", "bot", "game", "said")
"""Kinds of blocks of our own, by who says their lines. On the site they are plain text."""


def page() -> str:
    """All commands in Markdown."""
    lines = []
    for command in described():
        lines += [f"## arena {command.name}", "", "```text", command.usage, "```", ""]
        for paragraph in command.paragraphs:
            lines += [_escaped(paragraph), ""]
        for heading, records in command.sections:
            lines += [f"**{heading}**", "", *(f"- `{names}`: {_escaped(words)}" for names, words in records), ""]
        if command.examples:
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
    for kind in PLAIN:
        app.add_lexer(kind, TextLexer)
    return {"parallel_read_safe": True}
