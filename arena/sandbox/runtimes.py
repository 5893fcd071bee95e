"""Find the programs that run a bot, and what has to be visible for them in a sandbox.

A program is looked up as the kernel does: through the PATH, links and `#!` lines of scripts, until it is a file of the
bot, of the system (such as `/usr`), or of an installation. All this is read: programs that a bot names are not run
outside a sandbox. Only toolchain managers of the host's are asked what their shims run (`arena.sandbox.needs`).
"""

import contextlib
import os
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from arena.bots.languages import LANGUAGES
from arena.bots.program_files import (
    FIRST_LINE,
    SCRIPT_MARK,
    Link,
    Trail,
    at_its_folder,
    command_hint,
    follow,
    text_fault,
)
from arena.bots.samples import ADAPTER
from arena.bots.spec import BotSpec
from arena.errors import UsageError
from arena.sandbox.needs import PYTHON, Needs, behind_shim
from arena.sandbox.programs import SYSTEM, HostPrograms, is_program, is_within, own_files
from arena.system.printable import printable
from arena.system.user_files import read_start

USUAL_TOOLS = frozenset(tool.program for language in LANGUAGES for tool in language.tools)
SCRIPTS = 5
"""The kernel follows no longer chain of `#!` lines either."""


@dataclass(frozen=True)
class Trial:
    """A command that tests whether a program of the host's can be run, and what has to be visible for it.

    No file of a bot is involved. It is a control (see `trial`) if the program is not the bot's choice.
    """

    words: tuple[str, ...]
    folders: tuple[Path, ...] = ()
    links: tuple[Link, ...] = ()
    is_control: bool = False
    has_to_end_well: bool = True


@dataclass(frozen=True)
class Program:
    """A bot's command with the paths of this machine, and what it needs.

    `folders` and `links` have to be visible at their own places; `environment` is to be set; `path` are the folders of
    its PATH. `trials` test the programs of the host that run it, or that it runs (`interpreters`).
    """

    command: tuple[str, ...]
    trials: tuple[Trial, ...]
    folders: tuple[Path, ...]
    links: tuple[Link, ...]
    environment: dict[str, str]
    path: tuple[Path, ...]


def find_program(bot: BotSpec, host: HostPrograms, *, is_shown: bool = True) -> Program:
    """Find how to run a bot, by its own program or one of the host's; `is_shown`: where little else is visible.

    Raises `UsageError` if its command leads elsewhere, or if what it needs cannot be shown.
    """
    return _Search(bot, host, is_shown=is_shown).run()


@dataclass(frozen=True)
class Tools:
    """The programs of the host's that a build sees: folders and links at their own places, and a PATH."""

    folders: tuple[Path, ...]
    links: tuple[Link, ...]
    path: tuple[Path, ...]


def find_tools(bot: BotSpec, host: HostPrograms) -> Tools:
    """Return the tools for a bot's build: what the host has named, the arena's own Python and, from the host's PATH,
    the tools of all languages and the words of the build.

    Raises `SandboxError` if something that is named cannot be shown.
    """
    needs, path = Needs(bot, host), list[Path]()
    for named in host.named:
        path += needs.add_named(named)
    with contextlib.suppress(UsageError):  # bots in another language can be built without it
        path += needs.add_named(Path(os.path.abspath(sys.executable)))
    wanted = {*USUAL_TOOLS, *re.findall(r"[\w.+-]+", bot.build or "")}
    for folder in host.path:
        for name in sorted(name for name in wanted if is_program(folder / name)):
            tool = Needs(bot, host)
            with contextlib.suppress(OSError, UsageError):
                found = behind_shim(folder / name, host)
                if host.why_not(found, for_host=True) is None:
                    tool.add(found)
                    if not any(map(host.holds_bots, tool.shown[0])):
                        needs.add_all(tool)
                        path.append(found.parent)
                        wanted.remove(name)
        if is_within(folder, SYSTEM):
            path.append(folder)
    return Tools(*needs.shown, tuple(path))


class _Search:
    def __init__(self, bot: BotSpec, host: HostPrograms, *, is_shown: bool) -> None:
        self._bot, self._host, self._is_shown, self._own = bot, host, is_shown, own_files(bot)
        self._path = tuple(dict.fromkeys(self._folders_of_path()))
        self._needs = Needs(bot, host)
        self._trials = list[Trial]()

    def run(self) -> Program:
        (command, _), path = self._find(self._bot.command, "its command or #! line"), list(self._path)
        if self._bot.is_of_2012:
            path[:0] = [Path(command[0]).parent] if self._is_shown else []  # as for the first program of a command
            command = (*self._find(ADAPTER, "the adapter for bots of 2012")[0], *command)
        for word in self._bot.interpreters:
            folder = self._find((word,), f"interpreters: {word}")[1].parent
            if not self._own.is_relative_to(folder):
                path.append(folder)
        folders, links = self._needs.shown
        return Program(
            command, tuple(self._trials), folders, links, self._needs.environment, tuple(dict.fromkeys(path))
        )

    def _find(self, words: Sequence[str], who: str) -> tuple[tuple[str, ...], Path]:
        """Return a command and its program; errors call the first word `who`.

        Where little is visible, interpreters of scripts are put before them.
        """
        command, first = list(words), Path()
        hosts, is_control = None, False
        for number in range(SCRIPTS):
            program, trail = self._look_up(command[0], who, is_first=number == 0)
            own = list(takewhile(lambda place: place.is_relative_to(self._own), trail.places))
            if len(own) < len(trail.places):
                found, for_host = program, hosts is not None
                program, hosts = self._hosts_program(found, trail, own, who, for_host=for_host)
                is_control = any(map(self._host.is_control, (found, hosts))) or (for_host and is_control)
            else:
                hosts = None
                if any(os.path.isabs(link.target) for link in trail.links):
                    program = trail.end  # inside, the bot's files are at another place
            first = first if number else program
            command[0] = str(program)
            is_python = hosts is not None and PYTHON.fullmatch(hosts.name)
            interpreter = [] if is_python else self._interpreter(program, for_host=hosts is not None)
            if not interpreter:
                if hosts is not None and self._is_shown:
                    self._trials.append(self._trial(hosts, is_control=is_control))
                return tuple(command) if self._is_shown else (str(first), *words[1:]), first
            command[:0] = interpreter
        raise self._refusal(f"its #! lines lead from script to script, more than {SCRIPTS} of them")

    def _hosts_program(
        self, program: Path, trail: Trail, own: Sequence[Path], who: str, *, for_host: bool
    ) -> tuple[Path, Path]:
        """Record what one of the host's programs needs; return the path to start it by, and the program.

        `own` are the links of the bot that lead to it.
        """
        outside = at_its_folder(trail.stages[len(own)]) if own else program
        reason = self._host.why_not(outside, for_host=for_host)
        if reason is not None and own:
            raise self._refusal(f"{own[-1]}: this link leads out of the bot's folder, to {outside}, which {reason}")
        if reason is not None:
            raise self._refusal(f"{who} leads out of its own files: {outside} {reason}")
        for link in trail.links[: len(own)]:
            if not os.path.isabs(link.target) and not _stays_in(self._own, link):
                raise self._refusal(
                    f"{link.place}: this link leads out of the bot's folder, to {link.target}: expected a path within "
                    "it, or a whole path"
                )
        started = program
        if own and any(os.path.isabs(link.target) for link in trail.links[: len(own) - 1]):
            # Inside, the bot's files are at another place; a link to a folder is not started.
            started = own[-1] if trail.stages[len(own) - 1] == own[-1] else outside
        elif own and not program.is_relative_to(self._own):
            started = outside
        if self._is_shown and not own:
            try:
                started = outside = behind_shim(program, self._host)
            except UsageError as error:
                raise self._refusal(str(error)) from None
        if self._is_shown:
            self._needs.add(outside, started)
        return started, outside

    def _trial(self, program: Path, *, is_control: bool) -> Trial:
        alone = Needs(self._bot, self._host)
        alone.add(program)
        is_python = PYTHON.fullmatch(program.name) is not None
        words = ("-E", "-s", "-S", "-c", "pass") if is_python else ("--version",)  # -I is not known to Python 2
        return Trial((str(program), *words), *alone.shown, is_control=is_control, has_to_end_well=is_python)

    def _refusal(self, words: str, program: Path | None = None) -> UsageError:
        named = "" if program is None or program == self._own else f"{program}: "
        return UsageError(printable(f"{self._bot.path}: {named}{words}"))

    def _folders_of_path(self) -> list[Path]:
        words = self._bot.environment.get("PATH", os.defpath).split(os.pathsep)
        folders = (Path(os.path.realpath(self._bot.folder / word)) for word in words if "\0" not in word)
        return [each for each in folders if each.is_relative_to(self._own) or self._host.has_programs(each)]

    def _look_up(self, name: str, who: str, *, is_first: bool) -> tuple[Path, Trail]:
        """Return the place of a program, in a folder free of links, and the whole way to it."""
        named = None if "/" in name else self._host.named_program(name)
        folders = [self._bot.folder] if "/" in name else [*self._path, *self._host.named_folders]
        for found in [*([named] if named else []), *(folder / name for folder in folders)]:
            try:
                program = at_its_folder(found)
                trail = follow(program)
            except (OSError, ValueError):
                continue
            if is_program(trail.end):
                return program, follow(found) if "/" in name else trail
            if "/" in name:
                raise self._refusal(f"{who} names {name}: expected a program, a file that can be run")
        if "/" in name:
            raise self._refusal(f"{who} names {name}, and there is no such file")
        path = os.pathsep.join(str(folder) for folder in self._path)
        hint = command_hint(self._bot.folder, name, path) if is_first else ""
        if name in self._bot.interpreters:
            hint = f", nor has the host named one with --interpreter{hint}"
        raise self._refusal(f"there is no program {name!r} on the PATH{hint}")

    def _interpreter(self, program: Path, *, for_host: bool) -> list[str]:
        """Return the words that a script's `#!` line puts before its path; none for other files.

        Refuses Windows line ends, and a text file of the bot's own (not `for_host`) that the system cannot run.
        """
        try:
            start = read_start(Path(os.path.realpath(program)), FIRST_LINE)
        except OSError as error:
            raise self._refusal(f"cannot be read: {error.strerror}", program) from None
        line = start.split(b"\n")[0]
        if not line.startswith(SCRIPT_MARK):
            fault = None if for_host else text_fault(start, program.name)
            if fault is not None:
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


def _stays_in(folder: Path, link: Link) -> bool:
    return Path(os.path.normpath(link.place.parent / link.target)).is_relative_to(folder)
