"""How a reader sees a game, action by action, and the words for a person's seat in a terminal."""

import textwrap
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

import msgspec

from arena.game import Game, Names, State, Variant, displayed, moved
from arena.game.exported import ALL, PUBLIC
from arena.game.person_seat import ClockState, SeatStage, SeatState
from arena.game.recorded import Replay, ReplayStep
from arena.system.terminal_text import Paint
from protocol.seats import COLOR_BY_WORD, COLOR_WORDS, Color

HIDDEN_ACTION = "?"
"""An action of which the reader was told nothing, or not at once."""


class SeenBy(Enum):
    """The reader of a game."""

    ALL = ALL
    RED = Color.RED.word
    BLUE = Color.BLUE.word
    PUBLIC = PUBLIC

    def __init__(self, value: str) -> None:
        self.seat = COLOR_BY_WORD.get(value)

    @property
    def views(self) -> tuple["SeenBy", ...]:
        return (SeenBy.ALL, SeenBy.RED, SeenBy.BLUE) if self is SeenBy.ALL else (self,)

    def sees(self, color: Color) -> bool:
        """Whether the reader sees private data of a side: its set-up, seed, notes and standard error."""
        return self is SeenBy.ALL or self.seat is color


class PlainView(msgspec.Struct, frozen=True, omit_defaults=True):
    """A game for its page as one reader saw it: positions before the first ply and after each one, and words by ply."""

    texts: list[str] = msgspec.field(default_factory=list)
    images: list[str] = msgspec.field(default_factory=list)
    words: dict[int, str] = msgspec.field(default_factory=dict)


class Shown:
    """A game under way as one reader sees it. A game may have a class of its own below this one (`Game.displays`).

    Its methods are called before the first action (`step` is None), or after the action of `step`.
    """

    all_shown = "all shown"
    everything = "everything"
    setup_note = ""

    def __init__(self, game: Game, state: State, view: SeenBy, names: Names) -> None:
        game.check_names(names)
        self.game, self.state, self.view = game, state, view
        self.data: Any = PlainView()

    @classmethod
    def remark(cls, names: Names) -> str:
        """Return what `arena show` says of the names above a game."""
        del names
        return ""

    @classmethod
    def labels(cls, variant: Variant, names: Names) -> Mapping[str, Any]:
        """Return texts for the page of a game besides those of all games.

        `pieces` has what is on a piece and what it is called, by its letter; it is empty for a game without a board.
        """
        del variant, names
        return {"pieces": {}}

    @classmethod
    def setup_text(cls, setup: str) -> str:
        return setup

    def told(self, step: ReplayStep | None) -> list[str]:
        """Return the lines that the reader may know of the beginning or of an action."""
        seat = self.view.seat
        if self.view is SeenBy.PUBLIC:
            return list(self.state.first_lines(None) if step is None else self.game.public_lines(step.told))
        red, blue = step.told if step else map(self.state.first_lines, Color)
        if seat is not None:
            return list((red, blue)[seat])
        to_red = (line if line in blue else f"to red: {line}" for line in red)
        return [*to_red, *(f"to blue: {line}" for line in blue if line not in red)]

    def action(self, step: ReplayStep) -> str:
        is_seen = self.view.sees(step.color) or moved(step.color, step.action) in self.told(step)
        return HIDDEN_ACTION if self.game.hides_actions and not is_seen else step.action

    def words(self, step: ReplayStep | None) -> str:
        """Return what the reader was told besides the action."""
        action = moved(step.color, step.action) if step else ""
        return "; ".join(line for line in self.told(step) if line != action)

    def text(self) -> str:
        state = self.state
        return state.public(state.text) if self.view is SeenBy.PUBLIC else state.text(self.view.seat)

    def image(self) -> str:
        """Return the position as SVG; an empty text if the game does not draw."""
        state = self.state
        return state.public(state.svg) if self.view is SeenBy.PUBLIC else state.svg(self.view.seat) or ""

    def position(self, step: ReplayStep | None, paint: Paint) -> str:
        """Return the position for a terminal, as whole lines."""
        text = self.text()
        beginning = "\n".join(["start", *self.told(None), ""]) if step is None else ""
        return beginning + (f"{text}\n" if text else "")

    def values(self, step: ReplayStep | None) -> dict[str, object]:
        """Return what the reader was told, and the position, for JSON."""
        return {"events": self.told(step), "text": self.text()}

    def see(self, step: ReplayStep | None) -> None:
        """Add the position to `data`, which becomes JSON for the page."""
        self.data.texts.append(self.text())
        self.data.images.append(self.image())
        if words := self.words(step):
            self.data.words[step.ply if step else 0] = words

    def picture(self) -> Mapping[str, Any]:
        """Return the position for a small drawing on a page."""
        return {"text": self.text(), "image": self.image()}

    def marks(self) -> Mapping[str, str]:
        """Return what the last action did to which square of a board, for the page: first where it came from."""
        return {}


def shown_class(game: Game) -> type[Shown]:
    return displayed(game.displays.shown, Shown)


def shown_game(replay: Replay, view: SeenBy, names: Names) -> Shown:
    game = replay.spec.kind
    return shown_class(game)(game, replay.state, view, names)


WIDTH = 80
STAGES = {
    SeatStage.STARTING: "{other} is starting",
    SeatStage.SETTING_UP: "set up",
    SeatStage.READY: "{other} is setting up",
    SeatStage.MOVING: "your move",
    SeatStage.WAITING: "{other} is thinking",
    SeatStage.OVER: "the game is over",
    SeatStage.PAUSED: "the game is paused",
}
RESULTS = {"win": "You have won", "loss": "You have lost", "draw": "A draw"}


def wrapped(text: str, columns: int) -> list[str]:
    return textwrap.wrap(text, columns - 1, break_on_hyphens=False)


def title(state: SeatState, plies: int | None = None, seats: Sequence[str] = COLOR_WORDS) -> str:
    """Return the players and the stage of the game; for an earlier state its ply. `seats` are their names."""
    red, blue = state.players
    where = f"ply {state.plies}: {stage_words(state)}"
    if plies is not None:
        where = f"as you knew it after ply {state.plies} of {plies}"
    text = f"{red} ({seats[0]}) - {blue} ({seats[1]}), {state.ruleset}, {where}"
    return text if len(text) < WIDTH else f"{text[: WIDTH - 4]}..."


def stage_words(state: SeatState) -> str:
    other = state.players[COLOR_BY_WORD[state.color].opponent]
    words = STAGES[state.stage].format(other=other)
    return f"{words}; you have resigned" if state.resigns and not state.end else words


def clock_lines(state: SeatState, own: Color, other: str = "opponent") -> list[str]:
    if all(clock.left_ms is None for clock in state.clocks):
        return []
    return [f"clock: you {_time_text(state.clocks[own])}, {other} {_time_text(state.clocks[own.opponent])}"]


def _time_text(clock: ClockState) -> str:
    if clock.left_ms is None:
        return "no limit"
    seconds = clock.left_ms / 1000
    if seconds < 10:
        return f"{seconds:.1f} s"
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def end_words(state: SeatState) -> str:
    return f"{RESULTS[state.end.result]}: {state.end.words}." if state.end else ""
