"""Tables as they are printed for people, fitted to a width; nothing here is meant to be parsed.

A name that is too long is cut at its end where that leaves it unlike all others, else in the middle, so that it keeps
its end (`@3f9a12` of a version, `#2` of a copy), else by what it has in common with others. Names that are still alike
get a number.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from rich.cells import cell_len, chop_cells
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from arena.report.result_words import (
    advantage_text,
    against_itself_text,
    difference_text,
    elo_text,
    interval_text,
    missing_text,
    percent_text,
    points_text,
)
from arena.report.standings import Line, Superiority, Table

CUT = "…"
NAME_WIDTH = 24
"""Columns that a name may have in a table, unless there is room for more."""
LEAST = 6
"""Columns that a name has at least: two of its head, the cut, and three to tell it apart."""


def short_names(names: Iterable[str], width: int) -> dict[str, str]:
    """For each name one of at most `width` columns (but `LEAST`), no two of them alike.

    A name that has room stays as it is.
    """
    width = max(width, LEAST)
    full = list(dict.fromkeys(names))
    short = {name: name for name in full if cell_len(name) <= width}
    left = [name for name in full if name not in short]
    for form in _forms(left, width):
        if not left:
            break
        made = {name: form(name) for name in left}
        counts, taken = Counter(made.values()), set(short.values())
        fitting = {name: text for name, text in made.items() if counts[text] == 1 and text not in taken}
        short |= fitting
        left = [name for name in left if name not in fitting]
    short |= _numbered(left, width, set(short.values()))
    return {name: short[name] for name in full}


def _forms(names: Sequence[str], width: int) -> Iterator[Callable[[str], str]]:
    """Ways to shorten a name, the plainest first."""
    for columns in (0, *range(4, width - 2)):
        yield partial(_with_end, width, columns)
    shared = _shared(min(names, default=""), max(names, default=""))
    yield partial(_from_where_they_differ, width, dict.fromkeys(names, shared))
    longest = dict.fromkeys(names, 0)
    for before, name in pairwise(sorted(names)):
        shared = _shared(before, name)
        longest[before], longest[name] = max(longest[before], shared), max(longest[name], shared)
    yield partial(_from_where_they_differ, width, longest)


def _shared(first: str, second: str) -> int:
    """How many characters two names have in common at their start; the first and last of many in order: all of them."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(first), len(second)))


def _with_end(width: int, columns: int, name: str) -> str:
    """A name cut before its last `columns`."""
    return f"{_beginning(name, width - 1 - columns)}{CUT}{_beginning(name[::-1], columns)[::-1]}"


def _from_where_they_differ(width: int, shared: dict[str, int], name: str) -> str:
    """Two columns of the name, and what follows the characters that it shares with others."""
    return f"{_beginning(name, 2)}{CUT}{_beginning(name[shared[name] :], width - 3)}"


def _beginning(text: str, width: int) -> str:
    """The first characters, of at most so many columns."""
    return chop_cells(text, width)[0] if width > 0 and text else ""


def _numbered(names: Iterable[str], width: int, taken: set[str]) -> dict[str, str]:
    """Names that nothing else tells apart: cut, with numbers."""
    made = {}
    number = 1
    for name in names:
        while (text := f"{_beginning(name, width - len(str(number)) - 1)}{CUT}{number}") in taken:
            number += 1
        taken.add(text)
        made[name] = text
        number += 1
    return made


CROSS_CELL = 9
MOST_IN_CROSSTABLE = 20
"""Bots, up to which all are in the crosstable of a terminal; of a larger league it has those who fit into its width."""
WIDE = 100
"""Columns of a terminal in which a table has all there is, unless names are long."""
GAP = 2
"""Spaces between two columns."""
SHORT_NAME = 14
"""Columns that a name has at least before forfeits and intervals are left out for it."""
FOR_SHORT_NAMES = 2
"""The `extra` of columns up to which names are shortened before the columns are left out."""


def _grid() -> Grid:
    return Grid(box=None, pad_edge=False, header_style="dim")


def _title(text: str) -> Text:
    return Text(text, style="bold", no_wrap=True, overflow="ellipsis")


class _Column(NamedTuple):
    header: str
    cells: list[str]
    extra: int = 0
    """Columns with the highest number go first where there is no room."""

    @property
    def width(self) -> int:
        return max(map(cell_len, (self.header, *self.cells)))


def standings_grid(lines: Sequence[Line], width: int, broken: Collection[str] = ()) -> Grid:
    """Points of games, the score in per cent, wins, draws, losses, forfeits, Elo; per move the mean time, the mean
    processor time and the slowest, in ms. Bots named in `broken` could not be started, which stands for their points.

    More than two bots have the slowest move in `WIDE` columns only, so that it does not come and go during a run. Where
    there is less room, the times are left out one by one, then wins, draws and losses. Then names are shortened, and if
    that is not enough forfeits and intervals are left out. The Elo of two bots is half their difference, which is said
    elsewhere.
    """
    names = _Column("bot", [line.name for line in lines])
    columns = [
        _Column(
            "points",
            ["broken" if line.name in broken else f"{points_text(line.points)}/{line.games}" for line in lines],
        ),
        _Column("%", [f"{line.score:.1%}"[:-1] if line.score is not None else "-" for line in lines]),
        *(
            _Column(header, [str(getattr(line, field)) for line in lines], extra)
            for header, field, extra in (("W", "wins", 3), ("D", "draws", 3), ("L", "losses", 3))
        ),
        _Column("forfeits", [str(line.forfeits) for line in lines], 2),
        _Column("Elo", [elo_text(line.elo) or "-" for line in lines]),
        _Column("95%", [_interval_of(line) for line in lines], 1),
        *(
            _Column(header, [f"{ms:.1f}" if (ms := getattr(line, field)) is not None else "-" for line in lines], extra)
            for header, field, extra in (("ms", "mean_ms", 4), ("CPU", "cpu_ms", 5), ("slowest", "slowest_ms", 6))
        ),
    ]
    unfit = {"Elo", "95%"} if len(lines) == 2 else {"slowest"} if width < WIDE else set()
    columns = [column for column in columns if column.header not in unfit]
    places = _Column("#", [str(line.place) for line in lines])
    room = width - places.width - GAP
    while least := max(column.extra for column in columns):
        kept = min(names.width, NAME_WIDTH if least > FOR_SHORT_NAMES else SHORT_NAME)
        if _widths(columns) <= room - kept:
            break
        columns = [column for column in columns if column.extra != least]
    shown = short_names(names.cells, room - _widths(columns))
    grid = _grid()
    grid.add_column(places.header, justify="right")
    grid.add_column(names.header, no_wrap=True, overflow="ellipsis")
    for column in columns:
        grid.add_column(column.header, justify="right", no_wrap=True)
    for row, (place, name) in enumerate(zip(places.cells, names.cells, strict=True)):
        grid.add_row(place, Text(shown[name]), *(column.cells[row] for column in columns))
    return grid


def _interval_of(line: Line) -> str:
    return interval_text(line.elo_low, line.elo_high) if line.elo is not None else "-"


def _widths(columns: Sequence[_Column]) -> int:
    """Columns of a terminal that these take, with what is before each."""
    return sum(column.width + GAP for column in columns)


def notes(table: Table) -> list[Text]:
    """What is to be said below the standings: what is missing, and the difference between the two of a match."""
    missing = missing_text(table)
    found = [Text(missing)] if missing else []
    if table.against_itself:
        found.append(Text(against_itself_text(table)))
    if table.difference:
        found.append(Text(difference_text(table.difference)))
    if table.anchor and not table.difference:
        found.append(Text(f"Elo relative to {table.anchor.name} at {table.anchor.elo:g}"))
    if table.advantage:
        found.append(Text(advantage_text(table.advantage)))
    return found


def crosstables(table: Table, width: int) -> Iterable[Grid]:
    """Who scored what against whom, as points/games: of up to `MOST_IN_CROSSTABLE` bots in as many blocks of columns as
    the width asks for, else of as many of the first as one block has room for."""
    names = table.crosstable.order
    longest = min(NAME_WIDTH, max(cell_len(name) for name in names))
    across = max(1, (width - longest - 5) // CROSS_CELL)
    shown = names if len(names) <= MOST_IN_CROSSTABLE else names[:across]
    met = [table.crosstable.row(name) for name in shown]
    short = short_names(shown, NAME_WIDTH)
    for start in range(0, len(shown), across):
        grid = _grid()
        grid.add_column("#", justify="right")
        grid.add_column("bot", no_wrap=True, overflow="ellipsis")
        columns = shown[start : start + across]
        for rank in range(start + 1, start + len(columns) + 1):
            grid.add_column(str(rank), justify="right", no_wrap=True)
        for rank, (name, row) in enumerate(zip(shown, met, strict=True), 1):
            cells = [f"{points_text(m.points)}/{m.games}" if (m := row.get(column)) else "." for column in columns]
            grid.add_row(str(rank), Text(short[name]), *cells)
        yield grid


def pairs_grid(pairs: Sequence[Superiority], width: int) -> Grid:
    """How likely it is for each two bots that the first is the stronger one."""
    short = short_names(
        (name for pair in pairs for name in (pair.name, pair.opponent)), min(NAME_WIDTH, width // 2 - len("stronger"))
    )
    grid = _grid()
    for header in ("bot", "opponent"):
        grid.add_column(header, no_wrap=True, overflow="ellipsis")
    grid.add_column("stronger", justify="right", no_wrap=True)
    for pair in pairs:
        grid.add_row(Text(short[pair.name]), Text(short[pair.opponent]), percent_text(pair.stronger))
    return grid


def endings_grid(table: Table) -> Grid:
    """How the games ended, and who lost how often for each reason."""
    grid = _grid()
    grid.add_column("reason", no_wrap=True)
    grid.add_column("games", justify="right")
    grid.add_column("lost by")
    for ending in table.endings:
        losers = ", ".join(f"{name} {count}" for name, count in ending.losers.items()) or "(drawn)"
        grid.add_row(ending.reason.value, str(ending.games), Text(losers))
    return grid


def full_report(table: Table, width: int, clocks: str = "", broken: Collection[str] = ()) -> RenderableType:
    """Standings, crosstable and endings, one below the other; `clocks` is what is to be said of handicaps, `broken` are
    names of bots that could not be started."""
    if not table.games:
        none = Text("no game has been played yet")
        return Group(none, Text(against_itself_text(table))) if table.against_itself else none
    parts: list[RenderableType] = [
        standings_grid(table.lines, width, broken),
        *notes(table),
        *([Text(clocks)] if clocks else []),
        "",
        _title("Crosstable: points/games of the row's bot"),
    ]
    for grid in crosstables(table, width):
        parts += [grid]
        shown = grid.row_count
        parts += [Text(f"the first {shown} of {len(table.lines)} bots; --json has all")] * (shown < len(table.lines))
        parts.append("")
    if table.pairs is not None:
        parts += [_title("Likelihood that a bot is stronger than an opponent"), pairs_grid(table.pairs, width), ""]
    parts += [_title("How the games ended"), endings_grid(table)]
    return Group(*parts)
