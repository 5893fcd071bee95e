"""Bot programs as processes: start them, talk to them without ever being blocked, and leave nothing of them behind.

This is the one place that starts a bot and the one place that kills a process.

A bot gets a session and process group of its own and three pipes. Its standard error is drained all the time, so that
it never blocks there, and only the last part is kept. Programs are started with `subprocess.Popen` on the main thread
(trio would do it on a worker thread that retires, and parent-death signals follow the thread). The dead are noticed
through a pidfd without being reaped, so that no stranger can take a process group's number before it is killed.

What a bot starts belongs to it. On Linux the arena makes itself the reaper of orphans: a grandchild that left its
group and lost its parent becomes the arena's own child, is told by a token in its environment, and is killed with its
bot. SIGTERM is a courtesy; SIGKILL follows in any case.
"""

import contextlib
import ctypes
import errno
import os
import secrets
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil
import trio

from arena.model import ArenaError

STDERR_KEPT = 16 * 1024
"""Bytes of a bot's standard error that are kept: the last ones."""

READ_SIZE = 8192
STDERR_READ_SIZE = 64 * 1024
STDERR_LAST_READS = 64
"""How often what is left of standard error is read after the end: more than a pipe holds, and no more than that."""
QUIT_GRACE = 0.5
"""Seconds that a bot has to exit by itself after `quit`."""
TERM_GRACE = 0.2
"""Seconds between SIGTERM and SIGKILL."""
KILL_PATIENCE = 5.0
"""Seconds after which the hunt for a bot's processes is given up; SIGKILL takes far less unless the kernel hangs."""

TOKEN_VARIABLE = "STRATEGO_ARENA_PROCESS"

_leaders: set[int] = set()
_sole_parent = False


HOST_ERRORS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ENOSPC})
"""What the system says when it is the machine that has run out of something: no bot is to blame for it."""


class HostError(ArenaError):
    """The machine cannot carry another bot: no descriptors, processes or memory are left."""


class StartError(Exception):
    """A bot's program could not be started; the text is the system's reason."""


def adopt_orphans() -> None:
    """Make this process the parent of what its bots orphan (Linux; elsewhere nothing happens)."""
    if sys.platform == "linux":
        set_child_subreaper = 36  # PR_SET_CHILD_SUBREAPER in <linux/prctl.h>
        ctypes.CDLL(None, use_errno=True).prctl(set_child_subreaper, 1, 0, 0, 0)


def claim_all_orphans() -> None:
    """Say that bots are the only children this process ever has: an orphan that hides whose it is may be killed too."""
    global _sole_parent  # noqa: PLW0603  (a property of the process as a whole, not of any object in it)
    _sole_parent = True


class BotProcess:
    """A running bot. Made by `start`; must be ended with `end`, which leaves no process of it alive."""

    def __init__(self, popen: "subprocess.Popen[bytes]", token: str) -> None:
        assert popen.stdin is not None
        assert popen.stdout is not None
        assert popen.stderr is not None
        self._popen = popen
        self._token = token
        self.pid = popen.pid
        self.stdin = popen.stdin.fileno()
        self.stdout = popen.stdout.fileno()
        self._stderr = popen.stderr.fileno()
        for descriptor in (self.stdin, self.stdout, self._stderr):
            os.set_blocking(descriptor, False)
        self._pidfd = os.pidfd_open(self.pid) if hasattr(os, "pidfd_open") else None
        self._stray = select.poll()
        self._stray.register(self.stdout, select.POLLIN)
        self._tail = bytearray()
        self._stderr_lost = 0
        _leaders.add(self.pid)

    @classmethod
    def start(cls, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> "BotProcess":
        """Start a bot's program.

        Raises `StartError`, with the system's reason, if that cannot be done, and `HostError` if it is the machine's
        fault and not the bot's.
        """
        token = secrets.token_hex(8)
        try:
            popen = subprocess.Popen(
                list(command),
                cwd=folder,
                env={**environment, TOKEN_VARIABLE: token},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno in HOST_ERRORS:
                raise _host_error(error) from error
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise StartError(f"cannot run {' '.join(command)}: {reason}") from error
        try:
            return cls(popen, token)
        except OSError as error:  # no descriptor was left for the pidfd
            with popen:
                popen.kill()
            raise _host_error(error) from error

    # --- talking --------------------------------------------------------------------------------------------------

    async def write(self, data: bytes) -> None:
        """Write all of `data`, waiting while the pipe is full. A bot that no longer reads is passed over in silence:
        its end is told by its output or its exit."""
        while data:
            try:
                data = data[os.write(self.stdin, data) :]
            except BlockingIOError:
                await trio.lowlevel.wait_writable(self.stdin)
            except OSError:
                return

    def write_now(self, data: bytes) -> bytes:
        """Write what the pipe takes at once; returns the rest."""
        try:
            return data[os.write(self.stdin, data) :]
        except BlockingIOError:
            return data
        except OSError:
            return b""

    def has_output(self) -> bool:
        """Whether there is output that nobody has read (or its end has been reached)."""
        return bool(self._stray.poll(0))

    def output_within(self, seconds: float) -> bool:
        """Whether there is output now or within a time so short that it is not worth sleeping through."""
        end = time.perf_counter() + seconds
        while not self._stray.poll(0):
            if time.perf_counter() > end:
                return False
        return True

    def read_now(self) -> bytes | None:
        """What there is to read at once: None if there is nothing yet, empty at the end of output."""
        try:
            return os.read(self.stdout, READ_SIZE)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    async def drain_stderr(self) -> None:
        """Keep reading standard error, and its last part, until its end. Run this beside everything else."""
        while True:
            await trio.lowlevel.wait_readable(self._stderr)
            count = self._read_stderr()
            if count == 0:
                return
            if count == STDERR_READ_SIZE:
                await trio.sleep(0.001)  # a flood may fill the pipe and wait: it must not take the arena's time

    def _read_stderr(self) -> int | None:
        """Read standard error once; returns the number of bytes, 0 at its end and None if there is nothing now."""
        try:
            data = os.read(self._stderr, STDERR_READ_SIZE)
        except BlockingIOError:
            return None
        except OSError:
            return 0
        self._tail += data
        surplus = len(self._tail) - STDERR_KEPT
        if surplus > 0:
            del self._tail[:surplus]
            self._stderr_lost += surplus
        return len(data)

    @property
    def stderr_tail(self) -> str:
        """The last part of what the bot wrote to standard error, with a line saying how much was dropped before it."""
        text = self._tail.decode("utf-8", "replace")
        return f"[{self._stderr_lost} bytes before this were dropped]\n{text}" if self._stderr_lost else text

    # --- the end --------------------------------------------------------------------------------------------------

    async def wait_exit(self) -> None:
        """Return once the process is dead. It is not reaped yet."""
        if self._pidfd is not None:
            await trio.lowlevel.wait_readable(self._pidfd)
        else:
            while not self.has_exited():  # noqa: ASYNC110  (outside Linux nothing tells of a child's death unreaped)
                await trio.sleep(0.01)

    def has_exited(self) -> bool:
        """Whether the process is dead."""
        return self._popen.returncode is not None or _exit_status(self.pid) is not None

    def exit_words(self) -> str:
        """How the process ended, in words that follow "the bot"."""
        status = _exit_status(self.pid)
        if status is None:
            return "is still running"
        code, number = status
        if code == os.CLD_EXITED:
            return f"exited with code {number}"
        try:
            name = signal.Signals(number).name
        except ValueError:  # the real-time signals have no names
            name = "unknown"
        return f"was killed by signal {number} ({name})"

    async def end(self, grace: float = QUIT_GRACE) -> None:
        """Close the bot's input, wait `grace` seconds for it to exit, then kill all that is left of it.

        Cannot be cancelled: it takes well under a second, and a tree half killed is worse than waiting.
        """
        assert self._popen.stdin is not None
        with trio.CancelScope(shield=True):
            self._popen.stdin.close()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self.drain_stderr)
                with trio.move_on_after(grace):
                    await self.wait_exit()
                if not self.has_exited():
                    self._signal_group(signal.SIGTERM)
                    with trio.move_on_after(TERM_GRACE):
                        await self.wait_exit()
                await self._kill_tree()
                nursery.cancel_scope.cancel()
            for _ in range(STDERR_LAST_READS):
                if not self._read_stderr():
                    break
            self._close()

    async def _kill_tree(self) -> None:
        beside = [] if sys.platform == "linux" else _descendants(self.pid)
        pause = 0.0005
        with trio.move_on_after(KILL_PATIENCE):
            while True:
                self._signal_group(signal.SIGKILL)
                for process in beside:
                    with contextlib.suppress(psutil.Error):
                        process.kill()
                strays = self._kill_orphans()
                if self.has_exited() and not strays and not self._group_lives():
                    break
                await trio.sleep(pause)  # death is quick but not immediate, and some of the dead have no pidfd
                pause = min(pause * 2, 0.02)
        self._popen.poll()
        _leaders.discard(self.pid)

    def _signal_group(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _group_lives(self) -> bool:
        """Whether the bot's process group has a member beside its dead leader."""
        for pid in _children_of_arena() - _leaders:
            with contextlib.suppress(OSError):
                if os.getpgid(pid) == self.pid and os.waitpid(pid, os.WNOHANG)[0] == 0:
                    return True
        return False

    def _kill_orphans(self) -> bool:
        """Kill what the bot left behind as orphans; returns whether any was still there."""
        found = False
        only_bot = _sole_parent and _leaders == {self.pid}
        for pid in _children_of_arena() - _leaders:
            with contextlib.suppress(OSError):
                if os.waitpid(pid, os.WNOHANG)[0] == pid:
                    found = True  # its own children may have become orphans since the list was made: look again
                    continue
                if only_bot or _carries(pid, self._token):
                    os.kill(pid, signal.SIGKILL)
                    found = True
                # Whose a dying process is can no longer be told; it is soon dead, and then it has to be reaped.
                found = found or _is_dying(pid)
        return found

    def _close(self) -> None:
        for stream in (self._popen.stdout, self._popen.stderr):
            if stream:
                stream.close()
        if self._pidfd is not None:
            os.close(self._pidfd)


def _host_error(error: OSError) -> HostError:
    return HostError(f"this machine cannot start another bot: {error.strerror}; fewer games at a time (-j) may help")


def _exit_status(pid: int) -> tuple[int, int] | None:
    """How a child died, as waitid's code and status, without reaping it; None while it lives."""
    try:
        result = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return (os.CLD_EXITED, 0)
    return None if result is None else (result.si_code, result.si_status)


def _children_of_arena() -> set[int]:
    """The ids of this process's own children, zombies included."""
    children: set[int] = set()
    for task in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            children.update(int(field) for field in task.read_text().split())
    return children


def _carries(pid: int, token: str) -> bool:
    try:
        return token.encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False


def _is_dying(pid: int) -> bool:
    """Whether a process has begun to exit: its memory is gone, but it cannot be reaped yet."""
    try:
        return Path(f"/proc/{pid}/statm").read_text().startswith("0 ")
    except OSError:
        return False


def _descendants(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []
