"""One game of Stratego under way, as a state of the arena's seam."""

from collections.abc import Sequence

from arena.errors import UsageError
from arena.game import State, Told, to_both
from arena.stratego.rules import engine
from arena.stratego.rules.action_types import Event
from arena.stratego.rules.ruleset import Ruleset
from arena.stratego.rules.tables import RuleTables
from arena.stratego.seat_view import begun_view, enemy_squares, legal_actions, show, told_to, true_cells
from protocol.codec import encode_for_bot
from protocol.messages import ArenaMessage, BoardLine, Enemy, Moved
from protocol.seats import Color
from protocol.view import View


class StrategoState(State):
    """One game of Stratego: the engine's game, and what each seat has been told of it."""

    def __init__(self, ruleset: Ruleset, rows: tuple[Sequence[str], Sequence[str]]) -> None:
        self.board = board = engine.EngineGame(ruleset, *rows)
        self.to_move, self.ply, self.outcome = board.to_move, board.ply, board.outcome
        self.rows = rows
        self.events: tuple[Event, ...] = ()
        """The public events of the last action."""
        self._actions: list[str] = []
        """What was played, for views that are asked for later."""
        self._views: dict[Color, View] = {}

    def first_lines(self, seat: Color | None) -> Sequence[str]:
        if self.board.ruleset.fills_rows:
            return ()
        readers = tuple(Color) if seat is None else (seat,)
        return tuple(line_of(Enemy(enemy_squares(self.board, reader))) for reader in readers)

    def play(self, action: str) -> Told:
        board = self.board
        self.events = events = board.apply(action)
        self.to_move, self.ply, self.outcome = board.to_move, board.ply, board.outcome
        self._actions.append(action)
        for view in self._views.values():
            show(view, events, board.tables)
        if len(events) == 1 and type(events[0]) is Moved:
            mover = events[0].color
            return _MOVES[mover].get(action) or _moves(mover, action)
        return told_of(events, self.board.tables)

    def act(self, action: str) -> Told:
        return self.play(action)

    def legal_actions(self) -> Sequence[str]:
        return legal_actions(self.board)

    def board_line(self, color: Color) -> str:
        return line_of(BoardLine(self.view(color).cells()))

    def view(self, color: Color) -> View:
        """Return a seat's knowledge of the position."""
        view = self._views.get(color)
        if view is None:
            board = engine.EngineGame(self.board.ruleset, *self.rows)
            view = self._views[color] = begun_view(board.ruleset, color, self.rows[color], enemy_squares(board, color))
            for action in self._actions:
                show(view, board.apply(action), board.tables)
        return view

    def cells(self, seat: Color | None) -> tuple[str, ...]:
        """Return the 100 cells of the board as a seat knows them, or with every rank shown (None)."""
        return true_cells(self.board) if seat is None else self.view(seat).cells()


def as_stratego(state: State) -> StrategoState:
    """Return a state as one of Stratego. Raises `UsageError` for another game."""
    if not isinstance(state, StrategoState):
        raise UsageError("expected a game of Stratego, got one of another game")
    return state


_MOVES: tuple[dict[str, Told], dict[str, Told]] = ({}, {})
"""The lines about moves without further events, by colour and action. There is at most one for each pair of squares."""


def _moves(mover: Color, action: str) -> Told:
    return _MOVES[mover].setdefault(action, to_both(line_of(Moved(mover, action))))


def told_of(events: Sequence[Event], tables: RuleTables) -> Told:
    """Return the lines for both seats about the events of an action."""
    if not tables.silent:
        return to_both(*map(line_of, events))
    red, blue = (tuple(map(line_of, told_to(events, tables, seat))) for seat in Color)
    return red, blue


def line_of(message: ArenaMessage) -> str:
    return encode_for_bot(message)[:-1].decode("ascii")
