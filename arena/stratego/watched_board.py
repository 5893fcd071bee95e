"""A running game of Stratego as it is watched: a board with the marks of the last action."""

import json
from collections.abc import Sequence
from typing import Any

from arena.game import State
from arena.play.game_events import ActionPlayed
from arena.report.site.page_frame import isolated
from arena.stratego.shown.boards import marks_of
from arena.stratego.shown.event_words import told_words
from arena.stratego.shown.piece_names import names_of
from arena.stratego.shown.shown_board import ShownBoard, named_marks
from arena.stratego.state import as_stratego
from arena.web.live_games import WatchedGame


class WatchedBoard(WatchedGame):
    template = "watch.html"
    all_note = "All pieces."
    public_note = "What both sides know. All ranks are shown when the game is over."

    def labels(self) -> str:
        red, blue = (player.name for player in self.spec.players)
        own = ShownBoard.labels(self.spec.variant, self.names)
        return json.dumps({"red": isolated(red), "blue": isolated(blue), **own}, ensure_ascii=False)

    def begun(self, seen: State) -> None:
        self._board = ShownBoard(self.spec.kind, seen, self.audience, self.names)
        self._marks: dict[str, str] = {}
        self._words = ""

    def words(self, event: ActionPlayed) -> Sequence[str]:
        events = as_stratego(self._board.state).events
        self._marks = named_marks(marks_of(events))
        self._words = told_words(events, self.audience.value, names_of(self.names))
        side = isolated(self.spec.players[event.color].name)
        return [f"{event.ply}. {side}: {event.action}"]

    def position(self) -> dict[str, Any]:
        """Return the 100 cells, two characters each, the last action with its marks, and the letters of lost pieces."""
        return {
            "cells": "".join(self._board.cells()),
            "marks": self._marks,
            "words": self._words,
            "lost": self._board.lost_letters(),
        }
