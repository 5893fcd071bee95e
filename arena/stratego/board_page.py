"""The page of a seat in a game of Stratego: what sets up an army."""

import secrets
from typing import Any

from arena.stratego.game import ruleset_of
from arena.stratego.setups import presets, random_rows
from arena.stratego.shown.piece_names import DEFAULT_NAMES
from arena.stratego.shown.rules_text import rule_lines
from arena.web.seat_server import SeatPage, SeatTable
from protocol.notation import HOME_SQUARES, SQUARES, Color


class BoardPage(SeatPage):
    def page(self, table: SeatTable, color: Color) -> dict[str, Any]:
        """Return the values for the template. `data` has the number of pieces of each letter, and the home squares."""
        page = super().page(table, color)
        ruleset = ruleset_of(table.session.spec.variant)
        army = {rank.letter: count for rank, count in ruleset.army}
        ready = [(f"{one.name}: {one.text}", one.rows) for one in presets(ruleset)]
        ready += [(f"Random {number}", random_rows(ruleset, secrets.randbits(32))) for number in (1, 2, 3)]
        return page | {
            "data": page["data"] | {"army": army, "home": [SQUARES[square] for square in HOME_SQUARES[color]]},
            "presets": [(name, "/".join(rows)) for name, rows in ready],
            "rules": [line.text for line in rule_lines(ruleset, DEFAULT_NAMES)],
        }
