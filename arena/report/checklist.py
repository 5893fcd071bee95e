"""`arena check`: the checklist of a bot, or its answers in a stored game, as text and as JSON."""

import textwrap
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import partial

from arena.check.situations import Checked, ExchangedLine, Failure, Mark, SituationGroup, SituationOutcome, Spread
from arena.check.stored_game import Replayed
from arena.game.transcript import Speaker
from arena.system.terminal_text import Paint, plain, to_json
from protocol.seats import Reason

WIDTH = 80
INDENT = "          "
MOST_REASONS = 3
"""Up to this number of situations of a group that are not applicable, each is shown with its reason."""
MOST_NAMED = 4
"""Rulesets that the verdict names if all have the same mark."""
NEAR = 0.7
SHOWN_LINE = 68
MIB = 1024 * 1024
MARKS = {
    Mark.PASSED: ("ok", "green"),
    Mark.FAILED: ("FAILED", "bold red"),
    Mark.PARTLY: ("partly", "yellow"),
    Mark.NOT_APPLICABLE: ("-", "dim"),
    Mark.NOT_TRIED: ("?", "dim"),
}
WITHOUT_PLY = (Reason.CRASH, Reason.OVER_LIMIT, Reason.PROTOCOL)
"""Reasons of faults whose words do not name the ply."""
OF_SOME_LEAGUES = (Mark.PARTLY, Mark.NOT_APPLICABLE)


def check_json(checked: Checked) -> str:
    return to_json(
        {
            "bot": checked.name,
            "path": checked.path,
            "digest": checked.digest,
            "language": checked.language,
            "declared": checked.declared,
            "author": checked.author,
            "sandbox": checked.level,
            "accepted": checked.is_accepted,
            "ready_for": checked.rules_with(Mark.PASSED),
            "not_ready_for": checked.rules_with(Mark.FAILED),
            "situations": [_situation(outcome, checked) for outcome in checked.outcomes],
            "start": _spread(checked.start),
            "setup": _spread(checked.setup),
            "move": _spread(checked.move),
            "memory": checked.memory,
            "memory_limit": checked.memory_limit,
        }
    )


def _situation(outcome: SituationOutcome, checked: Checked) -> dict[str, object]:
    situation = outcome.situation
    return {
        "key": situation.key,
        "title": situation.title,
        "group": _heading(situation.group, situation.rules, checked),
        "rules": situation.rules,
        "side": situation.color.word,
        "mark": outcome.mark,
        "remark": outcome.remark,
        "needed_by": situation.needed_by,
        "plies": outcome.plies,
        "failure": _failure(outcome.failure),
    }


def _failure(failure: Failure | None) -> dict[str, object] | None:
    if failure is None:
        return None
    exchange = [{"speaker": said.speaker, "text": said.text, "ms": said.ms} for said in failure.exchange]
    return asdict(replace(failure, exchange=())) | {"exchange": exchange}


def _spread(spread: Spread) -> dict[str, object]:
    return {name: round(value, 3) if isinstance(value, float) else value for name, value in asdict(spread).items()}


def check_text(checked: Checked, paint: Paint = plain, *, is_verbose: bool = False) -> str:
    """Return the checklist as text of 80 columns: of a bot without problems the verdict alone, unless `is_verbose`."""
    has_remarks = any(outcome.mark not in (Mark.PASSED, Mark.NOT_APPLICABLE) for outcome in checked.outcomes)
    if not (is_verbose or has_remarks or list(_near_limits(checked))):
        return "\n".join(_verdict(checked, paint))
    head = [f"{checked.name}: {checked.path}, {checked.language}, digest {checked.digest[:12]}"]
    if said := checked.declared + (f" by {checked.author}" if checked.author else ""):
        head.append(f"calls itself {said}")
    head.append(f"sandbox: {checked.level} (league limits)")
    lines = [line for text in head for line in wrapped(text, "")]
    return "\n".join([*lines, *_checklist(checked, paint), "", *_times(checked), "", *_verdict(checked, paint)])


def _checklist(checked: Checked, paint: Paint) -> Iterator[str]:
    told: set[tuple[str, str] | None] = set()
    groups = dict.fromkeys(outcome.situation.group for outcome in checked.outcomes)
    for group in groups:
        outcomes = [outcome for outcome in checked.outcomes if outcome.situation.group is group]
        yield ""
        yield paint(_heading(group, outcomes[0].situation.rules, checked), "bold")
        left_out = [outcome for outcome in outcomes if outcome.mark is Mark.NOT_APPLICABLE]
        are_many = len(left_out) > MOST_REASONS
        for outcome in outcomes:
            if outcome.mark is not Mark.NOT_TRIED and not (are_many and outcome in left_out):
                failure = outcome.failure
                said = (failure.words, failure.hint) if failure else None
                yield from _entry(outcome, paint, is_told=said in told)
                told.add(said)
        if are_many:
            words = f"{len(left_out)} more checks are not applicable; see --json"
            yield from marked(Mark.NOT_APPLICABLE, words, paint)
        why = dict.fromkeys(outcome.remark for outcome in outcomes if outcome.mark is Mark.NOT_TRIED)
        for remark in why:
            left = [o.situation.title for o in outcomes if o.mark is Mark.NOT_TRIED and o.remark == remark]
            what = left[0] if len(left) == 1 else f"{len(left)} more checks"
            yield from marked(Mark.NOT_TRIED, f"{what}: skipped, {remark}", paint)


LONGEST_STDERR = 400
"""Characters of a line of standard error or of a build that are shown; long paths may come before the error."""


def _heading(group: SituationGroup, rules: str, checked: Checked) -> str:
    return group.value.format(rules=rules, variants=checked.variant_words[1])


def _entry(outcome: SituationOutcome, paint: Paint, *, is_told: bool) -> Iterator[str]:
    """Yield the lines of an outcome; `is_told` if its failure has been shown in full."""
    remarks = [outcome.situation.title]
    if outcome.mark is Mark.PARTLY and outcome.situation.needed_by:
        remarks.append(f"only for {outcome.situation.needed_by}")
    if outcome.remark:
        remarks.append(outcome.remark)
    yield from marked(outcome.mark, ": ".join([remarks[0], "; ".join(remarks[1:])][: len(remarks)]), paint)
    if outcome.failure is not None:
        yield from failure_lines(outcome.failure, paint, is_told=is_told)


def marked(mark: Mark, text: str, paint: Paint) -> Iterator[str]:
    word, style = MARKS[mark]
    first, *more = wrapped(text, INDENT)
    yield f"  {paint(f'{word:<8}', style)}{first[len(INDENT) :]}"
    yield from more


def failure_lines(failure: Failure, paint: Paint, *, is_told: bool) -> Iterator[str]:
    """Yield a failure with its hint and the last lines of the exchange; `is_told` leaves out the exchange."""
    at = f" at ply {failure.ply}" if failure.ply and failure.reason in WITHOUT_PLY else ""
    words = failure.words if not failure.reason else f"{failure.reason.value}{at}: {failure.words}"
    yield from wrapped(words, INDENT)
    if is_told:
        yield f"{INDENT}(as above)"
        return
    if failure.hint:
        for line in wrapped(f"hint: {failure.hint}", INDENT):
            yield paint(line, "bold")
    for said in failure.exchange:
        yield f"{INDENT}{_said(said)}"
    for line in failure.stderr:
        yield f"{INDENT}stderr| {line[:LONGEST_STDERR]}"


def _said(said: ExchangedLine) -> str:
    if said.is_aside:
        return f"      | {said.text}"
    who = "arena" if said.speaker is Speaker.ARENA else "bot"
    room = SHOWN_LINE - len("arena | ")
    return f"{who:<5} | {said.text if len(said.text) <= room else f'{said.text[: room - 3]}...'}"


def wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False, break_long_words=True
    )


def _times(checked: Checked) -> Iterator[str]:
    yield f"{'times in ms':<14}{'number':>8}{'median':>10}{'p99':>10}{'worst':>10}{'limit':>10}"
    for name, spread in (("start", checked.start), ("set-up", checked.setup), ("move", checked.move)):
        if spread.limit is None and name == "set-up":  # the game has none
            continue
        cells = (ms_text(spread.median), ms_text(spread.p99), ms_text(spread.worst), str(spread.limit or "-"))
        yield f"  {name:<12}{spread.count:>8}{''.join(f'{cell:>10}' for cell in cells)}"
    yield from _near_limits(checked)
    used, limit = f"{checked.memory / MIB:.0f} MiB", f"{checked.memory_limit / MIB:.0f} MiB"
    yield f"memory: at most {used} of {limit}"


def _near_limits(checked: Checked) -> Iterator[str]:
    for name, spread in (("start", checked.start), ("set-up", checked.setup), ("move", checked.move)):
        if spread.worst is not None and spread.limit is not None and spread.worst > NEAR * spread.limit:
            is_over = spread.worst > spread.limit
            how = "took longer than its limit, but no longer than limit and margin" if is_over else "was near its limit"
            yield from wrapped(f"the slowest {name} {how}", "  ")


def ms_text(time: float | None) -> str:
    if time is None:
        return "-"
    return f"{time:.2f}" if time < 10 else f"{time:.0f}"


def _verdict(checked: Checked, paint: Paint) -> Iterator[str]:
    said_of = {mark: mark.value for mark in Mark} | {Mark.NOT_TRIED: "skipped"}
    counts = [f"{checked.count(mark)} {said_of[mark]}" for mark in Mark if checked.count(mark) or mark is Mark.PASSED]
    ready, not_ready = checked.rules_with(Mark.PASSED), checked.rules_with(Mark.FAILED)
    left = checked.rules_with(Mark.NOT_TRIED)
    names = partial(_names, words=checked.variant_words)
    said = [f"ready for {names(ready, is_all=not (not_ready or left))}"] if ready else []
    if not_ready or checked.count(Mark.FAILED):
        said.append(f"not {'' if ready else 'ready '}for {names(not_ready, is_all=not (ready or left))}")
    if left:
        said.append(f"incomplete for {names(left, is_all=len(left) > MOST_NAMED)}")
    if not said:
        said.append(f"not for any {checked.variant_words[0]}")
    needed = sorted({o.situation.needed_by for o in checked.outcomes if o.mark in OF_SOME_LEAGUES} - {""})
    if ready and needed:
        said.append(f"not with {' or '.join(needed)}")
    style = "bold green" if checked.is_accepted else "bold red" if checked.count(Mark.FAILED) else "bold yellow"
    for line in wrapped(f"{checked.name}: {'; '.join(said)} ({', '.join(counts)})", ""):
        yield paint(line, style)


def _names(rules: list[str], words: tuple[str, str], *, is_all: bool) -> str:
    if not rules:
        return f"any {words[0]}"
    return f"{len(rules)} {words[1]}" if is_all and len(rules) > MOST_NAMED else ", ".join(rules)


SHOWN_REPLIES = 20


def replay_json(replayed: Replayed) -> str:
    """Return the replay of a recorded game with a bot as JSON. `restored`: the bot was given the recorded set-up."""
    recorded, now = replayed.setups
    return to_json(
        {
            "number": replayed.game.number,
            "id": replayed.game.record.id,
            "side": replayed.color.word,
            "same": replayed.is_same,
            "restored": replayed.is_restored,
            "recorded_setup": recorded,
            "setup": now,
            "replies": [
                asdict(replace(one, now_ms=None if one.now_ms is None else round(one.now_ms, 3)))
                for one in replayed.replies
            ],
            "failure": _failure(replayed.failure),
            "same_fault": replayed.has_same_fault,
            "remarks": replayed.game.remarks,
            "recorded_end": replayed.game.record.verdict.detail,
        }
    )


def replay_text(replayed: Replayed, paint: Paint = plain) -> str:
    return "\n".join(_replay_lines(replayed, paint))


def _replay_lines(replayed: Replayed, paint: Paint) -> Iterator[str]:
    players, color = replayed.game.record.players, replayed.color
    me, foe = players[color].name, players[color.opponent].name
    yield from wrapped(f"game {replayed.game.number}: {me} as {color.word}, against {foe}", "")
    for remark in replayed.game.remarks:
        yield from wrapped(remark, "")
    recorded, now = replayed.setups
    if (recorded or None) != now and not replayed.game.record.opening:
        yield f"set-up then: {recorded or '-'}"
        yield f"set-up now:  {now or '-'}"
        if replayed.is_restored:
            yield "restarted with the recorded set-up (restore)"
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


def _in_short(replayed: Replayed) -> str:
    answers, differing, failure = len(replayed.replies), replayed.differing, replayed.failure
    if failure is None:
        fault = "no fault now" if replayed.fault_then else ""
    else:
        other = "another fault" if replayed.fault_then else "a fault now"
        where = f"at ply {failure.ply}" if failure.ply else "before the first ply"
        fault = f"{'the same fault' if replayed.has_same_fault else other} {where}"
    if not answers and failure is not None:
        return f"no first turn: {fault}"
    if not answers:
        return "the record has no turn of this bot" + (f"; {fault}" if fault else "")
    if differing:
        first = f"{len(differing)} of {answers} answers differ now, the first at ply {differing[0].ply}"
        return f"{first}; {fault}" if fault else first
    return f"the same answers, and {fault}" if fault else f"the same answers now, all {answers}"
