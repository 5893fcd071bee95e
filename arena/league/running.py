"""How the tasks of a league are run: by trio, here or wherever a caller would have them, with one path for errors."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar, TypeVarTuple

from arena.bots.sandbox.launch import host_fault
from arena.errors import ArenaError

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
Say = Callable[[str], None]
"""What is told a remark for people, one or more lines without a newline at the end."""


class Run(Protocol):
    """Runs an async function to its end, as `trio.run` does."""

    def __call__(self, function: Callable[[*Ts], Awaitable[T]], /, *arguments: *Ts) -> T: ...


def run_games(run: Run, function: Callable[[*Ts], Awaitable[T]], *arguments: *Ts) -> T:
    """Run what plays games or starts bots. Raises `ArenaError` for what the store, a sandbox or the machine lacks."""
    try:
        return run(function, *arguments)
    except ArenaError:
        raise
    except Exception as error:
        fault = host_fault(error)
        if fault is None:
            raise
        raise fault from error
