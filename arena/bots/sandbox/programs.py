"""Which programs that are not a bot's own it may be run by: those of the system, and those that the host has chosen.

Chosen are the arena's own Python, what is named with `--interpreter` with the rest of its installation, and what is in
the folders of the host's PATH. Nothing counts that leads to the files of an entrant, be it this bot or another. What a
bot.toml says, its PATH included, chooses among these programs and adds none.
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
"""What every bot sees of the system, read-only."""
PROGRAM_FOLDERS = ("bin", "sbin")
REMEDY = "put a copy into the bot's folder"


def is_within(path: Path, folders: tuple[Path, ...]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def own_files(bot: BotSpec) -> Path:
    """Return a bot's folder; of a bot that is a single file that file only, for beside it are other bots.

    Of a link that is a broken bot it is the link alone: what it leads to is not its own, and may be anybody's.
    """
    if bot.fault is not None and os.path.islink(bot.path):
        return Path(os.path.realpath(bot.path.parent), bot.path.name)
    return Path(os.path.realpath(bot.path))


def is_program(path: Path) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def is_environment(folder: Path) -> bool:
    return os.path.isfile(folder / "pyvenv.cfg")


def installation(program: Path) -> Path:
    """Return the folder that a program is installed in: PREFIX of PREFIX/bin/program, else the one that it is in."""
    return program.parent.parent if program.parent.name in PROGRAM_FOLDERS else program.parent


class HostPrograms:
    """The programs that bots may be run by beside their own.

    `named` are the paths that the host has given, `bots` all bots that take part. Raises `UsageError` for a named path
    that is no program or folder, or that leads into a bot's files.
    """

    def __init__(self, named: Sequence[str] = (), bots: Sequence[BotSpec] = ()) -> None:
        self._entrants = {own_files(bot): bot.path for bot in bots}
        self._arena = at_its_folder(Path(os.path.abspath(sys.executable)))
        self._prefixes = tuple(Path(os.path.realpath(prefix)) for prefix in (sys.prefix, sys.base_prefix))
        self.named = tuple(map(self._check_named, named))
        self.named_folders = tuple(dict.fromkeys(folder for path in self.named for folder in _folders_beside(path)))
        """Where the programs are that are named, with those of the same installations."""
        path = os.environ.get("PATH", os.defpath).split(os.pathsep)
        folders = (Path(os.path.realpath(folder)) for folder in path if os.path.isabs(folder) and os.path.isdir(folder))
        holders = {files.parent for files in self._entrants}
        self.path = tuple(folder for folder in folders if folder not in holders and self.entrant_at(folder) is None)
        """The folders of the host's PATH that count: named in full, and with no bot in them."""

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
        """Return the path of the bot among whose files this one is; None if there is none."""
        return next((self._entrants[place] for place in (path, *path.parents) if place in self._entrants), None)

    def holds_bots(self, folder: Path) -> bool:
        """Return whether files of bots that others must not see are in a folder."""
        return any(files.is_relative_to(folder) and not is_packaged(files) for files in self._entrants)

    def why_not(self, program: Path, *, for_host: bool = False) -> str | None:
        """Return None if bots may be run by this program, else the reason, in words that follow its path.

        No link is left in the path of its folder. What the host's own programs are run by (`for_host`) is the host's
        choice too, as long as it is no bot's.
        """
        if self._is_arenas(program):
            return None  # wherever it is: it runs already
        end = Path(os.path.realpath(program))
        entrant = self.entrant_at(program) or self.entrant_at(end)
        if entrant is not None:
            return f"leads into the files of a bot, {entrant}: {REMEDY}"
        if for_host or program in self.named or self.has_programs(program.parent):
            return None
        if is_within(end, (*SYSTEM, *self._prefixes)) or self._is_meant_by_path(program.name, end):
            return None
        return (
            "is neither among the bot's own files, nor of the system, nor on the PATH of whoever started the arena: "
            f"{REMEDY}, or start the arena with --interpreter {program}"
        )

    def named_program(self, name: str) -> Path | None:
        return next((path for path in self.named if path.name == name and os.path.isfile(path)), None)

    def is_control(self, program: Path) -> bool:
        """Return whether this is the arena's own Python, or a program that the host has named: no entrant's choice."""
        return program in self.named or self._is_arenas(program)

    def is_shown_by_choice(self, folder: Path) -> bool:
        """Return whether the host has chosen to show a folder to bots, by running the arena from it or by naming it."""
        chosen = [*self._prefixes, Path(protocol.__file__).parent, *self.named, *self.named_folders]
        return self.entrant_at(folder) is None and any(path.is_relative_to(folder) for path in chosen)

    def has_programs(self, folder: Path) -> bool:
        """Return whether programs in a folder, at a path without links, are the host's choice or the system's."""
        is_chosen = folder in self.path or folder in self.named_folders or is_within(folder, SYSTEM)
        return folder == self._arena.parent or (is_chosen and self.entrant_at(folder) is None)

    def _is_arenas(self, program: Path) -> bool:
        return program.parent == self._arena.parent and os.path.realpath(program) == os.path.realpath(self._arena)

    def _is_meant_by_path(self, name: str, end: Path) -> bool:
        """Return whether a program of this name on the PATH, or the usual Python there, is the one at this end."""
        return str(end) in (os.path.realpath(folder / each) for folder in self.path for each in (name, "python3"))


def _folders_beside(named: Path) -> list[Path]:
    """List the folders of programs that are trusted with what is named."""
    end = Path(os.path.realpath(named))
    if end.is_dir():
        return [end, end / "bin"]
    folders = [end.parent] if end.parent.name in PROGRAM_FOLDERS else []
    return [*folders, named.parent] if is_environment(named.parent.parent) else folders
