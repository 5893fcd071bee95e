"""Hints for bots of the dialect of 2012 speak of what these bots are told, and of nothing of the arena's protocol."""

import pytest

from arena.game.dialects import Dialect
from arena.game.faults import Fault
from arena.game.hints import Activity, Language, Seen, diagnose
from arena.game.hints.values import Mistake
from protocol.conversation import Phase
from protocol.notation import Reason

REPEATED = "ply 9: a4-a3: the colonel on a4 has made 3 moves in a row over this border (rule: two-squares)"
NOT_OWN = "ply 9: a4-a3: red has no piece on a4 (rule: own-piece)"
THINKING, SETTING_UP = Phase.THINKING, Phase.SETTING_UP


@pytest.mark.parametrize(
    ("phase", "reason", "text", "activity", "mistake", "words"),
    [
        (THINKING, Reason.ILLEGAL_ACTION, REPEATED, Activity.UNKNOWN, Mistake.REPETITION, "ucc-2012 has none"),
        (THINKING, Reason.ILLEGAL_ACTION, NOT_OWN, Activity.UNKNOWN, None, ""),
        (THINKING, Reason.PROTOCOL, "expected X Y", Activity.UNKNOWN, Mistake.DEBUG_OUTPUT, "set-ups and moves alone"),
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


def test_a_crash_is_explained_as_that_of_any_bot() -> None:
    seen = Seen(
        THINKING,
        Fault(Reason.CRASH, "the bot was killed by signal 11 (SIGSEGV)"),
        Dialect.UCC_2012,
        Language.C,
        has_ended=True,
    )
    assert diagnose(seen) == diagnose(seen._replace(dialect=Dialect.ARENA_1))
