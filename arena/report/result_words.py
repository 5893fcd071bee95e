"""Results in words and short figures, for tables, pages and lists alike: points, Elo, intervals, a game in one line.

A side is told no more than it knew: its own seed, set-up and standard error, and no words on a fault of the other. What
a bot says of itself may be a set-up, so it is told only to readers of the bot's other words.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec

from arena.errors import UsageError
from arena.game.exported import ALL, verdict_words
from arena.game.persons import is_person
from arena.game.record import GameRecord
from arena.game.spec import Player
from arena.game.verdict import GameResult
from arena.league.store import GameRow
from arena.report.roster import NAMES_ALONE, Roster, ShownNames, shown_name, shown_names
from arena.report.standings import Advantage, Difference, Table
from arena.system.printable import counted
from protocol.notation import COLOR_BY_WORD, Color, Reason

A_PERSON = "a person"
DIGEST_DIGITS = 12
"""So much of a digest is shown; `--json` has all of it."""


class SideFacts(msgspec.Struct, frozen=True):
    """One side of a game. `name` is the one that tables show, `declared` what the bot called itself in this game,
    `author` who it said has written it: empty if it said nothing, or if whoever looks may not read its own words.

    `time` is its time control as options write it, before it is scaled; `sandbox` is how
    it was held, empty where that is not known, and `A_PERSON` where there was nothing to hold. `seed` is None if
    whoever looks may not know it.
    """

    name: str
    digest: str
    declared: str
    author: str
    time: str
    seed: int | None
    sandbox: str
    stderr: str | None
    setup: str | None


class GameFacts(msgspec.Struct, frozen=True):
    """A game without its moves. `has_opening` is whether both were given their set-ups. `started` is in UTC, as in ISO
    8601, `seconds` is how long it took. `time_percent` is by how much clocks were scaled to the machine, if they were.
    """

    number: int
    id: str
    started: str
    arena: str
    ruleset: str
    pair_seed: int | None
    has_opening: bool
    time_percent: int | None
    red: SideFacts
    blue: SideFacts
    result: str
    reason: str
    plies: int
    detail: str
    seconds: float


def facts_of(number: int, record: GameRecord, view: str, names: ShownNames) -> GameFacts:
    """The facts as `view` (`all`, a colour or `public`) may know them. `names` are to be shown, where not their own."""
    red, blue = (_side(record, color, view, names) for color in Color)
    verdict = record.verdict
    return GameFacts(
        number=number,
        id=record.id,
        started=date_text(record.started),
        arena=record.arena,
        ruleset=record.ruleset,
        pair_seed=record.pair_seed if view == ALL else None,
        has_opening=bool(record.opening),
        time_percent=record.time_percent or None,
        red=red,
        blue=blue,
        result=verdict.result.value,
        reason=verdict.reason.value,
        plies=verdict.plies,
        detail=detail_for(record, view),
        seconds=round(record.seconds, 3),
    )


def _side(record: GameRecord, color: Color, view: str, names: ShownNames) -> SideFacts:
    player = record.players[color]
    is_seen = view in (ALL, color.word)
    return SideFacts(
        name=shown_name(player, names),
        digest=player.digest,
        declared=record.declared[color] if is_seen else "",
        author=record.authors[color] if is_seen and record.authors else "",
        time=record.nominal_times[color].text,
        seed=record.seeds[color] if is_seen else None,
        sandbox=A_PERSON if is_person(player) else record.confinement[color],
        stderr=record.stderr[color] if is_seen else None,
        setup=record.setups[color] if is_seen else None,
    )


def detail_for(record: GameRecord, view: str) -> str:
    """How the game ended, in the words that this view may read: those on a fault can name a rank."""
    return record.verdict.detail if view == ALL else verdict_words(record, COLOR_BY_WORD.get(view))


def date_text(seconds: float) -> str:
    """A moment, in seconds since the epoch, in UTC as in ISO 8601; empty for none that a calendar has."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if seconds > 0 else ""
    except (OverflowError, ValueError, OSError):
        return ""


def started_of(row: GameRow) -> str | None:
    """When a game was begun; None where the store does not say it."""
    return None if row.started is None else date_text(row.started) or None


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


@dataclass(frozen=True)
class GameFilter:
    """What the games have to be, all of it; None for what does not matter. Bots are named as `arena games` lists them.

    `against` is the opponent of `bot`. Of the `reasons` one will do; `forfeits` adds all that are a fault of a bot.
    """

    bot: str | None = None
    against: str | None = None
    lost_by: str | None = None
    result: GameResult | None = None
    reasons: frozenset[Reason] = frozenset()
    forfeits: bool = False

    def select(self, rows: Iterable[GameRow], roster: Roster) -> Iterator[GameRow]:
        """Those of the rows, as they come. Raises `UsageError` for a bot that has played none."""
        if self.against is not None and self.bot is None:
            raise UsageError("--against NAME goes with --bot NAME: the games of the one against the other")
        tests = list(self._tests(roster))
        return (row for row in rows if all(test(row) for test in tests))

    def _tests(self, roster: Roster) -> Iterable[Callable[[GameRow], bool]]:
        if self.bot is not None:
            bots = roster.called(self.bot)
            yield lambda row: not bots.isdisjoint(row.players)
            if self.against is not None:
                others = roster.called(self.against)
                yield lambda row: _met(row, bots, others)
        if self.lost_by is not None:
            losers = roster.called(self.lost_by)
            yield lambda row: not losers.isdisjoint(losers_of(row))
        if self.result is not None:
            yield lambda row: row.result is self.result
        if self.reasons or self.forfeits:
            yield lambda row: row.reason in self.reasons or (self.forfeits and row.reason.is_forfeit)


def losers_of(row: GameRow) -> tuple[Player, ...]:
    """Who has lost a game: nobody, one side, or both by a fault of their own."""
    if row.result is GameResult.DRAW:
        return ()
    winner = row.result.winner
    return tuple(row.players[color] for color in Color if color is not winner)


def _met(row: GameRow, bots: set[Player], others: set[Player]) -> bool:
    red, blue = row.players
    return (red in bots and blue in others) or (blue in bots and red in others)
