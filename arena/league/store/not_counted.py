"""The games of its bots that the last league of a store did not count: a setting beside the games.

A store can hold more games of the same bots than its last league has: those of a format or a number of rounds that was
played before, and those that a disqualification leaves out. Which they are follows from the pairing, which has to be
asked for all its games to know it; so the league keeps what came of it, and every table of the store is that of the
league. Games that come in later, as by an import, count. It is a claim, so whoever shows a table says how many it
leaves out.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Annotated

import msgspec
from msgspec import Meta

NOT_COUNTED = "not counted"
"""The name of the setting."""
_Number = Annotated[int, Meta(ge=1, lt=2**53)]
Runs = tuple[tuple[_Number, _Number], ...]


class GameNumbers:
    """Numbers of games, kept as runs: each the first and the last of numbers that follow one another, in order."""

    def __init__(self, runs: Runs = ()) -> None:
        self.runs = runs
        self._firsts = [first for first, _ in runs]

    def __contains__(self, number: int) -> bool:
        at = bisect_right(self._firsts, number)
        return at > 0 and number <= self.runs[at - 1][1]

    def __bool__(self) -> bool:
        return bool(self.runs)


NO_GAMES = GameNumbers()


def not_counted_in(settings: Mapping[str, str]) -> GameNumbers:
    """Which games do not count; none, if that was not kept or cannot be read."""
    try:
        runs = msgspec.json.decode(settings.get(NOT_COUNTED) or "[]", type=Runs)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return NO_GAMES
    is_in_order = all(first <= last for first, last in runs) and all(one[1] < next_[0] for one, next_ in pairwise(runs))
    return GameNumbers(runs) if is_in_order else NO_GAMES


def encode_not_counted(numbers: Iterable[int]) -> str:
    """These numbers of games as the value of the setting."""
    runs: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return msgspec.json.encode(runs).decode() if runs else ""
