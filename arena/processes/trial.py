"""Test before the first game whether the programs that the host offers its bots work in the sandbox.

A trial runs the plain system, the arena's own Python, or a program that the host has named, without any bot's files in
the sandbox. If one fails, that is the host's problem: it is reported once, no game is played, and no bot loses by it.
A bot's own program is not tried: its first game shows whether it works.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import trio

from arena.bots.limits import Limits
from arena.processes.process import EXIT_OF_SIGNALS, BotProcess
from arena.sandbox import bwrap
from arena.sandbox.launch import HostError, Launch, SandboxError, StartError
from arena.sandbox.programs import PYTHON, HostPrograms
from arena.system.printable import printable

Watch = Callable[[], Awaitable[str]]
"""Returns the reason to stop a program, in words."""


@dataclass(frozen=True)
class Ended:
    """The end of a program. `how` follows its name: "exited with code 3", or why it was stopped.

    `said` is the last part of its standard error; `code` is None if it did not exit by itself. `may_be_killed`: SIGKILL
    has ended it, for no limit of the arena's.
    """

    how: str
    said: str
    code: int | None
    may_be_killed: bool = False


@trio.lowlevel.enable_ki_protection  # Ctrl-C between the start and the `try` would leave what has been started
async def run_to_end(launch: Launch, seconds: float, *watches: Watch) -> Ended:
    """Run a program to its end, or stop it after `seconds`, over its limits, or when a watch returns.

    All its processes are killed. It must print little to standard output, which is not read. Raises `StartError` and
    `HostError`.
    """
    process = BotProcess.start(launch)
    ended: list[tuple[str, int | None, bool]] = []

    async def stop(watch: Watch, scope: trio.CancelScope) -> None:
        ended.append((await watch(), None, False))
        scope.cancel()

    async def over() -> str:
        return (await process.watch()).words

    async def finish(scope: trio.CancelScope) -> None:
        await process.wait_exit()
        status = process.exit_status()
        code = None if status is None or status < 0 else status
        ended.append((process.exit_words(), code, process.may_be_killed()))
        scope.cancel()

    try:
        with trio.move_on_after(seconds):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(process.drain_stderr)
                nursery.start_soon(finish, nursery.cancel_scope)
                for watch in (over, *watches):
                    nursery.start_soon(stop, watch, nursery.cancel_scope)
    finally:
        await process.end(grace=0)
    if excess := process.out_of_memory():
        ended = [(excess.words, None, False)]
    how, code, may_be_killed = ended[-1] if ended else (f"took longer than {seconds:g} s", None, False)
    return Ended(how, process.stderr_tail, code, may_be_killed)


SECONDS = 60.0
"""Seconds for a trial, which takes 0.02 s for a Python, 0.3 s for a JVM: a busy machine must not stop a league."""
CANNOT_RUN = (126, 127)
"""Exit codes for a program that could not be run: of a shell, of prlimit, and of the linker that misses a library."""
LINE_SHOWN = 300


async def try_host(host: HostPrograms, limits: Limits) -> None:
    """Run the trials. Raises `SandboxError` if one fails, and `HostError` if the machine cannot start any process."""
    for words in (bwrap.PLAIN, *host.shown.trials):
        said = await _try(words, host, limits)
        if said is not None:
            raise SandboxError(f"the sandbox cannot run {words[0]}, which bots need: {said}")


async def _try(words: tuple[str, ...], host: HostPrograms, limits: Limits) -> str | None:
    tried = bwrap.bare_mounts(words, host.shown.folders, host.shown.links)
    line = bwrap.command(tried, limits, bwrap.spare_user())
    launch = Launch(bwrap.through_shell(line), Path("/"), {}, limits, helpers=bwrap.PROCESSES)
    try:
        ended = await run_to_end(launch, SECONDS)
    except StartError as error:
        return printable(str(error), LINE_SHOWN)
    lines = ended.said.strip().splitlines()
    if ended.may_be_killed:
        raise HostError(
            f"this machine: the trial of the sandbox with {words[0]} was killed by SIGKILL",
            "by a person, or by the system when memory was short: start the arena again",
        )
    if ended.code is None:
        return f"it {ended.how}"
    is_python = PYTHON.fullmatch(Path(words[0]).name) is not None
    cannot = ended.code in CANNOT_RUN or ended.code > EXIT_OF_SIGNALS or ended.said.startswith(bwrap.COMPLAINT)
    if ended.code == 0 or not (cannot or is_python or words == bwrap.PLAIN):
        return None
    return printable(lines[-1], LINE_SHOWN) if lines else f"it {ended.how}"
