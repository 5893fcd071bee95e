"""Results of games, as values that print as plain tables and lines."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from arena.errors import UsageError, suggest
from arena.game.verdict import GameResult
from arena.league.pairing.pairing import Placing
from arena.league.store import GameRow
from arena.report.consoles import PLAIN_WIDTH
from arena.report.game_list import NAMES_ALONE, ShownNames, game_line, shown_names
from arena.report.layout import Block, drawn, unpainted
from arena.report.placings import PlacingEntry, placing_entry, placing_report
from arena.report.standings import Difference, Line, Table, own_times_of, table_note
from arena.report.terminal import full_report
from protocol.seats import Color, Reason

SHOWN = 5
"""Bots that the short form of a table names."""


@dataclass(frozen=True)
class Result:
    """One stored game. `str()` is a line about it.

    `number` is that in the store, `id` the game's own. `winner` is the name of a bot; None for a draw, and for a game
    that both lost. `seconds` is the duration of the game, `detail` describes how it ended.
    """

    number: int
    id: str
    red: str
    blue: str
    winner: str | None
    result: GameResult
    reason: Reason
    plies: int
    seconds: float
    detail: str
    _line: str = field(repr=False)

    def __str__(self) -> str:
        return self._line


def result_of(row: GameRow, names: ShownNames) -> Result:
    red, blue = shown_names(row.players, names)
    winner = row.result.winner
    return Result(
        number=row.number,
        id=row.id,
        red=red,
        blue=blue,
        winner=None if winner is None else blue if winner is Color.BLUE else red,
        result=row.result,
        reason=row.reason,
        plies=row.plies,
        seconds=row.seconds,
        detail=row.detail,
        _line=game_line(row, names),
    )


@dataclass(frozen=True)
class Standings:
    """The table of a league. `str()` is the table as text, with crosstable and endings, 100 columns wide.

    Iterating gives the `rows`, and `standings["name"]` is the row of one bot: points, games, score from 0 to 1, Elo
    relative to the mean with the ends of its 95% interval, times in milliseconds (`arena.report.standings.Line`).
    `own_times` are the time controls of bots that have their own, by name, and `note` is a sentence about them.
    `placing` is how a format other than the round robin places the bots by its own rules (`places`, see
    docs/formats.md), the pairs of its `rounds`, whether it `is_over`, and the `disqualified` bots; None if the format
    has only the table.
    """

    table: Table
    own_times: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    placing: PlacingEntry | None = None
    _placing_report: list[Block] = field(default_factory=list, repr=False, compare=False)

    @property
    def rows(self) -> tuple[Line, ...]:
        """The lines of the table, the best bot first."""
        return self.table.lines

    @property
    def games(self) -> int:
        """The number of games in the table."""
        return self.table.games

    @property
    def is_complete(self) -> bool | None:
        """Whether no game is known to be missing; None if no league of just these bots was played in the store, as
        after an import.
        """
        return self.table.is_complete

    @property
    def difference(self) -> Difference | None:
        """The difference between the two bots of a match; None for any other number of bots, and before any game."""
        return self.table.difference

    def __iter__(self) -> Iterator[Line]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> Line:
        """Return the row of one bot. Raises `UsageError` with the known names."""
        for line in self.rows:
            if line.name == name:
                return line
        known = [line.name for line in self.rows]
        raise UsageError(f"no bot {name!r} in this table; {suggest(name, known) if known else 'it is empty'}")

    def __repr__(self) -> str:
        state = {True: "complete", False: "incomplete", None: "perhaps incomplete"}[self.is_complete]
        bots = ", ".join(f"{row.place}. {row.name}" for row in self.rows[:SHOWN])
        more = ", ..." if len(self.rows) > SHOWN else ""
        return f"Standings({bots}{more}; {len(self.rows)} bots, {self.games} games, {state})"

    def __str__(self) -> str:
        blocks = [*full_report(self.table, PLAIN_WIDTH, self.note), *self._placing_report]
        return "\n".join(map(unpainted, drawn(blocks, PLAIN_WIDTH)))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


def standings_of(
    table: Table, settings: Mapping[str, str], placing: Placing | None = None, names: ShownNames = NAMES_ALONE
) -> Standings:
    return Standings(
        table,
        own_times_of(table.lines, settings),
        table_note(table.lines, settings),
        placing_entry(placing, names) if placing else None,
        placing_report(placing, names) if placing else [],
    )
