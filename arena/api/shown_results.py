"""Results of games, as values that print as plain tables and lines, and the positions of a game."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arena.api.keywords import AnyPath, path_of, plain_errors
from arena.errors import UsageError, suggest
from arena.game import State, displayed
from arena.game.faults import GameResult
from arena.game.record import GameRecord
from arena.game.recorded import Replay
from arena.league import exchange
from arena.league.store import GameRow, Store
from arena.report.game_list import ShownNames, game_line, shown_names
from arena.report.placings import PlacingEntry, placing_report
from arena.report.standings import Difference, Line, Table, own_times_of, table_note
from arena.report.terminal import full_report
from arena.system.terminal_text import PLAIN_WIDTH, drawn, unpainted
from protocol.seats import COLOR_BY_WORD, Color, Reason

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
        blocks = [*full_report(self.table, PLAIN_WIDTH, self.note), *placing_report(self.placing)]
        return "\n".join(map(unpainted, drawn(blocks, PLAIN_WIDTH)))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


def standings_of(table: Table, settings: Mapping[str, str], placing: PlacingEntry | None = None) -> Standings:
    own_times, note = own_times_of(table.lines, settings), table_note(table.lines, settings)
    return Standings(table, own_times, note, placing)


@dataclass(frozen=True)
class Step:
    """A position of a game, and the action that led to it.

    `ply` counts from 1; 0 is the position before the first action, after the set-ups. `time_us` is the time of the
    action in microseconds. `board` is the whole position, `view` the position as one side knows it: an `arena.Board`,
    or text in another game than Stratego. `events` are public: moves, fights and other events of Stratego's rules
    (`arena.stratego.rules.action_types`), or in another game the lines that both sides were told.
    """

    ply: int
    color: Color | None
    action: str | None
    events: tuple[Any, ...]
    time_us: int
    board: Any
    _views: tuple[Any, Any]

    def __repr__(self) -> str:
        action = "the set-ups" if self.color is None else f"{self.color.word} {self.action}"
        events = "".join(f", {one if isinstance(one, str) else type(one).__name__}" for one in self.events)
        return f"Step({self.ply}, {action}{events})"

    def view(self, color: Color | str) -> Any:
        """Return the position as this side knows it: `red`, `blue` or a `Color`. Raises `UsageError`."""
        if isinstance(color, Color):
            return self._views[color]
        if color not in COLOR_BY_WORD:
            raise UsageError(f"expected {' or '.join(COLOR_BY_WORD)}, got {color!r}")
        return self._views[COLOR_BY_WORD[color]]


def stored_record(path: Path, game: int | str) -> GameRecord:
    with plain_errors(), Store(path, create=False) as store:
        return store.record(game)[1]


def replay(game: GameRecord | AnyPath, number: int | str | None = None) -> Iterator[Step]:
    """Yield all positions of a record, or of a numbered game in a store, beginning with that after the set-ups.

    Raises `ArenaError` if a side has never set up, or if the game breaks its own rules.
    """
    if isinstance(game, GameRecord):
        if number is not None:
            raise UsageError("a record is one game: expected no number with it")
        return _steps(Replay(game))
    if number is None:
        raise UsageError("expected a record, or a store and the number of a game in it")
    return _steps(Replay(stored_record(path_of(game, "store"), number)))


def _steps(replay: Replay) -> Iterator[Step]:
    state, kind = replay.state, replay.spec.kind
    shown: Callable[[State, Color | None], object] = displayed(kind.displays.position, _text)

    def positions() -> tuple[Any, tuple[Any, Any]]:
        return shown(state, None), (shown(state, Color.RED), shown(state, Color.BLUE))

    yield Step(0, None, None, (), 0, *positions())
    for step in replay.steps():
        events = tuple(state.events) or tuple(kind.public_lines(step.told))
        yield Step(step.ply, step.color, step.action, events, step.microseconds, *positions())


def _text(state: State, seat: Color | None) -> str:
    return state.text(seat)


def read_records(path: AnyPath) -> Iterator[GameRecord]:
    """Yield the records in a file of `arena export`.

    Each line is checked by itself; `arena verify FILE` plays the games again. Raises `UsageError` if the file cannot be
    read, has no records or only those of one side (`--view`), and `ArenaError` with the number of a line that was
    changed.
    """
    return exchange.read_records(path_of(path, "path"))
