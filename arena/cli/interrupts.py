"""Ctrl-C, and the other signals that ask the arena to stop, in each part of a command's life.

- While modules are imported and while stores are only read there is nothing to put in order: the process ends at once.
- While bots are looked for, built and tried there are children: `unwinding` raises KeyboardInterrupt, in good order if
  what runs is run by `arena.cli.process_setup`.
- While games are played nothing is raised. `StopRequests` counts: the first Ctrl-C asks to stop soon, the next one, and
  SIGTERM and SIGHUP, which come from a service manager or a closing terminal, ask to stop now.

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
"""What is to be called where an exception may not be raised at just any moment, the innermost last."""
Handler = Callable[[int, FrameType | None], Any]


def leave_at_once() -> None:
    """From now on Ctrl-C ends the process at once, with a word and the right exit code, unless it is ignored here."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def ignore_from_now_on() -> None:
    """The command is done, and Python about to tidy up: a Ctrl-C would only interrupt that, with a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _leave(number: int, frame: FrameType | None) -> None:
    with contextlib.suppress(OSError, ValueError):
        if select.select([], [2], [], 0)[1]:  # nobody may be reading a terminal that is held by Ctrl-S
            os.write(2, f"arena: {INTERRUPTED_WORDS}\n".encode())
    os._exit(INTERRUPTED)


@contextlib.contextmanager
def unwinding() -> Iterator[None]:
    """Within, a signal to stop raises KeyboardInterrupt, so that `with` and `finally` put in order what has begun.

    For Ctrl-C that is Python's own handler: only where it finds that one does trio raise at a moment that suits it.
    """
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
    """Within, a signal to stop is told so where Ctrl-C is ignored, and nothing is raised in the middle of anything."""
    _told.append(tell)
    try:
        yield
    finally:
        _told.remove(tell)


def _take_over(handler: Handler) -> dict[signal.Signals, Any]:
    """Let this handler have the signals that are not ignored; returns whose they were."""
    heard = [number for number in STOP_SIGNALS if signal.getsignal(number) not in (signal.SIG_IGN, None)]
    return {number: signal.signal(number, handler) for number in heard}


def _give_back(before: dict[signal.Signals, Any]) -> None:
    for number, handler in before.items():
        signal.signal(number, handler)


class StopRequests(StopRequest):
    """The signals to stop that come within a `with` block: counted, and never raised in the middle of anything.

    What has to be told after the games is told whatever comes; only if that takes its time, because nobody reads it,
    does a further signal raise KeyboardInterrupt: see `reporting`.
    """

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
        """The games are over, and only their results have still to be told.

        One more signal is passed over, as it may have been meant for the games; the one after it raises, and so on.
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
