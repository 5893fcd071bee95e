"""A league's table as a value, made from the stored games: one place for the terminal, for JSON and for pages."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from arena.errors import UsageError, suggest
from arena.game.spec import Player
from arena.game.verdict import GameResult
from arena.league.ratings import GameScore, Score, Standing, crosstable, difference, standings
from arena.league.store import GameRow
from protocol.notation import Color, Reason

_SCORES = {
    GameResult.RED: Score.FIRST,
    GameResult.BLUE: Score.SECOND,
    GameResult.DRAW: Score.DRAW,
    GameResult.NEITHER: Score.NEITHER,
}

NAMES_ALONE: Mapping[Player, str] = {}
"""For players who are shown by their names, with no version."""


class Line(msgspec.Struct, frozen=True):
    """One bot's line. Bots that are equal in all that counts share a place; `score` is the points per game.

    Elo is relative to the mean of all, with the ends of its 95% interval. It is None before any game, and an end is
    None where the games do not bound it. `forfeits` counts the games lost by a fault. Times are per move, in
    milliseconds; `cpu_ms` is the mean processor time, over the games in which it was measured.
    """

    place: int
    name: str
    digest: str
    points: float
    games: int
    score: float | None
    wins: int
    draws: int
    losses: int
    forfeits: int
    elo: float | None
    elo_low: float | None
    elo_high: float | None
    mean_ms: float | None
    slowest_ms: float | None
    cpu_ms: float | None


class Meeting(msgspec.Struct, frozen=True):
    """What one bot scored against another."""

    name: str
    opponent: str
    points: float
    games: int


class Difference(msgspec.Struct, frozen=True):
    """What all the games of two bots say of their difference: how many Elo `first` is above `second`.

    `low` and `high` are the ends of its 95% interval. An end is None where the games do not bound it, and so is `elo`
    where one of the two made no point. `stronger` is how likely it is that `first` is the stronger one, from 0 to 1.
    """

    first: str
    second: str
    elo: float | None
    low: float | None
    high: float | None
    stronger: float


class Ending(msgspec.Struct, frozen=True):
    """How many games ended for a reason, and which bots lost so (none for draws)."""

    reason: Reason
    games: int
    losers: dict[str, int]


class Table(msgspec.Struct, frozen=True):
    """The whole table: lines in order of rank, all meetings, all endings.

    `planned` is how many games there are to be, or at least are to be where nobody has said how many. `difference` is
    that between the two bots of a match.
    """

    lines: tuple[Line, ...]
    meetings: tuple[Meeting, ...]
    endings: tuple[Ending, ...]
    games: int
    planned: int
    is_planned_known: bool
    difference: Difference | None

    @property
    def is_complete(self) -> bool:
        """Whether no game is known to be missing."""
        return self.games >= self.planned

    def meeting(self, name: str, opponent: str) -> Meeting | None:
        """What `name` scored against `opponent`, if they have met."""
        return next((m for m in self.meetings if m.name == name and m.opponent == opponent), None)


class Played(Protocol):
    """A game, as far as it says who played it."""

    @property
    def players(self) -> tuple[Player, Player]: ...


class Roster:
    """Who is who among players: a player is its content, whatever it was called, and goes by the name it had last.

    One content under two names that have met each other is two players all the same: stores of earlier versions have
    copies of a bot so. `players` has each of the players once, under the last name. `names` has what to show for each,
    by any of the names that it has in the rows: with the start of its digest where versions of one bot stand side by
    side.
    """

    def __init__(self, players: Iterable[Player], rows: Iterable[Played] = ()) -> None:
        """Of players who are the same, the last one gives the name. Who plays in the rows alone is not among them."""
        met = {row.players for row in rows}
        self._copies = {player for pair in met if pair[0].digest == pair[1].digest for player in pair}
        last = {self._key(player): player for player in players}
        self.players = tuple(last.values())
        counts = Counter(player.name for player in self.players)
        shown = {
            key: player.name if counts[player.name] == 1 else f"{player.name}@{player.digest[:6]}"
            for key, player in last.items()
        }
        everybody = dict.fromkeys([*self.players, *(player for pair in met for player in pair)])
        self.names: Mapping[Player, str] = {
            player: shown[self._key(player)] for player in everybody if self._key(player) in shown
        }

    def _key(self, player: Player) -> Player | str:
        return player if player in self._copies else player.digest

    def called(self, name: str) -> set[Player]:
        """The players of a name, as they stand in rows: all versions, or with `@` and the start of a digest behind it
        the one of that digest. Where nobody has the name now, those who had it.

        Raises `UsageError` if there is none, or if the start is that of several.
        """
        found = {self.names[player] for player in self.players if player.name == name}
        base, at, digest = name.rpartition("@")
        if not found and at and digest:
            versions = [player for player in self.names if player.digest.startswith(digest.lower())]
            found = {self.names[player] for player in versions if player.name == base}
            if len(found) > 1:
                raise UsageError(
                    f"{len(found)} versions of {base!r} have a digest that starts so; give more of it: {name!r}"
                )
        found = found or {self.names[player] for player in self.names if player.name == name}
        if not found:
            known = sorted({player.name for player in self.names} | set(self.names.values()))
            raise UsageError(f"no games of a bot {name!r}; {suggest(name, known) if known else 'it is empty'}")
        return {player for player, shown in self.names.items() if shown in found}


def players_of(rows: Iterable[Played], entrants: Collection[Player] = ()) -> list[Player]:
    """All who play in these games, in the order of their last games; those who take part now come last."""
    seen: dict[Player, None] = {}
    for row in rows:
        for player in row.players:
            seen.pop(player, None)
            seen[player] = None
    digests = {player.digest for player in seen}
    return [*seen, *(player for player in entrants if player.digest in digests)]


def make_table(players: Sequence[Player], rows: Iterable[GameRow], planned: int | None = None) -> Table:
    """The table of the games between these players, whatever they were called then; games of others are left out.

    `planned` is how many games they are to play, if that is known.
    """
    rows = tuple(rows)
    roster = Roster(players, rows)
    names = roster.names
    games = [row for row in rows if row.players[0] in names and row.players[1] in names]
    scores = [GameScore(names[row.players[0]], names[row.players[1]], _SCORES[row.result]) for row in games]
    digests = {names[player]: player.digest for player in roster.players}
    order = list(digests)
    forfeits, moves, total_us, slowest_us = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    cpu_us, measured = Counter[str](), Counter[str]()
    for row in games:
        for color in Color:
            name, time = names[row.players[color]], row.times[color]
            moves[name] += time.moves
            total_us[name] += time.total_us
            slowest_us[name] = max(slowest_us[name], time.slowest_us)
            if time.cpu_us is not None:
                cpu_us[name] += time.cpu_us
                measured[name] += time.moves
            if row.reason.is_forfeit and row.result.winner is not color:
                forfeits[name] += 1
    ranked = standings(order, scores)
    lines = [
        Line(
            place=standing.place,
            name=standing.name,
            digest=digests[standing.name],
            points=standing.points,
            games=standing.games,
            score=standing.points / standing.games if standing.games else None,
            wins=standing.wins,
            draws=standing.draws,
            losses=standing.losses,
            forfeits=forfeits[standing.name],
            elo=standing.rating.elo if standing.rating else None,
            elo_low=_finite(standing.rating.low) if standing.rating else None,
            elo_high=_finite(standing.rating.high) if standing.rating else None,
            mean_ms=total_us[standing.name] / moves[standing.name] / 1000 if moves[standing.name] else None,
            slowest_ms=slowest_us[standing.name] / 1000 if moves[standing.name] else None,
            cpu_ms=cpu_us[standing.name] / measured[standing.name] / 1000 if measured[standing.name] else None,
        )
        for standing in ranked
    ]
    cells = crosstable(order, scores)
    meetings = tuple(
        Meeting(name, opponent, cell.points, cell.games)
        for name, row_cells in cells.items()
        for opponent, cell in row_cells.items()
    )
    least = _least_planned(len(order), [meeting.games for meeting in meetings])
    return Table(
        lines=tuple(lines),
        meetings=meetings,
        endings=_endings(names, games),
        games=len(games),
        planned=max(planned or 0, least),
        is_planned_known=planned is not None and planned >= least,
        difference=_difference(order, ranked) if len(order) == 2 else None,
    )


def _finite(end: float) -> float | None:
    return end if math.isfinite(end) else None


def _difference(names: Sequence[str], ranked: Sequence[Standing]) -> Difference | None:
    """The difference between two players who have met, in the order in which they are named."""
    first, second = sorted(ranked, key=lambda standing: names.index(standing.name))
    if not first.rating:
        return None
    found = difference(first.wins, first.draws, second.wins)  # a double forfeit is a loss of both, and says nothing
    ends = (_finite(found.elo), _finite(found.low), _finite(found.high))
    return Difference(first.name, second.name, *ends, stronger=found.stronger)


def _least_planned(players: int, games_of_pairs: Sequence[int]) -> int:
    """How many games there are at least in a league in which a pair has met so often: in a round all pairs meet twice.

    A match may have any number of games.
    """
    most = max(games_of_pairs, default=0)
    return most if players == 2 else (most + 1) // 2 * players * (players - 1)


def _endings(names: Mapping[Player, str], games: Sequence[GameRow]) -> tuple[Ending, ...]:
    counts: Counter[Reason] = Counter()
    losers: dict[Reason, Counter[str]] = {}
    for row in games:
        counts[row.reason] += 1
        if row.result is not GameResult.DRAW:
            lost = [color for color in Color if color is not row.result.winner]
            losers.setdefault(row.reason, Counter()).update(names[row.players[color]] for color in lost)
    return tuple(
        Ending(reason, count, dict(losers.get(reason, Counter()).most_common()))
        for reason, count in counts.most_common()
    )
