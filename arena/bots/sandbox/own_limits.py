"""The resource limits of this process itself: whether somebody has lowered them, and what can be put back.

At the default level a bot runs as the arena's user and may set the limits of the arena's processes (`prlimit`). All
bots that are started afterwards inherit them: games of others would end as "no-start", and the store could not be
written. So a process remembers what it began with and compares before each start, which takes some microseconds.
"""

import sys

if sys.platform != "win32":
    import resource

Pair = tuple[int, int]
"""The soft and the hard limit."""


class LimitsChangedError(Exception):
    """Limits of this process were lowered by another one, and what has been done since cannot be relied on."""


def _names() -> dict[int, str]:
    """The limits that there are, by their numbers. RLIMIT_LOCKS, by which bots are marked, is unknown to Python."""
    if sys.platform == "win32":
        return {}
    found = sorted(name for name in dir(resource) if name.startswith("RLIMIT_"))
    names = {getattr(resource, name): name for name in found if name != "RLIMIT_OFILE"}  # another name of NOFILE
    return names | ({10: "RLIMIT_LOCKS"} if sys.platform == "linux" else {})


class OwnLimits:
    """The limits of this process as they were when this was made, or accepted."""

    def __init__(self) -> None:
        self._names = _names()
        self._begun: dict[int, Pair] = {}
        self.accept()

    def accept(self) -> None:
        """Take what the limits are now for what they are to be: the arena itself has lowered some."""
        self._begun = {number: resource.getrlimit(number) for number in self._names}

    def lowered(self) -> dict[int, Pair]:
        """The limits that are lower now than they were, by their numbers. Raised ones keep nobody from anything."""
        now = {number: resource.getrlimit(number) for number in self._begun}
        return {number: pair for number, pair in now.items() if _is_lower(pair, self._begun[number])}

    def words(self, lowered: dict[int, Pair]) -> str:
        """What was changed: `RLIMIT_AS from unlimited to 1048576`."""
        return ", ".join(
            f"{self._names[number]} from {_text(self._begun[number])} to {_text(pair)}"
            for number, pair in sorted(lowered.items())
        )

    def mend(self) -> str:
        """Put back what was lowered. Returns what that was, in words; an empty string if nothing was.

        Raises `LimitsChangedError`, whose text are these words, if the system does not allow it: to raise a hard limit
        takes privileges.
        """
        lowered = self.lowered()
        if not lowered:
            return ""
        words = self.words(lowered)
        for number in lowered:
            try:
                resource.setrlimit(number, self._begun[number])
            except (OSError, ValueError):
                raise LimitsChangedError(words) from None
        return words


def write_no_bytecode() -> None:
    """Have this process leave no compiled modules behind from now on.

    It may import one while a bot has lowered the size of its files. What is written of it is cut off then, and Python
    does not notice: each later command that reads it would fail.
    """
    sys.dont_write_bytecode = True


def file_size_limit() -> int | None:
    """Bytes that a file which this process writes may have; None if there is no limit."""
    if sys.platform == "win32":
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return None if soft == resource.RLIM_INFINITY else soft


def _is_lower(now: Pair, begun: Pair) -> bool:
    return any(_rank(value) < _rank(before) for value, before in zip(now, begun, strict=True))


def _rank(value: int) -> float:
    return float("inf") if value == resource.RLIM_INFINITY else value


def _text(pair: Pair) -> str:
    soft, hard = ("unlimited" if value == resource.RLIM_INFINITY else str(value) for value in pair)
    return soft if soft == hard else f"{soft} (hard {hard})"
