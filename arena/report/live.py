"""The live table as a value, and how much of the run's time it may take.

What follows from counts (points, games, times) is always that of now, and costs the same however many games there are.
Places among equals and ratings cost with the square of the players (1 s for 300), so they are those of the last time
that was within their share; with older ones comes how many games they are of, so that a table never contradicts itself.
While Python computes them the games of this process get on slowly: hence the shares.
"""

import threading
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from arena.game.spec import Player
from arena.league.store import GameRow, Groups
from arena.report.roster import Roster
from arena.report.standings import Difference, Line, rated_lines
from arena.report.tally import Tally

RATING_SHARE, DRAWING_SHARE = 1 / 30, 1 / 60
"""Of the time of the run, in processor time: together at most a twentieth. To draw 20 lines takes some 20 ms, and to
rate 20 players as long, so that the tables of usual leagues are new every one or two seconds."""
SECONDS_A_PLAYER, SECONDS_A_PAIR = 1.5e-3, 6e-6
"""What it takes to rate players, for each of them and for each pair that can be made of them, twice over: 30 ms for 20
players, 1 s for 300, 8 s for 1,000."""


def expected_rating_seconds(players: int) -> float:
    """What it takes to rate so many for the first time, about."""
    return SECONDS_A_PLAYER * players + SECONDS_A_PAIR * players**2


class Pace:
    """When work may be done again that costs time, if it is to take no more than a share of all time.

    It is `due` at a time in seconds, by any clock: after a piece that has cost c seconds, c / share later, but `least`
    seconds later at least. What is `expected` of the first piece is waited for before it.
    """

    def __init__(self, share: float, now: float, *, least: float = 0.0, expected: float = 0.0) -> None:
        self._share = share
        self._least = least
        self.due = now + expected / share

    def done(self, now: float, cost: float) -> None:
        """A piece of work that has cost so many seconds is over."""
        self.due = now + max(self._least, cost / self._share)


class Shown(NamedTuple):
    """One state of the table: lines with the counts of now, and what was computed when they were last rated."""

    lines: list[Line]
    difference: Difference | None
    """That between the two of a match, as last rated."""
    rated_games: int | None
    """How many games that was after, where it was not after those that are counted; None before there is a rating."""


class LiveTable:
    """The lines of a table while games come in. `rate` may be called from another thread than the rest."""

    def __init__(self, players: Sequence[Player], rows: Sequence[GameRow] | Groups) -> None:
        roster = Roster(players, rows)
        self._digests = roster.digests
        self._tally = Tally(roster.names, rows)
        self._lock = threading.Lock()
        """Held while the counts change, or are copied."""
        self._rated = rated_lines(self._digests, Tally(roster.names))[0]
        self._rated_games = -1
        self._difference: Difference | None = None
        self._changed = True

    def add(self, row: GameRow) -> None:
        """Count a game."""
        with self._lock:
            self._tally.add(row)
            self._changed = True

    def take_changed(self) -> bool:
        """Whether anything is new since this was last asked."""
        with self._lock:
            changed, self._changed = self._changed, False
        return changed

    def rate(self) -> None:
        """Compute places and ratings from the games so far, if there are new ones."""
        with self._lock:
            if self._tally.games == self._rated_games:
                return
            copy = self._tally.copy()
        rated, difference = rated_lines(self._digests, copy)
        with self._lock:
            self._rated, self._difference, self._rated_games, self._changed = rated, difference, copy.games, True

    def shown(self, most: int) -> Shown:
        """The first lines by points per game; who is equal in that stands, and shares a place, as when last rated."""
        with self._lock:
            is_old = 0 < self._rated_games != self._tally.games
            lines = _current(self._rated, self._tally, most)
            return Shown(lines, self._difference, self._rated_games if is_old else None)


def _current(rated: Sequence[Line], tally: Tally, most: int) -> list[Line]:
    """The first of these lines with the counts of now, in the order of now."""
    scores = {name: -1.0 if totals.score is None else totals.score for name, totals in tally.totals.items()}
    lines: list[Line] = []
    before = None
    ordered = sorted(rated, key=lambda line: scores[line.name], reverse=True)
    for number, line in enumerate(ordered[:most], 1):
        is_equal = before is not None and (scores[before.name], before.place) == (scores[line.name], line.place)
        before = line
        totals = tally.totals[line.name]
        lines.append(
            msgspec.structs.replace(
                line,
                place=lines[-1].place if is_equal else number,
                points=totals.points,
                games=totals.games,
                score=totals.score,
                wins=totals.wins,
                draws=totals.draws,
                losses=totals.games - totals.wins - totals.draws,
                forfeits=totals.forfeits,
                mean_ms=totals.mean_ms,
                slowest_ms=totals.slowest_ms,
                cpu_ms=totals.cpu_ms,
            )
        )
    return lines
