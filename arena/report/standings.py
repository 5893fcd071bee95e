"""A league's table as a value, made from the stored games: one place for the terminal, for JSON and for pages."""

import math
from collections.abc import Collection, Mapping, Sequence

import msgspec

from arena.errors import UsageError, suggest
from arena.game.spec import Player
from arena.league.ratings import Anchor, RatedLeague, Standing, difference
from arena.league.store import GameRow, Groups
from arena.report.crosstable import Crosstable, Meeting
from arena.report.roster import Roster
from arena.report.tally import Tally, Totals
from protocol.notation import Reason

LARGEST_ELO = 100_000
"""The most that an anchor can be given, either way."""


class Line(msgspec.Struct, frozen=True):
    """One bot's line. Bots that are equal in all that counts share a place; `score` is the points per game.

    Elo is relative to the mean of all, or to the anchor, with the ends of its 95% interval. It is None before any game,
    and an end is None where the games do not bound it. `forfeits` counts the games lost by a fault. Times are per move,
    in milliseconds; `cpu_ms` is the mean processor time, over the games in which it was measured.

    Ties in the score are broken by `head_to_head`, the points per game among the bots of that score (None where there
    is no tie), then by `sonneborn_berger_per_game`, then by wins per game. `sonneborn_berger` is the same score as the
    usual sum: of the points taken from each opponent, times all points of that opponent.

    `declared` is what the bot called itself in its last game, `author` who it said has written it. They are None where
    it has said nothing, and where nobody has looked: games are counted without them.
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
    head_to_head: float | None
    sonneborn_berger: float
    sonneborn_berger_per_game: float
    declared: str | None = None
    author: str | None = None


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


class Advantage(msgspec.Struct, frozen=True):
    """How many Elo the side of Red is worth, with the ends of the 95% interval; an end that is open is None."""

    elo: float
    low: float | None
    high: float | None


class Superiority(msgspec.Struct, frozen=True):
    """How likely it is, from 0 to 1, that a bot is stronger than an opponent, by all games of the league."""

    name: str
    opponent: str
    stronger: float


class AnchorBot(msgspec.Struct, frozen=True):
    """The bot that ratings are relative to, and the Elo that it is given."""

    name: str
    elo: float


class Ending(msgspec.Struct, frozen=True):
    """How many games ended for a reason, and which bots lost so (none for draws)."""

    reason: Reason
    games: int
    losers: dict[str, int]


class Table(msgspec.Struct, frozen=True):
    """The whole table: lines in order of rank, all meetings, all endings.

    `planned` is how many games there are to be, or at least are to be where nobody has said how many; None where no
    league of these players was planned, so that nothing is known of what is missing. `difference` is
    that between the two bots of a match. `draw_share` is the share of their games that equal bots draw, as fitted.
    `against_itself` are games of a bot against itself, which count nowhere else.
    `pairs` has the likelihoods of superiority if they were asked for: each two bots, the one of the higher rank first.
    """

    lines: tuple[Line, ...]
    crosstable: Crosstable
    endings: tuple[Ending, ...]
    games: int
    planned: int | None
    is_planned_known: bool
    difference: Difference | None
    advantage: Advantage | None = None
    draw_share: float | None = None
    anchor: AnchorBot | None = None
    pairs: tuple[Superiority, ...] | None = None
    against_itself: int = 0

    @property
    def meetings(self) -> tuple[Meeting, ...]:
        """What each bot scored against each that it met, in the order of rank."""
        return tuple(self.crosstable.meetings())

    @property
    def is_complete(self) -> bool | None:
        """Whether no game is known to be missing; None where nobody knows how many there are to be."""
        return None if self.planned is None else self.games >= self.planned


def make_table(
    players: Sequence[Player],
    rows: Collection[GameRow] | Groups,
    planned: int | None = None,
    *,
    meets_all: bool | None = True,
    anchor: str | None = None,
    pairs: bool = False,
) -> Table:
    """The table of the games between these players, whatever they were called then; games of others are left out.

    `planned` is how many games they are to play, if that is known. Unless all are to meet equally often (`meets_all`),
    as long as it is not known there is at least one more. With None in place of `meets_all` nothing is known of what
    is missing, and only `planned` counts. `anchor` is NAME or NAME=ELO, the bot that ratings
    are relative to and its Elo. `pairs` asks for the likelihood of superiority of each two. Raises `UsageError` for an
    anchor that is none.
    """
    roster = Roster(players, rows)
    tally = Tally(roster.names, rows)
    digests = roster.digests
    league = RatedLeague(tally.results, anchor_of(anchor, list(digests)) if anchor else None)
    lines, found = _lines_of(league, digests, tally)
    if anchor and tally.games:
        _check_anchor(league, lines)
    order = [line.name for line in lines]
    cross = Crosstable(order, league.names, league.rows)
    least = 0
    if meets_all:
        least = _least_planned(len(digests), cross.most_games)
    elif meets_all is False and planned is None:
        least = tally.games + 1
    red = league.advantage
    return Table(
        lines=lines,
        crosstable=cross,
        endings=_endings(tally),
        games=tally.games,
        planned=None if planned is None and meets_all is None else max(planned or 0, least),
        is_planned_known=planned is not None and planned >= least,
        difference=found,
        advantage=Advantage(red.elo, _finite(red.low), _finite(red.high)) if red else None,
        draw_share=league.draw_share,
        anchor=AnchorBot(league.anchor.name, league.anchor.elo) if league.anchor else None,
        pairs=tuple(Superiority(*each) for each in league.superiorities(order)) if pairs else None,
        against_itself=tally.against_itself,
    )


def anchor_of(text: str, names: Sequence[str]) -> Anchor:
    """The anchor that NAME or NAME=ELO means. Raises `UsageError`."""
    if text in names:
        return Anchor(text)
    name, equals, number = text.rpartition("=")
    if not equals:
        raise UsageError(f"--anchor: no bot {text!r} in this table; {suggest(text, names)}")
    if name not in names:
        raise UsageError(f"--anchor: no bot {name!r} in this table; {suggest(name, names)}")
    try:
        elo = float(number)
    except ValueError:
        elo = math.nan
    if not abs(elo) <= LARGEST_ELO:
        raise UsageError(
            f"--anchor: expected NAME or NAME=ELO with a number from -{LARGEST_ELO} to {LARGEST_ELO}, got {text!r}"
        )
    return Anchor(name, elo)


def _check_anchor(league: RatedLeague, lines: Sequence[Line]) -> None:
    """Raises `UsageError` where there is a rated game, and the anchor has none."""
    if league.anchor and league.draw_share is not None and all(line.elo is None for line in lines):
        raise UsageError(
            f"--anchor: expected a bot that has played, got {league.anchor.name!r}, which has no rated game"
        )


def rated_lines(digests: Mapping[str, str], tally: Tally) -> tuple[tuple[Line, ...], Difference | None]:
    """The lines of a table in order of rank, and the difference between the two of a match.

    `digests` has the players by the names that the table shows, in the order in which they were named.
    """
    return _lines_of(RatedLeague(tally.results), digests, tally)


def _lines_of(
    league: RatedLeague, digests: Mapping[str, str], tally: Tally
) -> tuple[tuple[Line, ...], Difference | None]:
    ranked = league.standings()
    lines = tuple(_line(standing, digests[standing.name], tally.totals[standing.name]) for standing in ranked)
    return lines, _difference(list(digests), ranked) if len(digests) == 2 else None


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
        head_to_head=standing.merits.head_to_head,
        sonneborn_berger=standing.merits.neustadtl,
        sonneborn_berger_per_game=standing.merits.sonneborn_berger,
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


def _least_planned(players: int, most: int) -> int:
    """How many games there are at least where a pair has met `most` times: in a round of a league all pairs meet twice.

    A match may have any number of games.
    """
    return most if players == 2 else (most + 1) // 2 * players * (players - 1)


def _endings(tally: Tally) -> tuple[Ending, ...]:
    """The most frequent first, and what is equally frequent by its name: the order of the games does not matter."""
    losers = {
        reason: dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
        for reason, found in tally.losers.items()
    }
    endings = sorted(tally.endings.items(), key=lambda item: (-item[1], item[0].value))
    return tuple(Ending(reason, count, losers.get(reason, {})) for reason, count in endings)
