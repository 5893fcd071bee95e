"""One connection to a dask scheduler, by dask's client: which workers there are, what they are asked and sent.

It is used in the gate alone (`arena.league.executor.cluster.gate`). A worker is known by its address. Batches are for
one worker each: which one is the arena's to say, so that one that has sent a wrong record gets no other, and a pair of
games stays on one machine.
"""

import asyncio
import contextlib
import os
import secrets
import ssl
from collections.abc import Awaitable, Callable
from typing import Any

from arena.league.executor.cluster.dask import distributed, keep_no_messages
from arena.league.executor.cluster.guarded import Unknown
from arena.league.executor.cluster.messages import (
    LONGEST_WHY,
    Ask,
    Connect,
    FromGate,
    Mute,
    Reply,
    Speaks,
    Submit,
    Tls,
    Unconnected,
    WorkerCame,
    WorkerGone,
    WorkerSilent,
)
from arena.league.executor.cluster.plan import seconds_text

POLL_SECONDS = 0.5
"""How often the scheduler is asked which workers there are."""
LOOK_SECONDS = 0.1
"""How often it is looked whether the connection is still there, while an answer is waited for."""
MUTE_SECONDS = 3.0
"""A scheduler that has not answered for so long is mute."""
LONGEST_ATTEMPT = 10.0
"""How long one attempt to connect may last."""
DASK_SHARE = 0.5
"""How much of that dask has, which knows why it failed, and takes a while to say so."""
LEAVE_SECONDS = 5.0
"""How long workers have to hear that the run is over."""


Tell = Callable[[FromGate], Awaitable[None]]
"""Tells the arena something."""


class _WorkerFaultError(Exception):
    """A task has failed on its worker, or with it."""


def mute_seconds(patience: float) -> float:
    """After how long a scheduler counts as mute that is waited for so long."""
    return min(MUTE_SECONDS, patience / 2)


class Scheduler:
    """One connection to a scheduler."""

    def __init__(self, tell: Tell, connect: Connect, *, is_again: bool = False) -> None:
        """`is_again`: there was a connection before, and it has been told that it is tried to reach the scheduler."""
        self._tell = tell
        self._address = connect.address
        self._tls = connect.tls
        self._patience = connect.patience
        self._farewell = connect.farewell
        self._is_again = is_again
        self._client: Any = None
        self._kept: Any = None
        """A task that is held for as long as the connection lasts."""
        self._id = ""
        """What the scheduler is called, which is random: another one has another one."""
        self.is_mute = False
        """Whether it has not answered for a while."""
        self._workers: dict[str, float] = {}
        """By address, what the scheduler said last of when it had heard of it."""
        self._changed_at: dict[str, float] = {}
        """When that changed, by the clock here."""
        self._silent: set[str] = set()
        self._looks = 0
        """How often the scheduler has said which workers there are."""
        self._looked = asyncio.Event()
        self._keys = f"arena-{secrets.randbelow(10**18)}"
        """What the keys of our tasks begin with: other arenas at this scheduler may have the same numbers."""
        self._work: dict[int, tuple[str, asyncio.Task[None]]] = {}
        """By number, the worker that was asked or sent something, and what waits for its answer."""

    # --- the scheduler ------------------------------------------------------------------------------------------------

    async def connect(self, deadline: float) -> Unconnected | None:
        """Connect to the scheduler, until this time by the loop's clock; returns what there is to tell if it fails."""
        distributed()  # whose own settings come with it
        keep_no_messages()
        now = asyncio.get_running_loop().time
        said, attempt = "", MUTE_SECONDS
        is_told = self._is_again
        while True:
            left = deadline - now()
            if left <= 0:
                return Unconnected(
                    f"no dask scheduler answers at {self._address} within {seconds_text(self._patience)}{said}"
                )
            try:
                most = min(left, attempt)
                client = distributed().Client(
                    self._address, asynchronous=True, security=_security(self._tls), timeout=most * DASK_SHARE
                )
                # its own timeout says why, but does not end the wait for what takes the connection and says nothing
                self._client = await asyncio.wait_for(client, most)
                other = await self._other_version()
                return Unconnected(other, is_usage=True) if other else None
            except (OSError, TimeoutError, ValueError, TypeError) as error:
                if cause := cause_of_silence(error, is_tls=self._tls is not None):
                    said = f": {cause}"
            left = max(0.0, deadline - now())
            if not is_told and left:
                await self._tell(Mute(left, said.removeprefix(": ")))
                is_told = True
            attempt = min(2 * attempt, LONGEST_ATTEMPT)
            await asyncio.sleep(min(left, POLL_SECONDS))

    async def _other_version(self) -> str:
        """What keeps this dask and the scheduler's from speaking with one another; empty if nothing does."""
        ours = distributed().__version__
        found = await asyncio.wait_for(self._client.get_versions(check=False), LONGEST_ATTEMPT)
        theirs = ((found.get("scheduler") or {}).get("packages") or {}).get("distributed")
        if theirs != ours:
            return (
                f"the scheduler at {self._address} runs distributed {theirs}, and this arena {ours}: "
                f"expected the same on all machines (python -m pip install distributed=={theirs})"
            )
        return ""

    def keep_group(self) -> None:
        """Have the scheduler hold one small task of ours for as long as we are here. Tasks whose keys begin alike are a
        group, and for each group that it begins anew it keeps some kilobytes for ever."""
        self._kept = self._client.submit(bytes, pure=False, key=f"{self._keys}-0")

    async def watch(self) -> float:
        """Tell which workers come, fall silent and go, until the scheduler is lost or has been mute for too long.

        Returns until when it may be tried to reach it again, by the loop's clock.
        """
        now = asyncio.get_running_loop().time
        heard = now()
        while (identity := await self._identity(heard)) is not None:
            heard, before = now(), heard
            if heard - before > mute_seconds(self._patience):  # of its workers nothing could be heard meanwhile, either
                self._changed_at = {address: at + heard - before for address, at in self._changed_at.items()}
            await self._note_workers(identity["workers"])
            self._looks += 1
            self._looked.set()
            await asyncio.sleep(POLL_SECONDS)
        return heard + self._patience

    async def _identity(self, heard: float) -> Any:
        """What the scheduler says of itself and its workers; None if it is lost, or has been mute for too long since
        it was heard. That it is mute is told."""
        now = asyncio.get_running_loop().time
        asking = asyncio.ensure_future(self._client.scheduler.identity(n_workers=-1))
        try:
            while not asking.done():
                if self._client.status != "running" or now() > heard + self._patience:
                    return None
                if not self.is_mute and now() > heard + mute_seconds(self._patience):
                    self.is_mute = True
                    await self._tell(Mute(max(0.0, heard + self._patience - now())))
                await asyncio.wait({asking}, timeout=LOOK_SECONDS)
            identity = asking.result()
        except OSError:
            return None
        finally:
            asking.cancel()
        if self._client.status != "running" or identity["id"] != (self._id or identity["id"]):
            return None  # another one has been started there: what this one was sent is lost
        self._id = identity["id"]
        if self.is_mute:
            self.is_mute = False
            await self._tell(Speaks())
        return identity

    async def _note_workers(self, workers: dict[str, Any]) -> None:
        now = asyncio.get_running_loop().time()
        for address in [address for address in self._workers if address not in workers]:
            await self._gone(address)
        for address, worker in workers.items():
            seen = float(worker["last_seen"])
            is_new = address not in self._workers
            if is_new or seen != self._workers[address]:
                self._changed_at[address] = now
            self._workers[address] = seen
            if is_new:
                await self._tell(WorkerCame(address, str(worker["name"]), str(worker["host"])))
            is_silent = now - self._changed_at[address] > self._patience
            if is_silent != (address in self._silent):
                (self._silent.add if is_silent else self._silent.discard)(address)
                await self._tell(WorkerSilent(address, is_back=not is_silent))

    async def _gone(self, address: str) -> None:
        del self._workers[address], self._changed_at[address]
        self._silent.discard(address)
        for worker, task in list(self._work.values()):
            if worker == address:
                task.cancel()
        await self._tell(WorkerGone(address))

    async def close(self) -> None:
        """Leave the scheduler, which forgets all that was sent to it as soon as it knows."""
        for worker in list(self._workers):
            await self._gone(worker)
        for _, task in list(self._work.values()):
            task.cancel()
        if self._client is not None:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(self._client.close(timeout=1), LEAVE_SECONDS)

    # --- the workers --------------------------------------------------------------------------------------------------

    def begin(self, message: Ask | Submit) -> None:
        """Have a worker do something. Its reply comes unless the worker goes."""
        work = self._ask if isinstance(message, Ask) else self._submit
        task = asyncio.ensure_future(self._reply(message, work))
        self._work[message.number] = message.worker, task
        task.add_done_callback(lambda _: self._work.pop(message.number, None))

    async def _reply(self, message: Ask | Submit, work: Any) -> None:
        try:
            data = await work(message)
            reply = Reply(message.number, data if isinstance(data, bytes) else b"")  # which is no message, either
        except asyncio.CancelledError:
            raise
        except Exception as error:  # whatever dask makes of it: there is no answer, and here is why
            is_fault = isinstance(error, _WorkerFaultError | Unknown)
            reply = Reply(message.number, lost=_last_cause(error)[:LONGEST_WHY], is_fault=is_fault)
            if not is_fault:  # perhaps it is the scheduler that is lost: then all workers are gone, and this is too
                await self._next_look()
        await self._tell(reply)

    async def _next_look(self) -> None:
        """Wait until the scheduler has been asked once more which workers there are."""
        seen = self._looks
        while self._looks < seen + 2:
            self._looked.clear()
            await self._looked.wait()

    async def _ask(self, message: Ask) -> Any:
        from arena.league.executor.cluster.service import handle

        answers = await self._client.run(handle, message.data, workers=[message.worker])
        return answers[message.worker]

    async def _submit(self, message: Submit) -> Any:
        from arena.league.executor.cluster.service import play

        future = self._client.submit(
            play,
            message.data,
            workers=[message.worker],
            allow_other_workers=False,
            pure=False,
            retries=0,
            key=f"{self._keys}-{message.number}",
        )
        try:
            await distributed().wait([future])
            if future.status == "error":
                raise _WorkerFaultError(str(await future.exception()))
            (data,) = await self._client.gather([future])
        except asyncio.CancelledError:
            with contextlib.suppress(Exception):
                await self._client.cancel([future], force=True)
            raise
        else:
            return data
        finally:
            future.release()

    async def bid_farewell(self) -> None:
        """Tell all workers that the run is over, and wait for their answers for a time."""
        from arena.league.executor.cluster.service import handle

        heard = [worker for worker in self._workers if worker not in self._silent and not self.is_mute]
        if heard:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(
                    self._client.run(handle, self._farewell, workers=heard, on_error="ignore"), LEAVE_SECONDS
                )


def _security(tls: Tls | None) -> Any:
    if tls is None:
        return None
    return distributed().Security(
        tls_ca_file=os.fsdecode(tls.ca),
        tls_client_cert=os.fsdecode(tls.cert),
        tls_client_key=os.fsdecode(tls.key),
        require_encryption=True,
    )


def cause_of_silence(error: BaseException, *, is_tls: bool) -> str:
    """Why no connection was made, in words for whoever has given the address; empty if nothing was heard."""
    while isinstance(error, OSError) and error.__cause__ is not None:
        error = error.__cause__
    match error:
        case TimeoutError() | asyncio.CancelledError():
            return ""
        case ssl.SSLCertVerificationError():
            return f"its certificate cannot be verified: {error.verify_message}"
        case ConnectionResetError() if not is_tls:
            return "connection reset by peer; the address of a scheduler with TLS begins with tls://"
        case ValueError() if is_tls:
            return "what listens there does not speak TLS"
        case OSError() if error.strerror and not isinstance(error, ssl.SSLError):
            return error.strerror[0].lower() + error.strerror[1:]
    return _last_cause(error)


def _last_cause(error: BaseException) -> str:
    """What lies behind an error, in one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    words = " ".join(str(error).split())
    if isinstance(error, _WorkerFaultError | Unknown):
        return words
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
