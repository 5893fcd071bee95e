"""How a worker is made ready to play: it is told of the run, and sent the bots that its machine has not got yet."""

from collections.abc import Awaitable, Callable

import msgspec
import trio

from arena.errors import UsageError
from arena.league.executor.cluster.carrying import Cargo
from arena.league.executor.cluster.left_out import LeftOut
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
from arena.league.executor.pipes import WireError
from arena.league.executor.wire import unpacked

AGAIN_SECONDS = 1.0
"""After this time a worker is asked again that could not be reached."""

MOST_SENT = 3
"""So often a worker is sent bots that it says it has not got."""

PART_BYTES = 16 << 20
"""A pack is sent in parts of this size: while a larger message is on its way the scheduler answers nobody."""

AskWorker = Callable[[bytes], Awaitable[Answer | None]]
"""Asks a worker; None if it is gone, or the run is stopped. Raises `WireError`."""


async def prepare(ask: AskWorker, cargo: Cargo, left_out: LeftOut, remark: Callable[[str], None]) -> Answer | None:
    """Have a worker ready to play all bots but those that are left out; returns what it says in the end: `Prepared`,
    unless something is wrong. A bot that cannot be packed any more is left out. `remark` is told what the worker says
    of bots."""
    try:
        answer = await _prepared(ask, cargo, left_out, remark)
        while isinstance(answer, Unprepared):
            await trio.sleep(AGAIN_SECONDS)  # the way there is not free just now
            answer = await _prepared(ask, cargo, left_out, remark)
    except WireError as error:
        return Refused(f"it sends what is no message: {error}")
    return answer


async def _prepared(ask: AskWorker, cargo: Cargo, left_out: LeftOut, remark: Callable[[str], None]) -> Answer | None:
    for _ in range(MOST_SENT):
        bots = tuple(bot for bot in cargo.run.bots if unpacked(bot.bot.name) not in left_out)
        answer = await ask(encode(Prepare(msgspec.structs.replace(cargo.run, bots=bots))))
        if not isinstance(answer, Missing):
            return answer
        for line in answer.remarks:
            remark(line)
        for key in answer.keys:
            if key not in cargo.packs:
                return Refused("it asks for a bot that does not take part")
            try:
                pack = await trio.to_thread.run_sync(cargo.packs.__getitem__, key)
            except UsageError as error:
                for bot in (bot for bot in bots if bot.key == key):
                    left_out.add(unpacked(bot.bot.name), str(error))
                continue
            for at in range(0, len(pack), PART_BYTES):
                put = await ask(encode(PutBot(key, pack[at : at + PART_BYTES], at, len(pack))))
                if not isinstance(put, Done):
                    return put
    return Refused(f"it does not keep the bots that it is sent: it was sent some {MOST_SENT} times")
