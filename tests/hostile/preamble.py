"""A whole bot in a few functions, for bots that misbehave at one point and are well-behaved up to it.

The tests put this text in front of each program of `bots.toml`. It imports next to nothing, so that a bot starts in a
few milliseconds; and it writes with `os.write`, so that what a program says goes out when it says so, in one piece.
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
