"""Hints for bots of the dialect of 2012 speak of what these bots are told, and of nothing of the arena's protocol."""

import pytest

from arena.game.dialects import Dialect
from arena.game.faults import Fault, illegal
from arena.game.hints import Activity, Language, Seen, diagnose
from arena.game.hints.values import Mistake
from arena.rules.events import IllegalActionError, Rule
from protocol.conversation import Phase
from protocol.notation import Reason

ON_BOARD = "expected a move of 1 or more squares on the board, 0 to 9"
ROW = "expected row 1 of 4 of its set-up, ten of FBs123456789"
THINKING, SETTING_UP = Phase.THINKING, Phase.SETTING_UP


@pytest.mark.parametrize(
    ("phase", "reason", "text", "activity", "mistake", "words"),
    [
        (THINKING, Reason.PROTOCOL, "expected X Y", Activity.UNKNOWN, Mistake.DEBUG_OUTPUT, "set-ups and moves alone"),
        (THINKING, Reason.PROTOCOL, f"{ON_BOARD}, got '0 0 LEFT'", Activity.UNKNOWN, None, ""),
        (THINKING, Reason.PROTOCOL, f"{ON_BOARD}, got '0 3 DOWN -1'", Activity.UNKNOWN, None, ""),
        (
            THINKING,
            Reason.PROTOCOL,
            "expected X Y, got '0 3 down'",
            Activity.UNKNOWN,
            Mistake.UPPER_CASE,
            "in capitals",
        ),
        (THINKING, Reason.PROTOCOL, "expected X Y, got 'surrender'", Activity.UNKNOWN, Mistake.UPPER_CASE, "SURRENDER"),
        (THINKING, Reason.PROTOCOL, "expected X Y, got 'x=0 y=3'", Activity.UNKNOWN, Mistake.DEBUG_OUTPUT, "alone"),
        (SETTING_UP, Reason.PROTOCOL, f"{ROW}, got 'fbb88888bb'", Activity.UNKNOWN, Mistake.UPPER_CASE, "a small s"),
        (
            SETTING_UP,
            Reason.PROTOCOL,
            f"{ROW}, got 'BB7777666'",
            Activity.UNKNOWN,
            Mistake.SHORT_SETUP,
            "this one has 9",
        ),
        (SETTING_UP, Reason.PROTOCOL, f"{ROW}, got 'ready 1'", Activity.UNKNOWN, Mistake.DEBUG_OUTPUT, "alone"),
        (THINKING, Reason.TIMEOUT, "late", Activity.RUNS, Mistake.SLOW_MOVE, "it is told no clock"),
        (SETTING_UP, Reason.SETUP_TIMEOUT, "late", Activity.RUNS, Mistake.SLOW_SETUP, "it is told no clock"),
        (THINKING, Reason.TIMEOUT, "late", Activity.WAITS_FOR_INPUT, Mistake.UNANSWERED, "lies in a buffer"),
        (
            SETTING_UP,
            Reason.SETUP_TIMEOUT,
            "late",
            Activity.WAITS_FOR_INPUT,
            Mistake.UNANSWERED,
            "it speaks the arena's own protocol, and was started as a bot that speaks ucc-2012",
        ),
        (THINKING, Reason.TIMEOUT, "late", Activity.STOPPED, Mistake.STOPPED, "SIGSTOP"),
    ],
)
def test_a_hint_says_what_a_bot_of_2012_can_have_done_wrong(
    phase: Phase, reason: Reason, *, text: str, activity: Activity, mistake: Mistake | None, words: str
) -> None:
    seen = Seen(phase, Fault(reason, text), Dialect.UCC_2012, Language.C, activity=activity)
    hint = diagnose(seen)
    assert (hint and hint.mistake) == mistake
    if hint:
        assert words in hint.text
        assert not any(verb in hint.text for verb in ("'turn'", "'legal'", "'setup'", "'ready'"))


@pytest.mark.parametrize("rule", Rule)
def test_only_a_repeated_move_is_told_of_the_ruleset_without_that_rule(rule: Rule) -> None:
    fault = illegal(9, "a4-a3", IllegalActionError(rule, "a4-a3: no"))
    hint = diagnose(Seen(THINKING, fault, Dialect.UCC_2012))
    assert (hint is not None) is (rule in (Rule.TWO_SQUARES, Rule.CHASE))
    assert hint is None or (hint.mistake is Mistake.REPETITION and "ucc-2012 has none" in hint.text)


def test_a_crash_is_explained_as_that_of_any_bot() -> None:
    seen = Seen(
        THINKING,
        Fault(Reason.CRASH, "the bot was killed by signal 11 (SIGSEGV)"),
        Dialect.UCC_2012,
        Language.C,
        has_ended=True,
    )
    assert diagnose(seen) == diagnose(seen._replace(dialect=Dialect.ARENA_1))
