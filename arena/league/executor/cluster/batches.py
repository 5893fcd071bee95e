"""How many games are sent at a time, in numbers: a batch is worth its way, and no slot waits long for its end."""

import math

TARGET_SECONDS = 1.0
"""How long a batch is to take. Less, and the scheduler has more tasks to look after; more, and what is lost with a
worker, or what the last workers of a league wait for, is more."""
SHORT_SECONDS = 0.1
"""A game that takes less is short."""
LEAST_SHORT = 20
"""Short games go together in at least such a number."""
MOST = 1000
SMOOTHING = 0.5
"""How much the last batch counts, beside all before it."""
COLLECT_SECONDS = 5.0
"""So often a worker is asked what is over of batches that are not: so long a finished game waits at most."""
BEAT_SECONDS = 10.0
"""So often a worker is asked that at least, as long as it has anything: it is kept for who is heard of, and who does
not answer may be frozen."""


def batch_size(slots: int, seconds: float | None) -> int:
    """How many games a worker with so many slots gets, where a game takes so long (None: not known yet)."""
    if seconds is None:
        return slots
    size = max(slots, math.ceil(slots * TARGET_SECONDS / max(seconds, 0.0001)))
    return min(MOST, max(size, LEAST_SHORT) if seconds <= SHORT_SECONDS else size)


def smoothed(known: float | None, seconds: float) -> float:
    """How long a game takes, after a batch in which each took so long."""
    return seconds if known is None else known + SMOOTHING * (seconds - known)
