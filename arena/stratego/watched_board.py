"""A running game of Stratego as it is watched: a board with the marks of the last action."""

import json
from collections.abc import Sequence
from typing import Any

from arena.game import State
from arena.game.replay import ReplayStep
from arena.stratego.shown.boards import marks_of
from arena.stratego.shown.shown_board import ShownBoard, named_marks
from arena.stratego.state import as_stratego
from arena.system.printable import isolated
from arena.web.live_games import WatchedGame


class WatchedBoard(WatchedGame):
    template = "watch.html"
    all_note = "All pieces."
    public_note = "What both sides know. All ranks are shown when the game is over."

    def labels(self) -> str:
        red, blue = (player.name for player in self.spec.players)
        own = ShownBoard.labels(self.spec.variant, {})
        return json.dumps({"red": isolated(red), "blue": isolated(blue), **own}, ensure_ascii=False)

    def begun(self, seen: State) -> None:
        self._board = ShownBoard(self.spec.kind, seen, self.audience, {})
        self._marks: dict[str, str] = {}
        self._words = ""

    def words(self, step: ReplayStep) -> Sequence[str]:
        self._marks = named_marks(marks_of(as_stratego(self._board.state).events))
        self._words = self._board.words(step)
        side = isolated(self.spec.players[step.color].name)
        return [f"{step.ply}. {side}: {step.action}"]

    def position(self) -> dict[str, Any]:
        """Return the 100 cells, two characters each, the last action with its marks, and the letters of lost pieces."""
        return {
            "cells": "".join(self._board.cells()),
            "marks": self._marks,
            "words": self._words,
            "lost": self._board.lost_letters(),
        }
