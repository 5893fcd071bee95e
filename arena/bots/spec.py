"""A bot as a value, and the environment that every bot gets."""

import os
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from arena.bots.asked import AskedBot
from arena.bots.covered import Look
from arena.bots.identity import digest_with
from arena.bots.samples import ADAPTER
from arena.game.hints.seen import ProgramLanguage
from arena.game.persons import person_digest
from arena.game.spec import Player

INHERITED = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "TMPDIR", "TZ", "USER", "JAVA_HOME", "LD_LIBRARY_PATH")
"""The variables of the arena's environment that a bot gets to see, beside PATH."""

TOKEN_VARIABLE = "STRATEGO_ARENA_PROCESS"
"""The variable of a bot's environment that says who owns its processes."""

FAULT_HINT = "hint: "
"""What a line of a `fault` begins with that says what to do; what a bot or its build printed is indented."""


@dataclass(frozen=True)
class BotSpec:
    """A bot that can be started: its name, its program, the folder it runs in and the fingerprint of its files.

    `interpreters` are the programs, by name or path, that it runs besides and that are not its own.

    With a `fault` it cannot: the text says why, and the bot forfeits each of its games. `files` are the files that the
    digest covers, by name as it is shown, with a short fingerprint of each; empty where they are too many to keep.
    `build` is the shell's command that makes its program; nothing of it is done here (see `arena.bots.build`).
    `look` is what the system said of its files when the digest was taken (see `arena.bots.changed`); None: not known.
    `entered_as` is the digest of a further copy of a bot, which is not its own (`arena.bots.entering`).
    `asked` is what was said of it where it was named, if that was more than its path; its arguments are in `command`.
    A bot that `is_of_2012` is started with an adapter before its command (`words`). `language` is what it is written in
    where that was found out before, as for a worker, which is not told the files (`arena.bots.language`).
    `not_sent` says what of its files is not on the machine that it is played on, in words, if anything is.
    `is_person`: it is none, but a person who takes a bot's place (`person_spec`); there is nothing to start.
    """

    name: str
    path: Path
    command: tuple[str, ...]
    folder: Path
    digest: str
    environment: Mapping[str, str] = field(default_factory=dict)
    interpreters: tuple[str, ...] = ()
    fault: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    build: str | None = None
    look: Look | None = field(default=None, compare=False, repr=False)
    entered_as: str = ""
    asked: AskedBot | None = field(default=None, compare=False, repr=False)
    is_of_2012: bool = False
    language: ProgramLanguage | None = field(default=None, compare=False, repr=False)
    not_sent: str = field(default="", compare=False, repr=False)
    is_person: bool = False

    @property
    def player(self) -> Player:
        return Player(self.name, self.entered_as or self.digest)

    def digest_of(self, content: str) -> str:
        """Return the bot's digest if that of its files were this one."""
        return digest_with(self.asked.identifying if self.asked else (), content)

    @property
    def words(self) -> tuple[str, ...]:
        return (*ADAPTER, *self.command) if self.is_of_2012 else self.command

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments that the host added to what the bot.toml says."""
        return self.asked.arguments if self.asked else ()

    @property
    def fault_line(self) -> str:
        """The `fault` in one line: where it has more, such as what a build printed, the first and the last of them."""
        first, *more = (self.fault or "").splitlines() or [""]
        if not more:
            return first
        last = more[-1].removeprefix(FAULT_HINT).strip().removeprefix("(").removesuffix(")")
        return f"{first} ({'... ' if len(more) > 1 else ''}{last})"

    @property
    def fault_output(self) -> str:
        """The lines of the `fault` after the first, such as what the build printed, without the hint."""
        return textwrap.dedent("\n".join(line for line in self._more_of_fault if not line.startswith(FAULT_HINT)))

    @property
    def fault_hint(self) -> str:
        """The advice in the `fault`, if there is any."""
        return " ".join(line.removeprefix(FAULT_HINT) for line in self._more_of_fault if line.startswith(FAULT_HINT))

    @property
    def _more_of_fault(self) -> list[str]:
        return (self.fault or "").splitlines()[1:]


def person_spec(name: str) -> BotSpec:
    """Return the stand-in for a person among bots: a name, and the digest that follows from it."""
    return BotSpec(name, Path(), (), Path(), person_digest(name), is_person=True)


def base_environment() -> dict[str, str]:
    """Return the environment that every bot gets: little, and the arena's own interpreter first on the PATH."""
    environment = {name: os.environ[name] for name in INHERITED if name in os.environ}
    path = os.environ.get("PATH", os.defpath)
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), path])
    environment["PYTHONUNBUFFERED"] = "1"
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    return environment
