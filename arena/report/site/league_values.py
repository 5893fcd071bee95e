"""What the pages of a league show, worked out from the rows of its games in one pass: nothing here knows of HTML."""

from collections import Counter, defaultdict
from dataclasses import dataclass

from arena.game.verdict import GameResult
from arena.league.store import GameRow
from arena.report.roster import Roster
from arena.report.standings import Tally, rated_lines
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


class LeagueValues:
    """What the rows of a league's games come to, counted as they go by. Games of players who are not in the roster are
    left out. `met[bot][opponent][color]` are wins, draws and losses with that colour; `lost[bot]` by reason; `history`
    has Elo by bot after so many games."""

    def __init__(self, games: int, roster: Roster, order: list[str]) -> None:
        """`games` is how many there are, `order` has the names of the table."""
        self.order = order
        self.games: list[Listed] = []
        self.met: dict[str, dict[str, dict[Color, Counter[str]]]] = {
            name: defaultdict(lambda: {color: Counter() for color in Color}) for name in order
        }
        self.lost: dict[str, Counter[str]] = {name: Counter() for name in order}
        self.history: dict[str, list[tuple[int, float | None]]] = {name: [] for name in order}
        self._roster = roster
        self._numbers = {name: number for number, name in enumerate(order)}
        self._tally, self._digests = Tally(roster.names), roster.digests
        self._moments = (
            {round(games * part / CHECKPOINTS) for part in range(1, CHECKPOINTS + 1)} if games >= CHECKPOINTS else set()
        )

    def add(self, row: GameRow) -> None:
        red, blue = (self._roster.names.get(player) for player in row.players)
        if red not in self._numbers or blue not in self._numbers or red is None or blue is None:
            return
        ends = (self._numbers[red], self._numbers[blue])
        self.games.append(Listed(row.number, *ends, row.result, row.reason.value, row.plies))
        if red == blue:  # it counts nowhere, but has a page
            return
        for color, name, other in ((Color.RED, red, blue), (Color.BLUE, blue, red)):
            outcome = _outcome(row.result, color)
            self.met[name][other][color][outcome] += 1
            if outcome == "L":
                self.lost[name][row.reason.value] += 1
        self._tally.add(row)
        if self._tally.games in self._moments:
            lines, _ = rated_lines(self._digests, self._tally)
            for line in lines:
                if line.games:
                    self.history[line.name].append((self._tally.games, line.elo))


def _outcome(result: GameResult, color: Color) -> str:
    if result is GameResult.DRAW:
        return "D"
    return "W" if result.winner is color else "L"
