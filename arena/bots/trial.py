"""Whether what bots are run by can be run in their sandboxes, tried before the first game.

A trial runs a program of the host's, with nothing of any bot in the sandbox, and there are two kinds of it:

    control   of the plain system, of the arena's own Python, of a program that the host has named. If one fails, it is
              the host's affair: it is said once, nothing is played, and no bot loses by it.
    other     of a program of the host's that an entrant has chosen. If one fails, that entrant is broken, and no other.

So an entrant decides by its choice about itself alone. Of a bot's own program nothing is tried: its first game shows.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar, TypeVarTuple

import trio

from arena.bots.limits import Limits
from arena.bots.process import EXIT_OF_SIGNALS, BotProcess
from arena.bots.sandbox import bwrap
from arena.bots.sandbox.launch import HostError, Launch, SandboxError, StartError
from arena.bots.sandbox.mounts import Mounts
from arena.bots.sandbox.runtimes import Trial
from arena.system.printable import printable

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class Run(Protocol):
    """Runs an async function to its end, as `trio.run` does; a caller's own may also end it early."""

    def __call__(self, function: Callable[[*Ts], Awaitable[T]], /, *arguments: *Ts) -> T: ...


Watch = Callable[[], Awaitable[str]]
"""Returns, in words, that what runs is to be stopped."""


@dataclass(frozen=True)
class Ended:
    """How it ended. `how` follows the name of what ran: "exited with code 3", or why it was stopped.

    `said` is the last part of its standard error, `code` what it exited with: None if it did not exit by itself.
    `may_be_killed` says whether SIGKILL has ended it, which neither its limits nor its time had it be.
    """

    how: str
    said: str
    code: int | None
    may_be_killed: bool = False


@trio.lowlevel.enable_ki_protection  # Ctrl-C between the start and the `try` would leave what has been started
async def run_to_end(launch: Launch, seconds: float, *watches: Watch) -> Ended:
    """Run a line to its end, or stop it after so many seconds, or when it uses more than its limits or a watch says so.

    All that it has started and left is killed. What it prints to standard output must be little, for nobody reads it.
    Raises `StartError` and `HostError` as the start of a bot does.
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
"""How long what an entrant has chosen may take to say its version; that takes 0.02 s for a Python, 0.3 s for a JVM."""
CONTROL_SECONDS = 60.0
"""The same for controls, on which no entrant has an influence: a machine that is busy must not stop a league."""
AT_ONCE = 8
CANNOT_RUN = (126, 127)
"""What a program exits with that could not be run: of a shell, of prlimit, and of the linker that misses a library."""
LINE_SHOWN = 300
WORDS_SHOWN = 300


async def try_entrants(mounts: Mapping[str, Mounts], limits: Limits) -> dict[str, str]:
    """Try what these bots are run by; return why the sandbox cannot run it, by the names of the bots.

    Raises `SandboxError` if a control fails, and `HostError` if the machine cannot start anything.
    """
    await try_controls(mounts.values(), limits)
    chosen = [(name, trial) for name, each in mounts.items() for trial in each.trials if not trial.is_control]
    failed = await _try_all((trial for _, trial in chosen), limits, SECONDS)
    return {
        name: f"tried {_words(trial.words)}, which the sandbox cannot run: {failed[trial]}"
        for name, trial in reversed(chosen)  # of several that fail, the first is told
        if trial in failed
    }


async def try_controls(mounts: Iterable[Mounts], limits: Limits) -> None:
    """Try the plain system, and what of the controls these bots are run by.

    Raises `SandboxError` if one fails, and `HostError` if the machine cannot start anything.
    """
    controls = [trial for each in mounts for trial in each.trials if trial.is_control]
    controls.insert(0, Trial(bwrap.PLAIN, is_control=True))
    for trial, said in (await _try_all(controls, limits, CONTROL_SECONDS)).items():
        raise SandboxError(f"the sandbox cannot run {trial.words[0]}, which bots need: {said}")


async def _try_all(trials: Iterable[Trial], limits: Limits, seconds: float) -> dict[Trial, str]:
    """Try each once, several at a time. Those that fail, with what was said about it."""
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
    """None if the program can be run, else what was said about it."""
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
