"""Records replayed by their game, from the rules in the record."""

from collections.abc import Iterator
from dataclasses import dataclass

from arena.errors import IllegalAnswerError, UsageError
from arena.game import State, Told
from arena.game.game_spec import GameSpec
from arena.game.record import GameRecord, RecordError
from arena.game.recorded import spec_of
from protocol.seats import Color


@dataclass(frozen=True)
class ReplayStep:
    """One ply of a replay: its number, the side, the action, the lines that each seat was told, and its time."""

    ply: int
    color: Color
    action: str
    told: Told
    microseconds: int


class Replay:
    """A replay of a record: its state after each action.

    Raises `RecordError` if a side never set up, or if the record breaks its own rules.
    """

    def __init__(self, record: GameRecord) -> None:
        red, blue = record.setups
        if red is None or blue is None:
            raise RecordError(f"game {record.id} ended before both sides had set up: {record.verdict.detail}")
        if len(record.actions) != len(record.times_us):
            raise RecordError(f"game {record.id}: {len(record.actions)} actions, but {len(record.times_us)} times")
        self.record = record
        self.spec = spec_of(record)
        self.state = started(self.spec, (red, blue))

    def steps(self) -> Iterator[ReplayStep]:
        """Play the recorded actions one by one; the state is the one after the yielded step."""
        for ply, (action, taken) in enumerate(zip(self.record.actions, self.record.times_us, strict=True), start=1):
            color = self.state.to_move
            try:
                told = self.spec.kind.play_text(self.state, action)
            except IllegalAnswerError as error:
                raise RecordError(f"game {self.record.id}: ply {ply}: {error}") from None
            yield ReplayStep(ply, color, action, told, taken)


def started(spec: GameSpec, setups: tuple[str, str]) -> State:
    """Return the state of a recorded game after its set-ups. Raises `RecordError` for impossible ones."""
    try:
        for color in Color:
            spec.kind.check_setup(spec.variant, color, setups[color])
        return spec.kind.begin(spec.variant, spec.chance_seed, setups)
    except (IllegalAnswerError, UsageError) as error:
        raise RecordError(f"game {spec.id}: {error}") from None
