"""Standard output and standard error: they never stop a game, and lost results are an error.

Both are written to the descriptors without Python's buffers, which would try again at exit.
"""

import enum
import errno
import io
import os
import select
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from arena.cli.interrupts import unwinding
from arena.system.printable import printable
from arena.system.terminal_text import Paint, colored, fitted, has_colors, height_of, plain, width_of

STDIN, STDOUT, STDERR = 0, 1, 2
SECONDS_BETWEEN_REMARKS = 5.0
LINES_SHOWN = 10
IN_ASCII = "backslashreplace"


class OutputError(Exception):
    """The results cannot be written to standard output; the text says why."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"cannot write the results: {error.strerror}")
        self.is_reader_gone = error.errno == errno.EPIPE
        """Whether the reader has ended, as in `| head`."""

    def tell(self, more: str = "") -> None:
        if not self.is_reader_gone:
            complain(f"arena: {self}{more}")


class Detail(enum.Enum):
    QUIET = enum.auto()
    USUAL = enum.auto()
    VERBOSE = enum.auto()


_said = [Detail.USUAL]


def set_detail(detail: Detail) -> None:
    _said[:] = [detail]


def detail() -> Detail:
    return _said[0]


def take_over() -> None:
    """Replace `sys.stdout` and `sys.stderr`; open closed descriptors, which would be reused for a store."""
    for number in (STDIN, STDOUT, STDERR):
        try:
            os.fstat(number)
        except OSError:  # /dev/null, only to read: writing to it still fails
            opened = os.open(os.devnull, os.O_RDONLY)  # the lowest number that is free: this one
            os.set_inheritable(opened, True)
    if sys.platform == "win32":  # its consoles are no descriptors, and no bots run there
        return
    sys.stdout = _stream(_Descriptor(STDOUT, is_needed=True), sys.stdout)
    sys.stderr = _stream(_Descriptor(STDERR, is_needed=False), sys.stderr)


def result(text: str, end: str = "\n") -> None:
    """Print results. Raises `OutputError`, now or at the next `flush_results`."""
    print(text, end=end, file=sys.stdout)


def writable(text: str) -> str:
    """Return text as `result` prints it, for a pager: click would give it UTF-8 in an ASCII terminal."""
    return text.encode(sys.stdout.encoding, IN_ASCII).decode(sys.stdout.encoding)


def result_bytes(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)


def remark(text: str) -> None:
    if detail() is not Detail.QUIET:
        complain(text)


def remark_some(what: str, lines: Sequence[str]) -> None:
    """Remark on the first of many lines of a kind, and how many more there are."""
    for line in lines[:LINES_SHOWN]:
        remark(f"{what}: {line}")
    if len(lines) > LINES_SHOWN:
        remark(f"{what}: {len(lines) - LINES_SHOWN} more")


def complain(text: str) -> None:
    print(fitted(printable(text, lines=True), sys.stderr), file=sys.stderr, flush=True)


class NowAndThen:
    """Remarks on progress, one in some seconds."""

    def __init__(self) -> None:
        self._remarked = time.monotonic()

    def remark(self, text: str) -> None:
        if time.monotonic() - self._remarked > SECONDS_BETWEEN_REMARKS:
            self._remarked = time.monotonic()
            remark(text)


def flush_results() -> None:
    sys.stdout.flush()


def try_to_print(print_results: Callable[[], None], store: Path | None = None) -> bool:
    """Print results. Returns False after an error, which tells in which store their games are."""
    try:
        print_results()
        flush_results()
    except OutputError as error:
        error.tell(f"; the games are stored in {store}" if store else "")
        return False
    return True


def _stream(descriptor: "_Descriptor", former: TextIO | None) -> TextIO:
    encoding = (former and former.encoding) or "utf-8"
    return io.TextIOWrapper(
        cast("BinaryIO", descriptor),  # any object that writes all its input will do as a buffer
        encoding,
        IN_ASCII,
        line_buffering=descriptor.isatty(),
        write_through=not descriptor.is_needed,
    )


class _Descriptor(io.RawIOBase):
    """A raw stream that writes to a descriptor until the first failure, and discards output after that."""

    def __init__(self, number: int, *, is_needed: bool) -> None:
        self._number, self.is_needed = number, is_needed
        self._is_dead = False

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._number

    def isatty(self) -> bool:
        return os.isatty(self._number)

    def write(self, data: "memoryview | bytes") -> int:  # type: ignore[override]  # typeshed: any buffer
        rest = memoryview(data)
        while rest and not self._is_dead:
            try:
                rest = rest[os.write(self._number, rest) :]
            except BlockingIOError:  # another program at the terminal has made it so
                select.select([], [self._number], [])
            except OSError as error:
                self._is_dead = True
                if self.is_needed:
                    raise OutputError(error) from None
        return len(data)


AUTO, ALWAYS = "auto", "always"


def paint_for(color: str) -> Paint:
    return colored if color == ALWAYS or (color == AUTO and has_colors(sys.stdout)) else plain


def print_text(text: str, *, color: str) -> None:
    """Print a text, in the user's pager if it does not fit a terminal."""
    import click  # `arena --help` prints without it

    columns = width_of(sys.stdout)
    rows = sum(1 + len(click.unstyle(line)) // columns for line in text.splitlines())
    if not sys.stdout.isatty() or rows < height_of(sys.stdout):
        result(text, end="")
        return
    if sys.stdout.encoding == "utf-8":  # for any locale: `less` would show it byte by byte in that of C
        os.environ.setdefault("LESSCHARSET", "utf-8")
    with unwinding():  # the pager is there until the terminal is in order again
        click.echo_via_pager(writable(text), color=True if color == ALWAYS else None)
