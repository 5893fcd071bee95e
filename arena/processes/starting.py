"""Start the bots of one league or match at a sandbox level."""

import os

from arena.bots.spec import BotSpec
from arena.processes.process import BotProcess
from arena.processes.runnable import PlaySettings, RefusedBotsError, Ways
from arena.processes.trial import try_host
from arena.sandbox import bwrap
from arena.sandbox.cgroup import Hierarchy
from arena.sandbox.launch import Launch
from arena.sandbox.levels import Level
from arena.sandbox.programs import HostPrograms


class Sandbox:
    """Starts the bots of one league or match, in a `with` statement.

    Raises `RefusedBotsError` for bots that cannot be run at the level of the settings, and `SandboxError` if the level
    cannot run what they need. Broken bots are never started.
    """

    def __init__(self, settings: PlaySettings) -> None:
        self.settings = settings
        self._hierarchy: Hierarchy | None = None
        self._started = 0
        self._host = HostPrograms(settings.interpreters, settings.bots)
        ways = Ways(settings.level, settings.bots, self._host)
        if ways.problems:
            raise RefusedBotsError("\n".join(ways.problems.values()))
        self._mounts, self._programs = ways.mounts, ways.programs
        if settings.level is Level.CGROUP:
            self._hierarchy = Hierarchy.find()

    async def try_out(self) -> None:
        """Test whether the sandbox still runs the system and the host's programs, which no bot can make fail.

        Raises `SandboxError`, and `HostError` if this machine cannot start any process.
        """
        if self.settings.level is not Level.BASIC:
            await try_host(self._host, self.settings.usual)

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *_: object) -> None:
        if self._hierarchy:
            self._hierarchy.close()

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
        limits, level = self.settings.limits_of(bot), self.settings.level
        words = f"{level.value}: {limits.text}"
        if level is Level.BASIC:
            program = self._programs[bot.name]
            environment = {**bot.environment, "PATH": os.pathsep.join(map(str, program.path))}
            return Launch(program.command, bot.folder, environment, limits, cpus=cpus, words=words)
        line = bwrap.through_shell(bwrap.command(self._mounts[bot.name], limits, bwrap.spare_user()))
        group = None
        if self._hierarchy:
            self._started += 1
            group = self._hierarchy.make(f"bot-{self._started}", limits, bwrap.PROCESSES)
            line = group.joined(line)
        return Launch(line, bot.folder, {}, limits, helpers=bwrap.PROCESSES, group=group, cpus=cpus, words=words)
