"""The positions of a record, and the records of a file: `arena.replay` and `arena.read_records`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from arena.api.keywords import AnyPath, path_of
from arena.api.leagues import stored_record
from arena.errors import UsageError
from arena.game.record import GameRecord
from arena.game.replay import Replay
from arena.league import exchange
from arena.stratego.rules.events import Event
from arena.stratego.shown.boards import board_text
from arena.stratego.state import as_stratego
from protocol.notation import COLOR_BY_WORD, SQUARE_INDEX, Color


@dataclass(frozen=True)
class Board:
    """A position: 100 cells of two characters, a1 b1 .. j1 a2 .. j10, as in the protocol's `board` line.

    The first character is `r` or `b`, the second the rank's letter or `?`; `..` is an empty square and `~~` a lake (see
    docs/protocol.md). `board["a4"]` is one cell, `str(board)` the board as text with rank 10 at the top.
    """

    cells: tuple[str, ...]

    def __getitem__(self, square: str) -> str:
        try:
            return self.cells[SQUARE_INDEX[square]]
        except KeyError:
            raise UsageError(f"expected a square from a1 to j10, got {square!r}") from None

    def __str__(self) -> str:
        return board_text(self.cells)

    def __repr__(self) -> str:
        red, blue = (sum(cell[0] == color.word[0] for cell in self.cells) for color in Color)
        return f"Board({red} red and {blue} blue pieces)"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


@dataclass(frozen=True)
class Step:
    """A position of a game, and the action that led to it.

    `ply` counts from 1; 0 is the position after both set-ups, without an action. `events` are public: moves, fights and
    other events of the rules (`arena.stratego.rules.events`). `time_us` is the time of the action in microseconds.
    `board` has all ranks, `view` is the position as one side knows it.
    """

    ply: int
    color: Color | None
    action: str | None
    events: tuple[Event, ...]
    time_us: int
    board: Board
    _views: tuple[Board, Board]

    def __repr__(self) -> str:
        action = "the set-ups" if self.color is None else f"{self.color.word} {self.action}"
        events = "".join(f", {type(event).__name__}" for event in self.events)
        return f"Step({self.ply}, {action}{events})"

    def view(self, color: Color | str) -> Board:
        """Return the board as this side knows it: `red`, `blue` or a `Color`. Raises `UsageError`."""
        if isinstance(color, Color):
            return self._views[color]
        if color not in COLOR_BY_WORD:
            raise UsageError(f"expected {' or '.join(COLOR_BY_WORD)}, got {color!r}")
        return self._views[COLOR_BY_WORD[color]]


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
    state = as_stratego(replay.state)

    def boards() -> tuple[Board, tuple[Board, Board]]:
        red, blue = (Board(state.cells(color)) for color in Color)
        return Board(state.cells(None)), (red, blue)

    yield Step(0, None, None, (), 0, *boards())
    for step in replay.steps():
        yield Step(step.ply, step.color, step.action, state.events, step.microseconds, *boards())


def read_records(path: AnyPath) -> Iterator[GameRecord]:
    """Yield the records in a file of `arena export`.

    Each line is checked by itself; `arena verify FILE` plays the games again. Raises `UsageError` if the file cannot be
    read, has no records or only those of one side (`--view`), and `ArenaError` with the number of a line that was
    changed.
    """
    return exchange.read_records(path_of(path, "path"))
