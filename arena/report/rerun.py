"""What came of playing a game again, as text and as JSON: `arena rerun`."""

import msgspec

from arena.counted import counted
from arena.game.record import GameRecord
from arena.league.rerun import Difference, Part, Rerun
from arena.report.json import to_json


class EndJson(msgspec.Struct, frozen=True):
    """How one of the two games ended."""

    result: str
    reason: str
    plies: int
    detail: str


class RerunJson(msgspec.Struct, frozen=True):
    """A game played again. `differs` is `set-up`, `action` or `end`, and null if both are the same to the end; then so
    are `ply` and `side`. `recorded` and `played` are the two set-ups or actions there, null where a game had ended."""

    number: int
    id: str
    same: bool
    differs: str | None
    ply: int | None
    side: str | None
    recorded: str | None
    played: str | None
    recorded_end: EndJson
    played_end: EndJson


def rerun_json(number: int, done: Rerun) -> str:
    """It as one document."""
    found = done.difference
    return to_json(
        RerunJson(
            number=number,
            id=done.recorded.id,
            same=found is None,
            differs=found.part.value if found else None,
            ply=found.ply if found else None,
            side=found.color.word if found else None,
            recorded=found.recorded if found else None,
            played=found.played if found else None,
            recorded_end=_end(done.recorded),
            played_end=_end(done.played),
        )
    )


def _end(record: GameRecord) -> EndJson:
    verdict = record.verdict
    return EndJson(verdict.result.value, verdict.reason.value, verdict.plies, verdict.detail)


def rerun_text(number: int, done: Rerun) -> str:
    """It in words, without a line feed at the end."""
    recorded, found = done.recorded.verdict, done.difference
    plies = counted(recorded.plies, "ply", "plies")
    if found is None:
        return f"game {number}: same to the end, {plies}: {recorded.detail}"
    lines = [f"game {number}: {_where(found)}", *_what(found)]
    lines.append(f"    the recorded game ended after {plies}: {recorded.detail}")
    now = done.played.verdict
    lines.append(f"    this one ended after {'1 ply' if now.plies == 1 else f'{now.plies} plies'}: {now.detail}")
    return "\n".join(lines)


def _where(found: Difference) -> str:
    if found.part is Part.SETUP:
        return f"parts from the record at the set-up of {found.color.word}"
    if found.ply == 0:
        return "parts from the record before the game"
    return f"parts from the record at ply {found.ply}, {found.color.word} to move"


def _what(found: Difference) -> list[str]:
    if found.recorded is None and found.played is None:
        return []
    nothing = "none" if found.part is Part.SETUP else "none, the game ended there"
    return [f"    recorded: {found.recorded or nothing}", f"    now:      {found.played or nothing}"]
