"""Whiskers, curves and bars of the pages, as numbers for templates (`charts.html`)."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

WHISKER_WIDTH = 200
MARGIN = 48
NAME_HEIGHT = 15
"""Distance between the names at the ends of curves."""
NAMES_WIDTH = 120
WHISKER_STEP = 9
"""Distance between the intervals at the ends of curves."""
HUES = (250, 55, 140, 350, 95, 205, 25, 300)


def whiskers(elos: Sequence[tuple[float | None, float | None, float | None]]) -> list[dict[str, float | None]]:
    """Place each (Elo, low, high) on the scale of a table; None stays None."""
    known = [value for elo in elos for value in elo if value is not None]
    least, most = min(*known, 0.0, -10.0), max(*known, 0.0, 10.0)

    def at(value: float | None) -> float | None:
        return None if value is None else round(4 + (value - least) / (most - least) * (WHISKER_WIDTH - 8), 1)

    return [{"zero": at(0), "middle": at(elo), "low": at(low), "high": at(high)} for elo, low, high in elos]


class CurvePoint(NamedTuple):
    """A bot's Elo after a number of games, with its 95% interval; an end that the games do not bound is None."""

    games: int
    elo: float
    low: float | None
    high: float | None


class EloCurves:
    """The places in a picture of Elo over games: a curve for each of the first bots, its last interval and its name."""

    width, height, left, hues = 576, 320, MARGIN, HUES

    def __init__(self, series: Mapping[str, Sequence[CurvePoint]]) -> None:
        """`series` has points for each bot, at least for one."""
        self.lines = dict(list(series.items())[: len(HUES)])
        last = {name: line[-1] for name, line in self.lines.items()}
        self.most_games = max(point.games for point in last.values())
        values = [point.elo for line in self.lines.values() for point in line]
        values += [end for point in last.values() for end in (point.low, point.high) if end is not None]
        step = _step(max(max(values) - min(values), 20))
        self.low = math.floor(min(values) / step) * step
        self.high = max(math.ceil(max(values) / step) * step, self.low + step)
        self.grid = [self.low + number * step for number in range(round((self.high - self.low) / step) + 1)]
        self.right = self.width - NAMES_WIDTH - WHISKER_STEP * len(self.lines)
        self.whiskers = [self.right + 8 + WHISKER_STEP * number for number in range(len(self.lines))]
        self.names = spread({name: self.up(point.elo) for name, point in last.items()}, NAME_HEIGHT, self.height - 30)

    def across(self, games: int) -> float:
        return round(MARGIN + games / self.most_games * (self.right - MARGIN), 1)

    def up(self, elo: float | None, open_end: float = 0.0) -> float:
        """Return the height of an Elo within the picture; of an end that is not bounded that of `open_end`."""
        within = min(max(open_end if elo is None else elo, self.low), self.high)
        return round(self.height - 32 - (within - self.low) / (self.high - self.low) * (self.height - 52), 1)


def spread(wanted: Mapping[str, float], apart: float, most: float) -> dict[str, float]:
    """Return heights near the wanted ones: at most `most`, and at least `apart` from each other."""
    found: dict[str, float] = {}
    at = -math.inf
    for name, height in sorted(wanted.items(), key=lambda item: item[1]):
        at = max(height, at + apart)
        found[name] = at
    at = most + apart
    for name in reversed(found):
        at = min(found[name], at - apart)
        found[name] = round(at, 1)
    return found


class TimeBars:
    """The places in a picture of a `histogram` on a logarithmic scale, with the limit in milliseconds as a line."""

    width, height, left = 576, 200, MARGIN

    def __init__(self, counts: Mapping[int, int], limit: float | None) -> None:
        """`counts` has at least one class of times."""
        self.bars = [(edge(number), edge(number + 1), count) for number, count in sorted(counts.items())]
        self.most, self.limit = max(counts.values()), limit
        self._first, self._last = self.bars[0][0], max(self.bars[-1][1], limit or 0)
        powers = range(math.ceil(math.log10(self._first)), math.floor(math.log10(self._last)) + 1)
        self.marks = [10.0**power for power in powers]

    def across(self, milliseconds: float) -> float:
        share = math.log(milliseconds / self._first) / math.log(self._last / self._first)
        return round(MARGIN + share * (self.width - 2 * MARGIN), 1)


def _step(span: float) -> float:
    power: float = 10 ** math.floor(math.log10(span / 4))
    return next(power * factor for factor in (1, 2, 5, 10) if span / (power * factor) <= 8)


def histogram(times_us: Iterable[int]) -> Counter[int]:
    """Count times in microseconds by classes of a fifth of a power of ten; `edge` gives their limits."""
    return Counter(math.floor(math.log10(max(time, 10) / 10) * 5) for time in times_us)


def edge(number: int) -> float:
    """Return the lower limit of a class of `histogram`, in milliseconds."""
    return float(f"{0.01 * 10 ** (number / 5):.3g}")
