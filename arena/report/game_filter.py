"""Which of a store's games are asked for: `arena games` with its filters."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from arena.errors import UsageError
from arena.game.spec import Player
from arena.game.verdict import GameResult
from arena.league.store import GameRow
from arena.report.roster import Roster
from protocol.notation import Color, Reason


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
