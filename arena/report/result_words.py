"""Results in words and short figures, for tables, pages and lists alike: points, Elo, intervals, a game in one line."""

from arena.counted import counted
from arena.game.verdict import GameResult
from arena.league.store import GameRow
from arena.report.game_facts import DIGEST_DIGITS, started_of
from arena.report.roster import NAMES_ALONE, ShownNames, shown_names
from arena.report.standings import Advantage, Difference, Table

NO_PLAN = "games may be missing: the store has no plan of a league of just these bots"


def points_text(points: float) -> str:
    """Points with a half where there is one."""
    return f"{points:g}"


def interval_text(low: float | None, high: float | None) -> str:
    """The two ends of an interval in Elo; an end that is open is left out."""
    if low is None and high is None:
        return "open"
    return f"{elo_text(low)}..{elo_text(high)}"


def elo_text(elo: float | None) -> str:
    """Elo with its sign; nothing where it is not known."""
    return "" if elo is None else f"{round(elo) or 0:+d}"


def difference_text(difference: Difference) -> str:
    """The difference between the two of a match in a sentence or two."""
    first, second, low, high = difference.first, difference.second, difference.low, difference.high
    if high is None:
        words = f"more than {elo_text(low)} (95%; no upper end, as {second} made no point)"
    elif low is None:
        words = f"less than {elo_text(high)} (95%; no lower end, as {first} made no point)"
    else:
        words = f"{elo_text(difference.elo)} (95%: {interval_text(low, high)})"
    likelihood = percent_text(difference.stronger)
    return f"Elo of {first} over {second}: {words}\nLikelihood that {first} is stronger: {likelihood}"


def percent_text(share: float) -> str:
    """A share that is neither 0 nor 1, in per cent with one digit."""
    if share > 0.999:
        return "more than 99.9%"
    return "less than 0.1%" if share < 0.001 else f"{share:.1%}"


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


def not_counted_text(games: int) -> str:
    """What is said of games between the bots of a table that their last league did not count."""
    if games == 1:
        return "1 game of these bots is none that their league counts, and is left out"
    return f"{games} games of these bots are none that their league counts, and are left out"


def advantage_text(advantage: Advantage) -> str:
    """What the side of Red is worth, in a sentence."""
    low, high = advantage.low, advantage.high
    if low is None and high is None:
        return "Red's side: the games do not say what it is worth"
    if high is None:
        return f"Red's side is worth more than {elo_text(low)} Elo (95%)"
    if low is None:
        return f"Red's side is worth less than {elo_text(high)} Elo (95%)"
    return f"Red's side is worth {elo_text(advantage.elo)} Elo (95%: {interval_text(low, high)})"


def score_text(result: GameResult) -> str:
    """The score as red - blue."""
    return {
        GameResult.RED: "1-0",
        GameResult.BLUE: "0-1",
        GameResult.DRAW: "½-½",
        GameResult.NEITHER: "0-0",
    }[result]


def game_line(row: GameRow, names: ShownNames = NAMES_ALONE) -> str:
    """One game in one line, for lists and for plain progress; `names` are those to show, if not the players' own."""
    red, blue = shown_names(row.players, names)
    ending = f"{row.reason.value}, {counted(row.plies, 'ply', 'plies')}, {row.seconds:.1f} s"
    return f"game {row.number}: {red} - {blue}  {score_text(row.result)}  {ending}"


def long_line(row: GameRow) -> str:
    """What else is known of a game: its id, when it began, its pair, and both bots' digests."""
    red, blue = (player.digest[:DIGEST_DIGITS] for player in row.players)
    started, pair = started_of(row), row.pair_seed
    known = [row.id, *([started] if started else []), *([f"pair {pair}"] if pair is not None else [])]
    return f"{', '.join(known)}, digests {red} - {blue}"
