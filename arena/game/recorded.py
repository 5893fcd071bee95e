"""The record of a judged game, and the game of a record for a referee."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from arena.errors import UsageError
from arena.game.game_spec import GameSpec
from arena.game.record import GameRecord, RecordError, usual_turns
from arena.game.time_control import TimeControl
from arena.game.verdict import Verdict
from protocol.seats import Color, Reason

if TYPE_CHECKING:  # readers of records do not need it
    from arena.game.referee import Referee

SLACK_MS = 1000
"""Added to the margin of both clocks, hidden from the bots: times in records are rounded."""

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
        blue_time=spec.blue_time or msgspec.UNSET,
        authors=(red.author, blue.author) if red.author or blue.author else msgspec.UNSET,
        wants=(red.wants, blue.wants),
        opening=spec.opening or msgspec.UNSET,
        names_told=spec.names_told or msgspec.UNSET,
        cannot=(red.cannot, blue.cannot) if red.cannot or blue.cannot else msgspec.UNSET,
        time_percent=spec.time_percent or msgspec.UNSET,
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
        id=spec.id,
        arena=arena,
        game=spec.variant.title or msgspec.UNSET,
        ruleset=spec.variant.name,
        rules=spec.variant.rules,
        time=spec.time,
        players=spec.players,
        seeds=spec.seeds,
        pair_seed=spec.pair_seed,
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
    return GameSpec(
        id=record.id,
        variant=variant,
        time=record.time,
        players=record.players,
        seeds=record.seeds,
        pair_seed=record.pair_seed,
        blue_time=record.blue_time or None,
        opening=record.opening or None,
        names_told=bool(record.names_told),
        time_percent=record.time_percent or None,
    )


def with_slack(spec: GameSpec) -> GameSpec:
    """Return a game with more time beyond the limits."""

    def more(time: TimeControl) -> TimeControl:
        return msgspec.structs.replace(time, margin_ms=time.margin_ms + SLACK_MS)

    red, blue = spec.times
    return msgspec.structs.replace(spec, time=more(red), blue_time=more(blue), time_percent=None)
