"""What the pages of a league show, worked out from the rows of its games in one pass: nothing here knows of HTML."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from arena.game.verdict import GameResult
from arena.league.store import GameRow
from arena.report.roster import Roster
from arena.report.standings import rated_lines
from arena.report.tally import Tally
from protocol.notation import Color

CHECKPOINTS = 12
"""Moments at which Elo is fitted for the curve."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A game in the list, small: there may be a million. Names are numbers in the order of the table."""

    number: int
    red: int
    blue: int
    result: GameResult
    reason: str
    plies: int


@dataclass
class League:
    """What has been counted: `met[bot][opponent][color]` are wins, draws and losses with that colour; `lost[bot]` by
    reason; `history` has Elo by bot after so many games."""

    games: list[Listed] = field(default_factory=list)
    met: dict[str, dict[str, dict[Color, Counter[str]]]] = field(default_factory=dict)
    lost: dict[str, Counter[str]] = field(default_factory=dict)
    history: dict[str, list[tuple[int, float | None]]] = field(default_factory=dict)


def count_league(rows: Iterable[GameRow], games: int, roster: Roster, order: list[str]) -> League:
    """Go through the rows once. `games` is how many there are; those of players who are not in the roster are left
    out. `order` has the names of the table."""
    numbers = {name: number for number, name in enumerate(order)}
    league = League(
        met={name: defaultdict(lambda: {color: Counter() for color in Color}) for name in order},
        lost={name: Counter() for name in order},
        history={name: [] for name in order},
    )
    tally, digests = Tally(roster.names), roster.digests
    moments = (
        {round(games * part / CHECKPOINTS) for part in range(1, CHECKPOINTS + 1)} if games >= CHECKPOINTS else set()
    )
    for row in rows:
        names = [roster.names.get(player) for player in row.players]
        red, blue = names
        if red not in numbers or blue not in numbers or red is None or blue is None:
            continue
        league.games.append(Listed(row.number, numbers[red], numbers[blue], row.result, row.reason.value, row.plies))
        for color, name, other in ((Color.RED, red, blue), (Color.BLUE, blue, red)):
            outcome = _outcome(row.result, color)
            league.met[name][other][color][outcome] += 1
            if outcome == "L":
                league.lost[name][row.reason.value] += 1
        tally.add(row)
        if tally.games in moments:
            lines, _ = rated_lines(digests, tally)
            for line in lines:
                if line.games:
                    league.history[line.name].append((tally.games, line.elo))
    return league


def _outcome(result: GameResult, color: Color) -> str:
    if result is GameResult.DRAW:
        return "D"
    return "W" if result.winner is color else "L"
