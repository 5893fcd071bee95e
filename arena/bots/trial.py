"""Test before the first game whether the programs that bots are run by work in their sandboxes.

A trial runs a program of the host's, without any bot's files in the sandbox. There are two kinds:

    control   of the plain system, of the arena's own Python, of a program that the host has named. If one fails, that
              is the host's problem: it is reported once, no game is played, and no bot loses by it.
    other     of a program of the host's that an entrant has chosen. If one fails, only that entrant is broken.

So an entrant's choice affects only itself. A bot's own program is not tried: its first game shows whether it works.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar, TypeVarTuple

import trio

from arena.bots.limits import Limits
from arena.bots.process import EXIT_OF_SIGNALS, BotProcess
from arena.sandbox import bwrap
from arena.sandbox.launch import HostError, Launch, SandboxError, StartError
from arena.sandbox.mounts import Mounts
from arena.sandbox.runtimes import Trial
from arena.system.printable import printable

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class Run(Protocol):
    """Runs an async function to its end, as `trio.run` does, or ends it early."""

    def __call__(self, function: Callable[[*Ts], Awaitable[T]], /, *arguments: *Ts) -> T: ...


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


SECONDS = 10.0
"""Seconds for a program of an entrant's choice to print its version; that takes 0.02 s for a Python, 0.3 s for a
JVM.
"""
CONTROL_SECONDS = 60.0
"""Seconds for a control, which no entrant can influence: a busy machine must not stop a league."""
AT_ONCE = 8
CANNOT_RUN = (126, 127)
"""Exit codes for a program that could not be run: of a shell, of prlimit, and of the linker that misses a library."""
LINE_SHOWN = 300
WORDS_SHOWN = 300


async def try_entrants(mounts: Mapping[str, Mounts], limits: Limits) -> dict[str, str]:
    """Run the trials of these bots; return why the sandbox cannot run their programs, by the names of the bots.

    Raises `SandboxError` if a control fails, and `HostError` if the machine cannot start any process.
    """
    await try_controls(mounts.values(), limits)
    chosen = [(name, trial) for name, each in mounts.items() for trial in each.trials if not trial.is_control]
    failed = await _try_all((trial for _, trial in chosen), limits, SECONDS)
    return {
        name: f"tried {_words(trial.words)}, which the sandbox cannot run: {failed[trial]}"
        for name, trial in reversed(chosen)  # of several that fail, the first is reported
        if trial in failed
    }


async def try_controls(mounts: Iterable[Mounts], limits: Limits) -> None:
    """Run the controls: the plain system, and the control trials of these bots.

    Raises `SandboxError` if one fails, and `HostError` if the machine cannot start any process.
    """
    controls = [trial for each in mounts for trial in each.trials if trial.is_control]
    controls.insert(0, Trial(bwrap.PLAIN, is_control=True))
    for trial, said in (await _try_all(controls, limits, CONTROL_SECONDS)).items():
        raise SandboxError(f"the sandbox cannot run {trial.words[0]}, which bots need: {said}")


async def _try_all(trials: Iterable[Trial], limits: Limits, seconds: float) -> dict[Trial, str]:
    failed: dict[Trial, str] = {}
    faults: list[HostError] = []
    some = trio.Semaphore(AT_ONCE)

    async def attempt(trial: Trial) -> None:
        async with some:
            if faults:
                return
            try:
                said = await _try(trial, limits, seconds)
            except HostError as error:
                faults.append(error)  # the first is raised below: it is the machine's, and others would be the same
                return
        if said is not None:
            failed[trial] = said

    async with trio.open_nursery() as nursery:
        for trial in dict.fromkeys(trials):
            nursery.start_soon(attempt, trial)
    if faults:
        raise faults[0]
    return failed


async def _try(trial: Trial, limits: Limits, seconds: float) -> str | None:
    tried = bwrap.bare_mounts(trial.words, trial.folders, trial.links)
    line = bwrap.command(tried, limits, bwrap.spare_user())
    launch = Launch(bwrap.through_shell(line), Path("/"), {}, limits, helpers=bwrap.PROCESSES)
    try:
        ended = await run_to_end(launch, seconds)
    except StartError as error:
        return printable(str(error), LINE_SHOWN)
    lines = ended.said.strip().splitlines()
    if trial.is_control and ended.may_be_killed:
        words = f"this machine: the trial of the sandbox with {trial.words[0]} was killed by SIGKILL"
        raise HostError(words, "somebody did that, or the system when memory was short: start the arena again")
    if ended.code is None:
        return f"it {ended.how}"
    is_signal = ended.code > EXIT_OF_SIGNALS
    cannot = ended.code in CANNOT_RUN or is_signal or ended.said.startswith(bwrap.COMPLAINT)
    if ended.code == 0 or not (trial.has_to_end_well or cannot):
        return None
    return printable(lines[-1], LINE_SHOWN) if lines else f"it {ended.how}"


def _words(words: Sequence[str]) -> str:
    return printable(" ".join(words), WORDS_SHOWN)
