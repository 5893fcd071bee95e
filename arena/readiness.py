"""Waiting until a descriptor can be read or written, even where the kernel lets its user wait for nothing more.

Linux counts for each user what is waited for by epoll (fs.epoll.max_user_watches), and trio waits by that. Bots of an
arena that is not root run as the same user, in a sandbox too: one of them can use all of it up. Then the descriptor is
asked again and again.
"""

import errno
import select

import trio

ASK_SECONDS = 0.001
"""How often it is asked, at the most by so much later than otherwise a bot's answer is seen."""
TRY_AGAIN = 200
"""After asking so often it is tried again whether it can be waited for."""


async def readable(descriptor: int) -> None:
    """Return when there is something to read, or its end. Raises as `trio.lowlevel.wait_readable` does."""
    while True:
        try:
            await trio.lowlevel.wait_readable(descriptor)
        except OSError as error:
            if not await _asked(descriptor, select.POLLIN, error):
                continue
        return


async def writable(descriptor: int) -> None:
    """Return when something can be written, or nobody reads it. Raises as `trio.lowlevel.wait_writable` does."""
    while True:
        try:
            await trio.lowlevel.wait_writable(descriptor)
        except OSError as error:
            if not await _asked(descriptor, select.POLLOUT, error):
                continue
        return


async def _asked(descriptor: int, event: int, why: OSError) -> bool:
    """Ask again and again whether there is what could not be waited for, and why; returns False after a while."""
    if why.errno != errno.ENOSPC:
        raise why
    asked = select.poll()
    asked.register(descriptor, event)
    for _ in range(TRY_AGAIN):
        if found := asked.poll(0):
            if found[0][1] & select.POLLNVAL:
                raise trio.ClosedResourceError("another task closed this descriptor")
            await trio.lowlevel.checkpoint()
            return True
        await trio.sleep(ASK_SECONDS)
    return False
