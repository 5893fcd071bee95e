"""What `arena --help` and `arena --version` print. They need neither click nor any command, and so are told at once."""

import sys

from arena.cli.catalog import COMMANDS
from arena.version import __version__

HEAD = "Usage: arena COMMAND ...  (a bot arena for Stratego; COMMAND --help says more)\n"
EXAMPLES = (
    ("arena league bots/*", "all bots of a folder"),
    ("arena match mine.py warden --games 10", "your bot against a sample bot"),
)


def help_text() -> str:
    """The commands, a line each, and examples: no more than a screen."""
    lines = [HEAD]
    width = max(len(name) for _, name, _ in COMMANDS)
    before = ""
    for heading, name, words in COMMANDS:
        lines.append(f"{heading if heading != before else '':5} {name:{width}}  {words}\n")
        before = heading
    return "".join([*lines, f"Examples: {'    '.join(line for line, _ in EXAMPLES)}\n"])


def version_text() -> str:
    """The version of the arena, and of the protocol that it speaks with bots."""
    from protocol.messages import PROTOCOL_VERSION

    return f"arena, version {__version__} (protocol version {PROTOCOL_VERSION})\n"


TEXTS = {"--help": help_text, "-h": help_text, "--version": version_text}


def answers(words: list[str]) -> bool:
    """Whether these words of the command line are answered by `tell`."""
    return len(words) == 1 and words[0] in TEXTS


def tell(words: list[str]) -> int:
    """Print what was asked for. Returns the exit code."""
    from arena.cli import streams
    from arena.cli.exit_codes import DONE, FAILED
    from arena.report.consoles import fitted

    streams.take_over()
    try:
        streams.result(fitted(TEXTS[words[0]](), sys.stdout), end="")
        streams.flush_results()
    except streams.OutputError as error:
        error.tell()
        return FAILED
    return DONE
