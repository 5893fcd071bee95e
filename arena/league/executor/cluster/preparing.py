"""How a worker is made ready to play: it is told of the run, and sent the bots that its machine has not got yet."""

from collections.abc import Awaitable, Callable

import trio

from arena.league.executor.cluster.carrying import Cargo
from arena.league.executor.cluster.messages import (
    Answer,
    Done,
    Missing,
    Prepare,
    PutBot,
    Refused,
    Unprepared,
    encode,
)
from arena.league.executor.wire import WireError

AGAIN_SECONDS = 1.0
"""After this time a worker is asked again that could not be reached."""

AskWorker = Callable[[bytes], Awaitable[Answer | None]]
"""Asks a worker; None if it is gone, or the run is stopped. Raises `WireError`."""


async def prepare(ask: AskWorker, cargo: Cargo) -> Answer | None:
    """Have a worker ready to play; returns what it says in the end: `Prepared`, unless something is wrong."""
    try:
        answer = await _prepared(ask, cargo)
        while isinstance(answer, Unprepared):
            await trio.sleep(AGAIN_SECONDS)  # the way there is not free just now
            answer = await _prepared(ask, cargo)
    except WireError as error:
        return Refused(f"it sends what is no message: {error}")
    return answer


async def _prepared(ask: AskWorker, cargo: Cargo) -> Answer | None:
    request = encode(Prepare(cargo.run))
    answer = await ask(request)
    if not isinstance(answer, Missing):
        return answer
    for key in answer.keys:
        pack = cargo.packs.get(key)
        if pack is None:
            return Refused("it asks for a bot that does not take part")
        put = await ask(encode(PutBot(key, pack)))
        if not isinstance(put, Done):
            return put
    return await ask(request)
