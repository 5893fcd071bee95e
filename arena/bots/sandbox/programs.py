"""Which programs that are not a bot's own it may be run by: those of the system, and those that the host has chosen.

Whoever may write a program, or a link on the way to it, decides what runs. So a program counts only if nothing on the
way to it lies among the files of an entrant, of this bot or of any other, and if it is

    of the system     in its folders, which belong to root and which nobody else writes
    the arena's own   the interpreter that runs the arena, and the installation that this one is made from
    named             with `--interpreter`, or in the same installation as one that is named
    on the PATH       of whoever started the arena: in a folder there that is named in full, that not everybody may
                      write, and that no bot lies in

What a bot.toml says, its PATH included, chooses among these, and adds none.
"""

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Sequence
from copy import copy
from functools import cache, lru_cache
from pathlib import Path
from typing import Self

import protocol
from arena.bots.links import Trail, at_its_folder, follow
from arena.bots.samples import is_packaged
from arena.bots.spec import BotSpec
from arena.errors import UsageError

SYSTEM = tuple(Path("/", name) for name in ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"))
"""What every bot sees of the system, read-only."""
SYSTEM_LINKS = (*SYSTEM, Path("/etc"))
"""Where links of the system may be: alternatives lead through /etc."""
PROGRAM_FOLDERS = ("bin", "sbin")
REMEDY = "put a copy into the bot's folder"


def is_within(path: Path, folders: tuple[Path, ...]) -> bool:
    """Whether a path is one of the folders or lies in one."""
    return any(path.is_relative_to(folder) for folder in folders)


def own_files(bot: BotSpec) -> Path:
    """The bot's folder; for a bot that is a single file that file only, for beside it are other bots.

    Of a link that is a broken bot it is the link alone: what it leads to is not its own, and may be anybody's.
    """
    if bot.fault is not None and os.path.islink(bot.path):
        return Path(os.path.realpath(bot.path.parent), bot.path.name)
    return Path(os.path.realpath(bot.path))


def is_program(path: Path) -> bool:
    """Whether this is a file that can be run."""
    return path.is_file() and os.access(path, os.X_OK)


def is_open(folder: Path) -> bool:
    """Whether every user of the machine may write into a folder."""
    return bool(os.stat(folder).st_mode & stat.S_IWOTH)


def is_environment(folder: Path) -> bool:
    """Whether this is a virtual environment of Python's."""
    return (folder / "pyvenv.cfg").is_file()


def installation(program: Path) -> Path:
    """The folder that a program is installed in: PREFIX of PREFIX/bin/program, else the one that it is in."""
    return program.parent.parent if program.parent.name in PROGRAM_FOLDERS else program.parent


class HostPrograms:
    """The programs that bots may be run by beside their own; see the module's text.

    `named` are the paths that the host has given, `bots` all bots that take part. Raises `UsageError` for a named path
    that is no program or folder, or that leads into a bot's files.
    """

    def __init__(self, named: Sequence[str] = (), bots: Sequence[BotSpec] = ()) -> None:
        self._entrants = {own_files(bot): bot.path for bot in bots}
        self._arena = at_its_folder(Path(os.path.abspath(sys.executable)))
        self._base = tuple(Path(prefix).resolve() for prefix in (sys.base_prefix, sys.base_exec_prefix))
        self.named = tuple(self._check_named(text) for text in named)
        self.named_folders = tuple(dict.fromkeys(folder for path in self.named for folder in _folders_beside(path)))
        """Where the programs are that are named, with those of the same installations."""
        beside = {files.parent for files in self._entrants}
        self.path = tuple(
            folder
            for text in os.environ.get("PATH", os.defpath).split(os.pathsep)
            if (folder := _listed(text)) and folder not in beside and self.entrant_at(folder) is None
        )
        """The folders of the host's own PATH that count, with no link left in their paths."""
        self.follow: Callable[[Path], Trail] = follow
        self.has_programs: Callable[[Path], bool] = self._has_programs
        """Whether programs in a folder, at a path without links, are the host's choice or the system's."""

    def as_of_now(self) -> Self:
        """The same, which follows a path once and takes it to lead there from then on.

        That is for one pass over many bots, most of which are run by the same programs, while none of them runs.
        """
        same = copy(self)
        same.follow, same.has_programs = cache(follow), cache(same._has_programs)
        return same

    def at_its_folder(self, path: Path) -> Path:
        """The same path with no link left in the path of its folder. Raises `OSError`."""
        return self.follow(path.parent).end / path.name

    def _has_programs(self, folder: Path) -> bool:
        is_systems = is_within(folder, SYSTEM) and self.entrant_at(folder) is None
        return is_systems or self.is_folder_of_programs(folder)

    def _check_named(self, text: str) -> Path:
        expected = f"--interpreter {text}: expected a program, or the folder that one is installed in"
        path = Path(text) if os.path.isabs(text) else Path.cwd() / text
        try:
            trail, place = follow(path), at_its_folder(path)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise UsageError(f"{expected}: {reason}") from None
        if not (trail.end.is_dir() or is_program(trail.end)):
            raise UsageError(f"{expected}; this is neither")
        entrant = self.entrant_on(trail)
        if entrant is not None:
            raise UsageError(f"{expected}, which no bot can change; this leads into the files of {entrant}")
        return place

    def entrant_at(self, path: Path) -> Path | None:
        """The path of the bot among whose files this one is; None if there is none."""
        return next((self._entrants[place] for place in (path, *path.parents) if place in self._entrants), None)

    def holds_bots(self, folder: Path) -> bool:
        """Whether files of bots that others must not see are in a folder."""
        return any(files.is_relative_to(folder) and not is_packaged(files) for files in self._entrants)

    def entrant_on(self, trail: Trail) -> Path | None:
        """The path of the bot that decides where this leads; None if there is none."""
        return next((bot for place in trail.places if (bot := self.entrant_at(place)) is not None), None)

    def why_not(self, program: Path, trail: Trail, *, for_host: bool = False) -> str | None:
        """None if bots may be run by this program, else the reason, in words that follow its path.

        `program` has no link left in the path of its folder; `trail` is the whole way to it. What the host's own
        programs are run by (`for_host`) is the host's choice too, as long as it is no bot's.
        """
        if self._is_arenas(program, trail):
            return None  # wherever it is: it runs already
        entrant = self.entrant_on(trail)
        if entrant is not None:
            return f"leads into the files of a bot, {entrant}: {REMEDY}"
        if for_host or self.is_folder_of_programs(program.parent) or program in self.named:
            return None
        if is_within(program, self._base) or _is_of_the_system(trail) or self._is_meant_by_path(program):
            return None
        return (
            "is neither among the bot's own files, nor of the system, nor on the PATH of whoever started the arena: "
            f"{REMEDY}, or start the arena with --interpreter {program}"
        )

    def named_program(self, name: str) -> Path | None:
        """The program that the host has named, if it has one of this name."""
        return next((path for path in self.named if path.name == name and os.path.isfile(path)), None)

    def is_control(self, program: Path, trail: Trail) -> bool:
        """Whether this is the arena's own Python, or a program that the host has named: not an entrant's choice."""
        return program in self.named or self._is_arenas(program, trail)

    def is_shown_by_choice(self, folder: Path) -> bool:
        """Whether bots are shown a folder because the host runs the arena from it, or has named what is in it."""
        kit = Path(protocol.__file__).parent
        chosen = [*self._base, Path(sys.prefix).resolve(), kit, *self.named, *self.named_folders]
        return self.entrant_at(folder) is None and any(path.is_relative_to(folder) for path in chosen)

    def _is_arenas(self, program: Path, trail: Trail) -> bool:
        return program.parent == self._arena.parent and trail.end == self.follow(self._arena).end

    def is_folder_of_programs(self, folder: Path) -> bool:
        """Whether any program in this folder, in the path of which there is no link, is the host's choice."""
        if folder == self._arena.parent:
            return True
        return self.entrant_at(folder) is None and (folder in self.path or folder in self.named_folders)

    def _is_meant_by_path(self, program: Path) -> bool:
        """Whether a program of the same name on the PATH, or the usual Python there, leads through this one."""
        for folder in self.path:
            for name in (program.name, "python3"):
                with contextlib.suppress(OSError):
                    if program in self.follow(folder / name).places:
                        return True
        return False


def _folders_beside(named: Path) -> list[Path]:
    """The folders of programs that are trusted with what is named."""
    end = follow(named).end
    if end.is_dir():
        return [end, end / "bin"]
    folders = [end.parent] if end.parent.name in PROGRAM_FOLDERS else []
    return [*folders, named.parent] if is_environment(named.parent.parent) else folders


def _listed(text: str) -> Path | None:
    """A folder of the PATH, with no link left in its path; None if it does not count."""
    if not os.path.isabs(text):
        return None  # it would depend on where one stands: in a bot's folder, at the worst
    try:
        folder = follow(Path(text)).end
        mode = os.stat(folder).st_mode
    except (OSError, ValueError):
        return None
    return folder if stat.S_ISDIR(mode) and not is_open(folder) else None


def _is_of_the_system(trail: Trail) -> bool:
    """Whether all on the way is the system's, and such that only root can have written it."""
    return (
        is_within(trail.end, SYSTEM)
        and all(is_within(link.place, SYSTEM_LINKS) for link in trail.links)
        and all(_only_root_writes(place) for place in trail.places)
    )


@lru_cache(maxsize=4096)
def _only_root_writes(path: Path) -> bool:
    """Whether a path, and each folder on the way to it, is root's, and not to be written by everybody."""
    roots = {0, os.lstat("/").st_uid}  # in some containers root has another number
    try:
        found = os.lstat(path)
    except OSError:
        return False
    closed = stat.S_ISLNK(found.st_mode) or not found.st_mode & stat.S_IWOTH
    return found.st_uid in roots and closed and (path.parent == path or _only_root_writes(path.parent))
