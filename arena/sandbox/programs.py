"""Find the programs that run a bot: its own, and those of the host.

The host's programs are those of the system (such as `/usr`), of the arena's own Python, what `--interpreter` names, and
those on the arena's PATH, each with the rest of its installation; of a shim or a link on the PATH it is the one that it
leads to. No path may lead to the files of an entrant. A bot.toml, its PATH included, only chooses among these programs.
All this is found by reading, and by asking the host's toolchain managers (`arena.sandbox.shims`).
"""

import os
import re
import shlex
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import protocol
from arena.bots.entering import own_files
from arena.bots.languages import LANGUAGES
from arena.bots.program_files import (
    FIRST_LINE,
    SCRIPT_MARK,
    Link,
    at_its_folder,
    command_hint,
    is_program,
    links_of,
    text_fault,
)
from arena.bots.samples import ADAPTER, is_packaged
from arena.bots.spec import BotSpec
from arena.errors import UsageError
from arena.sandbox.launch import SandboxError
from arena.sandbox.shims import manager_of, program_behind
from arena.system.printable import printable
from arena.system.user_files import read_start

SYSTEM = tuple(Path("/", name) for name in ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"))
"""The folders of the system that every bot sees, read-only."""
TAKEN = tuple(Path("/", name) for name in ("bot", "dev", "etc", "proc", "sys"))
"""Places that hold something else inside the sandbox."""
FOR_BOTS = (Path(protocol.__file__).parent, Path(__file__).parents[1])
"""The packages that bots in Python may import: the kit, and the arena for its library of search."""
PYTHON = re.compile(r"(python|pypy)[\d.]*")
"""Names of Pythons; with a suffix (python3-config) it is another program."""
INSTALLATION_MARKS = ("pyvenv.cfg", "conda-meta", "pkg/tool", "jmods", "include/node")
"""Marks of folders that hold an installation only: of Python, conda, Go, a JDK and Node.js."""
TOOLS = frozenset(tool.program for language in LANGUAGES for tool in language.tools)
"""Programs that a build may run without naming them."""
PROGRAM_FOLDERS = ("bin", "sbin")
REMEDY = "put a copy into the bot's folder"


def is_within(path: Path, folders: tuple[Path, ...]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def installations(program: Path) -> list[Path]:
    """Return a program's folders: PREFIX of PREFIX/bin/program or its own folder, and its virtual environment."""
    end = Path(os.path.realpath(program))
    if end.is_dir():
        return [end]
    folders = [end.parent.parent if end.parent.name in PROGRAM_FOLDERS else end.parent]
    environment = program.parent.parent
    return [*folders, environment] if os.path.isfile(environment / "pyvenv.cfg") else folders


@dataclass(frozen=True)
class SharedPrograms:
    """The parts of the machine that every bot sees in a sandbox, in addition to the system, at their own places.

    `trials` are the commands that test whether the programs of the host work there.
    """

    folders: tuple[Path, ...]
    links: tuple[Link, ...]
    environment: dict[str, str]
    trials: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Program:
    """A bot's command with the paths of this machine, and the folders of its PATH."""

    command: tuple[str, ...]
    path: tuple[Path, ...]


class HostPrograms:
    """The host's programs that bots may be run by.

    `named` are the paths that the host has given, `bots` all bots that take part. Raises `UsageError` for a named path
    that is no program or folder, or that leads into a bot's files.
    """

    def __init__(self, named: Sequence[str] = (), bots: Sequence[BotSpec] = ()) -> None:
        self._bots = tuple(bots)
        self._entrants = {own_files(bot): bot for bot in bots}
        self._holders = {
            folder: bot.path
            for own, bot in self._entrants.items()
            if bot.fault is None and not is_packaged(own)
            for folder in own.parents
        }
        """The folders that bots are in, each with one of them."""
        self.python = at_its_folder(Path(os.path.abspath(sys.executable)))
        path = os.environ.get("PATH", os.defpath).split(os.pathsep)
        folders = (Path(os.path.realpath(folder)) for folder in path if os.path.isabs(folder) and os.path.isdir(folder))
        holders = {files.parent for files in self._entrants}
        self.path = tuple(
            dict.fromkeys(folder for folder in folders if folder not in holders and not self._entrant_at(folder))
        )
        """The absolute folders of the host's PATH without bots in them."""
        self.named = tuple(map(self._check_named, named))
        self.installations = tuple(
            folder
            for place in (*self.named, self.python)
            for folder in installations(place)
            if not is_within(folder, SYSTEM)
        )
        self.named_folders = tuple(
            folder
            for place in self.named
            for folder in ([place.parent] if place.is_file() else [Path(os.path.realpath(place)) / "bin", place])
        )
        self._of_path = tuple(
            folder.parent
            for folder in self.path
            if folder.name in PROGRAM_FOLDERS and not is_within(folder, SYSTEM) and self._can_show(folder.parent)
        )
        """Installations on the PATH that can be shown in a sandbox."""

    def _check_named(self, text: str) -> Path:
        expected = f"--interpreter {text}: expected a program, or the folder that one is installed in"
        try:
            place = at_its_folder(Path(os.path.abspath(text)))
            end = Path(os.path.realpath(place, strict=True))
        except (OSError, ValueError) as error:
            raise UsageError(f"{expected}: {error.strerror if isinstance(error, OSError) else error}") from None
        if not (end.is_dir() or is_program(end)):
            raise UsageError(f"{expected}; this is neither")
        if entrant := self._entrant_behind(place):
            raise UsageError(f"{expected}, which no bot can change; this leads into the files of {entrant}")
        if is_program(end) and (manager := manager_of(place, self.path)):
            found = self._ask(manager, place.name)
            if found is None:
                raise UsageError(f"{expected}; this is a shim, and {manager} names no program of the host for it")
            return found
        return place

    def _ask(self, manager: Path, name: str) -> Path | None:
        """Return the program behind a shim, unless it or the manager is an entrant's."""
        found = None if self._entrant_behind(manager) else program_behind(manager, name, self.path)
        return None if found is None or self._entrant_behind(found) else found

    def _can_show(self, folder: Path) -> bool:
        """Return whether a folder of programs is likely to hold nothing else. One in a home folder needs a mark."""
        is_homes = folder.parent in _homes() and not _is_marked(folder)
        return not (is_homes or _is_wide(folder) or folder in self._holders or self._entrant_at(folder))

    @cached_property
    def _led_to(self) -> dict[Path, Path]:
        """The programs, often in a home folder, that shims and links on the PATH lead to: those that bots may run."""
        words = [name for bot in self._bots for name in re.findall(r"[\w.+-]+", _words_of(bot))]
        names = {*words, *(TOOLS if any(bot.build for bot in self._bots) else ())}
        led_to = dict[Path, Path]()
        for folder in (self.python.parent, *self.path):
            for program in (folder / name for name in sorted(names)):
                if not is_program(program):
                    continue
                end = Path(os.path.realpath(program))
                if manager := manager_of(program, self.path):
                    found = self._ask(manager, program.name)
                elif folder == self.python.parent or self._is_chosen(end):
                    names.discard(program.name)
                    continue
                else:
                    found = end if program.is_symlink() and end.parent.name in PROGRAM_FOLDERS else None
                if found and all(is_within(each, SYSTEM) or self._can_show(each) for each in installations(found)):
                    led_to[program] = found
                    names.discard(program.name)
        return led_to

    @cached_property
    def _toolchains(self) -> tuple[Path, ...]:
        folders = (folder for found in self._led_to.values() for folder in installations(found))
        return tuple(dict.fromkeys(folder for folder in folders if not is_within(folder, SYSTEM)))

    def _entrant_behind(self, program: Path) -> Path | None:
        """Return the bot in whose files a program is, or to whose files it leads."""
        return self._entrant_at(program) or self._entrant_at(Path(os.path.realpath(program)))

    def _entrant_at(self, path: Path) -> Path | None:
        return next((self._entrants[place].path for place in (path, *path.parents) if place in self._entrants), None)

    def why_not(self, program: Path, *, is_shown: bool) -> str | None:
        """Return None if bots may be run by this program, otherwise the reason, in words that follow its path.

        The path's folder is free of links; `is_shown`: in a sandbox.
        """
        if program == self.python:
            return None  # it runs already
        if entrant := self._entrant_behind(program):
            return f"leads into the files of a bot, {entrant}: {REMEDY}"
        end = Path(os.path.realpath(program))
        is_on_path = (
            program in self._led_to or is_within(end, self._toolchains) if is_shown else program.parent in self.path
        )
        if self._is_chosen(end) or is_on_path:
            return None
        return (
            "is neither among the bot's own files, nor of the system, nor of an installation on the PATH of the "
            f"arena: {REMEDY}, or have the host name it with --interpreter"
        )

    def _is_chosen(self, place: Path) -> bool:
        return is_within(place, (*SYSTEM, *self.installations, *self._of_path))

    def usable(self, folder: Path, *, is_shown: bool) -> Iterator[Path]:
        """Yield the folders that a folder of a PATH, free of links, stands for: those with programs for bots.

        In a sandbox it stands for the folders that its shims and links lead to, and for itself if it is shown.
        """
        if is_shown:
            yield from (found.parent for place, found in self._led_to.items() if place.parent == folder)
        is_chosen = self._is_chosen(folder)
        is_chosen |= is_within(folder, self._toolchains) if is_shown else folder in self.path
        if folder == self.python.parent or (is_chosen and self._entrant_at(folder) is None):
            yield folder

    @cached_property
    def shown(self) -> SharedPrograms:
        """The host's installations, whole, and the links that lead to them. Raises `SandboxError`."""
        folders, trials = {*self.installations, *self._of_path, *self._toolchains}, list[tuple[str, ...]]()
        links = {
            link.place: link
            for place, found in self._led_to.items()
            for link in (Link(place, str(found)), *links_of(found))
            if not is_within(link.place, SYSTEM)
        }
        environment = dict[str, str]()
        if wide := next(filter(_is_wide, self.installations), None):
            raise SandboxError(f"{wide} holds too much to be shown to bots, or is another place in a sandbox")
        for place in (*self.named, self.python):
            if place.is_file():
                links |= {link.place: link for link in links_of(place) if not is_within(link.place, SYSTEM)}
                # -I is not known to Python 2.
                words = ("-E", "-s", "-S", "-c", "pass") if PYTHON.fullmatch(place.name) else ("--version",)
                trials.append((str(place), *words))
        if FOR_BOTS[0].parent == Path(sysconfig.get_path("purelib", "posix_user")):  # as by pip install --user
            folders.add(FOR_BOTS[0].parent)
            environment["PYTHONUSERBASE"] = str(sysconfig.get_config_var("userbase"))
        # where the arena is installed in place, in a checkout that is not shown
        folders.update(package for package in FOR_BOTS if not is_within(package, (*SYSTEM, *folders)))
        return SharedPrograms(
            tuple(sorted(folders)), tuple(links[each] for each in sorted(links)), environment, tuple(trials)
        )

    def refuse_rivals(self, bot: BotSpec) -> None:
        """Raise `UsageError` if one bot's files would be visible to another in a sandbox.

        If one bot is in another's folder, the outer one is refused: the inner one cannot prevent it.
        """
        own = own_files(bot)
        for folder in () if is_packaged(own) else (*SYSTEM, *self.shown.folders):
            if own.is_relative_to(folder):
                raise UsageError(f"{bot.path}: every bot could read this one in {folder}: move it out of that folder")
        if own in self._holders:
            other = self._holders[own]
            raise UsageError(f"{bot.path}: this bot could read {other}: move one of them out of the other's reach")


def _is_wide(folder: Path) -> bool:
    """Return whether a folder is likely to hold more than an installation, or cannot be shown at its own place."""
    homes = _homes()
    collection = len(folder.parts) <= 2 or (folder.parent in homes and folder.name.startswith("."))
    holds_home = any(home.is_relative_to(folder) for home in homes)
    return holds_home or (collection and not _is_marked(folder)) or is_within(folder, TAKEN)


def _is_marked(folder: Path) -> bool:
    return any(os.path.exists(folder / mark) for mark in INSTALLATION_MARKS)


def _words_of(bot: BotSpec) -> str:
    """Return the text in which a bot names programs: its command, interpreters, build and `#!` line."""
    text, program = [*bot.command[:1], *bot.interpreters, bot.build or ""], bot.folder.joinpath(*bot.command[:1])
    with suppress(OSError, ValueError):
        if is_program(program):
            text.append(read_start(program, FIRST_LINE).split(b"\n")[0].decode("ascii", "replace"))
    return " ".join(text)


def _homes() -> set[Path]:
    return {Path(os.path.expanduser("~")), Path("/root"), *Path("/home").glob("*")}


def find_program(bot: BotSpec, host: HostPrograms, *, is_shown: bool = True) -> Program:
    """Find how to run a bot, by its own program or one of the host's; `is_shown`: in a sandbox.

    Raises `UsageError` if its command or the `#!` line of its script leads elsewhere, or is one that the system cannot
    run.
    """
    return _Search(bot, host, is_shown=is_shown).run()


class _Search:
    def __init__(self, bot: BotSpec, host: HostPrograms, *, is_shown: bool) -> None:
        self._bot, self._host, self._is_shown, self._own = bot, host, is_shown, own_files(bot)
        words = bot.environment.get("PATH", os.defpath).split(os.pathsep)
        folders = [Path(os.path.realpath(bot.folder / word)) for word in words if "\0" not in word]
        sound = [
            found
            for folder in folders
            for found in ([folder] if folder.is_relative_to(self._own) else host.usable(folder, is_shown=is_shown))
        ]
        self._path = list(dict.fromkeys([*host.named_folders, *sound]))

    def run(self) -> Program:
        program = self._find(self._bot.command[0], "its command", is_first=True)
        if program.is_relative_to(self._own) and not program.is_symlink() and (words := self._interpreter(program)):
            self._find(words[0], "its #! line")
        command = (str(program), *self._bot.command[1:])
        if self._bot.is_of_2012:
            command = (str(self._host.python), *ADAPTER[1:], *command)
        for word in self._bot.interpreters:
            folder = self._find(word, f"interpreters: {word}").parent
            if not self._own.is_relative_to(folder):
                self._path.append(folder)
        return Program(command, tuple(dict.fromkeys(self._path)))

    def _find(self, name: str, who: str, *, is_first: bool = False) -> Path:
        """Return the place of a program, in a folder free of links; errors call it `who`."""
        program = self._look_up(name, who, is_first=is_first)
        end = Path(os.path.realpath(program))
        if end.is_relative_to(self._own):
            return end  # a link with the whole path leads nowhere inside, where the bot's files are at another place
        is_link = program.is_relative_to(self._own)
        reason = self._host.why_not(end if is_link else program, is_shown=self._is_shown)
        if reason is not None:
            place = name if "/" in name and not is_link else end
            raise self._refusal(f"{who} leads out of its own files: {place} {reason}")
        return program

    def _look_up(self, name: str, who: str, *, is_first: bool) -> Path:
        folders = [self._bot.folder] if "/" in name else self._path
        for folder in folders:
            try:
                program = at_its_folder(folder / name)
            except (OSError, ValueError):
                continue
            if is_program(program):
                return program
        if "/" in name and os.path.exists(self._bot.folder / name):
            raise self._refusal(f"{who} names {name}: expected a program, a file that can be run")
        if "/" in name:
            raise self._refusal(f"{who} names {name}, and there is no such file")
        hint = command_hint(self._bot.folder, name, os.pathsep.join(map(str, self._path))) if is_first else ""
        if self._is_shown or name in self._bot.interpreters:
            hint = f", nor has the host named one with --interpreter{hint}"
        raise self._refusal(f"there is no program {name!r} on the PATH{hint}")

    def _interpreter(self, program: Path) -> list[str]:
        """Return the words that a script's `#!` line puts before its path; none for other files.

        Refuses Windows line ends, and a text file that the system cannot run.
        """
        try:
            start = read_start(program, FIRST_LINE)
        except OSError as error:
            raise self._refusal(f"cannot be read: {error.strerror}", program) from None
        line = start.split(b"\n")[0]
        if not line.startswith(SCRIPT_MARK):
            if fault := text_fault(start, program.name):
                raise self._refusal(fault, program)
            return []
        words = self._words_of(program, line)
        if words and words[0].endswith("\r"):
            raise self._refusal(
                "its #! line ends in CR LF, as on Windows, so the system looks for a program "
                f"{words[0]!r}: save the file with LF line ends (sed -i 's/\\r$//' {shlex.quote(program.name)})",
                program,
            )
        return words

    def _words_of(self, program: Path, line: bytes) -> list[str]:
        """Split a `#!` line as the kernel does, and after `env` as env does."""
        text = os.fsdecode(line[2:]).strip(" \t")
        words = re.split("[ \t]+", text, maxsplit=1) if text else []
        if len(words) == 2 and Path(words[0]).name == "env":
            try:
                inner = shlex.split(words[1][2:]) if words[1].startswith("-S") else words[1:]
            except ValueError as error:
                raise self._refusal(f"its #! line cannot be read: {error}", program) from None
            if inner and not inner[0].startswith("-") and "=" not in inner[0]:
                return inner
        return words

    def _refusal(self, words: str, program: Path | None = None) -> UsageError:
        named = "" if program is None or program == self._own else f"{program}: "
        return UsageError(printable(f"{self._bot.path}: {named}{words}"))
