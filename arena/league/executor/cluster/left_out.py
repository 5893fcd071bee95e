"""Bots that are not played any more, so that all others can be: which, why, and when it comes to that.

A worker that cannot build or run a bot is not used, as long as others can play that bot. But no bot may keep a league
from being played: one that more workers cannot play than can is left out, and where no worker can play all bots, those
are left out that keep one worker from it. Its games are not played, and nobody forfeits.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from arena.league.executor.cluster.seat import Seat, Standing


class LeftOut:
    """The bots of one run that are not played any more: the `reasons`, in words that name them, by name."""

    def __init__(self, tell: Callable[[str, str], None] = lambda name, words: None) -> None:
        """`tell` is told of each, with its reason."""
        self.reasons: dict[str, str] = {}
        self._tell = tell

    def __contains__(self, name: str) -> bool:
        return name in self.reasons

    def add(self, name: str, why: str) -> None:
        """Play a bot no more."""
        if name not in self.reasons:
            self.reasons[name] = f"{name} is not played any more: {why}"
            self._tell(name, self.reasons[name])


def too_rarely_able(seats: Sequence[Seat]) -> list[str]:
    """The bots that more workers cannot play than can; none before it is known what each can."""
    if any(seat.standing is Standing.COMING and not seat.is_busy for seat in seats):
        return []
    able = sum(seat.standing is Standing.READY for seat in seats)
    unable = Counter(name for seat in seats for name in seat.unable)
    return [name for name, count in unable.items() if 0 < able < count]


def fewest_unable(seats: Sequence[Seat]) -> list[str]:
    """The bots that keep one worker from playing all others: of one with the fewest. None if that would not help."""
    kept_from = [list(seat.unable) for seat in seats if seat.unable]
    return min(kept_from, key=len) if kept_from else []


def why_unable(name: str, seats: Sequence[Seat]) -> str:
    """Why a bot is not played, by what the workers say."""
    told = [(seat.name, seat.unable[name]) for seat in seats if name in seat.unable]
    (first, why), *others = told
    also = f" (and on {', '.join(other for other, _ in others)})" if others else ""
    return f"it cannot be played on worker {first}{also}: {why}"
