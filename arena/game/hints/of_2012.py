"""Hints for bots that speak the dialect of 2012: what they can have done wrong, and what they were not told."""

from arena.game.hints.crashes import ended
from arena.game.hints.lines import wrong_line_of_2012
from arena.game.hints.silence import silent
from arena.game.hints.values import Activity, Hint, Mistake, Seen
from arena.game.hints.words import FLUSH
from arena.rules.events import Rule
from protocol.conversation import Phase
from protocol.notation import Reason

REPETITION = (Rule.TWO_SQUARES, Rule.CHASE)
SILENT = frozenset({Reason.TIMEOUT, Reason.SETUP_TIMEOUT})


def of_2012(seen: Seen) -> Hint | None:
    """What probably lies behind a fault of such a bot; None where there is nothing to say beyond the fault's words."""
    reason = seen.fault.reason
    if reason is Reason.ILLEGAL_ACTION:
        return _repeated(seen)
    if reason in SILENT:
        return _silent(seen)
    if reason is Reason.ILLEGAL_SETUP or (reason is Reason.PROTOCOL and not seen.has_ended):
        return wrong_line_of_2012(seen)
    return ended(seen) if seen.has_ended else None


def _repeated(seen: Seen) -> Hint | None:
    if seen.fault.cause is None or seen.fault.cause.rule not in REPETITION:
        return None
    words = "the manager of 2012 had no rule against moving to and fro, and this ruleset has one; ucc-2012 has none"
    return Hint(Mistake.REPETITION, words)


def _silent(seen: Seen) -> Hint | None:
    if seen.activity is Activity.RUNS and not (seen.turn and seen.turn.is_starved):
        words = (
            "it was still working: it is told no clock, and the manager of 2012 gave it two seconds (--time 2s/move)"
        )
        return Hint(Mistake.SLOW_SETUP if seen.phase is Phase.SETTING_UP else Mistake.SLOW_MOVE, words)
    if seen.activity is not Activity.WAITS_FOR_INPUT or seen.unfinished or seen.probe is not None:
        return silent(seen)
    if seen.phase is Phase.SETTING_UP:
        other = "it speaks the arena's own protocol, and was started as a bot that speaks ucc-2012"
    else:
        other = "it expects a line that the manager of 2012 did not send"
    return Hint(
        Mistake.UNANSWERED,
        f"it waits for more input: either its answer lies in a buffer ({FLUSH[seen.language]}), or {other}",
    )
