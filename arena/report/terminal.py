"""Tables for people, fitted to a width.

A name that is too long is cut at its end if the rest is unique, else in the middle, so that it keeps its end (`@3f9a12`
of a version, `#2` of a copy). Names that are still alike get a number.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from arena.report.standings import Advantage, Difference, Line, Superiority, Table
from arena.system.printable import counted
from arena.system.terminal_text import CUT, GAP, Block, Grid, GridColumn, Styled, beginning, cell_len

NO_PLAN = "games may be missing: the store has no schedule for these bots"


def points_text(points: float) -> str:
    return f"{points:g}"


def interval_text(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return "open"
    return f"{elo_text(low)}..{elo_text(high)}"


def elo_text(elo: float | None) -> str:
    return "" if elo is None else f"{round(elo) or 0:+d}"


def percent_text(share: float) -> str:
    """Return a share between 0 and 1 in per cent with one digit, never as 0 or 100."""
    if share > 0.999:
        return "more than 99.9%"
    return "less than 0.1%" if share < 0.001 else f"{share:.1%}"


def difference_text(difference: Difference) -> str:
    first, second, low, high = difference.first, difference.second, difference.low, difference.high
    if high is None:
        words = f"at least {elo_text(low)} (95%; no upper bound: {second} scored 0)"
    elif low is None:
        words = f"at most {elo_text(high)} (95%; no lower bound: {first} scored 0)"
    else:
        words = f"{elo_text(difference.elo)} (95%: {interval_text(low, high)})"
    likelihood = percent_text(difference.stronger)
    return f"Elo of {first} over {second}: {words}\nLikelihood that {first} is stronger: {likelihood}"


def advantage_text(advantage: Advantage) -> str:
    low, high = advantage.low, advantage.high
    if low is None and high is None:
        words = "not enough games to estimate"
    elif high is None:
        words = f"at least {elo_text(low)} Elo (95%)"
    elif low is None:
        words = f"at most {elo_text(high)} Elo (95%)"
    else:
        words = f"{elo_text(advantage.elo)} Elo (95%: {interval_text(low, high)})"
    return f"Red's advantage: {words}"


def missing_text(table: Table) -> str:
    if table.planned is None:
        return NO_PLAN
    if table.is_complete:
        return ""
    planned = table.planned if table.is_planned_known else f"at least {table.planned}"
    rule = "; places go by points per game" if len(table.lines) > 2 else ""
    return f"incomplete: {table.games} of {planned} games{rule}"


def against_itself_text(table: Table) -> str:
    verb = "does" if table.against_itself == 1 else "do"
    return f"{counted(table.against_itself, 'game')} of a bot against itself {verb} not count"


def not_counted_text(games: int) -> str:
    return f"{counted(games, 'game')} outside this league {'is' if games == 1 else 'are'} excluded"


class Column(NamedTuple):
    """A column of a table of text; a narrow terminal leaves out the columns with the highest `extra` first."""

    header: str
    cells: list[str]
    extra: int = 0


def standings_columns(lines: Sequence[Line], broken: Collection[str] = ()) -> list[Column]:
    """Return the columns of the standings after place and bot. Bots in `broken` could not be started."""

    def column(header: str, field: str, extra: int) -> Column:
        return Column(header, [_number(getattr(line, field)) for line in lines], extra)

    rated = [line.elo is not None for line in lines]
    intervals = [interval_text(line.elo_low, line.elo_high) for line in lines]
    return [
        Column(
            "points",
            ["broken" if line.name in broken else f"{points_text(line.points)}/{line.games}" for line in lines],
        ),
        Column("%", [f"{line.score:.1%}"[:-1] if line.score is not None else "-" for line in lines]),
        column("W", "wins", 5),
        column("D", "draws", 5),
        column("L", "losses", 5),
        column("forfeits", "forfeits", 2),
        Column("Elo", [elo_text(line.elo) or "-" for line in lines]),
        Column("95%", [text if is_rated else "-" for text, is_rated in zip(intervals, rated, strict=True)], 1),
        column("ms", "mean_ms", 4),
        column("CPU", "cpu_ms", 6),
        column("slowest", "slowest_ms", 3),
    ]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}" if isinstance(value, float) else str(value)


NAME_WIDTH = 24
"""Columns of a name in a table, unless there is room for more."""
LEAST = 6
"""Least columns of a name."""


def short_names(names: Iterable[str], width: int) -> dict[str, str]:
    """Return for each name a unique one of at most `width` columns (but at least `LEAST`)."""
    width = max(width, LEAST)
    full = list(dict.fromkeys(names))
    short = {name: name for name in full if cell_len(name) <= width}
    left = [name for name in full if name not in short]
    for end in (0, *range(4, width - 2)):
        made = {name: _cut(name, width, end) for name in left}
        counts, taken = Counter(made.values()), set(short.values())
        short |= {name: text for name, text in made.items() if counts[text] == 1 and text not in taken}
        left = [name for name in left if name not in short]
    for name in left:
        number, taken = 1, set(short.values())
        while (text := _cut(name, width - len(str(number)), 0) + str(number)) in taken:
            number += 1
        short[name] = text
    return {name: short[name] for name in full}


def _cut(name: str, width: int, end: int) -> str:
    """Cut a name to `width` columns, of which `end` are of its end."""
    return f"{beginning(name, width - 1 - end)}{CUT}{beginning(name[::-1], end)[::-1]}"


CROSS_CELL = 9
MOST_IN_CROSSTABLE = 20
"""The largest complete crosstable in a terminal; of a larger league, it has the first bots that fit."""
SHORT_NAME = 14
"""Least columns of a name before forfeits and intervals are left out for it."""
FOR_SHORT_NAMES = 2
"""The largest `extra` of columns for which names are shortened first."""


def _grid(first: str, *others: str) -> Grid:
    return Grid(GridColumn(first, ">"), "bot", *(GridColumn(header, ">") for header in others))


def standings_grid(lines: Sequence[Line], width: int, broken: Collection[str] = ()) -> Grid:
    """Return the standings as a table. A match has no Elo here: it is half the difference in the notes."""
    names, places = [line.name for line in lines], [str(line.place) for line in lines]
    unfit = {"Elo", "95%"} if len(lines) == 2 else set()
    columns = [column for column in standings_columns(lines, broken) if column.header not in unfit]
    room = width - max(map(len, places), default=1) - GAP
    longest = max(map(cell_len, names), default=0)
    while least := max(column.extra for column in columns):
        kept = min(max(longest, len("bot")), NAME_WIDTH if least > FOR_SHORT_NAMES else SHORT_NAME)
        if _widths(columns) <= room - kept:
            break
        columns = [column for column in columns if column.extra != least]
    shown = short_names(names, room - _widths(columns))
    grid = _grid("#", *(column.header for column in columns))
    for place, name, *cells in zip(places, names, *(column.cells for column in columns), strict=True):
        grid.add_row(place, shown[name], *cells)
    return grid


def _widths(columns: Sequence[Column]) -> int:
    return sum(GAP + max(map(cell_len, (column.header, *column.cells))) for column in columns)


def notes(table: Table) -> list[str]:
    missing = missing_text(table)
    found = [missing] if missing else []
    if table.against_itself:
        found.append(against_itself_text(table))
    if table.difference:
        found.append(difference_text(table.difference))
    if table.anchor and not table.difference:
        found.append(f"Elo relative to {table.anchor.name} at {table.anchor.elo:g}")
    if table.advantage:
        found.append(advantage_text(table.advantage))
    return found


def crosstables(table: Table, width: int) -> Iterable[Grid]:
    """Return the results of each pair as points/games: in blocks of columns, or of the first bots that fit."""
    names = table.crosstable.order
    longest = min(NAME_WIDTH, max(cell_len(name) for name in names))
    across = max(1, (width - longest - 5) // CROSS_CELL)
    shown = names if len(names) <= MOST_IN_CROSSTABLE else names[:across]
    met = [table.crosstable.row(name) for name in shown]
    short = short_names(shown, NAME_WIDTH)
    for start in range(0, len(shown), across):
        columns = shown[start : start + across]
        grid = _grid("#", *(str(rank) for rank in range(start + 1, start + len(columns) + 1)))
        for rank, (name, row) in enumerate(zip(shown, met, strict=True), 1):
            cells = [f"{points_text(m.points)}/{m.games}" if (m := row.get(column)) else "." for column in columns]
            grid.add_row(str(rank), short[name], *cells)
        yield grid


def pairs_grid(pairs: Sequence[Superiority], width: int) -> Grid:
    short = short_names(
        (name for pair in pairs for name in (pair.name, pair.opponent)), min(NAME_WIDTH, width // 2 - len("stronger"))
    )
    grid = Grid("bot", "opponent", GridColumn("stronger", ">"))
    for pair in pairs:
        grid.add_row(short[pair.name], short[pair.opponent], percent_text(pair.stronger))
    return grid


def endings_grid(table: Table) -> Grid:
    grid = Grid("reason", GridColumn("games", ">"), GridColumn("lost by", wraps=True))
    for ending in table.endings:
        losers = ", ".join(f"{name} {count}" for name, count in ending.losers.items()) or "(drawn)"
        grid.add_row(ending.reason.value, str(ending.games), losers)
    return grid


def full_report(table: Table, width: int, clocks: str = "", broken: Collection[str] = ()) -> list[Block]:
    """Return standings, crosstable and endings, one below the other; `clocks` is the note on handicaps."""
    if not table.games:
        return ["no game has been played yet", *([against_itself_text(table)] if table.against_itself else [])]
    blocks: list[Block] = [
        standings_grid(table.lines, width, broken),
        *notes(table),
        *([clocks] if clocks else []),
        "",
        Styled("Crosstable: points/games of the row's bot", "bold"),
    ]
    for grid in crosstables(table, width):
        blocks.append(grid)
        if len(grid.rows) < len(table.lines):
            blocks.append(f"the first {len(grid.rows)} of {len(table.lines)} bots; --json has all")
        blocks.append("")
    if table.pairs is not None:
        blocks += [
            Styled("Likelihood that a bot is stronger than an opponent", "bold"),
            pairs_grid(table.pairs, width),
            "",
        ]
    return [*blocks, Styled("How the games ended", "bold"), endings_grid(table)]
