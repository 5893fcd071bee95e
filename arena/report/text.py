"""Tables and boards as text for a terminal. Results go to standard output; nothing here is meant to be parsed."""

import sys
from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from arena.model import GameResult
from arena.report.standings import Line, Table
from arena.store import GameRow
from protocol.notation import BOARD_SIZE, FILES

PLAIN_WIDTH = 100
"""Columns of output that goes to a file or a pipe."""
CROSS_CELL = 9
NAME_WIDTH = 24


def results_console() -> Console:
    """Standard output. A pipe has no width, so tables there are as wide as they need to be."""
    return Console(file=sys.stdout, highlight=False, width=None if sys.stdout.isatty() else PLAIN_WIDTH)


def progress_console() -> Console:
    """Standard error: progress and remarks, never results."""
    return Console(file=sys.stderr, highlight=False, width=None if sys.stderr.isatty() else PLAIN_WIDTH)


def _grid() -> Grid:
    return Grid(box=None, pad_edge=False, header_style="dim")


def _title(text: str) -> Text:
    return Text(text, style="bold", no_wrap=True, overflow="ellipsis")


def points_text(points: float) -> str:
    """Points with a half where there is one."""
    return f"{points:g}"


def elo_text(line: Line) -> str:
    """Elo and how far its 95% interval reaches to either side."""
    if line.elo is None or line.elo_low is None or line.elo_high is None:
        return "-"
    return f"{line.elo:+.0f} ±{(line.elo_high - line.elo_low) / 2:.0f}"


def standings_grid(table: Table) -> Grid:
    """Points, wins, draws and losses, forfeits, Elo; per move the mean time, mean processor time and slowest, in ms.

    80 columns are enough for names of usual length.
    """
    grid = _grid()
    grid.add_column("#", justify="right")
    grid.add_column("bot", no_wrap=True, overflow="ellipsis", max_width=NAME_WIDTH)
    for header in ("points", "games", "W", "D", "L", "forfeits", "Elo", "ms", "CPU", "slowest"):
        grid.add_column(header, justify="right", no_wrap=True)
    for rank, line in enumerate(table.lines, 1):
        times = [f"{ms:.1f}" if ms is not None else "-" for ms in (line.mean_ms, line.cpu_ms, line.slowest_ms)]
        counts = (line.games, line.wins, line.draws, line.losses, line.forfeits)
        cells = (points_text(line.points), *map(str, counts), elo_text(line), *times)
        grid.add_row(str(rank), Text(line.name), *cells)
    return grid


def crosstables(table: Table, width: int) -> Iterable[Grid]:
    """Who scored what against whom, as points/games, in as many blocks of columns as the width asks for."""
    names = [line.name for line in table.lines]
    longest = min(NAME_WIDTH, max(len(name) for name in names))
    across = max(1, (width - longest - 5) // CROSS_CELL)
    for start in range(0, len(names), across):
        grid = _grid()
        grid.add_column("#", justify="right")
        grid.add_column("bot", no_wrap=True, overflow="ellipsis", max_width=NAME_WIDTH)
        columns = range(start, min(start + across, len(names)))
        for column in columns:
            grid.add_column(str(column + 1), justify="right", no_wrap=True)
        for rank, name in enumerate(names, 1):
            meetings = [table.meeting(name, names[column]) for column in columns]
            cells = [f"{points_text(m.points)}/{m.games}" if m else "." for m in meetings]
            grid.add_row(str(rank), Text(name), *cells)
        yield grid


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


def full_report(table: Table, width: int) -> RenderableType:
    """Standings, crosstable and endings, one below the other."""
    if not table.games:
        return Text("no game has been played yet")
    parts: list[RenderableType] = [standings_grid(table), "", _title("Crosstable: points/games of the row's bot")]
    for grid in crosstables(table, width):
        parts += [grid, ""]
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


def game_line(row: GameRow) -> str:
    """One game in one line, for lists and for plain progress."""
    red, blue = (player.name for player in row.players)
    ending = f"{row.reason.value}, {row.plies} plies, {row.seconds:.1f} s"
    return f"game {row.number}: {red} - {blue}  {score_text(row.result)}  {ending}"


def board_text(cells: tuple[str, ...]) -> str:
    """A board of two-character cells with its coordinates, rank 10 at the top as Red sees it."""
    files = "    " + "  ".join(FILES)
    rows = [files]
    for rank in range(BOARD_SIZE, 0, -1):
        start = (rank - 1) * BOARD_SIZE
        row = " ".join("· " if cell == ".." else cell for cell in cells[start : start + BOARD_SIZE])
        rows.append(f"{rank:>2}  {row}".rstrip())
    return "\n".join(rows)
