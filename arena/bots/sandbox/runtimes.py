"""What has to be visible for a bot's program to run where only the system and the bot's own files are.

A program is followed as the kernel would follow it: through the PATH, links and the `#!` lines of scripts, until it is
a file of the bot, of the system (`/usr` and what hangs on it), or of an installation (`arena.bots.sandbox.needs`). All
this is read, not asked: nothing that a bot names is run outside a sandbox. Only toolchain managers of the host's are
asked what their shims run (`arena.bots.sandbox.shims`).
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
from arena.bots.links import Link, Trail, follow
from arena.bots.old_bots import ADAPTER
from arena.bots.sandbox.needs import PYTHON, Needs
from arena.bots.sandbox.programs import SYSTEM, HostPrograms, is_program, is_within, own_files
from arena.bots.sandbox.shims import behind_shim
from arena.bots.scripts import FIRST_LINE, SCRIPT_MARK, command_hint, text_fault
from arena.bots.spec import BotSpec, base_environment
from arena.errors import UsageError
from arena.system.printable import printable
from arena.system.user_files import read_start

USUAL_TOOLS = frozenset(tool.program for language in LANGUAGES for tool in language.tools)
SCRIPTS = 5
"""The kernel follows no longer chain of `#!` lines either."""


@dataclass(frozen=True)
class Trial:
    """A line that shows whether a program of the host's can be run, and what has to be visible for it.

    Nothing of a bot is in it. It is a control (see `trial`) if the program is not the bot's choice.
    """

    words: tuple[str, ...]
    folders: tuple[Path, ...] = ()
    links: tuple[Link, ...] = ()
    is_control: bool = False
    has_to_end_well: bool = True


@dataclass(frozen=True)
class Program:
    """What a bot's command comes to: words with the paths of this machine.

    `folders` and `links` have to be visible at their own places beside the system and the bot's own files;
    `environment` is to be set; `path` are the folders in which its PATH finds programs. `trials` show whether the
    host's programs that it is run by, and that it runs besides (`interpreters`), can be run. `is_named`: its command
    is not on the bot's PATH, but named by the host.
    """

    command: tuple[str, ...]
    trials: tuple[Trial, ...]
    folders: tuple[Path, ...]
    links: tuple[Link, ...]
    environment: dict[str, str]
    path: tuple[Path, ...]
    is_named: bool


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
    """Return the tools of a bot's build: what the host has named, the arena's own Python and, of the programs on the
    host's PATH, the tools of all languages and the words of the build.

    Raises `SandboxError` if something that is named cannot be shown.
    """
    needs, path = Needs(bot, host), list[Path]()
    for named in host.named:
        path += needs.add_named(named)
    with contextlib.suppress(UsageError):  # bots in another language can be built without it
        path += needs.add_named(Path(os.path.abspath(sys.executable)))
    wanted = {*USUAL_TOOLS, *re.findall(r"[\w.+-]+", bot.build or "")}
    for folder in host.path:
        for name in sorted(wanted):
            tool = Needs(bot, host)
            found = tool.add_tool(folder / name)
            if found is not None and not any(map(host.holds_bots, tool.shown[0])):
                needs.add_all(tool)
                path.append(found)
                wanted.remove(name)
        if is_within(folder, SYSTEM):
            path.append(folder)
    return Tools(*needs.shown, tuple(path))


class _Search:
    """The way from a bot's command to the program that runs it; `_needs` is what has to be visible for that."""

    def __init__(self, bot: BotSpec, host: HostPrograms, *, is_shown: bool) -> None:
        self._is_shown, self._is_named = is_shown, False
        self._name, self._who = "", ""
        """The first word of what is looked for, and how errors call that."""
        self._bot, self._host, self._own = bot, host, own_files(bot)
        self._path = tuple(dict.fromkeys(self._folders_of_path()))
        self._needs = Needs(bot, host)
        self._trials = list[Trial]()

    def run(self) -> Program:
        """Find the bot's program, and those that it runs besides."""
        command, _ = self._find(self._bot.command, "its command or #! line")
        is_named, path = self._is_named, list(self._path)
        if self._bot.is_of_2012:
            path[:0] = [Path(command[0]).parent] if self._is_shown else []  # as for a program that stands first
            command = (*self._find(ADAPTER, "the adapter for bots of 2012")[0], *command)
        for word in self._bot.interpreters:
            folder = self._find((word,), f"interpreters: {word}")[1].parent
            if folder not in self._own.parents:
                path.append(folder)
        return Program(
            command=command,
            trials=tuple(self._trials),
            folders=self._needs.shown[0],
            links=self._needs.shown[1],
            environment=self._needs.environment,
            path=tuple(dict.fromkeys(path)),
            is_named=is_named,
        )

    def _find(self, words: Sequence[str], who: str) -> tuple[tuple[str, ...], Path]:
        """Return a command with what its scripts are run by, and the first program on the way."""
        command = list(words)
        self._name, self._who = command[0], who
        hosts: tuple[Path, Trail] | None = None
        is_control, first = False, None
        for _ in range(SCRIPTS):
            program, trail, hosts, is_hosts_choice = self._step(command[0], for_host=hosts is not None)
            self._refuse_climbing(trail)
            first = first or program
            command[0] = str(program)
            is_control = hosts is not None and (is_control or is_hosts_choice)
            is_python = hosts is not None and PYTHON.fullmatch(hosts[0].name) is not None
            interpreter = [] if is_python else self._interpreter(trail.end, for_host=hosts is not None)
            if not interpreter:
                break
            command[:0] = interpreter
        else:
            raise self._refusal(f"its #! lines lead from script to script, more than {SCRIPTS} of them")
        if hosts is not None and self._is_shown:
            self._trials.append(self._trial(*hosts, is_control=is_control))
        return tuple(command), first

    def _step(self, name: str, *, for_host: bool) -> tuple[Path, Trail, tuple[Path, Trail] | None, bool]:
        """One program on the way: as what it is started, the way to it, and the host's program that it is, with the way
        to that, None if it is the bot's own; and whether its failure is the host's affair. `for_host`: a program of the
        host's has named it."""
        program, trail = self._look_up(name)
        own = list(takewhile(lambda place: place.is_relative_to(self._own), trail.places))
        if not own:
            self._check(program, trail, for_host)
            found = self._behind_shim(program, trail)
            self._need(*found)
            return *found, found, self._host.is_control(program, trail) or self._host.is_control(*found)
        if len(own) < len(trail.places):  # a link of the bot's leads to a program of the host's
            outside = self._host.at_its_folder(trail.stages[len(own)])
            way = follow(outside)
            self._check(outside, way, for_host, link=own[-1])
            self._need(outside, way, program)
            if not program.is_relative_to(self._own):
                program = outside
            elif any(os.path.isabs(link.target) for link in trail.links if link.place in own[:-1]):
                # Inside, the bot's files are at another place; a link to a folder is not started.
                program = own[-1] if trail.stages[len(own) - 1] == own[-1] else outside
            return program, trail, (outside, way), self._host.is_control(outside, way)
        if any(os.path.isabs(link.target) for link in trail.links):
            program = trail.end
        return program, trail, None, False

    def _need(self, program: Path, trail: Trail, started_as: Path | None = None) -> None:
        if self._is_shown:
            self._needs.add(program, trail, started_as)

    def _trial(self, program: Path, trail: Trail, *, is_control: bool) -> Trial:
        """The trial of one of the host's programs, with what that one needs and nothing that the bot has added."""
        alone = Needs(self._bot, self._host)
        alone.add(program, trail)
        is_python = PYTHON.fullmatch(program.name) is not None
        words = ("-E", "-s", "-S", "-c", "pass") if is_python else ("--version",)  # -I is not known to Python 2
        return Trial((str(program), *words), *alone.shown, is_control=is_control, has_to_end_well=is_python)

    def _refusal(self, words: str, program: Path | None = None) -> UsageError:
        """What is wrong with the bot, or with a program of it that is named unless the bot is that file alone."""
        named = "" if program is None or program == self._own else f"{program}: "
        return UsageError(printable(f"{self._bot.path}: {named}{words}"))

    def _refuse_climbing(self, trail: Trail) -> None:
        """Refuse a link that leads out of the bot's folder by `..`, even to come back: inside, that is elsewhere."""
        for link in trail.links:
            if link.place.is_relative_to(self._own) and self._own in trail.left:
                raise self._refusal(
                    f"{link.place}: this link leads out of the bot's folder, to {link.target}: expected a path within "
                    "it, or a whole path"
                )

    # --- where programs are looked for ------------------------------------------------------------------------------

    def _folders_of_path(self) -> list[Path]:
        """The folders of the bot's PATH that count, with no link left in their paths.

        Those that it has from the host are passed over if they do not; its own bot.toml must not name one.
        """
        given = base_environment()["PATH"].split(os.pathsep)
        found = []
        for text in self._bot.environment.get("PATH", os.defpath).split(os.pathsep):
            try:
                folder = self._host.follow(self._bot.folder / text).end
            except (OSError, ValueError):
                continue
            if not folder.is_dir():
                continue
            is_own = folder.is_relative_to(self._own)
            if is_own or self._host.has_programs(folder):
                found.append(folder)
            elif text not in given:
                raise self._refusal(
                    f"env: PATH: {text} leads to {folder}: expected folders of the bot's own, of the system, or on the "
                    "PATH of whoever started the arena"
                )
        return found

    def _look_up(self, name: str) -> tuple[Path, Trail]:
        """Where a program is, with no link left in the path of its folder, and the whole way to it."""
        named = None if "/" in name else self._host.named_program(name)
        places = [self._bot.folder / name] if "/" in name else [folder / name for folder in self._path]
        beside = [] if "/" in name else [folder / name for folder in self._host.named_folders]
        for found in [*([named] if named else []), *places, *beside]:
            try:
                trail, program = self._host.follow(found), self._host.at_its_folder(found)
            except (OSError, ValueError):
                continue
            if is_program(trail.end):
                self._is_named = self._is_named or found not in places
                return program, trail
            if "/" in name:
                raise self._refusal(f"{self._who} names {name}: expected a program, a file that can be run")
        if "/" in name:
            raise self._refusal(f"{self._who} names {name}, and there is no such file")
        path = os.pathsep.join(str(folder) for folder in self._path)
        hint = command_hint(self._bot.folder, name, path) if name == self._name else ""
        if name in self._bot.interpreters:
            hint = f", nor has the host named one with --interpreter{hint}"
        raise self._refusal(f"there is no program {name!r} on the PATH{hint}")

    def _check(self, program: Path, trail: Trail, for_host: bool, link: Path | None = None) -> None:
        """Refuse a program that is not the host's; `link` is the bot's own that leads to it."""
        reason = self._host.why_not(program, trail, for_host=for_host)
        if reason is not None and link is not None:
            raise self._refusal(f"{link}: this link leads out of the bot's folder, to {program}, which {reason}")
        if reason is not None:
            raise self._refusal(f"{self._who} leads out of its own files: {program} {reason}")

    def _interpreter(self, program: Path, *, for_host: bool) -> list[str]:
        """The words that a script's `#!` line puts before its path; none for what is no script.

        A text file of the bot's own (not `for_host`) that the system cannot run, and Windows line ends, are refused.
        """
        try:
            start = read_start(program, FIRST_LINE)
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
        """The words of a `#!` line as the kernel separates them; those of `env` as it does."""
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

    def _behind_shim(self, program: Path, trail: Trail) -> tuple[Path, Trail]:
        if not self._is_shown:
            return program, trail
        try:
            return behind_shim(program, trail, self._host)
        except UsageError as error:
            raise self._refusal(str(error)) from None
