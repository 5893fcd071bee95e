"""What the exit code of a command says: the one list of them, from which the table of docs/cli.md is made.

A code says what became of the command, and nothing of who won; but where a command answers a question (is the store
sound, is the new bot better), 0 is yes and 1 is no.
"""

from typing import NamedTuple

DONE = 0
FAILED = 1
FOUND = 1
"""`arena check`, `verify`, `rerun`, and what reads a store: something is not as it should be."""
NOT_BETTER = 1
"""`arena compare`: the new bot is not better."""
USAGE = 2
UNDECIDED = 3
"""`arena compare`: the games that there may be were not enough to tell."""
NO_VERDICT = 4
"""`arena compare`: something failed, which 1 says after every other command."""
INTERRUPTED = 130
HUNG_UP, TERMINATED = 129, 143
"""What a shell says of a process that SIGHUP or SIGTERM has ended."""


class Meaning(NamedTuple):
    """What a code says after these commands; after any where none is named."""

    code: int
    commands: tuple[str, ...]
    words: str


MEANINGS = (
    Meaning(DONE, (), "done; games that bots lost by a fault are results like any other"),
    Meaning(DONE, ("match", "resume"), "with `--pause-after`: played to its end, or saved as was asked"),
    Meaning(DONE, ("play",), "played to its end, or left by the person: saved, if both sides had set up"),
    Meaning(DONE, ("verify",), "all is sound"),
    Meaning(DONE, ("rerun",), "the same to the end"),
    Meaning(DONE, ("compare",), "NEW is better"),
    Meaning(
        DONE,
        ("check",),
        "a league would accept the bot; with `--replay`: the same answers to the end, and the fault that it lost by, "
        "if any",
    ),
    Meaning(
        FAILED,
        (),
        "something failed (after `arena compare`: 4): the disk, the store, the machine, or the results could not be "
        "printed, also because nobody reads them any more; what was stored is kept",
    ),
    Meaning(FAILED, ("league", "match", "play", "resume"), "a bot has changed while it was played"),
    Meaning(
        FOUND,
        ("standings", "games", "bots", "export", "report"),
        "games that are not as they were stored, or of which no line or page can be made, are left out, and named on "
        "standard error",
    ),
    Meaning(FOUND, ("verify",), "something is not sound"),
    Meaning(FOUND, ("rerun",), "it differs"),
    Meaning(FOUND, ("check",), "a league would not accept the bot; with `--replay`: other answers"),
    Meaning(NOT_BETTER, ("compare",), "NEW is not better"),
    Meaning(USAGE, (), "what was asked for makes no sense: a path, a name, an option; nothing was played"),
    Meaning(UNDECIDED, ("compare",), "undecided within `--games`"),
    Meaning(NO_VERDICT, ("compare",), "something failed, as 1 says after other commands"),
    Meaning(
        INTERRUPTED,
        (),
        "stopped by Ctrl-C, or by SIGTERM or SIGHUP where programs are started; what was played is stored, and the "
        "command that resumes is printed",
    ),
    Meaning(HUNG_UP, (), "ended by SIGHUP where no programs are started"),
    Meaning(TERMINATED, (), "ended by SIGTERM where no programs are started"),
)


def exit_code_table() -> str:
    """All of it as a table of Markdown."""
    lines = ["| exit code | after | meaning |", "|---|---|---|"]
    for meaning in MEANINGS:
        after = ", ".join(f"`arena {command}`" for command in meaning.commands) or "any command"
        lines.append(f"| {meaning.code} | {after} | {meaning.words} |")
    return "\n".join(lines)
