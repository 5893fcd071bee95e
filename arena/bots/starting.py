"""Start the bots of one league or match at a sandbox level, and find those that cannot be started."""

import os
from collections.abc import Mapping, Sequence

import trio

from arena.bots.finding import broken
from arena.bots.limits import Limits
from arena.bots.process import BotProcess
from arena.bots.spec import BotSpec
from arena.bots.trial import try_host
from arena.errors import UsageError
from arena.sandbox import bwrap
from arena.sandbox.cgroup import Hierarchy
from arena.sandbox.launch import Launch, SandboxError
from arena.sandbox.levels import Level, joined
from arena.sandbox.mounts import Mounts, mounts_of
from arena.sandbox.programs import HostPrograms, Program, find_program
from arena.system.concurrency import Run
from arena.system.printable import printable


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
    problems = _Ways(level, bots, host).problems
    if level is not Level.BASIC:
        run(try_host, host, usual or Limits())
    return [broken(bot, problems[bot.name]) if bot.name in problems else bot for bot in bots]


class _Ways:
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
                    self.mounts[bot.name] = mounts_of(bot, host)
            except SandboxError:
                raise
            except UsageError as error:
                self.problems[bot.name] = printable(str(error))


class RefusedBotsError(UsageError):
    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("\n".join(problems.values()))
        self.problems = dict(problems)


class Sandbox:
    """Starts the bots of one league or match, in a `with` statement.

    `limits` are those of single bots by name, `usual` those of all others; `interpreters` are the host's programs for
    bots. Raises `RefusedBotsError` for bots that cannot be run at this level, and `SandboxError` if the level cannot
    run what they need. Broken bots are never started.
    """

    def __init__(
        self,
        level: Level,
        bots: Sequence[BotSpec],
        usual: Limits,
        limits: Mapping[str, Limits],
        interpreters: Sequence[str] = (),
    ) -> None:
        self.level = level
        self.interpreters = tuple(interpreters)
        self._usual = usual
        self._limits = limits
        self._hierarchy: Hierarchy | None = None
        self._started = 0
        self._host = HostPrograms(self.interpreters, bots)
        ways = _Ways(level, bots, self._host)
        if ways.problems:
            raise RefusedBotsError(ways.problems)
        self._mounts, self._programs = ways.mounts, ways.programs
        if level is Level.CGROUP:
            self._hierarchy = Hierarchy.find()

    async def try_out(self) -> None:
        """Test whether the sandbox still runs the system and the host's programs, which no bot can make fail.

        Raises `SandboxError`, and `HostError` if this machine cannot start any process.
        """
        if self.level is not Level.BASIC:
            await try_host(self._host, self._usual)

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *_: object) -> None:
        if self._hierarchy:
            self._hierarchy.close()

    def limits_of(self, bot: BotSpec) -> Limits:
        return self._limits.get(bot.name, self._usual)

    def start(self, bot: BotSpec, cpus: frozenset[int] = frozenset()) -> BotProcess:
        """Start a bot, on these CPUs (default: all). Raises `StartError` and `HostError`."""
        launch = self._launch(bot, cpus)
        try:
            return BotProcess.start(launch)
        except Exception:
            if launch.group:
                launch.group.remove()
            raise

    def _launch(self, bot: BotSpec, cpus: frozenset[int]) -> Launch:
        limits = self.limits_of(bot)
        words = f"{self.level.value}: {limits.text}"
        if self.level is Level.BASIC:
            program = self._programs[bot.name]
            environment = {**bot.environment, "PATH": os.pathsep.join(map(str, program.path))}
            return Launch(program.command, bot.folder, environment, limits, cpus=cpus, words=words)
        line = bwrap.through_shell(bwrap.command(self._mounts[bot.name], limits, bwrap.spare_user()))
        group = None
        if self._hierarchy:
            self._started += 1
            group = self._hierarchy.make(f"bot-{self._started}", limits, bwrap.PROCESSES)
            line = joined(line, group)
        return Launch(line, bot.folder, {}, limits, helpers=bwrap.PROCESSES, group=group, cpus=cpus, words=words)
