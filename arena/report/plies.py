"""Which plies of a game are asked for: `30-60`, `12`, `0,5,90-`."""

import re
from dataclasses import dataclass

from arena.errors import UsageError
from arena.printable import shown

_PART = re.compile(r"(\d{1,9})(?:(-)(\d{1,9})?)?|-(\d{1,9})", re.ASCII)
LAST = 10**9


@dataclass(frozen=True)
class Plies:
    """Ranges of plies, both ends included; 0 is the position after the set-ups. No range stands for the whole game."""

    ranges: tuple[tuple[int, int], ...] = ()

    @property
    def are_all(self) -> bool:
        """Whether the whole game was asked for, with how it ended."""
        return not self.ranges

    def has(self, ply: int) -> bool:
        """Whether a ply is asked for."""
        return self.are_all or any(first <= ply <= last for first, last in self.ranges)

    def are_over(self, ply: int) -> bool:
        """Whether no later ply is asked for."""
        return not self.are_all and ply >= max(last for _, last in self.ranges)

    def check(self, game: int, plies: int) -> None:
        """Raise `UsageError` if a game, the one of this number, has fewer plies than one that was asked for."""
        for first, last in self.ranges:
            wrong = next((ply for ply in (first, last) if ply > plies and ply != LAST), None)
            if wrong is not None:
                raise UsageError(f"--ply: expected a ply of game {game}, from 0 to {plies}, got {wrong}")


ALL_PLIES = Plies()


def parse_plies(text: str) -> Plies:
    """Plies as they are written on the command line. Raises `UsageError`."""
    ranges = []
    for part in text.split(","):
        match = _PART.fullmatch(part.strip())
        if match is None:
            raise UsageError(f"--ply: expected plies such as 12, 30-60, 90- or 0,5,30-60; got {shown(text)}")
        first = int(match[1] or 0)
        last = int(match[4] or match[3] or (LAST if match[2] else first))
        if first > last:
            raise UsageError(f"--ply: expected a range with its smaller end first, got {shown(part)}")
        ranges.append((first, last))
    return Plies(tuple(ranges))
