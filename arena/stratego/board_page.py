"""The page of a seat in a game of Stratego: what sets up an army."""

from typing import Any

from arena.stratego.game import ruleset_of
from arena.stratego.setups import presets
from arena.stratego.shown.piece_names import DEFAULT_NAMES
from arena.stratego.shown.rules_text import rule_lines
from arena.web.seat_server import SeatPage, SeatTable
from protocol.notation import Color


class BoardPage(SeatPage):
    def page(self, table: SeatTable, color: Color) -> dict[str, Any]:
        """Return the values for the template. In `data` is how many pieces of each letter there are."""
        page = super().page(table, color)
        ruleset = ruleset_of(table.session.spec.variant)
        army = {rank.letter: count for rank, count in ruleset.army}
        return page | {
            "data": page["data"] | {"army": army},
            "presets": [(f"{one.name}: {one.text}", "/".join(one.rows)) for one in presets(ruleset)],
            "rules": [line.text for line in rule_lines(ruleset, DEFAULT_NAMES)],
        }
