"""Lines that are typed, or come from a pipe or a file."""

import os
from pathlib import Path

import trio

from arena.cli.play_terminal import LONGEST_LINE, TypedLines


async def all_lines(descriptor: int) -> list[str]:
    lines, found = TypedLines(descriptor), []
    with trio.fail_after(20):
        while (line := await lines.line()) is not None:
            found.append(line)
    return found


def test_a_pipe_gives_its_lines_and_then_none() -> None:
    read, write = os.pipe()
    os.write(write, b"one\r\ntwo\n\nlast")
    os.close(write)
    assert trio.run(all_lines, read) == ["one", "two", "", "last"]
    os.close(read)


def test_a_file_on_a_disk_is_read_though_nobody_can_wait_for_it(tmp_path: Path) -> None:
    (tmp_path / "moves").write_bytes(b"ready\ne4-e5\n\xff\n")
    with open(tmp_path / "moves", "rb") as file:
        assert trio.run(all_lines, file.fileno()) == ["ready", "e4-e5", "\ufffd"]


def test_waiting_for_a_line_can_be_cancelled_and_loses_nothing() -> None:
    read, write = os.pipe()

    async def waits() -> str | None:
        lines = TypedLines(read)
        os.write(write, b"half")
        with trio.move_on_after(0.01):
            await lines.line()
        os.write(write, b" a line\n")
        with trio.fail_after(20):
            return await lines.line()

    assert trio.run(waits) == "half a line"
    os.close(read)
    os.close(write)


def test_a_line_without_end_takes_no_memory_without_end(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"x" * 1_000_000 + b"\nnext\n")
    with open(tmp_path / "long", "rb") as file:
        first, *rest = trio.run(all_lines, file.fileno())
    assert len(first) <= LONGEST_LINE
    assert rest[-1] == "next"


def test_a_descriptor_that_is_gone_has_no_more_lines() -> None:
    read, write = os.pipe()
    os.close(write)
    assert trio.run(all_lines, read) == []
    os.close(read)
