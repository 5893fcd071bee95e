"""The positions of a record, and the records of a file: `arena.replay` and `arena.read_records`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from arena.api.keywords import AnyPath, path_of
from arena.api.leagues import stored_record
from arena.errors import UsageError
from arena.game import State, displayed
from arena.game.record import GameRecord
from arena.game.replay import Replay
from arena.league import exchange
from protocol.seats import COLOR_BY_WORD, Color


@dataclass(frozen=True)
class Step:
    """A position of a game, and the action that led to it.

    `ply` counts from 1; 0 is the position before the first action, after the set-ups. `time_us` is the time of the
    action in microseconds. `board` is the whole position, `view` the position as one side knows it: an `arena.Board`,
    or text in another game than Stratego. `events` are public: moves, fights and other events of Stratego's rules
    (`arena.stratego.rules.events`), or in another game the lines that both sides were told.
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
