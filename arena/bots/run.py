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

    `said` is the last part of its standard error.
    """

    how: str
    said: str

    @property
    def code(self) -> int | None:
        """The code that it exited with; None if it did not exit by itself."""
        _, found, code = self.how.partition("exited with code ")
        return int(code) if found else None


async def run_to_end(launch: Launch, seconds: float, *watches: Watch) -> Ended:
    """Run a line to its end, or stop it after so many seconds, or when it uses more than its limits or a watch says so.

    All that it has started and left is killed. What it prints to standard output must be little, for nobody reads it.
    Raises `StartError` and `HostError` as the start of a bot does.
    """
    process = BotProcess.start(launch)
    how = ""

    async def wait(until: Watch, scope: trio.CancelScope) -> None:
        nonlocal how
        how = how or await until()
        scope.cancel()

    async def finish() -> str:
        await process.wait_exit()
        return process.exit_words()

    try:
        with trio.move_on_after(seconds):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(process.drain_stderr)
                for watch in (finish, process.watch, *watches):
                    nursery.start_soon(wait, watch, nursery.cancel_scope)
    finally:
        await process.end(grace=0)
    return Ended(process.out_of_memory() or how or f"took longer than {seconds:g} s", process.stderr_tail)
