"""One game that is being played, as viewers see it, and the texts of its page.

To note a move costs next to nothing, to play it on a board some ten microseconds: a game catches up when its state is
asked for.
"""

import json
from dataclasses import dataclass
from typing import Any

from arena.errors import ArenaError
from arena.game.replay import SeenGame
from arena.game.spec import GameSpec
from arena.play.game_events import ActionPlayed
from arena.report.boards import marks_of
from arena.report.game_text import event_words, told
from arena.report.piece_names import Names
from arena.report.site.audience import SeenBy, cell_of, lost_of
from arena.report.site.game_data import MARKS, square_name
from arena.report.site.game_page import board_labels
from arena.report.site.page_frame import isolated
from arena.rules.events import IllegalActionError
from arena.rules.ruleset import RulesetError
from arena.rules.setup import IllegalSetupError
from protocol.notation import SQUARES, Color


@dataclass(frozen=True)
class LiveWords:
    """The English texts; another language is another value."""

    now: str = "Now playing"
    none: str = "No game is being played at the moment."
    hidden: str = "Running games are not shown here. They are on these pages when they are over."
    game: str = "game"
    red: str = "red"
    blue: str = "blue"
    plies: str = "plies"
    watch: str = "watch"
    board: str = "Board"
    moves: str = "Last moves"
    public: str = "What both sides know. All ranks are shown when the game is over."
    all_ranks: str = "All pieces."
    delayed: str = "Shown {} s later than it is played."
    broken: str = "The moves came faster than they could be followed. The game can be replayed when it is over."
    over: str = "over"
    replay: str = "Replay it with all that is known"
    move: str = "{ply}. {side}: {action}"
    lost: str = "lost:"
    progress: str = "{done} games over"
    progress_of: str = "{done} of {planned} games over"
    left: str = "about {} left"
    ended: str = "The league is over."
    served: str = "The league is over. These pages are not served any more; `arena serve` serves them again."
    gone: str = "This game is not being played now. It may be over: see the list of games."
    no_script: str = "Moves are shown as they are played with JavaScript; without it, load the page again."


LIVE_WORDS = LiveWords()


MOVES_SHOWN = 12
"""The last moves, beside the board."""


class WatchedGame:
    """A game from its set-ups on, for one kind of viewer."""

    def __init__(self, spec: GameSpec, setups: tuple[str, str], audience: SeenBy, names: Names) -> None:
        self.spec, self.audience = spec, audience
        self.ply = 0
        self.number: int | None = None
        """Its number in the store, once it is there."""
        self.end = ""
        """What came of it, once it is over."""
        self._setups, self._names = setups, names
        self._coming: list[ActionPlayed] = []
        """What has been played and not been put on the board."""
        self._seen: SeenGame | None = None
        self._moves: list[str] = []
        self._marks: dict[str, str] = {}
        self._words = ""
        self.is_broken = False
        """Whether something of it was not told: the board cannot be followed any more."""

    @property
    def title(self) -> str:
        red, blue = self.spec.players
        return f"{isolated(red.name)} - {isolated(blue.name)}"

    def play(self, event: ActionPlayed) -> None:
        """Note a move."""
        if event.ply != self.ply + 1:
            self.is_broken = True
        self.ply = event.ply
        if not self.is_broken:
            self._coming.append(event)

    def labels(self) -> str:
        """What the script of its page says, as JSON."""
        red, blue = (player.name for player in self.spec.players)
        return json.dumps(board_labels(red, blue, self.spec.ruleset, self._names), ensure_ascii=False)

    def state(self) -> dict[str, Any]:
        """How it stands: the 100 cells of the board, two characters each, as such a viewer knows them, what the last
        action did and on which squares, the last moves, and the letters of what Red and Blue have lost."""
        self._catch_up()
        state: dict[str, Any] = {"ply": self.ply, "end": self.end, "href": self._href()}
        if self.is_broken or self._seen is None:
            return state | {"note": LIVE_WORDS.broken}
        seen, audience = self._seen, self.audience
        lost = ["".join(rank.letter for rank in lost_of(seen, color, audience)) for color in Color]
        return state | {
            "cells": "".join(cell_of(seen, square, audience) for square in range(len(SQUARES))),
            "marks": self._marks,
            "words": self._words,
            "moves": self._moves,
            "lost": lost,
        }

    def _href(self) -> str:
        return f"../games/{self.number}.html" if self.number is not None else ""

    def _catch_up(self) -> None:
        """Play what has come on the board."""
        if self.is_broken:
            return
        coming, self._coming = self._coming, []
        try:
            if self._seen is None:
                self._seen = SeenGame(self.spec.ruleset, self._setups)
            for event in coming:
                self._apply(self._seen, event)
        except (ArenaError, RulesetError, IllegalSetupError, IllegalActionError):
            self.is_broken = True

    def _apply(self, seen: SeenGame, event: ActionPlayed) -> None:
        events = seen.apply(event.action)
        self._marks = {square_name(square): MARKS[mark] for square, mark in marks_of(events).items()}
        messages = [told(one, self.audience.value) for one in events]
        self._words = "; ".join(text for text in (event_words(message, self._names) for message in messages) if text)
        side = isolated(self.spec.players[event.color].name)
        self._moves = [*self._moves, LIVE_WORDS.move.format(ply=event.ply, side=side, action=event.action)]
        self._moves = self._moves[-MOVES_SHOWN:]
