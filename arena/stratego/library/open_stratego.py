"""A conversation with one bot that plays Stratego: the caller plays with the engine's game and its events."""

from collections.abc import Iterable, Sequence
from typing import Any

from arena.api.opened_bot import OpenBot
from arena.errors import UsageError
from arena.game import State
from arena.stratego.game import ruleset_of
from arena.stratego.rules.action_types import Event
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import Ruleset
from arena.stratego.seat_view import begun_view, enemy_squares, told_to
from arena.stratego.state import StrategoState, line_of
from protocol.seats import Color
from protocol.view import View


class _Watched(StrategoState):
    """A game that the caller plays, as one seat knows it."""

    def __init__(self, game: EngineGame, seen: View) -> None:
        self.board, self.seen = game, seen

    @property
    def ply(self) -> int:  # type: ignore[override]
        return self.board.ply

    def view(self, color: Color) -> View:
        del color
        self.seen.close_action()
        return self.seen


class StrategoOpenBot(OpenBot):
    @property
    def ruleset(self) -> Ruleset:
        return ruleset_of(self.variant)

    def _state_of(self, game: Any, color: Color) -> State:
        if not isinstance(game, EngineGame):
            raise UsageError(f"expected a game (arena.Game), got {game!r:.60}")
        self._watched = _Watched(game, begun_view(game.ruleset, color, self._rows, enemy_squares(game, color)))
        return self._watched

    def _lines_of(self, told: Any, color: Color) -> Sequence[str]:
        if not isinstance(told, Iterable) or isinstance(told, Event):
            raise UsageError(f"expected events, as game.apply returns them in a sequence, got {told!r:.60}")
        events = list(told)
        for event in events:
            if not isinstance(event, Event):
                raise UsageError(f"expected events, as game.apply returns them, got {event!r:.60}")
        messages = told_to(events, self._watched.board.tables, color)
        for message in messages:
            self._watched.seen.apply(message)
        return [line_of(message) for message in messages]
