"""Read the bot.toml of a bot's folder.

command = ["./target/release/hunter"]     # required: the program and its arguments
build = "cargo build --release"           # optional: run by the shell in the folder, before the first game
name = "hunter"                           # optional: the name in tables, else the folder's
env = { RUST_BACKTRACE = "1" }            # optional: added to the bot's environment
ignore = ["logs/*", "*.tmp"]              # optional: files that the bot writes itself, which are not part of it
interpreters = ["python3"]                # optional: programs of the host's that the bot runs as well
needs = ["cc"]                            # optional: programs that have to be on the PATH for its build or its runs
protocol = "ucc-2012"                     # optional: what it speaks, if that is not the arena's own protocol
"""

import enum
import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from arena.bots.bot_files import behind_link
from arena.bots.covered import MOST_PATTERNS, SOME_PATTERNS, pattern_fault
from arena.bots.languages import language_of_source
from arena.bots.names import GRAMMAR, expected_name, name_fault
from arena.bots.spec import TOKEN_VARIABLE
from arena.errors import UsageError
from arena.system.printable import printable, shown
from arena.system.schema import expected, structured
from arena.system.user_files import HOST_ERRORS, read_toml

MANIFEST = "bot.toml"
MOST_BYTES = 16 * 1024
"""The largest bot.toml in bytes: the worst, one key of 8,000 parts, takes the parser a second; twice that, four."""
MOST_LOOKED_AT = 1000
"""The most entries of a folder without a manifest that are read for a hint."""
PROJECTS = {"Cargo.toml": ".rs", "go.mod": ".go", "package.json": ".js"}
"""Project files, each with the ending of the sources of such a project."""
_Word = Annotated[str, Meta(pattern=r"\A[^\0]+\Z")]
_Command = Annotated[
    tuple[_Word, ...],
    Meta(min_length=1, extra=expected('a list such as ["./program", "argument"], without NUL in it')),
]
_Line = Annotated[
    str, Meta(pattern=r"\A(?=\s*\S)[^\0]*\Z", extra=expected('a line for the shell such as "make", without NUL in it'))
]
_Setting = Annotated[str, Meta(pattern=r"\A[^\0]*\Z", extra=expected("a string without NUL"))]


_Programs = Annotated[
    tuple[_Word, ...],
    Meta(
        max_length=8,
        extra=expected('a list of at most 8 names or paths of programs, such as ["python2.7"], without NUL'),
    ),
]


class Protocol(enum.Enum):
    """A protocol that a bot can speak, by its word in a bot.toml."""

    ARENA_1 = "arena-1"
    UCC_2012 = "ucc-2012"
    """The dialect of 2012 (`docs/ucc-2012.md`), by an adapter."""


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A valid bot.toml."""

    command: _Command
    build: _Line | None = None
    name: Annotated[str, Meta(extra=expected(GRAMMAR))] | None = None
    env: dict[str, _Setting] = {}
    ignore: Annotated[tuple[str, ...], Meta(extra=expected(SOME_PATTERNS))] = ()
    protocol: Protocol = Protocol.ARENA_1
    interpreters: _Programs = ()
    needs: _Programs = ()


def read_manifest(folder: Path) -> Manifest:
    """Read the bot.toml of a folder. Raises `UsageError` with the file, the key, and what was expected."""
    path = folder / MANIFEST
    where = printable(str(path))
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        raise UsageError(
            f'{printable(str(folder))}: expected a {MANIFEST} in this folder, with at least command = ["./program"]'
            f"{_found_instead(folder)}"
        ) from None
    except OSError as error:
        if error.errno in HOST_ERRORS:
            raise
        raise UsageError(f"{where}: cannot be examined: {error.strerror}") from None
    if stat.S_ISLNK(mode):
        behind = behind_link(folder.resolve(), MANIFEST)
        if behind is None:
            raise UsageError(f"{where}: expected a file of the bot's own, got a link that leads to none in its folder")
        path = behind
    manifest = structured(read_toml(path, where, MOST_BYTES), Manifest, where)
    _check_name(manifest.name, where)
    _check_environment(manifest.env, where)
    _check_patterns(manifest.ignore, where)
    return manifest


def _found_instead(folder: Path) -> str:
    names: list[str] = []
    with suppress(OSError), os.scandir(folder) as entries:
        names = sorted(entry.name for entry in islice(entries, MOST_LOOKED_AT))
    where = printable(str(folder))
    for name in names:
        if name.lower() == MANIFEST:
            return f"; it is called {printable(name)} here"
    if any(os.path.lexists(folder / name / MANIFEST) for name in names):
        return f"; there are bots in it: name them, as in {where}/*"
    if any(name.endswith(".py") for name in names):
        return f"; a .py file in it is a bot by itself: name it, as in {where}/*.py"
    for name in names:
        language = language_of_source(PROJECTS.get(name, Path(name).suffix))
        if language:
            return f"; 'arena new NAME --language {language.name}' writes one, and a bot to begin with"
    return ""


def _check_name(name: str | None, where: str) -> None:
    fault = None if name is None else name_fault(name)
    if name is not None and fault:
        raise UsageError(f"{where}: name: {expected_name(name, fault)}")


def _check_environment(environment: Mapping[str, str], where: str) -> None:
    for name in environment:
        if not name or "=" in name or not name.isprintable():
            raise UsageError(f"{where}: [env]: expected printable names without '=', got {shown(name)}")
        if name == TOKEN_VARIABLE:
            raise UsageError(f"{where}: [env]: {name} is reserved: the arena marks the processes of a bot with it")


def _check_patterns(patterns: Sequence[str], where: str) -> None:
    if len(patterns) > MOST_PATTERNS:
        raise UsageError(f"{where}: ignore: expected at most {MOST_PATTERNS} patterns, got {len(patterns)}")
    for pattern in patterns:
        fault = pattern_fault(pattern)
        if fault:
            raise UsageError(f"{where}: ignore: {fault}")
