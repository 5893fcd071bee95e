"""Whiskers, curves and bars of the pages, as numbers for templates or as SVG."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

WHISKER_WIDTH = 200
CURVE_SIZE = (720, 260)
BARS_SIZE = (720, 200)
MARGIN = 44
NAME_HEIGHT = 15
"""Distance between the names at the ends of curves."""
LONGEST_NAME = 18
COLOURS = 8


def whiskers(elos: Sequence[tuple[float | None, float | None, float | None]]) -> list[dict[str, Any]]:
    """Place each (Elo, low, high) on the scale of a table; an open end, None, goes to the margin."""
    known = [value for elo in elos for value in elo if value is not None] or [0.0]
    least, most = min(*known, 0.0, -10.0), max(*known, 0.0, 10.0)

    def at(value: float | None, other: float | None = None) -> float | None:
        if value is None:
            return other
        return round(4 + (value - least) / (most - least) * (WHISKER_WIDTH - 8), 1)

    return [
        {
            "zero": at(0),
            "low": at(low, 0),
            "high": at(high, WHISKER_WIDTH),
            "middle": at(elo),
            "open_low": low is None,
            "open_high": high is None,
        }
        for elo, low, high in elos
    ]


def curves(series: Mapping[str, Sequence[tuple[int, float | None]]]) -> Markup:
    shown = dict(list(series.items())[:COLOURS])
    points = [(games, elo) for line in shown.values() for games, elo in line if elo is not None]
    if not points:
        return Markup("")
    width, height = CURVE_SIZE
    most_games = max(games for games, _ in points)
    low, high = min(elo for _, elo in points), max(elo for _, elo in points)
    step = _step(max(high - low, 20))
    low, high = math.floor(low / step) * step, math.ceil(high / step) * step
    high = max(high, low + step)

    def across(games: int) -> float:
        return round(MARGIN + games / most_games * (width - MARGIN - 170), 1)

    def up(elo: float) -> float:
        return round(height - 24 - (elo - low) / (high - low) * (height - 40), 1)

    parts = [_head(width, height, "Elo over time")]
    for number in range(round((high - low) / step) + 1):
        elo = low + number * step
        parts.append(_line("grid", MARGIN, up(elo), across(most_games), up(elo)))
        parts.append(_text(MARGIN - 6, up(elo) + 4, f"{round(elo) or 0:+d}", "end"))
    parts.append(_text(across(most_games), height - 6, f"{most_games} games", "end"))
    last = {
        name: next(elo for _, elo in reversed(line) if elo is not None)
        for name, line in shown.items()
        if any(elo is not None for _, elo in line)
    }
    heights = spread({name: up(elo) for name, elo in last.items()}, NAME_HEIGHT, height - 8)
    for number, (name, line) in enumerate(shown.items()):
        if name not in last:
            continue
        path = " ".join(f"{across(games)},{up(elo)}" for games, elo in line if elo is not None)
        parts.append(Markup('<polyline class="curve k{}" points="{}"/>').format(number, path))
        end = across(max(games for games, elo in line if elo is not None))
        lead = f"{end},{up(last[name])} {across(most_games) + 14},{heights[name]}"
        parts.append(Markup('<polyline class="leader" points="{}"/>').format(lead))
        text = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "\N{HORIZONTAL ELLIPSIS}"
        parts.append(_text(across(most_games) + 18, heights[name] + 4, text))
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
            x, wide = across(low), round(max(1.0, across(high) - across(low) - 1), 1)
            parts.append(
                Markup('<rect class="bar" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>').format(
                    x,
                    round(height - 24 - tall, 1),
                    wide,
                    tall,
                    f"{low:g} to {high:g} ms: {count}",
                )
            )
    parts.append(_line("axis", MARGIN, height - 24, width - MARGIN, height - 24))
    powers = range(math.ceil(math.log10(edges[0])), math.floor(math.log10(math.exp(last))) + 1)
    parts += [_text(across(10.0**power), height - 8, f"{10.0**power:g} ms", "middle") for power in powers]
    if limit:
        parts.append(_line("limit", across(limit), 14, across(limit), height - 24))
        parts.append(_text(across(limit) - 4, 12, f"limit {limit:g} ms", "end"))
    return Markup("").join([*parts, Markup("</svg>")])


def heat(share: float) -> int:
    return round(share * 10)


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
