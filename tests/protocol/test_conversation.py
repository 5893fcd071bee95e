"""What may be said when: every message of a bot in every phase, against a table written down here."""

import itertools
import re

import pytest

from protocol.actions import STRATEGO_FORMS
from protocol.codec import decode_from_bot, encode_for_bot
from protocol.conversation import BOT_MAY_SEND, Phase, after
from protocol.lines import RemoteProtocolError
from protocol.messages import BotMessage, Error

MESSAGES = {
    "name": b"name hunter 1.4",
    "author": b"author Jane Doe",
    "want": b"want legal",
    "cannot": b"cannot restore",
    "ready": b"ready",
    "setup": b"setup F........./........../........../.........2",
    "move": b"move a4-a5",
    "note": b"note all is well",
}

TABLE = """
                 name         author       want         cannot       ready  setup    move     note
    STARTING     -            -            -            -            -      -        -        -
    INTRODUCING  INTRODUCING  INTRODUCING  INTRODUCING  INTRODUCING  IDLE   -        -        -
    IDLE         -            -            -            -            -      -        -        -
    SETTING_UP   -            -            -            -            -      WAITING  -        SETTING_UP
    WAITING      -            -            -            -            -      -        -        -
    THINKING     -            -            -            -            -      -        WAITING  THINKING
    CLOSED       -            -            -            -            -      -        -        -
"""
_HEAD, *_ROWS = (line.split() for line in TABLE.strip().splitlines())
FOLLOWING = {(row[0], verb): phase for row in _ROWS for verb, phase in zip(_HEAD, row[1:], strict=True)}


def message(verb: str) -> BotMessage:
    decoded = decode_from_bot(MESSAGES[verb], STRATEGO_FORMS)
    assert decoded is not None
    return decoded


def test_the_table_here_has_every_phase_and_every_message() -> None:
    assert set(FOLLOWING) == set(itertools.product((phase.name for phase in Phase), MESSAGES))
    assert {type(message(verb)) for verb in MESSAGES} == set(BotMessage.__args__)
    assert set(BOT_MAY_SEND) == set(Phase)


@pytest.mark.parametrize(("phase", "verb"), FOLLOWING)
def test_each_message_in_each_phase_leads_on_or_is_refused(phase: str, verb: str) -> None:
    following = FOLLOWING[phase, verb]
    if following != "-":
        assert after(Phase[phase], message(verb)) is Phase[following]
        return
    with pytest.raises(RemoteProtocolError, match=re.escape(f"'{verb}' came {Phase[phase].words}; ")) as caught:
        after(Phase[phase], message(verb))
    allowed = [other for other in MESSAGES if FOLLOWING[phase, other] != "-"]
    said = str(caught.value).rpartition("; ")[2]
    if allowed:
        assert said.removeprefix("expected ").split(" or ") == allowed
    else:
        assert said == "a bot must send nothing then"
    assert encode_for_bot(Error(str(caught.value)))


@pytest.mark.parametrize("phase", Phase)
def test_the_arena_waits_exactly_where_something_may_be_sent(phase: Phase) -> None:
    assert phase.bot_must_answer is any(FOLLOWING[phase.name, verb] != "-" for verb in MESSAGES)
