"""Programs of the host that a bot may be run by: those of the system, and those that the host has chosen.

Chosen are the arena's own Python, what is named with `--interpreter` with the rest of its installation, and the folders
of the host's PATH; but no path that leads to the files of an entrant. A bot.toml, its PATH included, only chooses among
these programs.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import protocol
from arena.bots.program_files import at_its_folder
from arena.bots.samples import is_packaged
from arena.bots.spec import BotSpec
from arena.errors import UsageError

SYSTEM = tuple(Path("/", name) for name in ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"))
"""The folders of the system that every bot sees, read-only."""
PROGRAM_FOLDERS = ("bin", "sbin")
REMEDY = "put a copy into the bot's folder"


def is_within(path: Path, folders: tuple[Path, ...]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def own_files(bot: BotSpec) -> Path:
    """Return a bot's folder, or only the file of a single-file bot, which may have other bots next to it.

    Of a link that is a broken bot it is the link itself: its target may be anybody's.
    """
    if bot.fault is not None and os.path.islink(bot.path):
        return Path(os.path.realpath(bot.path.parent), bot.path.name)
    return Path(os.path.realpath(bot.path))


def is_program(path: Path) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def is_environment(folder: Path) -> bool:
    return os.path.isfile(folder / "pyvenv.cfg")


def installation(program: Path) -> Path:
    """Return the folder that a program is installed in: PREFIX of PREFIX/bin/program, otherwise its own folder."""
    return program.parent.parent if program.parent.name in PROGRAM_FOLDERS else program.parent


class HostPrograms:
    """The host's programs that bots may be run by.

    `named` are the paths that the host has given, `bots` all bots that take part. Raises `UsageError` for a named path
    that is no program or folder, or that leads into a bot's files.
    """

    def __init__(self, named: Sequence[str] = (), bots: Sequence[BotSpec] = ()) -> None:
        self._entrants = {own_files(bot): bot.path for bot in bots}
        self._arena = at_its_folder(Path(os.path.abspath(sys.executable)))
        self._prefixes = tuple(Path(os.path.realpath(prefix)) for prefix in (sys.prefix, sys.base_prefix))
        self.named = tuple(map(self._check_named, named))
        self.named_folders = tuple(dict.fromkeys(folder for path in self.named for folder in _folders_beside(path)))
        """The folders of the named programs, and those of the same installations."""
        path = os.environ.get("PATH", os.defpath).split(os.pathsep)
        folders = (Path(os.path.realpath(folder)) for folder in path if os.path.isabs(folder) and os.path.isdir(folder))
        holders = {files.parent for files in self._entrants}
        self.path = tuple(folder for folder in folders if folder not in holders and self.entrant_at(folder) is None)
        """The absolute folders of the host's PATH without bots in them."""

    def _check_named(self, text: str) -> Path:
        expected = f"--interpreter {text}: expected a program, or the folder that one is installed in"
        try:
            place = at_its_folder(Path(os.path.abspath(text)))
            end = Path(os.path.realpath(place, strict=True))
        except (OSError, ValueError) as error:
            raise UsageError(f"{expected}: {error.strerror if isinstance(error, OSError) else error}") from None
        if not (end.is_dir() or is_program(end)):
            raise UsageError(f"{expected}; this is neither")
        entrant = self.entrant_at(place) or self.entrant_at(end)
        if entrant is not None:
            raise UsageError(f"{expected}, which no bot can change; this leads into the files of {entrant}")
        return place

    def entrant_at(self, path: Path) -> Path | None:
        return next((self._entrants[place] for place in (path, *path.parents) if place in self._entrants), None)

    def holds_bots(self, folder: Path) -> bool:
        return any(files.is_relative_to(folder) and not is_packaged(files) for files in self._entrants)

    def why_not(self, program: Path, *, for_host: bool = False) -> str | None:
        """Return None if bots may be run by this program, otherwise the reason, in words that follow its path.

        The path's folder is free of links. With `for_host`, interpreters of the host's own programs are allowed too,
        unless they are a bot's.
        """
        if self._is_arenas(program):
            return None  # it runs already
        end = Path(os.path.realpath(program))
        entrant = self.entrant_at(program) or self.entrant_at(end)
        if entrant is not None:
            return f"leads into the files of a bot, {entrant}: {REMEDY}"
        if for_host or program in self.named or self.has_programs(program.parent):
            return None
        if is_within(end, (*SYSTEM, *self._prefixes)) or self._is_meant_by_path(program.name, end):
            return None
        return (
            "is neither among the bot's own files, nor of the system, nor on the PATH that the arena was started with: "
            f"{REMEDY}, or start the arena with --interpreter {program}"
        )

    def named_program(self, name: str) -> Path | None:
        return next((path for path in self.named if path.name == name and os.path.isfile(path)), None)

    def is_control(self, program: Path) -> bool:
        """Return whether this is the arena's own Python, or a program that the host has named: not an entrant's
        choice.
        """
        return program in self.named or self._is_arenas(program)

    def is_shown_by_choice(self, folder: Path) -> bool:
        chosen = [*self._prefixes, Path(protocol.__file__).parent, *self.named, *self.named_folders]
        return self.entrant_at(folder) is None and any(path.is_relative_to(folder) for path in chosen)

    def has_programs(self, folder: Path) -> bool:
        """Return whether programs in a folder, at a path free of links, are the host's choice or the system's."""
        is_chosen = folder in self.path or folder in self.named_folders or is_within(folder, SYSTEM)
        return folder == self._arena.parent or (is_chosen and self.entrant_at(folder) is None)

    def _is_arenas(self, program: Path) -> bool:
        return program.parent == self._arena.parent and os.path.realpath(program) == os.path.realpath(self._arena)

    def _is_meant_by_path(self, name: str, end: Path) -> bool:
        return str(end) in (os.path.realpath(folder / each) for folder in self.path for each in (name, "python3"))


def _folders_beside(named: Path) -> list[Path]:
    end = Path(os.path.realpath(named))
    if end.is_dir():
        return [end, end / "bin"]
    folders = [end.parent] if end.parent.name in PROGRAM_FOLDERS else []
    return [*folders, named.parent] if is_environment(named.parent.parent) else folders
