"""Whiskers, curves and bars of the pages, as numbers for templates or as SVG."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from arena.report.terminal import elo_text, interval_text
from arena.system.printable import isolated

WHISKER_WIDTH = 200
CURVE_SIZE = (576, 320)
BARS_SIZE = (576, 200)
MARGIN = 48
NAME_HEIGHT = 15
"""Distance between the names at the ends of curves."""
NAMES_WIDTH = 120
WHISKER_STEP = 9
"""Distance between the intervals at the ends of curves."""
LONGEST_NAME = 16
HUES = (250, 55, 140, 350, 95, 205, 25, 300)


def whiskers(elos: Sequence[tuple[float | None, float | None, float | None]]) -> list[dict[str, float | None]]:
    """Place each (Elo, low, high) on the scale of a table; None stays None."""
    known = [value for elo in elos for value in elo if value is not None] or [0.0]
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


def curves(series: Mapping[str, Sequence[CurvePoint]]) -> Markup:
    """Draw Elo over games: a line and a band for each of the first bots, and the last interval beside its name."""
    shown = dict(list(series.items())[: len(HUES)])
    if not shown:
        return Markup("")
    width, height = CURVE_SIZE
    last = {name: line[-1] for name, line in shown.items()}
    most_games = max(point.games for point in last.values())
    values = [point.elo for line in shown.values() for point in line]
    values += [end for point in last.values() for end in (point.low, point.high) if end is not None]
    step = _step(max(max(values) - min(values), 20))
    low = math.floor(min(values) / step) * step
    high = max(math.ceil(max(values) / step) * step, low + step)
    right = width - NAMES_WIDTH - WHISKER_STEP * len(shown)

    def across(games: int) -> float:
        return round(MARGIN + games / most_games * (right - MARGIN), 1)

    def up(elo: float | None, open_end: float) -> float:
        return round(
            height - 32 - (min(max(open_end if elo is None else elo, low), high) - low) / (high - low) * (height - 52),
            1,
        )

    parts = [_head(width, height, "Elo over time"), _text(6, 12, "Elo")]
    for number in range(round((high - low) / step) + 1):
        y = up(low + number * step, low)
        parts.append(_line("grid", MARGIN, y, right, y))
        parts.append(_text(MARGIN - 6, y + 4, elo_text(low + number * step), "end"))
    parts.append(_text(MARGIN, height - 10, "0 games", "middle"))
    parts.append(_text(right, height - 10, f"{most_games} games", "end"))
    heights = spread({name: up(point.elo, low) for name, point in last.items()}, NAME_HEIGHT, height - 30)
    for number, (hue, (name, line)) in enumerate(zip(HUES, shown.items(), strict=False)):
        end, x = last[name], right + 8 + WHISKER_STEP * number
        top = " ".join(f"{across(point.games)},{up(point.high, high)}" for point in line)
        bottom = " ".join(f"{across(point.games)},{up(point.low, low)}" for point in reversed(line))
        path = " ".join(f"{across(point.games)},{up(point.elo, low)}" for point in line)
        text = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "\N{HORIZONTAL ELLIPSIS}"
        parts += [
            Markup('<g color="light-dark(oklch(.45 .13 {0}), oklch(.78 .12 {0}))"><title>{1}</title>').format(
                hue, f"{isolated(name)}: {elo_text(end.elo)} ({interval_text(end.low, end.high)})"
            ),
            Markup('<polygon class="band" points="{} {}"/>').format(top, bottom),
            Markup('<polyline class="curve" points="{}" stroke-dasharray="{}"/>').format(path, number % 2 * 7),
            _line("range", x, up(end.low, low), x, up(end.high, high)),
            Markup('<circle cx="{}" cy="{}" r="3"/>').format(x, up(end.elo, low)),
            _text(width - NAMES_WIDTH + 6, heights[name] + 4, text),
            Markup("</g>"),
        ]
    return Markup("").join([*parts, Markup("</svg>")])


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


def bars(edges: Sequence[float], counts: Sequence[int], limit: float | None) -> Markup:
    """Draw counts between edges in milliseconds on a logarithmic scale, with the limit as a line."""
    width, height = BARS_SIZE
    most = max(counts, default=0)
    if not most:
        return Markup("")
    first, last = math.log(edges[0]), math.log(max(edges[-1], limit or 0))

    def across(milliseconds: float) -> float:
        return round(MARGIN + (math.log(milliseconds) - first) / (last - first) * (width - 2 * MARGIN), 1)

    parts = [_head(width, height, "Times of its moves")]
    for low, high, count in zip(edges, edges[1:], counts, strict=False):
        if count:
            tall = max(1.0, round(count / most * (height - 50), 1))
            wide, said = round(max(1.0, across(high) - across(low) - 1), 1), f"{low:g} to {high:g} ms: {count}"
            rect = Markup('<rect class="bar" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>')
            parts.append(rect.format(across(low), round(height - 24 - tall, 1), wide, tall, said))
    parts.append(_line("axis", MARGIN, height - 24, width - MARGIN, height - 24))
    powers = range(math.ceil(math.log10(edges[0])), math.floor(math.log10(math.exp(last))) + 1)
    parts += [_text(across(10.0**power), height - 8, f"{10.0**power:g} ms", "middle") for power in powers]
    if limit:
        parts.append(_line("limit", across(limit), 14, across(limit), height - 24))
        parts.append(_text(across(limit) - 4, 12, f"limit {limit:g} ms", "end"))
    return Markup("").join([*parts, Markup("</svg>")])


def _step(span: float) -> float:
    power: float = 10 ** math.floor(math.log10(span / 4))
    return next(power * factor for factor in (1, 2, 5, 10) if span / (power * factor) <= 8)


def _head(width: int, height: int, label: str) -> Markup:
    return Markup('<svg viewBox="0 0 {} {}" width="{}" height="{}" role="img" aria-label="{}">').format(
        width, height, width, height, label
    )


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> Markup:
    return Markup('<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(kind, x1, y1, x2, y2)


def _text(x: float, y: float, text: str, anchor: str = "start") -> Markup:
    return Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(x, y, anchor, text)


def histogram(times_us: Iterable[int]) -> Counter[int]:
    """Count times in microseconds by classes of a fifth of a power of ten; `edge` gives their limits."""
    return Counter(math.floor(math.log10(max(time, 10) / 10) * 5) for time in times_us)


def edge(number: int) -> float:
    """Return the lower limit of a class of `histogram`, in milliseconds."""
    return float(f"{0.01 * 10 ** (number / 5):.3g}")
