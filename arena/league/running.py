"""One path for errors of what plays games or starts bots, however it is run."""

from collections.abc import Awaitable, Callable
from typing import TypeVar, TypeVarTuple

from arena.bots.run import Run
from arena.bots.sandbox.launch import host_fault
from arena.errors import ArenaError

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
Say = Callable[[str], None]
"""What is told a remark for people, one or more lines without a newline at the end."""


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
