"""The process of the player as its parent has it: its start, its messages, and its end."""

import os
import subprocess
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import trio

from arena.bots.spec import TOKEN_VARIABLE
from arena.errors import ArenaError
from arena.host.pipeline import child_token
from arena.host.player import FromPlayer, PlayOrder, from_player
from arena.league.executor.child_process import READ_SIZE, Frames, WireError, own_python
from arena.sandbox.killing import kill_left_by
from arena.sandbox.reaper import killed_words
from arena.system.concurrency import background
from arena.system.printable import printable

PROGRAM = """
import sys
sys.path[:] = sys.argv[1:]
from arena.host.player import main
sys.exit(main())
"""
END_SECONDS = 10.0
"""Time for a player whose input has ended, before it is killed."""
STDERR_KEPT = 2000


async def run_player(
    folder: Path,
    order: PlayOrder,
    started: Callable[[int], None],
    hear: Callable[[Sequence[FromPlayer]], bool],
    until_due: Callable[[], Awaitable[None]],
) -> str:
    """Run a player to its end; return in words how it ended. Nothing of it is left, also if this is cancelled.

    `started` gets its process id, and `hear` its messages; if that returns false, the player is ended at once. When
    `until_due` returns, it is asked to begin no further game. Raises `ArenaError` if it cannot be started.
    """
    token, said = f"{child_token(folder)}.player", bytearray()
    try:
        process = await trio.lowlevel.open_process(
            own_python(PROGRAM),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
            env={**os.environ, TOKEN_VARIABLE: token},
            start_new_session=True,
        )
    except OSError as error:
        raise ArenaError(f"this machine cannot start a process: {error.strerror}") from error
    started(process.pid)

    async def give_order() -> None:
        assert process.stdin is not None
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            await process.stdin.send_all(msgspec.json.encode(order) + b"\n")
            await until_due()
            await process.stdin.send_all(b"end\n")

    async def read_errors() -> None:
        assert process.stderr is not None
        while data := await process.stderr.receive_some(READ_SIZE):
            said.extend(data)
            del said[:-STDERR_KEPT]

    try:
        async with background(give_order, read_errors):
            await _read(process, hear)
    finally:
        with trio.CancelScope(shield=True):
            await _end(process)
            await kill_left_by(token)
    code = process.returncode or 0
    how = killed_words(-code) if code < 0 else f"ended with code {code}"
    words = printable(said.decode("utf-8", "replace").strip(), STDERR_KEPT, lines=True)
    return f"the player {how}{f': {words}' if words else ''}"


async def _read(process: trio.Process, hear: Callable[[Sequence[FromPlayer]], bool]) -> None:
    frames = Frames(from_player)
    assert process.stdout is not None
    while data := await process.stdout.receive_some(READ_SIZE):
        try:
            messages = frames.feed(bytes(data))
        except WireError as error:
            raise ArenaError(f"the player said what is no message: {error}") from None
        if messages and not hear(messages):
            return


async def _end(process: trio.Process) -> None:
    """Have a player end at once, by the end of its input, and kill it if it does not."""
    assert process.stdin is not None
    await process.stdin.aclose()
    with trio.move_on_after(END_SECONDS):
        await process.wait()
    if process.returncode is None:
        process.kill()
        await process.wait()
    for stream in (process.stdout, process.stderr):
        assert stream is not None
        await stream.aclose()
