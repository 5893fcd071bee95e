"""A league's table as a value, made from the stored games: one place for the terminal, for JSON and for pages."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from arena.errors import UsageError, suggest
from arena.game.spec import Player
from arena.league.ratings import Standing, crosstable, difference, standings
from arena.league.store import GameRow
from arena.report.tally import Tally, Totals
from protocol.notation import Reason

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


def shown_names(players: Sequence[Player]) -> dict[Player, str]:
    """The name to show for each player: with the start of its digest where versions of one bot stand side by side."""
    counts = Counter(player.name for player in players)
    return {
        player: player.name if counts[player.name] == 1 else f"{player.name}@{player.digest[:6]}" for player in players
    }


def players_called(players: Collection[Player], name: str) -> list[Player]:
    """The players of a name: all versions, or with `@` and the start of a digest behind it the one of that digest.

    Raises `UsageError` if there is none, or if the start is that of several.
    """
    found = [player for player in players if player.name == name]
    base, at, digest = name.rpartition("@")
    if not found and at and digest:
        found = [player for player in players if player.name == base and player.digest.startswith(digest.lower())]
        if len(found) > 1:
            raise UsageError(
                f"{len(found)} versions of {base!r} have a digest that starts so; give more of it: {name!r}"
            )
    if not found:
        names = sorted({player.name for player in players} | set(shown_names(tuple(players)).values()))
        raise UsageError(f"no games of a bot {name!r}; {suggest(name, names) if names else 'it is empty'}")
    return found


def make_table(players: Sequence[Player], rows: Iterable[GameRow], planned: int | None = None) -> Table:
    """The table of the games between these players; games of others are left out.

    `planned` is how many games they are to play, if that is known.
    """
    names = shown_names(players)
    tally = Tally(names, rows)
    lines, found = rated_lines({name: player.digest for player, name in names.items()}, tally)
    meetings = tuple(
        Meeting(name, opponent, cell.points, cell.games)
        for name, cells in crosstable(list(names.values()), tally.scores()).items()
        for opponent, cell in cells.items()
    )
    least = _least_planned(len(players), [meeting.games for meeting in meetings])
    return Table(
        lines=lines,
        meetings=meetings,
        endings=_endings(tally),
        games=tally.games,
        planned=max(planned or 0, least),
        is_planned_known=planned is not None and planned >= least,
        difference=found,
    )


def rated_lines(digests: Mapping[str, str], tally: Tally) -> tuple[tuple[Line, ...], Difference | None]:
    """The lines of a table in order of rank, and the difference between the two of a match.

    `digests` has the players by the names that the table shows, in the order in which they were named.
    """
    names = list(digests)
    ranked = standings(names, tally.scores())
    lines = tuple(_line(standing, digests[standing.name], tally.totals[standing.name]) for standing in ranked)
    return lines, _difference(names, ranked) if len(names) == 2 else None


def _line(standing: Standing, digest: str, totals: Totals) -> Line:
    rating = standing.rating
    return Line(
        place=standing.place,
        name=standing.name,
        digest=digest,
        points=standing.points,
        games=standing.games,
        score=totals.score,
        wins=standing.wins,
        draws=standing.draws,
        losses=standing.losses,
        forfeits=totals.forfeits,
        elo=rating.elo if rating else None,
        elo_low=_finite(rating.low) if rating else None,
        elo_high=_finite(rating.high) if rating else None,
        mean_ms=totals.mean_ms,
        slowest_ms=totals.slowest_ms,
        cpu_ms=totals.cpu_ms,
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


def _endings(tally: Tally) -> tuple[Ending, ...]:
    return tuple(
        Ending(reason, count, dict(tally.losers.get(reason, Counter()).most_common()))
        for reason, count in tally.endings.most_common()
    )
