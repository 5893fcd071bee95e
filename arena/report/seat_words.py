"""What a screen says of a person's seat in any game: the players, the stage, the clocks, and the end."""

import textwrap
from collections.abc import Sequence

from arena.game.person_seat import ClockState, SeatStage, SeatState
from protocol.seats import COLOR_BY_WORD, COLOR_WORDS, Color

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
