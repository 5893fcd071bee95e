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
from arena.game.game_spec import Player, person_digest
from arena.game.hints import ProgramLanguage

INHERITED = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "TMPDIR", "TZ", "USER", "JAVA_HOME", "LD_LIBRARY_PATH")
"""The variables of the arena's environment that a bot gets in addition to PATH."""

TOKEN_VARIABLE = "STRATEGO_ARENA_PROCESS"
"""The environment variable with the token of a process's owner."""

FAULT_HINT = "hint: "
"""The beginning of a line of advice in a `fault`; the output of a bot or its build is indented."""


@dataclass(frozen=True)
class BotSpec:
    """A bot: its name, program, folder and the fingerprint of its files.

    With a `fault` it cannot be started, and forfeits each of its games. `interpreters` are further programs of the
    host's that it runs, by name or path. `files` are the covered files, as shown, with a short fingerprint of each;
    empty if there are too many. `build` is the shell command that makes its program. `look` is the state of its files
    when the digest was taken. `entered_as` is the digest of a further copy of a bot (`arena.bots.entering`). `asked` is
    how it was named; its arguments are in `command`. A bot that
    `is_of_2012` is started with an adapter before its command (`words`). A worker, which does not get the files, is
    told the `language`. `not_sent` describes its files that are missing on the machine. `is_person`: a person plays
    (`person_spec`), and no program is started.
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
        return digest_with(self.asked.identifying if self.asked else (), content)

    @property
    def words(self) -> tuple[str, ...]:
        return (*ADAPTER, *self.command) if self.is_of_2012 else self.command

    @property
    def arguments(self) -> tuple[str, ...]:
        return self.asked.arguments if self.asked else ()

    @property
    def fault_line(self) -> str:
        """The `fault` in one line: of several lines, the first and the last."""
        first, *more = (self.fault or "").splitlines() or [""]
        if not more:
            return first
        last = more[-1].removeprefix(FAULT_HINT).strip().removeprefix("(").removesuffix(")")
        return f"{first} ({'... ' if len(more) > 1 else ''}{last})"

    @property
    def fault_output(self) -> str:
        return textwrap.dedent("\n".join(line for line in self._more_of_fault if not line.startswith(FAULT_HINT)))

    @property
    def fault_hint(self) -> str:
        return " ".join(line.removeprefix(FAULT_HINT) for line in self._more_of_fault if line.startswith(FAULT_HINT))

    @property
    def _more_of_fault(self) -> list[str]:
        return (self.fault or "").splitlines()[1:]


def person_spec(name: str) -> BotSpec:
    """Return the stand-in for a person among bots, with a digest made from the name."""
    return BotSpec(name, Path(), (), Path(), person_digest(name), is_person=True)


def base_environment() -> dict[str, str]:
    environment = {name: os.environ[name] for name in INHERITED if name in os.environ}
    path = os.environ.get("PATH", os.defpath)
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), path])
    environment["PYTHONUNBUFFERED"] = "1"
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    return environment
