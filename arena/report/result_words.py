"""Results of a table as short text, for the terminal and for pages: points, Elo, intervals, notes."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from arena.report.standings import Advantage, Difference, Line, Table
from arena.system.printable import counted

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
    """Return the note on games that are or may be missing, or an empty string."""
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
    """Return the columns of the standings after place and bot; times are per move in ms.

    Bots in `broken` could not be started; a note replaces their points.
    """

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
