"""What `arena check --replay` prints: what a bot answers now in a recorded game, beside what it did then."""

from collections.abc import Iterator

import msgspec

from arena.check.replayed import Replayed
from arena.check.results import Mark
from arena.report.check import INDENT, FailureJson, failure_entry, failure_lines, marked, ms_text, wrapped
from arena.report.json import to_json
from arena.report.paint import Paint, plain

SHOWN_REPLIES = 20


class ReplyJson(msgspec.Struct, frozen=True):
    """One answer: what the record has and what the bot does now, null where there is none; times in milliseconds."""

    ply: int
    recorded: str | None
    now: str | None
    recorded_ms: float | None
    now_ms: float | None
    illegal: str


class ReplayJson(msgspec.Struct, frozen=True):
    """A recorded game put to a bot again. `restored`: it was given the recorded set-up, since its own is another;
    `same_fault`: it fails now by what it lost the recorded game by."""

    number: int
    id: str
    side: str
    same: bool
    restored: bool
    recorded_setup: str | None
    setup: str | None
    replies: list[ReplyJson]
    failure: FailureJson | None
    same_fault: bool
    remarks: list[str]
    recorded_end: str


def replay_json(replayed: Replayed) -> str:
    """It as one document."""
    replies = [
        ReplyJson(one.ply, one.recorded, one.now, one.recorded_ms, one.now_ms and round(one.now_ms, 3), one.illegal)
        for one in replayed.replies
    ]
    recorded, now = replayed.setups
    return to_json(
        ReplayJson(
            number=replayed.game.number,
            id=replayed.game.record.id,
            side=replayed.color.word,
            same=replayed.is_same,
            restored=replayed.is_restored,
            recorded_setup=recorded,
            setup=now,
            replies=replies,
            failure=failure_entry(replayed.failure) if replayed.failure else None,
            same_fault=replayed.has_same_fault,
            remarks=list(replayed.game.remarks),
            recorded_end=replayed.game.record.verdict.detail,
        )
    )


def replay_text(replayed: Replayed, paint: Paint = plain) -> str:
    """It in words, 80 columns wide, without a line feed at the end."""
    return "\n".join(_replay_lines(replayed, paint))


def _replay_lines(replayed: Replayed, paint: Paint) -> Iterator[str]:
    players, color = replayed.game.record.players, replayed.color
    me, foe = players[color].name, players[color.opponent].name
    yield from wrapped(f"game {replayed.game.number}: {me} as {color.word}, against {foe}", "")
    for remark in replayed.game.remarks:
        yield from wrapped(remark, "")
    yield from _setups(replayed)
    differing = replayed.differing
    shown = [*differing[:SHOWN_REPLIES], *[reply for reply in replayed.replies[-1:] if reply.is_same]]
    if shown:
        yield f"{'ply':>5}  {'recorded':<16}{'now':<16}{'ms then':>10}{'ms now':>10}"
    for reply in shown:
        cells = f"{reply.recorded or '-':<16}{reply.now or '-':<16}"
        line = f"{reply.ply:>5}  {cells}{ms_text(reply.recorded_ms):>10}{ms_text(reply.now_ms):>10}"
        yield line if reply.is_same else paint(line, "yellow")
        is_failure = replayed.failure is not None and replayed.failure.ply == reply.ply  # which says it below
        if reply.illegal and not is_failure:
            yield from wrapped(f"not legal: {reply.illegal}", INDENT)
    if len(differing) > SHOWN_REPLIES:
        yield f"       ... and {len(differing) - SHOWN_REPLIES} more; --json has all"
    if replayed.failure is not None:
        where = f"at ply {replayed.failure.ply}" if replayed.failure.ply else "before the first ply"
        yield from marked(Mark.FAILED, where + (", as then" if replayed.has_same_fault else ""), paint)
        yield from failure_lines(replayed.failure, paint, is_told=False)
    yield from wrapped(f"then: {replayed.game.record.verdict.detail}", "")
    yield from wrapped(_in_short(replayed), "")


def _setups(replayed: Replayed) -> Iterator[str]:
    recorded, now = replayed.setups
    if recorded == now or replayed.game.record.opening:
        return
    yield f"set-up then: {recorded or '-'}"
    yield f"set-up now:  {now or '-'}"
    if replayed.is_restored:
        yield "it was started again and given the set-up of then (restore)"


def _in_short(replayed: Replayed) -> str:
    answers, differing = len(replayed.replies), replayed.differing
    fault = _fault_in_short(replayed)
    if not answers and replayed.failure is not None:
        return f"it does not come to its first turn: {fault}"
    if not answers:
        return "no turn of its is in the record" + (f"; {fault}" if fault else "")
    if differing:
        first = f"{len(differing)} of {answers} answers differ now, the first at ply {differing[0].ply}"
        return f"{first}; {fault}" if fault else first
    return f"the same answers, and {fault}" if fault else f"the same answers now, all {answers}"


def _fault_in_short(replayed: Replayed) -> str:
    """What has become of the fault that it lost by; empty where there is none, then or now."""
    failure = replayed.failure
    if failure is None:
        return "no fault now" if replayed.fault_then else ""
    which = "the same fault" if replayed.has_same_fault else "another fault" if replayed.fault_then else "a fault now"
    return f"{which} at ply {failure.ply}" if failure.ply else f"{which} before the first ply"
