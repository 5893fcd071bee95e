"""A league's table as a value, made from the stored games: one place for the terminal, for JSON and for pages."""

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from arena.model import GameResult, Player
from arena.ratings import GameScore, Score, crosstable, standings
from arena.store import GameRow
from protocol.notation import Color, Reason

_SCORES = {
    GameResult.RED: Score.FIRST,
    GameResult.BLUE: Score.SECOND,
    GameResult.DRAW: Score.DRAW,
    GameResult.NEITHER: Score.NEITHER,
}


class Line(msgspec.Struct, frozen=True):
    """One bot's line. Elo is relative to the mean of all, with the ends of its 95% interval; None before any game.

    `forfeits` counts the games lost by a fault. Times are per move, in milliseconds; `cpu_ms` is the mean processor
    time, over the games in which it was measured.
    """

    name: str
    digest: str
    points: float
    games: int
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


class Ending(msgspec.Struct, frozen=True):
    """How many games ended for a reason, and which bots lost so (none for draws)."""

    reason: Reason
    games: int
    losers: dict[str, int]


class Table(msgspec.Struct, frozen=True):
    """The whole table: lines in order of rank, all meetings, all endings."""

    lines: tuple[Line, ...]
    meetings: tuple[Meeting, ...]
    endings: tuple[Ending, ...]
    games: int

    def meeting(self, name: str, opponent: str) -> Meeting | None:
        """What `name` scored against `opponent`, if they have met."""
        return next((m for m in self.meetings if m.name == name and m.opponent == opponent), None)


def shown_names(players: Sequence[Player]) -> dict[Player, str]:
    """The name to show for each player: with the start of its digest where versions of one bot stand side by side."""
    counts = Counter(player.name for player in players)
    return {
        player: player.name if counts[player.name] == 1 else f"{player.name}@{player.digest[:6]}" for player in players
    }


def make_table(players: Sequence[Player], rows: Iterable[GameRow]) -> Table:
    """The table of the games between these players; games of others are left out."""
    names = shown_names(players)
    games = [row for row in rows if row.players[0] in names and row.players[1] in names]
    scores = [GameScore(names[row.players[0]], names[row.players[1]], _SCORES[row.result]) for row in games]
    order = list(names.values())
    digests = {name: player.digest for player, name in names.items()}
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
    lines = [
        Line(
            name=standing.name,
            digest=digests[standing.name],
            points=standing.points,
            games=standing.games,
            wins=standing.wins,
            draws=standing.draws,
            losses=standing.losses,
            forfeits=forfeits[standing.name],
            elo=standing.rating.elo if standing.rating else None,
            elo_low=standing.rating.low if standing.rating else None,
            elo_high=standing.rating.high if standing.rating else None,
            mean_ms=total_us[standing.name] / moves[standing.name] / 1000 if moves[standing.name] else None,
            slowest_ms=slowest_us[standing.name] / 1000 if moves[standing.name] else None,
            cpu_ms=cpu_us[standing.name] / measured[standing.name] / 1000 if measured[standing.name] else None,
        )
        for standing in standings(order, scores)
    ]
    cells = crosstable(order, scores)
    meetings = [
        Meeting(name, opponent, cell.points, cell.games)
        for name, row_cells in cells.items()
        for opponent, cell in row_cells.items()
    ]
    return Table(tuple(lines), tuple(meetings), _endings(names, games), len(games))


def _endings(names: dict[Player, str], games: Sequence[GameRow]) -> tuple[Ending, ...]:
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
