"""Write a first bot, or a game, into a new folder; it plays at once.

Existing files are never overwritten: the folder must not exist yet, and is removed if writing fails.
"""

import keyword
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from arena.bots.languages import TEST_SCRIPT, Language, Tool
from arena.bots.manifest import MANIFEST
from arena.bots.names import COLUMNS
from arena.bots.samples import SAMPLES
from arena.errors import ArenaError, UsageError
from arena.game import STRATEGO
from arena.system.printable import printable, shown

SHARED = "common"
GAME = "game"
"""The template of a game, and the beginning of the names of its files that have the game's name."""
README, SCRIPT, IGNORED = "README.md", "test.sh", ".gitignore"
COMPILED = "__pycache__"
"""Left by installers next to templates in Python."""
MOST_AUTHOR = 100
_NAME = re.compile(rf"[A-Za-z][A-Za-z0-9_-]{{0,{COLUMNS - 1}}}")
_AUTHOR = re.compile(rf"""[ !#%-\[\]-_a-~]{{0,{MOST_AUTHOR}}}""")
"""Text that is valid between quotes in any of the languages: ASCII without `"`, `$`, backslash and backtick."""
_GAME_NAME = re.compile(r"[a-z](?:[a-z0-9]|-(?=[a-z0-9])){0,29}")
_MARK = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True)
class NewBot:
    """A newly written bot: its folder and files, and the tools that this machine lacks.

    `build` is the command that builds it, None if there is none.
    """

    folder: Path
    name: str
    language: Language
    files: tuple[str, ...]
    build: str | None
    missing: tuple[Tool, ...]


def write_bot(folder: Path, language: Language, author: str = "") -> NewBot:
    """Write a bot of this language into a new folder, named like the bot.

    Raises `UsageError` if the name is invalid or exists, and `ArenaError` if it cannot be written.
    """
    name = _checked_name(folder)
    _check_author(author)
    texts = {path: file.read_text(encoding="utf-8") for path, file in _template_files(language)}
    if language.makes:
        texts[IGNORED] = f"{language.makes}\n"
    manifest = tomllib.loads(texts[MANIFEST])
    build = manifest.get("build")
    words = {
        "name": name,
        "author": author,
        "title": language.title,
        "source": language.source,
        "needs": language.needs,
        "test": language.test,
        "build": build or "",
        "build_step": f"{build} # builds it, as the arena does\n" if build else "",
        "plays": "builds it, and plays" if build else "plays",
        "run": shlex.join(manifest["command"]),
        "note": f"\n{language.note}\n" if language.note else "",
    }
    _write(folder, {path: _filled(text, words) for path, text in texts.items()})
    missing = tuple(tool for tool in language.tools if tool.is_missing)
    return NewBot(folder, name, language, tuple(sorted(texts)), build, missing)


class NewGame(NamedTuple):
    """A newly written game: its folder and files, and the one with its rules."""

    folder: Path
    name: str
    source: str
    files: tuple[str, ...]


def write_game(folder: Path) -> NewGame:
    """Write a small game into a new folder, named like the game.

    Raises `UsageError` if the name is invalid or exists, and `ArenaError` if it cannot be written.
    """
    name, module = folder.name, folder.name.replace("-", "_")
    taken = {*sys.stdlib_module_names, *keyword.kwlist, "arena", "protocol", STRATEGO}
    if not _GAME_NAME.fullmatch(name) or module in taken:
        raise UsageError(
            f"{printable(str(folder))}: expected a name for the game of 1 to 30 small ASCII letters, digits and '-', a "
            f"letter first, which is no name of Python's or of the arena's, got {shown(name or str(folder))}"
        )
    templates = resources.files("arena") / "templates" / GAME
    words = {"name": name, "module": module}
    texts = {
        path.replace(f"{GAME}.py", f"{module}.py"): _filled(file.read_text(encoding="utf-8"), words)
        for path, file in _files_in(templates, "")
    }
    test = f"test_{module}.py"
    texts[test] = texts[test].replace(f"from {GAME} import", f"from {module} import")
    texts[IGNORED] = "__pycache__/\n*.sqlite\n"
    _write(folder, texts)
    return NewGame(folder, name, f"{module}.py", tuple(sorted(texts)))


def _checked_name(folder: Path) -> str:
    where, name = printable(str(folder)), folder.name
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{where}: expected a name for the bot of 1 to {COLUMNS} ASCII letters, digits, '-' and '_', a letter "
            f"first, got {shown(name or str(folder))}"
        )
    if name in SAMPLES:
        raise UsageError(f"{where}: {name} is the name of a sample bot: expected another one")
    return name


def _check_author(author: str) -> None:
    if not _AUTHOR.fullmatch(author):
        raise UsageError(
            f'--author: expected at most {MOST_AUTHOR} printable ASCII characters, without " \\ $ and `, '
            f"got {shown(author)}"
        )


def _template_files(language: Language) -> Iterator[tuple[str, Traversable]]:
    templates = resources.files("arena") / "templates"
    yield from _files_in(templates / language.folder, "")
    for path in language.shares:
        yield PurePosixPath(path).name, templates / path
    yield README, templates / SHARED / README
    if language.test == TEST_SCRIPT:
        yield SCRIPT, templates / SHARED / SCRIPT


def _files_in(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.name.startswith(".") or entry.name == COMPILED:
            continue
        if entry.is_dir():
            yield from _files_in(entry, f"{prefix}{entry.name}/")
        else:
            yield prefix + entry.name, entry


def _filled(text: str, words: Mapping[str, str]) -> str:
    return _MARK.sub(lambda mark: words[mark[1]], text)


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    where = printable(str(folder))
    try:
        folder.mkdir()
    except FileExistsError:
        raise UsageError(f"{where}: expected a free name; a file or folder has it, and is not overwritten") from None
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(f"{where}: there is no folder {printable(str(folder.parent))}") from None
    except OSError as error:
        raise ArenaError(f"{where}: cannot be made: {error.strerror}") from None
    try:
        for path, text in texts.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)  # made just now, and by us
        if isinstance(error, OSError):
            raise ArenaError(f"{where}: cannot be written: {error.strerror}") from None
        raise
