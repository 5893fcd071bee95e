"""Functions of a bot that plays correctly. A program that the tests put them in front of misbehaves at one point only.

This text comes before each program of `bots.toml`. It imports next to nothing, so that a bot starts in a few
milliseconds; and it writes with `os.write`, so that each line is sent at once and in one piece.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # neither is quick to import
    from collections.abc import Callable
    from typing import Any

GIVEN: "dict[str, Any]" = {}
"""What a bot that attacks knows of its surroundings; the tests put it in front of its program."""

heard: dict[str, list[str]] = {}
"""The fields of the last line of each verb; `rule army` is there as `army`."""

_draws = 1


def say(line: str) -> None:
    """Send one line."""
    os.write(1, line.encode("latin-1") + b"\n")


def hear(verb: str) -> list[str]:
    """Read up to the next line of that verb and return its fields; exit on `quit` or when there is no more to read."""
    while True:
        fields = sys.stdin.readline().split()
        if not fields or fields[0] == "quit":
            sys.exit()
        key = "army" if fields[:2] == ["rule", "army"] else fields[0]
        heard[key] = fields[1:]
        if key == verb:
            return heard[key]


def army() -> str:
    """The letters of all pieces, as `BB22F`."""
    return "".join(letter * int(count) for letter, count in (field.split(":") for field in heard["army"][1:]))


def rows() -> str:
    """A set-up with the army on its back rows."""
    cells = army().ljust(40, ".")
    return "/".join(cells[start : start + 10] for start in (0, 10, 20, 30))


def is_red() -> bool:
    return heard["game"][0] == "red"


def introduce(want: str = "legal") -> None:
    hear("hello")
    say(f"want {want}")
    say("ready")


def set_up() -> None:
    hear("setup")
    say("setup " + rows())


def answer() -> None:
    """Wait for the turn and make some legal move; the same ones in every run."""
    global _draws  # noqa: PLW0603  (a program of thirty lines)
    hear("turn")
    _draws = (_draws * 1103515245 + 12345) % 2**31
    say("move " + heard["legal"][_draws // 1024 % len(heard["legal"])])


def play(turns: int = -1) -> None:
    """Make so many moves; without a number, play to the end."""
    while turns:
        answer()
        turns -= 1


def patrol_rows() -> str:
    """A set-up with one scout alone on the front row, left."""
    cells = army().replace("2", "", 1).ljust(30, ".")
    return "/".join([cells[:10], cells[10:20], cells[20:], "2........."])


def patrol(turn: int) -> str:
    """The scout's move of that number (from 0): to and fro on the front row, where nothing can happen to it."""
    files = "abcdefghijihgfedcb"
    rank = 4 if is_red() else 7
    return f"{files[turn % 18]}{rank}-{files[(turn + 1) % 18]}{rank}"


def leave() -> None:
    """Leave the bot's session, or where that may not be, its process group."""
    try:
        os.setsid()
    except PermissionError:
        os.setpgid(0, 0)


# --- for those that attack ------------------------------------------------------------------------------------------


def begin() -> None:
    """Play up to the first turn."""
    introduce()
    set_up()
    hear("turn")


def give_up() -> None:
    """Resign, and exit when the game is over."""
    say("move resign")
    hear("quit")


def tell(text: str) -> None:
    """Say something that the record keeps."""
    say("note " + text)


def attempt(what: str, action: "Callable[[], object]") -> bool:
    """Try something and tell how that went. An action that returns False has failed, too."""
    try:
        done = action() is not False
        how = "done" if done else "failed: nothing came of it"
    except OSError as error:
        done, how = False, f"failed: {error.strerror}"
    tell(f"{what}: {how}")
    return done


def content(path: str) -> bytes:
    """All that is in a file."""
    with open(path, "rb") as file:
        return file.read()


def processes() -> list[int]:
    """The numbers of all other processes that can be seen."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]


def opponent() -> int:
    """The number of the opponent's process. Raises `ProcessLookupError` if there is none to be seen.

    It is known by the name of its program, which is random: what is done to it must not happen to any other.
    """
    name = os.path.basename(GIVEN["opponent"]).encode()
    for pid in processes():
        try:
            words = content(f"/proc/{pid}/cmdline").split(b"\0")
        except OSError:
            continue
        if len(words) > 1 and os.path.basename(words[-2]) == name:
            return pid
    raise ProcessLookupError(3, "No such process")


# --- for those that work while the opponent thinks --------------------------------------------------------------------

STOPPED = 0.25
"""Seconds: `unhurried` takes longer for a move, so that who is stopped meanwhile stands still for longer at a time.

Only that is certain on any machine. How much of a turn a process runs that is not stopped is up to the scheduler, and
so is how soon the arena comes to reading an answer, or to finding a process that is new."""


def own_pause(nap: float = 0.0) -> float:
    """Answer and spin until it is this bot's turn again; how long it has stood still at a time, at most, in seconds.

    With a `nap`, of so many seconds each time round, it hardly uses the processor.
    """
    import select
    import time

    last = time.monotonic()  # before it answers: it may be stopped the moment it has
    say("move " + heard["legal"][0])
    pause, is_over = 0.0, False
    while not is_over:
        is_over = bool(select.select([0], [], [], nap)[0])
        now = time.monotonic()
        pause, last = max(pause, now - last), now
    hear("turn")
    return pause


class DaemonsPause:
    """The same for a process that spins beside the bot: what the two tell each other is in memory that they share."""

    def __init__(self) -> None:
        import mmap
        import time

        # Since when pauses count (the bot writes it); the longest since then, and when it ran last (the daemon does).
        self._shared = mmap.mmap(-1, 24)
        self._since = self._before = self._last = time.monotonic()
        self._pause = 0.0

    def spin(self) -> None:
        """Called by the daemon again and again."""
        import struct
        import time

        since, now = struct.unpack_from("d", self._shared)[0], time.monotonic()
        if since != self._since:
            # It may have been stopped between the two calls above, and not have known that pauses count from then on:
            # so the step before this one counts as well.
            self._since, self._pause = since, self._last - max(self._before, since)
        self._pause = max(self._pause, now - max(self._last, since))
        self._before, self._last = self._last, now
        struct.pack_into("dd", self._shared, 8, self._pause, self._last)

    def seen(self) -> float:
        """Called by the bot at its turn: answer, and at its next turn return how long the daemon has stood still."""
        import struct
        import time

        since = time.monotonic()  # before it answers: the daemon may be stopped the moment it has
        struct.pack_into("d", self._shared, 0, since)
        say("move " + heard["legal"][0])
        hear("turn")
        pause, last = struct.unpack_from("dd", self._shared, 8)
        return float(max(pause, time.monotonic() - max(last, since)))
