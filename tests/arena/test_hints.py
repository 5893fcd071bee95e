"""Hints are right, distinct, in the author's language, and never in the way of the words before them."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.game.dialects import Dialect
from arena.game.dialogue import LONGEST_FAULT
from arena.game.faults import Fault, gone, late, stalled
from arena.game.hints import (
    DEBUG,
    FLUSH,
    LONGEST_HINT,
    MARK,
    Activity,
    Hint,
    Language,
    Mistake,
    Probe,
    Seen,
    diagnose,
    hinted,
)
from arena.game.hints.words import NEWLINE, READ
from arena.game.time_control import TimeControl
from arena.rules.events import IllegalActionError
from arena.rules.game import Game
from arena.rules.loading import load_ruleset
from protocol.codec import decode_from_bot
from protocol.conversation import Phase
from protocol.lines import RemoteProtocolError
from protocol.notation import Reason

LANGUAGES = [language for language in Language if language is not Language.UNKNOWN]
WORDS = {"flush": FLUSH, "debug": DEBUG, "read": READ, "newline": NEWLINE}
RED = ("FBBBBBB222", "2222233333", "4444555566", "66777889MS")
BLUE = ("2F2B36B2B4", "B5B3825B3S", "7263842743", "92M6752654")


def seen(reason: Reason, text: str = "", phase: Phase = Phase.THINKING, **more: Any) -> Seen:
    return Seen(phase, Fault(reason, text), **more)


def hint_for(one: Seen) -> Hint:
    hint = diagnose(one)
    assert hint is not None
    return hint


# --- words ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", WORDS.values(), ids=WORDS)
def test_every_language_has_its_own_words(table: dict[Language, str]) -> None:
    assert set(table) == set(Language)
    assert len(set(table.values())) == len(Language)


@pytest.mark.parametrize("language", Language)
def test_a_missing_flush_is_named_in_the_words_of_the_language(language: Language) -> None:
    probe = Probe(after_end=b"move a4-a5\n")
    one = seen(Reason.TIMEOUT, "late", language=language, activity=Activity.WAITS_FOR_INPUT, probe=probe)
    assert hint_for(one).mistake is Mistake.NO_FLUSH
    assert FLUSH[language] in hint_for(one).text


# --- silence ----------------------------------------------------------------------------------------------------------

WAITING = Activity.WAITS_FOR_INPUT
SILENT: list[tuple[Mistake, dict[str, Any]]] = [
    (Mistake.NO_FLUSH, {"activity": WAITING, "probe": Probe(b"", b"move a4-a5\n", b"")}),
    (Mistake.READS_AHEAD, {"activity": WAITING, "probe": Probe(b"move a4-a5\n", b"", b"")}),
    (Mistake.UNANSWERED, {"activity": WAITING, "probe": Probe()}),
    (Mistake.UNANSWERED, {"activity": WAITING}),
    (Mistake.UNANSWERED, {"activity": Activity.UNKNOWN}),
    (Mistake.NO_NEWLINE, {"activity": WAITING, "unfinished": b"move a4-a5"}),
    (Mistake.SLOW_MOVE, {"activity": Activity.RUNS}),
    (Mistake.SLOW_MOVE, {"activity": WAITING, "is_late": True}),
    (Mistake.SLOW_MOVE, {"activity": Activity.RUNS, "has_unread": True}),
    (Mistake.NOT_READING, {"activity": Activity.WAITS, "has_unread": True}),
    (Mistake.NOT_READING, {"activity": Activity.WAITS, "has_closed_input": True}),
    (Mistake.SLEEPS, {"activity": Activity.WAITS}),
    (Mistake.STOPPED, {"activity": Activity.STOPPED}),
    (Mistake.STOPPED, {"activity": Activity.STOPPED, "has_unread": True}),
    (Mistake.BLOCKED_WRITING, {"activity": Activity.WAITS_TO_WRITE}),
    (Mistake.ONLY_NOTES, {"activity": Activity.RUNS, "answered": True}),
    (Mistake.FLOODS_STDERR, {"activity": Activity.RUNS, "stderr": "[9 bytes before this were dropped]\nx"}),
]


@pytest.mark.parametrize(("mistake", "more"), SILENT)
def test_a_silent_bot_is_told_what_was_seen_of_it(mistake: Mistake, more: dict[str, Any]) -> None:
    fault = late(Phase.THINKING, TimeControl(), 100, 7, 0.151)
    assert hint_for(Seen(Phase.THINKING, fault, **more)).mistake is mistake


@pytest.mark.parametrize(
    ("phase", "mistake"),
    [
        (Phase.INTRODUCING, Mistake.SLOW_START),
        (Phase.SETTING_UP, Mistake.SLOW_SETUP),
        (Phase.THINKING, Mistake.SLOW_MOVE),
    ],
)
def test_a_busy_bot_is_told_what_it_took_too_long_for(phase: Phase, mistake: Mistake) -> None:
    fault = late(phase, TimeControl(), 100, 1, 11.0)
    assert hint_for(Seen(phase, fault, activity=Activity.RUNS)).mistake is mistake


def test_who_introduces_itself_without_ready_is_told_of_ready() -> None:
    fault = late(Phase.INTRODUCING, TimeControl(), 0, 1, 11.0)
    assert hint_for(Seen(Phase.INTRODUCING, fault, activity=WAITING, answered=True)).mistake is Mistake.NO_READY


def test_who_does_not_read_is_told_so() -> None:
    one = Seen(Phase.THINKING, stalled(Phase.THINKING), activity=Activity.RUNS)
    assert hint_for(one).mistake is Mistake.NOT_READING


# --- the end of a process ---------------------------------------------------------------------------------------------

TRACEBACK = """Traceback (most recent call last):
  File "/bot/mine.py", line 12, in move
    return [][0]
  File "/usr/lib/python3.11/random.py", line 373, in choice
    raise IndexError('empty')
IndexError: empty
"""
ENDED: list[tuple[Mistake, str, str, str]] = [
    (Mistake.EXCEPTION, "exited with code 1", TRACEBACK, "IndexError: empty (mine.py, line 12)"),
    (Mistake.EXCEPTION, "exited with code 101", "thread 'main' panicked at src/main.rs:7:9:\nno", "src/main.rs:7:9"),
    (Mistake.EXCEPTION, "exited with code 2", "panic: index out of range\n\ngoroutine 1", "index out of range"),
    (Mistake.EXCEPTION, "exited with code 1", 'Exception in thread "main" java.lang.Error: no', "java.lang.Error: no"),
    (Mistake.EXCEPTION, "exited with code 1", "bot.js:1\n\nTypeError: no\n    at x", "TypeError: no"),
    (Mistake.SYNTAX, "exited with code 1", '  File "mine.py", line 3\n    x(\nSyntaxError: no', "mine.py, line 3"),
    (Mistake.MISSING_MODULE, "exited with code 1", "ModuleNotFoundError: No module named 'numpy'", "numpy"),
    (Mistake.MISSING_MODULE, "exited with code 1", "Error: Cannot find module 'chess'", "chess"),
    (Mistake.MISSING_MODULE, "exited with code 127", "x: error while loading shared libraries: libz.so: no", "libz.so"),
    (Mistake.READ_ONLY, "exited with code 1", "OSError: [Errno 30] Read-only file system: 'log'", "/tmp"),
    (Mistake.OUT_OF_MEMORY, "exited with code 1", "MemoryError", "--memory"),
    (Mistake.NO_NETWORK, "exited with code 1", "[Errno 101] Network is unreachable", "no network"),
    (Mistake.WILD_POINTER, "was killed by signal 11 (SIGSEGV)", "", "-fsanitize=address"),
    (Mistake.WILD_POINTER, "was killed by signal 8 (SIGFPE)", "", "divided"),
    (Mistake.ABORTED, "was killed by signal 6 (SIGABRT)", "x: Assertion `a == b' failed.", "a == b"),
    (Mistake.KILLED, "was killed by signal 9 (SIGKILL)", "", "memory"),
    (Mistake.ENDED_EARLY, "exited with code 0", "", "'quit'"),
    (Mistake.EXITED, "exited with code 3", "good bye", "good bye"),
    (Mistake.EXITED, "exited with code 3", "", "no word"),
]


@pytest.mark.parametrize(("mistake", "how", "stderr", "words"), ENDED)
def test_the_end_of_a_process_is_told_by_its_status_and_its_last_words(
    mistake: Mistake, how: str, stderr: str, words: str
) -> None:
    one = Seen(Phase.THINKING, gone(Phase.THINKING, how, exited=True), stderr=stderr, has_ended=True)
    assert hint_for(one).mistake is mistake
    assert words in hint_for(one).text


def test_a_bot_that_cannot_be_found_is_told_where_to_look() -> None:
    one = seen(Reason.NO_START, "cannot run ./mine: No such file or directory", Phase.INTRODUCING, has_ended=True)
    assert hint_for(one).mistake is Mistake.NOT_FOUND


# --- lines ------------------------------------------------------------------------------------------------------------

LINES: list[tuple[Mistake, bytes]] = [
    (Mistake.NO_VERB, b"a4-a5"),
    (Mistake.NO_VERB, b"A4A5"),
    (Mistake.NO_VERB, b"2F2B36B2B4/B5B3825B3S/7263842743/92M6752654"),
    (Mistake.UPPER_CASE, b"Move a4-a5"),
    (Mistake.UPPER_CASE, b"move: a4-a5"),
    (Mistake.SPACES, b" move a4-a5"),
    (Mistake.SPACES, b"move a4-a5 "),
    (Mistake.SPACES, b"move  a4-a5"),
    (Mistake.SPACES, b"ready "),
    (Mistake.SPACES, b"move\ta4-a5"),
    (Mistake.ACTION_FORM, b"move a4a5"),
    (Mistake.ACTION_FORM, b"move A4-A5"),
    (Mistake.ACTION_FORM, b"move a4 a5"),
    (Mistake.ACTION_FORM, b"move 3,4 3,5"),
    (Mistake.ACTION_FORM, b"move"),
    (Mistake.RANKS_AND_FILES, b"move 4a-5a"),
    (Mistake.SHORT_SETUP, b"setup 2F2B36B2B4/B5B3825B3S/7263842743/92M675265"),
    (Mistake.SHORT_SETUP, b"setup 2F2B36B2B4/B5B3825B3S/7263842743"),
    (Mistake.SHORT_SETUP, b"setup 2F2B36B2B4/B5B3825B3S/7263842743/92M675265_"),
    (Mistake.SPACES, b"setup 2F2B36B2B4 B5B3825B3S 7263842743 92M6752654"),
    (Mistake.OTHER_PROTOCOL, b"bestmove e2e4"),
    (Mistake.OTHER_PROTOCOL, b"id name x"),
    (Mistake.NUL_BYTE, b"move a4-a5\x00"),
    (Mistake.NOT_ASCII, "note \u00e9".encode()),
    (Mistake.DEBUG_OUTPUT, b"my turn"),
    (Mistake.DEBUG_OUTPUT, b"[INFO] thinking"),
    (Mistake.TOO_LONG, b"note " + b"x" * 5000),
]


@pytest.mark.parametrize(("mistake", "line"), LINES)
def test_a_line_that_is_no_message_is_told_what_is_wrong_with_it(mistake: Mistake, line: bytes) -> None:
    with pytest.raises(RemoteProtocolError) as error:
        decode_from_bot(line)
    assert hint_for(seen(Reason.PROTOCOL, str(error.value))).mistake is mistake


# --- actions ----------------------------------------------------------------------------------------------------------

ACTIONS: list[tuple[Mistake, str, tuple[str, ...]]] = [
    (Mistake.SQUARES_REVERSED, "a5-a4", ()),
    (Mistake.ROWS_REVERSED, "e7-e6", ()),
    (Mistake.ENEMY_PIECE, "e9-e8", ()),
    (Mistake.STALE_ACTION, "e6-e7", ("e6-e7",)),
    (Mistake.RULES, "e6-e7", ()),
]


@pytest.mark.parametrize(("mistake", "action", "previous"), ACTIONS)
def test_an_illegal_action_is_tried_as_its_author_may_have_meant_it(
    mistake: Mistake, action: str, previous: tuple[str, ...]
) -> None:
    game = Game(load_ruleset("isf"), RED, BLUE)
    with pytest.raises(IllegalActionError) as error:
        game.check(game.parse(action))
    one = seen(Reason.ILLEGAL_ACTION, f"ply 1: {error.value}", game=game, rows=RED, previous=previous)
    assert hint_for(one).mistake is mistake


# --- any of it --------------------------------------------------------------------------------------------------------

TEXTS = st.text(max_size=80) | st.sampled_from([words for _, words, _, _ in ENDED] + [text for _, _, text, _ in ENDED])


SEEN = st.builds(
    Seen,
    phase=st.sampled_from(Phase),
    fault=st.builds(Fault, st.sampled_from([reason for reason in Reason if reason.is_forfeit]), TEXTS),
    dialect=st.sampled_from(Dialect),
    language=st.sampled_from(Language),
    stderr=TEXTS,
    activity=st.sampled_from(Activity),
    has_unread=st.booleans(),
    has_closed_input=st.booleans(),
    has_ended=st.booleans(),
    answered=st.booleans(),
    is_late=st.booleans(),
    unfinished=st.binary(max_size=20),
    game=st.none(),
    rows=st.just(()),
    previous=st.just(()),
    probe=st.none() | st.builds(Probe, st.binary(max_size=9), st.binary(max_size=9), st.binary(max_size=9)),
)


@settings(max_examples=150, deadline=None)
@given(SEEN)
def test_a_hint_is_short_plain_ascii_and_follows_the_words_of_the_fault(one: Seen) -> None:
    fault = one.fault.shown
    hint = diagnose(one._replace(fault=fault))
    told = hinted(fault, hint)
    assert told.reason is fault.reason
    assert told.text.startswith(fault.text)
    assert len(told.text) <= LONGEST_FAULT
    if hint is not None:
        assert told.text[len(fault.text) :] == MARK + hint.text[:LONGEST_HINT]
        assert all(" " <= character <= "~" for character in hint.text)
