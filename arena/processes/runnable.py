"""How each bot can be run at a sandbox level, and which bots cannot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import trio

from arena.bots.entering import broken
from arena.bots.limits import Limits
from arena.bots.spec import BotSpec
from arena.errors import UsageError
from arena.sandbox.launch import SandboxError
from arena.sandbox.levels import Level
from arena.sandbox.programs import HostPrograms, Program, find_program
from arena.system.concurrency import Run
from arena.system.printable import printable

if TYPE_CHECKING:
    from arena.sandbox.mounts import Mounts


@dataclass(frozen=True)
class PlaySettings:
    """How the bots of one run are isolated and play.

    `limits` are those of single bots by name, `usual` those of all others; `interpreters` are the host's programs for
    bots. With `is_pinned` a worker and its bots share one CPU.
    """

    bots: Sequence[BotSpec]
    level: Level = Level.BASIC
    usual: Limits = field(default_factory=Limits)
    limits: Mapping[str, Limits] = field(default_factory=dict)
    interpreters: Sequence[str] = ()
    pondering: bool = True
    is_pinned: bool = False
    is_watched: bool = False

    def limits_of(self, bot: BotSpec) -> Limits:
        return self.limits.get(bot.name, self.usual)


class RefusedBotsError(UsageError):
    """Bots cannot be run at a sandbox level on this machine; a line for each."""


class Ways:
    """How to start each bot that is not broken, and the problems of the others. Raises `SandboxError`."""

    def __init__(self, level: Level, bots: Sequence[BotSpec], host: HostPrograms) -> None:
        self.mounts: dict[str, Mounts] = {}
        self.programs: dict[str, Program] = {}
        """At the basic level, the program of each bot."""
        self.problems: dict[str, str] = {}
        for bot in (bot for bot in bots if bot.fault is None):
            try:
                if level is Level.BASIC:
                    self.programs[bot.name] = find_program(bot, host, is_shown=False)
                else:
                    from arena.sandbox.mounts import mounts_of

                    self.mounts[bot.name] = mounts_of(bot, host)
            except SandboxError:
                raise
            except UsageError as error:
                self.problems[bot.name] = printable(str(error))


def runnable(
    level: Level,
    bots: Sequence[BotSpec],
    host: HostPrograms | None = None,
    usual: Limits | None = None,
    run: Run = trio.run,
) -> list[BotSpec]:
    """Return the bots; those that cannot be run at this level are broken. `host` has further programs to run them.

    The host's programs are tried in a sandbox, within the usual limits; `run` runs the trials. Raises `SandboxError` if
    the host is to blame, and `HostError` if this machine cannot start any process.
    """
    host = host or HostPrograms((), bots)
    problems = Ways(level, bots, host).problems
    if level is not Level.BASIC:
        from arena.processes.trial import try_host

        run(try_host, host, usual or Limits())
    return [broken(bot, problems[bot.name]) if bot.name in problems else bot for bot in bots]
