"""Bot programs as processes: start them, watch what they use, and leave no process of them behind.

A bot has a session and process group of its own and three pipes (`arena.processes.pipes`). Programs are started with
`subprocess.Popen` on the main thread (trio would use a worker thread that retires, and parent-death signals follow the
thread). Deaths are noticed through a pidfd without reaping, so that no other process can get a process group's number
before it is killed.

A `Launch` holds the command, which may begin with a sandbox, the limits, and perhaps a control group.
`arena.sandbox.watch` measures the whole process tree twenty times a second, `arena.sandbox.freezer` stops it,
and `arena.sandbox.killing` ends it.
"""

import os
import signal
import subprocess
import time

import trio

from arena.bots.limits import size_text
from arena.bots.spec import TOKEN_VARIABLE
from arena.game.faults import Cause, Excess
from arena.game.hints import Activity
from arena.processes.pipes import Pipes, StandardError
from arena.processes.usage import CpuTimes, OwnProcesses, UsageAccount
from arena.sandbox import killing, reaper
from arena.sandbox.freezer import Freezer
from arena.sandbox.launch import Launch, StartError, cannot_start_another
from arena.sandbox.procfs import oom_kills
from arena.sandbox.rlimits import limit_tree
from arena.sandbox.watch import Watch
from arena.system.concurrency import background, readable
from arena.system.user_files import HOST_ERRORS

EXIT_OF_SIGNALS = 128
"""Added by shells and sandboxes to the number of the signal that killed their program, as exit code."""
QUIT_GRACE = 0.5
"""Seconds that a bot has to exit by itself after `quit`."""
STARVED_MOST = 10.0
"""Seconds of grace on top for a bot that a busy machine does not run."""
AT_ONCE = 0.02
"""The first seconds of waiting for an exit, without watching the bot: most exit at once."""
IDLE_SPIN = 0.0005
"""Seconds of polling a bot without a pause after its game: most are idle after a fifth of it."""
IDLE_PAUSE = 0.001
STARVED_PAUSE = 0.01
TERM_GRACE = 0.2
"""Seconds between SIGTERM and SIGKILL."""
REMOVE_PATIENCE = 5.0
"""Seconds after which a control group is left behind; the kernel needs a few milliseconds."""


class BotProcess(Pipes):
    """A running bot. Made by `start`; `end` must be called, which leaves no process of it alive."""

    def __init__(self, popen: "subprocess.Popen[bytes]", token: str, launch: Launch) -> None:
        assert popen.stdin is not None
        assert popen.stdout is not None
        assert popen.stderr is not None
        self._popen = popen
        self._launch = launch
        self.pid = popen.pid
        self.sandbox = launch.words
        self.is_confined = launch.helpers > 0
        """Whether it runs in namespaces of its own, where its folder is read-only."""
        super().__init__(popen.stdin, popen.stdout)
        os.set_blocking(popen.stderr.fileno(), False)
        self._stderr = StandardError(popen.stderr.fileno())
        self._pidfd = os.pidfd_open(self.pid) if hasattr(os, "pidfd_open") else None
        self._own = OwnProcesses(self.pid, launch.helpers)
        self._oom_kills = oom_kills()
        """The number of processes that the kernel had killed for want of memory at the start."""
        self._freezer = Freezer(self.pid, launch.group, launch.helpers)
        self._watch = Watch(
            self.pid, launch.limits, launch.helpers, self._freezer.found, is_counted=launch.group is not None
        )
        self._account = UsageAccount(self.pid, launch.group, self._watch, self._freezer)
        reaper.register(self.pid, token)

    @classmethod
    def start(cls, launch: Launch) -> "BotProcess":
        """Start a bot's program. Raises `StartError` if that fails, and `HostError` if it is the machine's fault."""
        token = reaper.new_token()
        reaper.adopt_orphans()
        try:
            popen = subprocess.Popen(
                list(launch.command),
                cwd=launch.folder,
                env={**launch.environment, TOKEN_VARIABLE: token},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno in HOST_ERRORS:
                raise cannot_start_another(error) from error
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise StartError(
                f"cannot run {' '.join(launch.command)}: {reason}", getattr(error, "errno", None)
            ) from error
        try:
            process = cls(popen, token, launch)
        except OSError as error:  # no descriptor was left for the pidfd
            with popen:
                popen.kill()
            raise cannot_start_another(error) from error
        limit_tree(process.pid, None if launch.helpers else launch.limits, launch.cpus)
        return process

    async def drain_stderr(self) -> None:
        await self._stderr.drain()

    def read_stderr_now(self) -> None:
        """Read what standard error holds now, so that the tail is complete."""
        assert self._popen.stderr is not None
        if not self._popen.stderr.closed:
            self._stderr.read_rest()

    @property
    def stderr_tail(self) -> str:
        return self._stderr.tail

    async def watch(self) -> Excess:
        return await self._watch.until_over()

    @property
    def used_us(self) -> int:
        """Microseconds of processor time of all its processes in this game; known after `settle` or `end`."""
        return self._account.used_us

    @property
    def peak_memory(self) -> int:
        return self._account.peak_memory

    @property
    def pondered_us(self) -> int:
        return self._account.pondered_us

    def cpu_us(self) -> int:
        """Return the processor time in us so far: of the tree in a control group, otherwise of the first process."""
        return self._launch.group.cpu_us() if self._launch.group else self._own.cpu_us()

    def used_since(self, before_us: int) -> int | None:
        """Return the microseconds of processor time used since `cpu_us` was `before_us`; None if that is incomplete."""
        if self._launch.group:
            return max(0, self.cpu_us() - before_us)
        return self._own.used_since(before_us)

    def first_times(self) -> CpuTimes:
        return self._own.first_times()

    def times(self) -> CpuTimes | None:
        times = self._own.times()
        return times._replace(used_us=self._launch.group.cpu_us()) if times and self._launch.group else times

    def freeze(self) -> None:
        self._freezer.freeze(trio.current_time())
        if self._freezer.has_several:
            self._watch.hurry()

    def thaw(self) -> None:
        if self._freezer.is_frozen:
            self._freezer.thaw(trio.current_time())
            if words := self._freezer.complaint():
                self._watch.report(Excess(Cause.PONDERING, words))

    def kill_now(self) -> None:
        """Kill all processes that it has at this moment. `end` must still be called."""
        if self._launch.group:
            self._launch.group.kill()
        killing.kill_now(self.pid)

    async def settle(self) -> bool:
        """Wait after a game until the bot has read its input and waits for more; return whether it can play another.

        It cannot if that takes longer than `QUIT_GRACE`, if it has exited, has written unexpected output, or is over a
        limit. Cannot be cancelled.
        """
        with trio.CancelScope(shield=True):
            self.thaw()
            end = time.monotonic() + IDLE_SPIN
            while not (is_idle := self._is_idle()) and time.monotonic() < end:
                await trio.lowlevel.checkpoint()
            if not is_idle:
                await self._until_idle()
            await self._watch.look_in_steps()
            self.read_stderr_now()
            self._account.sum_up_alive()
        return self._is_idle() and self.is_ready

    @property
    def is_ready(self) -> bool:
        return not (self._watch.excess or self.has_output() or self.has_exited())

    async def _until_idle(self) -> None:
        end, before = trio.current_time() + QUIT_GRACE, self.worked_us()
        async with background(self.drain_stderr) as nursery:
            nursery.start_soon(self._watch_to, nursery.cancel_scope)
            with trio.move_on_after(QUIT_GRACE + STARVED_MOST):
                while not (self._is_idle() or self.has_exited()):
                    if trio.current_time() > end and not self.is_starved(before, QUIT_GRACE):
                        break
                    await trio.sleep(IDLE_PAUSE)

    def activity(self) -> Activity:
        return self._own.activity()

    def _is_idle(self) -> bool:
        return self.has_unread() is False and self._own.is_asleep()

    def worked_us(self) -> int:
        return self._own.worked_us()

    def is_starved(self, before_us: int, seconds: float) -> bool:
        return self._own.is_starved(before_us, seconds)

    def begin_anew(self) -> None:
        """Reset processor time and standard error for another game."""
        self._account.begin_anew()
        self._stderr.begin_anew()

    async def exits_within(self, seconds: float) -> bool:
        """Return whether the process exits in that time, or soon after if a busy machine does not run it.

        Standard error has to be drained meanwhile.
        """
        before = self.worked_us()
        with trio.move_on_after(seconds + STARVED_MOST):
            with trio.move_on_after(seconds):
                await self.wait_exit()
            while not self.has_exited() and self.is_starved(before, seconds):
                with trio.move_on_after(STARVED_PAUSE):
                    await self.wait_exit()
        return self.has_exited()

    async def wait_exit(self) -> None:
        """Wait until the process is dead, without reaping it."""
        if self._pidfd is not None:
            await readable(self._pidfd)
        else:
            while not self.has_exited():  # noqa: ASYNC110  (outside Linux no event announces the death of an unreaped child)
                await trio.sleep(0.01)

    def has_exited(self) -> bool:
        return self._popen.returncode is not None or reaper.exit_status(self.pid) is not None

    def exit_status(self) -> int | None:
        """Return the exit code, minus the number of the signal that killed the process, or None while it runs.

        A sandbox exits with 128 plus the number of the signal that killed the bot, as a shell does; a bot can exit with
        such a code, too.
        """
        status = reaper.exit_status(self.pid)
        if status is None:
            return None
        return status[1] if status[0] == os.CLD_EXITED else -status[1]

    def may_be_killed(self) -> bool:
        """Return whether SIGKILL has ended the process, or perhaps the bot within its sandbox."""
        status, helpers = reaper.exit_status(self.pid), self._launch.helpers
        is_code = bool(helpers) and self.exit_status() == EXIT_OF_SIGNALS + signal.SIGKILL
        return is_code or (status is not None and status[0] != os.CLD_EXITED and status[1] == signal.SIGKILL)

    def exit_words(self) -> str:
        """Return how the process ended, in words that follow "the bot"."""
        status = reaper.exit_status(self.pid)
        if status is None:
            return "is still running"
        code, number = status
        return f"exited with code {number}" if code == os.CLD_EXITED else reaper.killed_words(number)

    def out_of_memory(self) -> Excess | None:
        """Return the excess if the kernel killed the bot for using more memory than is allowed."""
        group, limits = self._launch.group, self._launch.limits
        if group and limits and group.oom_kills():
            words = f"used more memory than the {size_text(limits.memory)} that are allowed, all its processes together"
            return Excess(Cause.MEMORY, words)
        return None

    def machine_was_out_of_memory(self) -> bool:
        """Return whether the bot was probably killed because the machine's memory had run out.

        That may be any program's doing; in a control group it is the bot's own.
        """
        return self.may_be_killed() and self._launch.group is None and oom_kills() > self._oom_kills

    async def end(self, grace: float = QUIT_GRACE) -> None:
        """Close the bot's input, wait `grace` seconds for it to exit, then kill all its processes.

        Without grace it is killed at once. Cannot be cancelled: it takes well under a second, and a half-killed tree is
        worse.
        """
        with trio.CancelScope(shield=True):
            self.close_input()
            if grace:
                self.thaw()
                with trio.move_on_after(min(grace, AT_ONCE)):
                    await self.wait_exit()
                if not self.has_exited():
                    await self._wait_for_exit(grace - AT_ONCE)
            if not self.has_exited() or reaper.has_orphans(self.pid):
                await self._watch.look_in_steps()
            used = self.cpu_us()
            await self._kill_all(used)
            self.read_stderr_now()
            self._close()

    async def _wait_for_exit(self, grace: float) -> None:
        async with background(self.drain_stderr) as nursery:
            nursery.start_soon(self._watch_to, nursery.cancel_scope)
            with trio.move_on_after(max(0, grace)):
                await self.wait_exit()
            if not self.has_exited():
                reaper.signal_group(self.pid, signal.SIGTERM)
                with trio.move_on_after(TERM_GRACE):
                    await self.wait_exit()

    async def _watch_to(self, scope: trio.CancelScope) -> None:
        await self.watch()
        scope.cancel()

    async def _kill_all(self, used_us: int) -> None:
        """Kill and reap the whole tree, which is known to have used at least `used_us` of processor time."""
        group = self._launch.group
        if group:
            group.kill()
        used = await killing.kill_tree(self.pid)
        if not self.has_exited():  # it is dead, but of some of its threads
            with trio.move_on_after(killing.PATIENCE):
                await self.wait_exit()
        status, last = reaper.reap(self.pid)
        self._popen.returncode = os.waitstatus_to_exitcode(status)
        reaper.forget(self.pid)
        used += last
        self._account.sum_up_dead(max(used, used_us))
        await killing.kill_hidden()
        if group:
            with trio.move_on_after(REMOVE_PATIENCE):
                while not group.remove():  # noqa: ASYNC110  (the kernel holds a group longer than its dead)
                    await trio.sleep(0.001)

    def _close(self) -> None:
        self.close_output()
        if self._popen.stderr is not None:
            self._popen.stderr.close()
        if self._pidfd is not None:
            os.close(self._pidfd)
        self._own.close()
