"""A bot's process: it gets what it is given and no more, blocks nobody, and leaves nothing when it is ended."""

import os
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest
import trio
import trio.testing

import arena.processes.pipes
import arena.processes.usage
from arena.bots.spec import TOKEN_VARIABLE
from arena.game.hints import Activity
from arena.processes.process import BotProcess
from arena.sandbox import reaper
from arena.sandbox.launch import Launch, StartError
from arena.sandbox.reaper import adopt_orphans

ENVIRONMENT = {"PATH": os.defpath}
NEVER_ENDS = 120.0


def program(name: str) -> str:
    path = shutil.which(name)
    assert path is not None, f"these tests need {name}"
    return path


@asynccontextmanager
async def running(*command: str, environment: dict[str, str] | None = None) -> AsyncIterator[BotProcess]:
    """A process for the time of a block, at the end of which it is ended if the block has not done so."""
    process = BotProcess.start(Launch(command, Path("/"), ENVIRONMENT if environment is None else environment))
    try:
        with trio.fail_after(NEVER_ENDS):
            yield process
    finally:
        if process.pid in reaper.owners:
            await process.end(0)


def shell(script: str) -> tuple[str, ...]:
    return (program("sh"), "-c", script)


def python(script: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-c", script)


async def heard(process: BotProcess, word: bytes) -> bytes:
    """Read the process's output until this word is in it; returns all of it."""
    output = b""
    while word not in output:
        await trio.lowlevel.wait_readable(process.stdout)
        data = process.read_now()
        assert data != b"", f"the output ended with {output!r}"
        output += data or b""
    return output


async def whole_output(process: BotProcess) -> bytes:
    output = b""
    while True:
        await trio.lowlevel.wait_readable(process.stdout)
        data = process.read_now()
        if data == b"":
            return output
        output += data or b""


def is_alive(pid: int) -> bool:
    """Whether there is such a process, a zombie included."""
    return psutil.pid_exists(pid)


def open_descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


# --- starting ---------------------------------------------------------------------------------------------------------


def test_a_program_that_does_not_exist_is_named_with_the_reason() -> None:
    with pytest.raises(StartError, match=r"^cannot run /no/such/bot --fast: No such file or directory$"):
        BotProcess.start(Launch(["/no/such/bot", "--fast"], Path("/"), ENVIRONMENT))


def test_a_start_that_fails_leaves_no_descriptor_open(tmp_path: Path) -> None:
    before = open_descriptors()
    for _ in range(5):
        with pytest.raises(StartError):
            BotProcess.start(Launch([str(tmp_path / "none")], tmp_path, ENVIRONMENT))
    assert open_descriptors() == before


def test_the_environment_is_what_was_given_and_a_token() -> None:
    async def main() -> None:
        given = {"PATH": "/nowhere", "COLOUR": "red, \u00e9"}
        tokens = []
        for _ in range(2):
            async with running(program("env"), "-0", environment=given) as process:
                output = (await whole_output(process)).decode()
            variables = dict(entry.split("=", 1) for entry in output.split("\0") if entry)
            tokens.append(variables.pop(TOKEN_VARIABLE))
            assert variables == given
        assert tokens[0] != tokens[1], "a token must tell one process from another"

    trio.run(main)


# --- talking ----------------------------------------------------------------------------------------------------------


def test_standard_error_is_kept_as_lines_that_do_nothing_to_a_terminal() -> None:
    async def main() -> None:
        async with running(*shell("printf 'a\\tb\\r\\n\\033]52;c;aGk=\\007\\n\\342\\200\\256' >&2")) as process:
            await process.wait_exit()
            await process.end()
        assert process.stderr_tail == "a\tb\n\\x1b]52;c;aGk=\\x07\n\\u202e"

    trio.run(main)


# --- exiting ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_kept_waiting", [True, False])
def test_who_is_slow_to_exit_for_want_of_a_cpu_is_waited_for_and_nobody_else(
    is_kept_waiting: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that sleeps stands for one that is ready to run and is not run."""

    async def main() -> None:
        async with running(*shell("echo up; read line; sleep 0.3; exit 5")) as process:
            await heard(process, b"up")
            if is_kept_waiting:
                monkeypatch.setattr(arena.processes.usage, "activity_of", lambda pids: Activity.RUNS)
            process.write_now(b"quit\n")
            assert await process.exits_within(0.01) is is_kept_waiting

    trio.run(main)


# --- the end ----------------------------------------------------------------------------------------------------------


def test_who_exits_at_the_end_of_input_gets_no_signal() -> None:
    async def main() -> None:
        async with running(*shell("trap 'echo TERM >&2' TERM; echo up; cat; echo bye >&2")) as process:
            await heard(process, b"up")
            await process.end(NEVER_ENDS)
        assert process.stderr_tail == "bye\n"

    trio.run(main)


def test_who_does_not_exit_is_told_before_it_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena.processes.process, "TERM_GRACE", NEVER_ENDS)

    script = """
import os, signal, time
signal.signal(signal.SIGTERM, lambda *_: (os.write(2, b"TERM"), os._exit(0)))
print("up", flush=True)
time.sleep(1000)
"""

    async def main() -> None:
        async with running(*python(script)) as process:
            await heard(process, b"up")
            await process.end(0.01)
        assert process.stderr_tail == "TERM"

    trio.run(main)


def test_the_end_of_one_process_is_not_the_end_of_another_or_of_what_it_started() -> None:
    adopt_orphans()

    async def main() -> None:
        script = "setsid sh -c 'echo $$; exec sleep 1000' & wait"
        async with running(*shell(script)) as one, running(*shell(script)) as other:
            first, second = int(await heard(one, b"\n")), int(await heard(other, b"\n"))
            await one.end(0)
            assert not is_alive(first)
            assert is_alive(second)
            assert not other.has_exited()
            await other.end(0)
            assert not is_alive(second)

    trio.run(main)


def test_an_end_cannot_be_cancelled_half_way(left_behind: Callable[[], list[str]]) -> None:
    async def main() -> None:
        async with running(*shell("trap '' TERM; echo up; while :; do sleep 1000; done")) as process:
            await heard(process, b"up")
            with trio.CancelScope() as scope:
                scope.cancel()
                await process.end(0)
            assert left_behind() == []

    trio.run(main)
