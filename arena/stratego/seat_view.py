"""The knowledge of a seat. No other code decides it.

The bytes for a bot, a replay with one side hidden and any redacted export all come from here: public events go in, and
a seat's messages come out. A seat's `board` lines are drawn from a `protocol.view.View` that is fed those same
messages, so they cannot hold more.
"""

from collections.abc import Sequence
from operator import attrgetter

from arena.stratego.rules.action_types import Action, Path, Rescue
from arena.stratego.rules.board import BLUE_BIT, RANKS
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.events import Acted, Event, Fought, Guessed, Resigned, Returned, Revealed
from arena.stratego.rules.ruleset import Ruleset
from protocol import messages
from protocol.messages import ArenaMessage
from protocol.notation import LAKE_SQUARES, RESIGN, SQUARES, Color, Rank
from protocol.view import CELL_EMPTY, CELL_LAKE, View


def tell(event: Event) -> tuple[ArenaMessage, ArenaMessage]:
    """Return the messages to Red and Blue about a public event; the same object twice if these are equal.

    They differ in one case: under silent defence a defender that stays is not named to the attacker's side (Vintage p.
    21). All booklets have both ranks of any other fight named.
    """
    message = _public(event)
    if isinstance(event, Fought) and event.silent:
        told = event.defender_for(event.color)
        hidden = messages.Battle(SQUARES[event.square], event.attacker, told, event.survivor)
        return (hidden, message) if event.color is Color.RED else (message, hidden)
    return message, message


def told_to(event: Event, seat: Color | None) -> ArenaMessage:
    """Return the message of a seat about an event, or, without a seat, what both were told."""
    told = tell(event)
    if seat is not None:
        return told[seat]
    # A silent defender is named to its own side alone, so that what the attacker was told both know.
    return told[event.color] if isinstance(event, Fought) else told[Color.RED]


def _public(event: Event) -> ArenaMessage:
    match event:
        case Acted(mover, action):
            return messages.Moved(mover, action.text)
        case Fought():
            return messages.Battle(SQUARES[event.square], event.attacker, event.defender, event.survivor)
        case Revealed(square, rank):
            return messages.Reveal(SQUARES[square], rank)
        case Returned(color, square, rank):
            return messages.Rescued(color, SQUARES[square], rank)
        case Guessed(square, rank, right):
            return messages.Guess(SQUARES[square], rank, right)
        case Resigned(mover):
            return messages.Moved(mover, RESIGN)


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
    return tuple(true_cell(game, square) for square in range(len(SQUARES)))


def true_cell(game: EngineGame, square: int) -> str:
    code = game.board[square]
    if not code or square in LAKE_SQUARES:
        return CELL_LAKE if square in LAKE_SQUARES else CELL_EMPTY
    return ("b" if code > BLUE_BIT else "r") + RANKS[code].letter


class SeatView:
    """One seat's knowledge of a game, as a board: for `board` lines, for replays and for pages."""

    def __init__(self, ruleset: Ruleset, color: Color, rows: Sequence[str], enemy: tuple[str, ...]) -> None:
        """`enemy` are the squares of the other side's pieces at the beginning."""
        self.color = color
        self._view = View(color, ruleset.name)
        for name, value in ruleset.lines():
            self._view.apply(messages.Rule(name, value))
        self._view.place_own(tuple(rows))
        if not ruleset.fills_rows:
            self._view.apply(messages.Enemy(enemy))

    def see(self, told: ArenaMessage) -> None:
        self._view.apply(told)

    def captured(self, color: Color) -> list[Rank]:
        """Return the pieces that a side has lost and this seat knows."""
        return self._view.captured[color]

    def cells(self) -> tuple[str, ...]:
        self._view.close_action()
        return self._view.cells()

    def cell(self, square: int) -> str:
        self._view.close_action()
        return self._view.cell(square)
