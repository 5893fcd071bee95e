"""Hints for bots that speak the dialect of 2012: what they can have done wrong, and what they were not told."""

from arena.game.hints.crashes import ended
from arena.game.hints.lines import wrong_line_of_2012
from arena.game.hints.silence import silent
from arena.game.hints.values import Activity, Hint, Mistake, Seen
from arena.rules.events import Rule
from protocol.conversation import Phase
from protocol.notation import Reason

REPETITION = tuple(f"(rule: {rule.value})" for rule in (Rule.TWO_SQUARES, Rule.CHASE))
BY_SILENCE = frozenset({Reason.TIMEOUT, Reason.SETUP_TIMEOUT})


def of_2012(seen: Seen) -> Hint | None:
    """What probably lies behind a fault of such a bot; None where there is nothing to say beyond the fault's words."""
    reason = seen.fault.reason
    if reason is Reason.ILLEGAL_ACTION:
        return _repeated(seen)
    if reason is Reason.ILLEGAL_SETUP or (reason is Reason.PROTOCOL and not seen.has_ended):
        return wrong_line_of_2012(seen)
    if reason in BY_SILENCE:
        return _too_slow(seen) if seen.activity is Activity.RUNS else silent(seen)
    return ended(seen)


def _repeated(seen: Seen) -> Hint | None:
    if not seen.fault.text.endswith(REPETITION):
        return None
    words = "the manager of 2012 had no rule against moving to and fro, and this ruleset has one; ucc-2012 has none"
    return Hint(Mistake.REPETITION, words)


def _too_slow(seen: Seen) -> Hint:
    words = "it was still working: it is told no clock, and the manager of 2012 gave it two seconds (--time 2s/move)"
    return Hint(Mistake.SLOW_SETUP if seen.phase is Phase.SETTING_UP else Mistake.SLOW_MOVE, words)
