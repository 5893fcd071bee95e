"""Tables and boards as text for a terminal. Results go to standard output; nothing here is meant to be parsed."""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TextIO

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from arena.game.spec import Player
from arena.game.verdict import GameResult
from arena.league.store import GameRow
from arena.report.game_facts import DIGEST_DIGITS
from arena.report.json import started_of
from arena.report.shorten import short_names
from arena.report.standings import NAMES_ALONE, Advantage, Difference, Line, Superiority, Table

PLAIN_WIDTH = 100
"""Columns of output that goes to a file or a pipe, unless COLUMNS says otherwise."""
TERMINAL_WIDTH = 80
"""Columns of a terminal that does not say how many it has."""
LEAST_WIDTH, MOST_WIDTH = 20, 10_000
"""Columns that tables are made for at all."""
LONGEST_NUMBER = 10
CROSS_CELL = 9
MOST_IN_CROSSTABLE = 20
"""Bots, up to which all are in the crosstable of a terminal; of a larger league it has those who fit into its width."""
NO_PLAN = "games may be missing: the store has no plan of a league of just these bots"
GAP = 2
"""Spaces between two columns."""
NAME_WIDTH = 24
"""Columns that a name may have, unless there is room for more."""
SHORT_NAME = 14
"""Columns that a name has at least before forfeits and intervals are left out for it."""
FOR_SHORT_NAMES = 2
"""The `extra` of columns up to which names are shortened before the columns are left out."""


def results_console() -> Console:
    """Standard output, as wide as `width_of` says."""
    return Console(file=sys.stdout, highlight=False, width=width_of(sys.stdout))


def progress_console() -> Console:
    """Standard error: progress and remarks, never results. It follows a terminal that gets another size."""
    console = Console(file=sys.stderr, highlight=False)
    if not sys.stderr.isatty() or console.is_dumb_terminal:
        console.width = width_of(sys.stderr)
    return console


def width_of(stream: TextIO) -> int:
    """How many columns there are: COLUMNS, if that is set to a number; else those of the terminal, if it is one."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isascii() and asked.isdecimal() and len(asked) < LONGEST_NUMBER and int(asked):
        return min(max(int(asked), LEAST_WIDTH), MOST_WIDTH)
    if not stream.isatty():
        return PLAIN_WIDTH
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except OSError:
        columns = 0
    return max(columns, LEAST_WIDTH) if columns else TERMINAL_WIDTH


def _grid() -> Grid:
    return Grid(box=None, pad_edge=False, header_style="dim")


def _title(text: str) -> Text:
    return Text(text, style="bold", no_wrap=True, overflow="ellipsis")


def points_text(points: float) -> str:
    """Points with a half where there is one."""
    return f"{points:g}"


def interval_text(low: float | None, high: float | None) -> str:
    """The two ends of an interval in Elo; an end that is open is left out."""
    if low is None and high is None:
        return "open"
    return f"{_signed(low)}..{_signed(high)}"


def _signed(elo: float | None) -> str:
    return "" if elo is None else f"{round(elo) or 0:+d}"


class _Column(NamedTuple):
    header: str
    cells: list[str]
    extra: int = 0
    """Columns with the highest number go first where there is no room."""

    @property
    def width(self) -> int:
        return max(map(cell_len, (self.header, *self.cells)))


def standings_grid(lines: Sequence[Line], width: int) -> Grid:
    """Points of games, the score in per cent, wins, draws, losses, forfeits, Elo; per move the mean time, the mean
    processor time and the slowest, in ms.

    In 80 columns there is room for all but the last where names and numbers are of usual length; where there is less,
    the times are left out one by one, then wins, draws and losses. Then names are shortened, and if that is not enough
    forfeits and intervals are left out. The Elo of two bots is half their difference, which is said elsewhere.
    """
    names = _Column("bot", [line.name for line in lines])
    columns = [
        _Column("points", [f"{points_text(line.points)}/{line.games}" for line in lines]),
        _Column("%", [f"{line.score:.1%}"[:-1] if line.score is not None else "-" for line in lines]),
        *(
            _Column(header, [str(getattr(line, field)) for line in lines], extra)
            for header, field, extra in (("W", "wins", 3), ("D", "draws", 3), ("L", "losses", 3))
        ),
        _Column("forfeits", [str(line.forfeits) for line in lines], 2),
        _Column("Elo", [_signed(line.elo) or "-" for line in lines]),
        _Column("95%", [_interval_of(line) for line in lines], 1),
        *(
            _Column(header, [f"{ms:.1f}" if (ms := getattr(line, field)) is not None else "-" for line in lines], extra)
            for header, field, extra in (("ms", "mean_ms", 4), ("CPU", "cpu_ms", 5), ("slowest", "slowest_ms", 6))
        ),
    ]
    if len(lines) == 2:
        columns = [column for column in columns if column.header not in {"Elo", "95%"}]
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


def difference_text(difference: Difference) -> str:
    """The difference between the two of a match in a sentence or two."""
    first, second, low, high = difference.first, difference.second, difference.low, difference.high
    if high is None:
        words = f"more than {_signed(low)} (95%; no upper end, as {second} made no point)"
    elif low is None:
        words = f"less than {_signed(high)} (95%; no lower end, as {first} made no point)"
    else:
        words = f"{_signed(difference.elo)} (95%: {interval_text(low, high)})"
    return (
        f"Elo of {first} over {second}: {words}\nLikelihood that {first} is stronger: {_percent(difference.stronger)}"
    )


def _percent(share: float) -> str:
    """A share that is neither 0 nor 1, in per cent with one digit."""
    if share > 0.999:
        return "more than 99.9%"
    return "less than 0.1%" if share < 0.001 else f"{share:.1%}"


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


def missing_text(table: Table) -> str:
    """What is said of games that are missing, or may be; empty if none is known to be."""
    if table.planned is None:
        return NO_PLAN
    if table.is_complete:
        return ""
    planned = table.planned if table.is_planned_known else f"at least {table.planned}"
    rule = "; places go by points per game" if len(table.lines) > 2 else ""
    return f"incomplete: {table.games} of {planned} games{rule}"


def against_itself_text(table: Table) -> str:
    """What is said of games that count for nobody, if there are any."""
    if table.against_itself == 1:
        return "1 game of a bot against itself does not count"
    return f"{table.against_itself} games of a bot against itself do not count"


def advantage_text(advantage: Advantage) -> str:
    """What the side of Red is worth, in a sentence."""
    low, high = advantage.low, advantage.high
    if low is None and high is None:
        return "Red's side: the games do not say what it is worth"
    if high is None:
        return f"Red's side is worth more than {_signed(low)} Elo (95%)"
    if low is None:
        return f"Red's side is worth less than {_signed(high)} Elo (95%)"
    return f"Red's side is worth {_signed(advantage.elo)} Elo (95%: {interval_text(low, high)})"


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
        grid.add_row(Text(short[pair.name]), Text(short[pair.opponent]), _percent(pair.stronger))
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


def full_report(table: Table, width: int, clocks: str = "") -> RenderableType:
    """Standings, crosstable and endings, one below the other; `clocks` is what is to be said of handicaps."""
    if not table.games:
        none = Text("no game has been played yet")
        return Group(none, Text(against_itself_text(table))) if table.against_itself else none
    parts: list[RenderableType] = [
        standings_grid(table.lines, width),
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


def score_text(result: GameResult) -> str:
    """The score as red - blue."""
    return {
        GameResult.RED: "1-0",
        GameResult.BLUE: "0-1",
        GameResult.DRAW: "½-½",
        GameResult.NEITHER: "0-0",
    }[result]


def game_line(row: GameRow, names: Mapping[Player, str] = NAMES_ALONE) -> str:
    """One game in one line, for lists and for plain progress; `names` are those to show, if not the players' own."""
    red, blue = (names.get(player, player.name) for player in row.players)
    ending = f"{row.reason.value}, {row.plies} {'ply' if row.plies == 1 else 'plies'}, {row.seconds:.1f} s"
    return f"game {row.number}: {red} - {blue}  {score_text(row.result)}  {ending}"


def long_line(row: GameRow) -> str:
    """What else is known of a game: its id, when it began, its pair, and both bots' digests."""
    red, blue = (player.digest[:DIGEST_DIGITS] for player in row.players)
    started, pair = started_of(row), row.pair_seed
    known = [row.id, *([started] if started else []), *([f"pair {pair}"] if pair is not None else [])]
    return f"{', '.join(known)}, digests {red} - {blue}"
