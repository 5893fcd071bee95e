"""The knowledge of a seat. No other code decides it.

The bytes for a bot, a replay with one side hidden and any redacted export all come from here: public events go in, and
a seat's messages come out. A seat's `board` lines are drawn from a `protocol.view.View` that is fed those same
messages, so they cannot hold more.
"""

from collections.abc import Sequence
from operator import attrgetter

from arena.stratego.rules.action_types import Action, Event, Path, Rescue
from arena.stratego.rules.board import BLUE_BIT, RANKS
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import Ruleset
from arena.stratego.rules.tables import RuleTables
from protocol.messages import Battle, Enemy, Moved, Rule
from protocol.notation import LAKE_SQUARES, SQUARES, Color
from protocol.view import CELL_EMPTY, CELL_LAKE, View


def told_to(events: Sequence[Event], tables: RuleTables, seat: Color | None) -> Sequence[Event]:
    """Return the events of an action as a seat may know them; `None` stands for what both seats may know.

    They differ only under silent defence, which hides the rank of some defenders from the attacker's side
    (`RuleTables.hides_defender`).
    """
    if not tables.silent:
        return events
    if any(isinstance(event, Moved) and seat is event.color.opponent for event in events):
        return events
    return [
        event._replace(defender=None) if isinstance(event, Battle) and tables.hides_defender(event) else event
        for event in events
    ]


def enemy_squares(game: EngineGame, color: Color) -> tuple[str, ...]:
    return tuple(SQUARES[square] for square, code in enumerate(game.board) if code and (code > BLUE_BIT) != bool(color))


def legal_actions(game: EngineGame) -> tuple[str, ...]:
    """Return the side to move's legal actions as text, in the order of their squares."""
    order = _by_squares if game.tables.plain else _order
    return tuple(action.text for action in sorted(game.legal_moves(), key=order))


_by_squares = attrgetter("origin", "target")
"""A faster key than `_order`, with the same order, for straight moves."""


def _order(action: Action) -> tuple[int, int, int, int, int, str]:
    travel, placed = (action.move, action.square) if isinstance(action, Rescue) else (action, 0)
    second, third = (travel.between[0], travel.target) if isinstance(travel, Path) else (travel.target, 0)
    return travel.origin, second, len(action.text), third, placed, action.text


def true_cells(game: EngineGame) -> tuple[str, ...]:
    """Return the 100 cells of the board with every rank shown: for the host, never for a bot."""
    return tuple(true_cell(square, code) for square, code in enumerate(game.board))


def true_cell(square: int, code: int) -> str:
    if not code or square in LAKE_SQUARES:
        return CELL_LAKE if square in LAKE_SQUARES else CELL_EMPTY
    return ("b" if code > BLUE_BIT else "r") + RANKS[code].letter


def begun_view(ruleset: Ruleset, color: Color, rows: Sequence[str], enemy: tuple[str, ...]) -> View:
    """Return the view of a seat after both set-ups; `enemy` are the squares of the other side's pieces."""
    view = View(color, ruleset.name)
    for name, value in ruleset.lines():
        view.apply(Rule(name, value))
    view.place_own(tuple(rows))
    if not ruleset.fills_rows:
        view.apply(Enemy(enemy))
    return view


def show(view: View, events: Sequence[Event], tables: RuleTables) -> None:
    """Tell the view of a seat what it may know of the events of a whole action."""
    for event in told_to(events, tables, view.color):
        view.apply(event)
    view.close_action()
