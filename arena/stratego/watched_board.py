"""A running game of Stratego as it is watched: a board with the marks of the last action."""

import json
from collections.abc import Sequence
from typing import Any

from arena.game import State
from arena.play.game_events import ActionPlayed
from arena.report.site.game_data import MARKS, cell_of, lost_of, square_name
from arena.report.site.game_page import board_labels
from arena.report.site.page_frame import isolated
from arena.stratego.game import ruleset_of
from arena.stratego.shown.boards import marks_of
from arena.stratego.shown.event_words import told_words
from arena.stratego.state import as_stratego
from arena.web.live_games import WatchedGame
from protocol.notation import SQUARES, Color


class WatchedBoard(WatchedGame):
    template = "watch.html"
    all_note = "All pieces."
    public_note = "What both sides know. All ranks are shown when the game is over."
    _marks: dict[str, str]
    _words: str

    def labels(self) -> str:
        red, blue = (player.name for player in self.spec.players)
        return json.dumps(board_labels(red, blue, ruleset_of(self.spec.variant), self.names), ensure_ascii=False)

    def begun(self, seen: State) -> None:
        self._marks, self._words = {}, ""

    def words(self, seen: State, event: ActionPlayed) -> Sequence[str]:
        events = as_stratego(seen).events
        self._marks = {square_name(square): MARKS[mark] for square, mark in marks_of(events).items()}
        self._words = told_words(events, self.audience.value, self.names)
        side = isolated(self.spec.players[event.color].name)
        return [f"{event.ply}. {side}: {event.action}"]

    def position(self, seen: State) -> dict[str, Any]:
        """Return the 100 cells, two characters each, the last action with its marks, and the letters of lost pieces."""
        state, audience = as_stratego(seen), self.audience
        return {
            "cells": "".join(cell_of(state, square, audience) for square in range(len(SQUARES))),
            "marks": self._marks,
            "words": self._words,
            "lost": ["".join(rank.letter for rank in lost_of(state, color, audience)) for color in Color],
        }
