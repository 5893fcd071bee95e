"""What has to be visible for a bot's program to run where only the system and the bot's own files are.

A program is followed as the kernel would follow it: through the PATH, links and the `#!` lines of scripts, until it is
a file of the bot, of the system (`/usr` and what hangs on it), or of an installation (`arena.bots.sandbox.needs`). All
this is read, not asked: nothing that a bot names is run outside a sandbox. The one exception is a version manager's
stand-in for Python that the host itself has on the PATH or has named (`arena.bots.sandbox.stand_ins`).
"""

import contextlib
import os
import re
import shlex
import sys
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path

from arena.bots import BotSpec, base_environment
from arena.bots.links import Link, Trail, at_its_folder, climbs, follow
from arena.bots.sandbox.needs import PYTHON, Needs
from arena.bots.sandbox.programs import SYSTEM, HostPrograms, is_within, own_files
from arena.bots.sandbox.stand_ins import python_behind
from arena.bots.scripts import FIRST_LINE, SCRIPT_MARK, command_hint, text_fault
from arena.errors import UsageError
from arena.hostfile import read_start
from arena.printable import printable

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
    `environment` is to be set; `path` are the folders in which its PATH finds programs. `trial` shows
    whether the host's program that it is run by can be run; None if it is the bot's own.
    """

    command: tuple[str, ...]
    trial: Trial | None = None
    folders: tuple[Path, ...] = ()
    links: tuple[Link, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    path: tuple[Path, ...] = ()
    found: Path | None = None
    """The first program on the way, which is a script or what runs the bot."""
    is_named: bool = False
    """Whether a name in it is not that of a program on the bot's PATH, but of one that the host has named."""
    more: tuple["Program", ...] = ()
    """What its bot.toml says that it runs besides (`interpreters`); all that these need is in the fields above, too."""

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All that shows whether the host's programs can be run."""
        return tuple(each.trial for each in (self, *self.more) if each.trial is not None)


def find_program(bot: BotSpec, host: HostPrograms) -> Program:
    """How to run a bot, by its own program or one of the host's, where little is visible.

    Raises `UsageError` if its command leads elsewhere, or if what it needs cannot be shown.
    """
    return _Search(bot, host, is_shown=True).run()


def check_program(bot: BotSpec, host: HostPrograms) -> Program:
    """How to run a bot where all is visible to it anyway; `path` are the folders in which its PATH may find programs.

    Raises `UsageError` if its command leads neither to its own files nor to a program of the host's.
    """
    return _Search(bot, host, is_shown=False).run()


@dataclass(frozen=True)
class Tools:
    """What of the host's is shown to a build: folders and links at their own places; `path` are those with programs."""

    folders: tuple[Path, ...]
    links: tuple[Link, ...]
    path: tuple[Path, ...]


def find_tools(bot: BotSpec, host: HostPrograms) -> Tools:
    """What a bot may be built with beside the system: all that the host has named, and the arena's own Python.

    Raises `SandboxError` if something that is named cannot be shown.
    """
    needs = _Search(bot, host, is_shown=True).needs
    path = []
    for named in host.named:
        needs.add_named(named)
        end = follow(named).end
        path += [end / "bin", end] if end.is_dir() else [named.parent]
    with contextlib.suppress(UsageError):  # it need not be for bots in another language
        needs.add_named(Path(os.path.abspath(sys.executable)))
        path.append(Path(os.path.abspath(sys.executable)).parent)
    path += [folder for folder in host.path if is_within(folder, SYSTEM)]  # visible anyway: /usr/local/go/bin, say
    return Tools(*needs.shown, tuple(path))


class _Search:
    """The way from a bot's command to the program that runs it; `needs` is what has to be visible for that."""

    def __init__(
        self, bot: BotSpec, host: HostPrograms, *, is_shown: bool, who: str = "its command or #! line"
    ) -> None:
        """`who` names the program in errors."""
        self._is_shown, self._who = is_shown, who
        self._is_named = False
        self._bot, self._host, self._own = bot, host, own_files(bot)
        self._path = tuple(dict.fromkeys(self._folders_of_path()))
        self.needs = Needs(bot, host)

    def run(self, *, alone: bool = False) -> Program:
        """The program; `alone`: without what the bot runs besides."""
        command = list(self._bot.command)
        hosts: tuple[Path, Trail] | None = None
        is_control, first = False, None
        for _ in range(SCRIPTS):
            program, trail, hosts = self._step(command[0], for_host=hosts is not None)
            self._refuse_climbing(trail)
            first = first or program
            command[0] = str(program)
            is_control = hosts is not None and (is_control or self._host.is_control(*hosts))
            is_python = hosts is not None and PYTHON.fullmatch(hosts[0].name) is not None
            interpreter = [] if is_python else self._interpreter(trail.end, for_host=hosts is not None)
            if not interpreter:
                break
            command[:0] = interpreter
        else:
            raise self._refusal(f"its #! lines lead from script to script, more than {SCRIPTS} of them")
        found = Program(
            command=tuple(command),
            trial=self._trial(*hosts, is_control=is_control) if hosts is not None and self._is_shown else None,
            folders=self.needs.shown[0],
            links=self.needs.shown[1],
            environment=self.needs.environment,
            path=self._path,
            found=first,
            is_named=self._is_named,
        )
        return found if alone or not self._bot.interpreters else self._with_more(found)

    def _step(self, name: str, *, for_host: bool) -> tuple[Path, Trail, tuple[Path, Trail] | None]:
        """One program on the way: as what it is started, the way to it, and the host's program that it is, with the way
        to that; None if it is the bot's own. `for_host`: a program of the host's has named it."""
        program, trail = self._look_up(name)
        if not program.is_relative_to(self._own):
            self._check(program, trail, for_host)
            found = self._behind_stand_in(program, trail)
            self._need(*found)
            return *found, found
        own = list(takewhile(lambda place: place.is_relative_to(self._own), trail.places))
        if len(own) < len(trail.places):  # a link of the bot's leads to a program of the host's
            outside = trail.places[len(own)]
            way = follow(outside)
            self._check(outside, way, for_host, link=program)
            self._need(outside, way, program)
            if any(os.path.isabs(link.target) for link in trail.links if link.place in own[:-1]):
                program = own[-1]  # inside, the bot's files are at another place
            return program, trail, (outside, way)
        if any(os.path.isabs(link.target) for link in trail.links):
            program = trail.end
        return program, trail, None

    def _with_more(self, program: Program) -> Program:
        """The same with what the bot runs besides, each looked for as a command of its own."""
        more = tuple(self._besides(word) for word in self._bot.interpreters)
        beside = (each.found.parent for each in more if each.found is not None)
        return replace(
            program,
            folders=tuple(sorted({*program.folders, *(folder for each in more for folder in each.folders)})),
            links=tuple({link.place: link for each in (program, *more) for link in each.links}.values()),
            environment={name: value for each in (*more, program) for name, value in each.environment.items()},
            path=tuple(
                dict.fromkeys((*program.path, *(folder for folder in beside if folder not in self._own.parents)))
            ),
            more=more,
        )

    def _besides(self, word: str) -> Program:
        """One of the programs that the bot runs besides."""
        bot = replace(self._bot, command=(word,))
        search = _Search(bot, self._host, is_shown=self._is_shown, who=f"interpreters: {word}")
        return search.run(alone=True)

    def _need(self, program: Path, trail: Trail, started_as: Path | None = None) -> None:
        if self._is_shown:
            self.needs.add(program, trail, started_as)

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
            if link.place.is_relative_to(self._own) and (self._own in trail.left or self._climbs(link)):
                raise self._refusal(
                    f"{link.place}: this link leads out of the bot's folder, to {link.target}: expected a path within "
                    "it, or a whole path"
                )

    def _climbs(self, link: Link) -> bool:
        """Whether a link leads out of the folder by its text alone, whatever the names in it are."""
        if os.path.isabs(link.target):
            return False
        return climbs(link.place.relative_to(self._own).parent, link.target)

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
            if trail.end.is_file() and os.access(trail.end, os.X_OK):
                self._is_named = self._is_named or found not in places
                return program, trail
            if "/" in name:
                raise self._refusal(f"{self._who} names {name}: expected a program, a file that can be run")
        if "/" in name:
            raise self._refusal(f"{self._who} names {name}, and there is no such file")
        path = os.pathsep.join(str(folder) for folder in self._path)
        hint = command_hint(self._bot.folder, name, path) if name == self._bot.command[0] else ""
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

    def _behind_stand_in(self, program: Path, trail: Trail) -> tuple[Path, Trail]:
        """The program itself, where this one is only a version manager's stand-in for it."""
        if program.parent.name != "shims" or not self._is_shown:
            return program, trail
        if not PYTHON.fullmatch(program.name):
            raise self._refusal(
                f"{program} is only a version manager's stand-in: name the program itself in the bot's command or #! "
                f"line ({program.parent.parent.name.lstrip('.')} which {program.name} tells it)"
            )
        try:
            meant = python_behind(program, os.pathsep.join(str(folder) for folder in self._host.path))
        except UsageError as error:
            raise self._refusal(
                f"{error}: start the arena with --interpreter PATH, the path of that Python itself"
            ) from None
        try:
            found = at_its_folder(meant), follow(meant)
        except OSError as error:
            raise self._refusal(f"{program} stands for {meant}: {error.strerror}") from None
        self._check(*found, for_host=True)
        return found
