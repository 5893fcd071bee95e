"""The page of a seat in a game of Stratego: a board with pieces, and the moves in words."""

from typing import Any

import msgspec

from arena.stratego.game import ruleset_of
from arena.stratego.rules.tables import RuleTables, tables_of
from arena.stratego.seat_state import ActionState, StrategoSeatState, seat_of, state_after, state_of
from arena.stratego.setups import presets
from arena.stratego.shown.piece_names import DEFAULT_NAMES
from arena.stratego.shown.rules_text import army_entries, rule_lines
from arena.web.seat_server import SeatPage, SeatTable, commands_after
from protocol.notation import Color


class SeatAnswer(msgspec.Struct, frozen=True):
    """The state of a seat and the moves after the first `since`.

    `shown` are the squares of own pieces with a rank that the enemy knows. When the game is over, `after` has the next
    possible commands, and `setups` Red's and Blue's rows, if both sides set up.
    """

    state: StrategoSeatState
    since: int
    moves: tuple[ActionState, ...]
    shown: tuple[str, ...]
    after: tuple[str, ...]
    setups: tuple[str, ...] = ()


class Earlier(msgspec.Struct, frozen=True):
    state: StrategoSeatState
    shown: tuple[str, ...]


class BoardPage(SeatPage):
    template = "play.html"

    def page(self, table: SeatTable, color: Color) -> dict[str, Any]:
        """Return the values for the template. In `data` are pieces by letter, and the letters from the strongest."""
        page = super().page(table, color)
        ruleset = ruleset_of(table.session.spec.variant)
        ready = [{"name": f"{one.name}: {one.text}", "rows": one.rows} for one in presets(ruleset)]
        entries = army_entries(ruleset, DEFAULT_NAMES)
        data = {
            "seat": color.word,
            "title": page["title"],
            "pieces": {one.letter: {"number": one.number, "name": one.name, "count": one.count} for one in entries},
            "order": [one.letter for one in entries],
            "presets": ready,
        }
        return page | {
            "data": msgspec.json.encode(data).decode(),
            "presets": [preset["name"] for preset in ready],
            "rules": [line.text for line in rule_lines(ruleset, DEFAULT_NAMES)],
        }

    def answer(self, table: SeatTable, color: Color, since: int) -> SeatAnswer:
        state, record, seat = state_of(table.session, color), table.session.record, seat_of(table.session, color)
        since = min(since, state.plies)
        setups = () if record is None else tuple(setup for setup in record.setups if setup is not None)
        moves = tuple(seat.actions[since:])
        return SeatAnswer(state, since, moves, seat.shown(_tables(table)), commands_after(table, state), setups)

    def earlier(self, table: SeatTable, color: Color, plies: int) -> Earlier:
        seat = seat_of(table.session, color).after(plies)
        return Earlier(state_after(table.session, color, plies), seat.shown(_tables(table)))


def _tables(table: SeatTable) -> RuleTables:
    return tables_of(ruleset_of(table.session.spec.variant))
