"""How a program is started and confined, and the errors of a start.

A failing start is either the bot's fault (`StartError`: it loses) or the machine's (`HostError`: the league stops, and
no bot is blamed).
"""

import errno
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from arena.bots.limits import Limits
from arena.errors import ArenaError, UsageError
from arena.system.printable import printable
from arena.system.user_files import HOST_ERRORS

if TYPE_CHECKING:
    from arena.sandbox.cgroup import Group

DISK_ERRORS = HOST_ERRORS | {errno.EDQUOT, errno.EIO, errno.EROFS}
"""The machine's errors where something is written."""


NOBODYS_FAULT = "no bot is blamed for it, and none forfeits"


class HostError(ArenaError):
    def __init__(self, what: str, hint: str = "fewer games at once (-j) may help") -> None:
        super().__init__(f"{what}; {hint}" if hint else what)


class SandboxError(UsageError):
    """A sandbox on this machine cannot run programs of the host that bots need. No bot is to blame."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{printable(what)}\nno bot is to blame for this: name with --interpreter the program where it is really "
            "installed, install it in a folder of its own (such as /opt/NAME) or in /usr, or choose another level "
            "(--sandbox)"
        )


def known_fault(error: BaseException) -> ArenaError | None:
    """Return the error that a user can act on: this one, or that this process has run out of something.

    None if it is a bug of the arena.
    """
    if isinstance(error, ArenaError):
        return error
    if isinstance(error, BaseExceptionGroup):
        return next((fault for inner in error.exceptions if (fault := known_fault(inner))), None)
    if isinstance(error, MemoryError):
        return HostError("this machine has no memory left for the arena")
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        return HostError("this machine has no room for another thread")
    if isinstance(error, OSError) and error.errno in HOST_ERRORS:
        return HostError(f"this machine cannot continue: {error.strerror}")
    return None


class StartError(Exception):
    """A bot's program could not be started; the text is the system's reason, `errno` its number."""

    def __init__(self, text: str, errno: int | None = None) -> None:
        super().__init__(text)
        self.errno = errno


@dataclass(frozen=True)
class Launch:
    """How a program is started and confined.

    `limits` are kept by the system where possible, otherwise by the watch; None for none. `helpers` is the number of
    sandbox processes around the bot's first one. `group` is the control group that the command joins. `cpus` are those
    it may run on; empty for all. `words` describe all this in a record.
    """

    command: Sequence[str]
    folder: Path
    environment: Mapping[str, str]
    limits: Limits | None = None
    helpers: int = 0
    group: "Group | None" = None
    cpus: frozenset[int] = frozenset()
    words: str = ""


def disk_fault(error: OSError, what: str) -> HostError | None:
    """Return a `HostError` if an error of copying or writing is the machine's; `what` describes the operation."""
    if error.errno not in DISK_ERRORS:
        return None
    return HostError(f"this machine cannot continue: {what}: {error.strerror}", NOBODYS_FAULT)


def cannot_start_another(error: OSError) -> HostError:
    return HostError(f"this machine cannot start another bot: {error.strerror}")
