"""Ctrl-C, SIGTERM and SIGHUP at each stage of a command.

- While modules are imported, and while stores are only read, the process ends at once.
- While bots are located, built and tried, there are children: `unwinding` raises KeyboardInterrupt, so that they end.
- While games are played there is no exception. `StopRequests` counts: the first Ctrl-C asks to stop soon; the next one,
  and SIGTERM and SIGHUP (from a service manager or a closing terminal), ask to stop now.

A signal that was ignored when the arena started (`nohup`, a script's `&`) stays ignored.
"""

import contextlib
import os
import select
import signal
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Any, Self

from arena.cli.exit_codes import INTERRUPTED
from arena.league.stop import StopRequest, Wish

INTERRUPTED_WORDS = "interrupted"
STOP_SIGNALS = tuple(signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

_told: list[Callable[[], None]] = []
"""Called in place of raising an exception, the last one first."""
Handler = Callable[[int, FrameType | None], Any]


def leave_at_once() -> None:
    """Have Ctrl-C end the process at once, with a message and the right exit code, unless it is ignored here."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def _leave(number: int, frame: FrameType | None) -> None:
    with contextlib.suppress(OSError, ValueError):
        if select.select([], [2], [], 0)[1]:  # a terminal held by Ctrl-S takes no output
            os.write(2, f"arena: {INTERRUPTED_WORDS}\n".encode())
    os._exit(INTERRUPTED)


@contextlib.contextmanager
def unwinding() -> Iterator[None]:
    """Have signals raise KeyboardInterrupt within the block; trio needs Python's own handler of Ctrl-C for that."""
    before = _take_over(_interrupt)
    if signal.SIGINT in before:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        _give_back(before)


def _interrupt(number: int, frame: FrameType | None) -> None:
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.raise_signal(signal.SIGINT)
    elif _told:
        _told[-1]()
    else:
        raise KeyboardInterrupt


@contextlib.contextmanager
def told_instead(tell: Callable[[], None]) -> Iterator[None]:
    """Have a signal call `tell` within the block, where Ctrl-C is ignored, without an exception."""
    _told.append(tell)
    try:
        yield
    finally:
        _told.remove(tell)


def _take_over(handler: Handler) -> dict[signal.Signals, Any]:
    heard = [number for number in STOP_SIGNALS if signal.getsignal(number) not in (signal.SIG_IGN, None)]
    return {number: signal.signal(number, handler) for number in heard}


def _give_back(before: dict[signal.Signals, Any]) -> None:
    for number, handler in before.items():
        signal.signal(number, handler)


class StopRequests(StopRequest):
    """Requests to stop by signals within a `with` block, without exceptions while games are played."""

    def __init__(self) -> None:
        super().__init__()
        self._before: dict[signal.Signals, Any] = {}
        self._while_reporting: int | None = None

    def __enter__(self) -> Self:
        self._before = _take_over(self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _give_back(self._before)

    def reporting(self) -> None:
        """Note that the games are over and the results are being printed.

        The next signal is ignored, as it may have been meant for the games; the one after it raises KeyboardInterrupt,
        for results without a reader.
        """
        self._while_reporting = 0

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._while_reporting is not None:
            self._while_reporting += 1
            if self._while_reporting > 1:
                self._while_reporting = 0
                raise KeyboardInterrupt
            return
        is_first = number == signal.SIGINT and self.wish is Wish.GO_ON
        self.ask(Wish.STOP_SOON if is_first else Wish.STOP_NOW)
