"""What the arena's own processes begin with, whatever they are for, and how they hear that their parent is gone.

Signals are the parent's affair: a terminal or a service manager may send them to all processes at once. A child passes
over them and ends with its parent: as that says so, as the pipe from it ends, or as it dies.
"""

import os
import signal

import trio

from arena.system.concurrency import readable

PASSED_OVER = tuple(signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
POLL_SECONDS = 0.5
"""How often a parent is looked for, where no descriptor tells of its death."""


def begin(*descriptors: int) -> None:
    """Pass over signals that are the parent's affair, and keep these descriptors from programs that are started."""
    for number in PASSED_OVER:
        if signal.getsignal(number) is not signal.SIG_IGN:  # which bots would inherit
            signal.signal(number, lambda *_: None)
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)


async def until_gone(parent: int, serving: trio.CancelScope) -> None:
    """Cancel everything if the parent dies: some other process may have a copy of its end of the pipe."""
    if not os.getppid():  # it is in another namespace, where its number is another
        return
    try:
        descriptor = os.pidfd_open(parent)
    except ProcessLookupError:
        serving.cancel()
        return
    except (OSError, AttributeError):  # it may not, or it is not Linux
        while os.getppid() == parent:  # noqa: ASYNC110  (nothing tells of it)
            await trio.sleep(POLL_SECONDS)
        serving.cancel()
        return
    try:
        if os.getppid() == parent:  # if not, it was dead before, and its number may be another's now
            await readable(descriptor)
        serving.cancel()
    finally:
        os.close(descriptor)
