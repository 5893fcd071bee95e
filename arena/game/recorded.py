"""Records made and read: `judged` makes that of a game, `spec_of` and `Replay` give the game of a record again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from arena.errors import IllegalAnswerError, UsageError
from arena.game import State, Told
from arena.game.faults import Verdict
from arena.game.game_spec import GameSpec, common_fields
from arena.game.record import GameRecord, RecordError, usual_turns
from protocol.seats import Color, Reason

if TYPE_CHECKING:  # readers of records do not need it
    from arena.game.referee import Referee

BY_A_LINE = frozenset({Reason.ILLEGAL_ACTION, Reason.ILLEGAL_SETUP, Reason.PROTOCOL})
"""Reasons of losing by a line that the record does not have."""


def judged(referee: "Referee", *, arena: str, started: float, seconds: float, stderr: tuple[str, str]) -> GameRecord:
    """Return the record of a finished game, without the use and the isolation of its processes.

    `arena` is the version, `started` in seconds since the epoch, `stderr` of red and of blue.
    """
    spec = referee.spec
    assert referee.verdict is not None
    red, blue = referee.seats
    turns = turns_text(referee.live.movers)
    record = unrefereed(
        spec,
        referee.verdict,
        ("/".join(red.rows) if red.rows else None, "/".join(blue.rows) if blue.rows else None),
        tuple(referee.actions),
        tuple(referee.times_us),
        arena=arena,
        declared=(red.declared, blue.declared),
        started=started,
    )
    return msgspec.structs.replace(
        record,
        notes=tuple(referee.notes),
        stderr=stderr,
        seconds=seconds,
        forgiven_us=tuple(referee.forgiven_us),
        interrupted=tuple(referee.interrupted),
        authors=(red.author, blue.author) if red.author or blue.author else msgspec.UNSET,
        wants=(red.wants, blue.wants),
        cannot=(red.cannot, blue.cannot) if red.cannot or blue.cannot else msgspec.UNSET,
        turns=msgspec.UNSET if turns == usual_turns(spec.variant.rules, len(turns)) else turns,
    )


def unrefereed(
    spec: GameSpec,
    verdict: Verdict,
    setups: tuple[str | None, str | None],
    actions: tuple[str, ...],
    times_us: tuple[int, ...],
    *,
    arena: str,
    declared: tuple[str, str] = ("", ""),
    started: float = 0.0,
) -> GameRecord:
    """Return the record of a game that no referee has judged, such as one that another program has kept.

    `arena` is the program that has, `started` in seconds since the epoch.
    """
    return GameRecord(
        **common_fields(spec),
        arena=arena,
        game=spec.variant.title or msgspec.UNSET,
        ruleset=spec.variant.name,
        rules=spec.variant.rules,
        declared=declared,
        setups=setups,
        actions=actions,
        times_us=times_us,
        notes=(),
        verdict=verdict,
        stderr=("", ""),
        started=started,
        seconds=0.0,
    )


def turns_text(movers: Sequence[Color]) -> str:
    """Return the sides that had the turns as `GameRecord.turns` has them."""
    return "".join(mover.word[0] for mover in movers)


def spec_of(record: GameRecord) -> GameSpec:
    variant = record.variant
    try:
        variant.kind.check_variant(variant)
    except UsageError as error:
        raise RecordError(f"game {record.id}: {error}") from None
    return GameSpec(variant=variant, **common_fields(record))


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
        return spec.kind.start(spec.variant, spec.chance_seed, setups)
    except (IllegalAnswerError, UsageError) as error:
        raise RecordError(f"game {spec.id}: {error}") from None
