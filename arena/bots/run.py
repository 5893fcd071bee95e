"""Running something to its end that is no game: a build, a trial. It is held and ended as bots are."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar, TypeVarTuple

import trio

from arena.bots.process import BotProcess
from arena.bots.sandbox.launch import Launch

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
