"""Descriptions of the commands, made from the commands: values for the site's page on them, and the manual page.

`python docs/manual.py` writes `docs/arena.1`, which is in the wheel, where installers put manual pages.
"""

import re
from collections import Counter
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import NamedTuple

import click

from arena.cli import catalog
from arena.cli.helping import HELPS, OTHERS, ArenaCommand, Example, grouped, record
from arena.cli.main import CONTEXT, cli
from arena.version import __version__

CODES = re.compile(r"^\| (\d+) \| (.+?) \| (.+) \|$", re.MULTILINE)
"""A row of the table of exit codes in `docs/cli.md`."""
Section = tuple[str, tuple[tuple[str, str], ...]]
"""A heading, and how the options below it are written and what they mean."""


class Described(NamedTuple):
    """One command."""

    name: str
    usage: str
    paragraphs: tuple[str, ...]
    sections: tuple[Section, ...]
    examples: tuple[Example, ...]


def context_of(name: str) -> click.Context:
    """The context that help of a command is made in; the name may be of two words, as in `host init`."""
    context = click.Context(cli, info_name="arena", help_option_names=CONTEXT["help_option_names"])
    for word in name.split():
        group = context.command
        assert isinstance(group, click.Group)
        command = group.get_command(context, word)
        assert command is not None
        context = click.Context(command, info_name=word, parent=context)
    return context


def names() -> Iterator[str]:
    """Each command in the order in which they are listed, a group followed by its own commands."""
    for _, name, _ in catalog.COMMANDS:
        yield name
        context = context_of(name)
        if isinstance(context.command, click.Group):
            yield from (f"{name} {word}" for word in context.command.list_commands(context))


def described() -> list[Described]:
    """All commands, in the order in which they are listed."""
    found = []
    for name in names():
        context = context_of(name)
        command = context.command
        usage = " ".join(["arena", name, *command.collect_usage_pieces(context)])
        paragraphs = tuple(" ".join(part.split()) for part in cleandoc(command.help or "").split("\n\n"))
        sections = tuple(
            (heading, tuple(record(option, context) for option in options))
            for heading, options in grouped(command, context)
        )
        examples = command.examples if isinstance(command, ArenaCommand) else ()
        found.append(Described(name, usage, paragraphs, sections, examples))
    return found


# --- as a manual page -------------------------------------------------------------------------------------------------

ENVIRONMENT = (
    ("NO_COLOR", "If it is set and not empty, nothing is coloured."),
    ("COLUMNS", "How wide tables are; without it as wide as the terminal, and 100 columns in a pipe or a file."),
    ("PAGER", "What shows games that are longer than the terminal; without it, less -R."),
    ("ARENA_TRACEBACK", "If it is set, an internal error is shown with where it happened."),
)
UNSHARED = ("Options", OTHERS)
FILES = (("arena.toml", "Settings of the commands that play, and bots with arguments, in the current folder."),)


def manual() -> str:
    """arena(1), for man."""
    commands = described()
    uses = Counter(section for command in commands for section in command.sections)
    shared = [section for section, count in uses.items() if count > 1 and section[0] not in UNSHARED]
    helps = tuple(record for record in records_of(commands[0]) if record[0].endswith(HELPS))
    lines = [
        '.\\" Made from the commands by docs/manual.py.',
        f'.TH ARENA 1 "" "stratego-arena {__version__}" "User Commands"',
        ".SH NAME",
        "arena \\- a bot arena for the board game Stratego",
        ".SH SYNOPSIS",
        ".B arena",
        ".I COMMAND",
        "[\\fIOPTIONS\\fR] ...",
        ".SH DESCRIPTION",
        _plain(
            "Runs bots in any language against each other, judges by its own rules engine, keeps every game, and "
            "prints tables that can be trusted."
        ),
    ]
    lines += [".SH COMMANDS"]
    for command in commands:
        lines += [f'.SS "{_plain(command.usage)}"', *_paragraphs(command.paragraphs)]
        for section in command.sections:
            if section in shared:
                continue
            lines += _options(tuple(record for record in section[1] if record not in helps))
        also = [heading for heading, _ in shared if heading in dict(command.sections)]
        if also:
            lines += [".PP", _plain(f"Also the options below: {'; '.join(also)}.")]
    lines += [".SH SHARED OPTIONS"]
    for heading, records in shared:
        lines += [f'.SS "{_plain(heading)}"', *_options(records)]
    lines += ['.SS "Help"', *_options(helps)]
    lines += [".SH EXAMPLES"]
    for line, words in (*catalog.EXAMPLES, *(example for command in commands for example in command.examples)):
        lines += (
            [".TP", f"\\fB{_plain(line)}\\fR", _plain(words)] if words else [".TP", f"\\fB{_plain(line)}\\fR", "\\&"]
        )
    lines += [".SH EXIT STATUS"]
    for code, after, words in CODES.findall((Path(__file__).parent.parent / "cli.md").read_text(encoding="utf-8")):
        lines += [".TP", f"\\fB{code}\\fR", _plain(f"After {after}: {words}.".replace("`", ""))]
    for heading, entries in (("ENVIRONMENT", ENVIRONMENT), ("FILES", FILES)):
        lines += [f".SH {heading}"]
        for name, words in entries:
            lines += [".TP", f"\\fB{_plain(name)}\\fR", _plain(words)]
    return "\n".join(lines) + "\n"


def records_of(command: Described) -> list[tuple[str, str]]:
    """All options of a command."""
    return [record for _, records in command.sections for record in records]


def _paragraphs(paragraphs: tuple[str, ...]) -> list[str]:
    lines: list[str] = []
    for paragraph in paragraphs:
        lines += [".PP", _plain(paragraph)] if lines else [_plain(paragraph)]
    return lines


def _options(records: tuple[tuple[str, str], ...]) -> list[str]:
    return [line for names, words in records for line in (".TP", f"\\fB{_plain(names)}\\fR", _plain(words))]


def _plain(text: str) -> str:
    """Text with nothing in it that roff would act on."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq").replace("'", "\\(aq")
    return f"\\&{escaped}" if escaped.startswith(".") else escaped
