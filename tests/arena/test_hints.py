"""Hints are right, distinct, in the author's language, and never in the way of the words before them."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.bots.spec import BotSpec
from arena.game.faults import Fault, gone, late, stalled
from arena.game.faults import illegal as illegal_fault
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
    Turn,
    diagnose,
    hinted,
)
from arena.game.hints.words import NEWLINE, READ
from arena.game.recorded import LONGEST_FAULT
from arena.game.referee import Referee
from arena.game.spec import GameSpec, Player
from arena.game.time_control import TimeControl
from arena.play.runner import seen_of
from arena.rules.events import IllegalActionError, Rule
from arena.rules.game import Game
from arena.rules.loading import load_ruleset
from protocol.bot import Bot, Conversation, View
from protocol.codec import decode_from_bot
from protocol.conversation import Phase
from protocol.lines import RemoteProtocolError
from protocol.messages import Game as GameLine
from protocol.notation import Color, Reason
from protocol.view import new_view

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
    (Mistake.NO_FLUSH, {"activity": WAITING, "probe": Probe(after_quit=b"move a4-a5\n")}),
    (Mistake.READS_AHEAD, {"activity": WAITING, "probe": Probe(after_line=b"move a4-a5\n")}),
    (Mistake.SEVERAL_LINES, {"activity": WAITING, "probe": Probe(after_again=b"move a4-a5\n")}),
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
    (Mistake.SLEEPS, {"activity": Activity.WAITS, "turn": Turn(0.151, 9_000)}),
    (Mistake.SLOW_MOVE, {"activity": Activity.RUNS, "turn": Turn(0.151, 80_000)}),
    (Mistake.SLOW_MOVE, {"activity": WAITING, "is_late": True, "turn": Turn(0.151, 290_000)}),
    (Mistake.STARVED, {"activity": Activity.RUNS, "turn": Turn(0.151, 70_000)}),
    (Mistake.STARVED, {"activity": WAITING, "is_late": True, "turn": Turn(0.151, 70_000)}),
    (Mistake.STOPPED, {"activity": Activity.STOPPED}),
    (Mistake.STOPPED, {"activity": Activity.STOPPED, "has_unread": True}),
    (Mistake.BLOCKED_WRITING, {"activity": Activity.WAITS_TO_WRITE}),
    (Mistake.SLEEPS, {"activity": Activity.RUNS, "turn": Turn(0.151, 300)}),
    (Mistake.SLEEPS, {"activity": WAITING, "is_late": True, "turn": Turn(0.151, 300)}),
    (Mistake.ONLY_NOTES, {"activity": WAITING, "answered": True}),
    (Mistake.SLOW_MOVE, {"activity": Activity.RUNS, "answered": True}),
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
    assert "--start-time" not in hint_for(one).text


def test_a_bot_that_has_not_read_its_first_line_may_be_slow_to_start() -> None:
    fault = late(Phase.INTRODUCING, TimeControl(), 0, 1, 11.0)
    hint = hint_for(Seen(Phase.INTRODUCING, fault, activity=Activity.WAITS, has_unread=True))
    assert hint.mistake is Mistake.SLOW_START
    assert "perhaps it starts slowly, perhaps it never reads" in hint.text
    assert "--start-time" in hint.text


def test_a_bot_that_used_no_processor_time_has_not_worked_and_no_busy_machine_is_blamed() -> None:
    fault = late(Phase.THINKING, TimeControl(), 100, 7, 0.151)
    for more in ({"is_late": True}, {"activity": Activity.RUNS}):
        told = hint_for(Seen(Phase.THINKING, fault, turn=Turn(0.151, 300), **more)).text
        assert told == "it used no processor time in this turn: it slept, or waited for something"


def test_a_silent_bot_that_waits_for_legal_actions_is_told_to_ask_for_them() -> None:
    fault = late(Phase.THINKING, TimeControl(), 100, 7, 0.151)
    for probe in (None, Probe()):
        one = Seen(Phase.THINKING, fault, activity=WAITING, probe=probe)
        assert "'want legal' before 'ready'" in hint_for(one).text
        assert "want legal" not in hint_for(one._replace(gets_legal=True)).text


# --- the end of a process ---------------------------------------------------------------------------------------------

TRACEBACK = """Traceback (most recent call last):
  File "/bot/mine.py", line 12, in move
    return [][0]
  File "/usr/lib/python3.11/random.py", line 373, in choice
    raise IndexError('empty')
IndexError: empty
"""
RUST = "\nthread 'main' panicked at src/main.rs:51:82:\ncalled `Option::unwrap()` on a `None` value\nnote: run with"
GO = """panic: runtime error: index out of range [3] with length 3

goroutine 1 [running]:
runtime.goPanicIndex(0x3, 0x3)
\t/usr/lib/go-1.22/src/runtime/panic.go:114 +0x74
main.main()
\t/home/somebody/bot/bot.go:12 +0x1d
"""
JAVA = """Exception in thread "main" java.lang.NumberFormatException: no
\tat java.base/java.lang.Integer.parseInt(Integer.java:652)
\tat Bot.main(Bot.java:9)
"""
NODE = """bot.js:5
TypeError: no
    at node:internal/readline:3:4
    at Interface.<anonymous> (/bot/bot.js:5:3)
"""


class Long(Bot):
    """One of a long name that returns all its moves in place of one."""

    def move(self, view: View) -> str:
        return [f"{file}4-{file}5" for file in "abcdefghij"]  # type: ignore[return-value]


def words_of_the_kit() -> str:
    """The end of its traceback."""
    with pytest.raises(TypeError) as error:
        Conversation(Long)._checked_action(Long().move(new_view(GameLine(Color.RED, "isf"))))
    places = ('"/bot/mine.py", line 9, in <module>', '"/kit/protocol/bot.py", line 183, in _checked_action')
    trace = "".join(f"  File {place}\n" for place in places)
    return f"Traceback (most recent call last):\n{trace}TypeError: {error.value}\n"


KIT = words_of_the_kit()
ENDED: list[tuple[Mistake, str, str, str]] = [
    (Mistake.EXCEPTION, "exited with code 1", TRACEBACK, "IndexError: empty (mine.py, line 12)"),
    (Mistake.EXCEPTION, "exited with code 101", "thread 'main' panicked at src/main.rs:7:9:\nno", "src/main.rs:7:9"),
    (
        Mistake.EXCEPTION,
        "exited with code 101",
        RUST,
        "called `Option::unwrap()` on a `None` value (src/main.rs:51:82)",
    ),
    (
        Mistake.EXCEPTION,
        "exited with code 101",
        "thread 'main' panicked at 'no', src/main.rs:7:9",
        "'no', src/main.rs:7:9",
    ),
    (Mistake.EXCEPTION, "exited with code 2", "panic: index out of range\n\ngoroutine 1", "index out of range"),
    (Mistake.EXCEPTION, "exited with code 2", GO, "index out of range [3] with length 3 (bot.go:12)"),
    (Mistake.EXCEPTION, "exited with code 1", 'Exception in thread "main" java.lang.Error: no', "java.lang.Error: no"),
    (Mistake.EXCEPTION, "exited with code 1", JAVA, "NumberFormatException: no (Bot.java:9)"),
    (Mistake.EXCEPTION, "exited with code 1", "bot.js:1\n\nTypeError: no\n    at x", "TypeError: no"),
    (Mistake.EXCEPTION, "exited with code 1", NODE, "TypeError: no (bot.js:5)"),
    (Mistake.EXCEPTION, "exited with code 1", KIT, "; expected an action such as 'a4-a5' (mine.py, line 9)"),
    (Mistake.SYNTAX, "exited with code 1", '  File "mine.py", line 3\n    x(\nSyntaxError: no', "mine.py, line 3"),
    (Mistake.MISSING_MODULE, "exited with code 1", "ModuleNotFoundError: No module named 'numpy'", "numpy"),
    (Mistake.MISSING_MODULE, "exited with code 1", "Error: Cannot find module 'chess'", "chess"),
    (Mistake.MISSING_MODULE, "exited with code 127", "x: error while loading shared libraries: libz.so: no", "libz.so"),
    (Mistake.READ_ONLY, "exited with code 1", "OSError: [Errno 30] Read-only file system: 'log'", "/tmp"),
    (Mistake.READ_ONLY, "exited with code 1", "open bot.log: read-only file system", "/tmp"),
    (Mistake.READ_ONLY, "exited with code 1", "open /x/bot.log: permission denied", "/tmp"),
    (Mistake.NO_NETWORK, "exited with code 1", "dial tcp: lookup example.org: no such host", "no network"),
    (Mistake.OUT_OF_MEMORY, "exited with code 1", "MemoryError", "--memory"),
    (Mistake.NO_NETWORK, "exited with code 1", "[Errno 101] Network is unreachable", "no network"),
    (Mistake.WILD_POINTER, "was killed by signal 11 (SIGSEGV)", "", "-fsanitize=address"),
    (Mistake.WILD_POINTER, "was killed by signal 8 (SIGFPE)", "", "divided"),
    (Mistake.ABORTED, "was killed by signal 6 (SIGABRT)", "x: Assertion `a == b' failed.", "a == b"),
    (Mistake.KILLED, "was killed by signal 9 (SIGKILL)", "", "memory"),
    (Mistake.WILD_POINTER, "exited with code 139", "", "139 is 128 + 11: if signal 11 killed it, it used memory"),
    (
        Mistake.ABORTED,
        "exited with code 134",
        "x: Assertion `a == b' failed.",
        "if signal 6 killed it, it ended itself",
    ),
    (Mistake.EXITED, "exited with code 128", "good bye", "good bye"),
    (Mistake.EXITED, "exited with code 255", "good bye", "good bye"),
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


def test_in_a_sandbox_a_wild_pointer_may_be_a_file_that_could_not_be_opened() -> None:
    fault = gone(Phase.THINKING, "was killed by signal 11 (SIGSEGV)", exited=True)
    one = Seen(Phase.THINKING, fault, has_ended=True)
    assert "fopen()" not in hint_for(one).text
    told = hint_for(one._replace(is_confined=True)).text
    assert "fopen()" in told
    assert len(told) <= LONGEST_HINT
    by_code = one._replace(is_confined=True, fault=gone(Phase.THINKING, "exited with code 139", exited=True))
    assert len(hint_for(by_code).text) <= LONGEST_HINT


@pytest.mark.parametrize(
    ("text", "stderr", "is_named"),
    [
        ("exited with code 1", "FileNotFoundError: [Errno 2] No such file or directory: 'data/book.bin'", True),
        ("exited with code 1", "FileNotFoundError: [Errno 2] No such file or directory: 'other.bin'", False),
        ("was killed by signal 11 (SIGSEGV)", "", True),
        ("exited with code 1", "KeyError: 'book.bin'", False),
    ],
)
def test_a_file_that_is_a_link_out_of_the_folder_is_named(text: str, stderr: str, is_named: bool) -> None:
    links = {"data/book.bin": "../../books/big.bin"}
    hint = hint_for(seen(Reason.CRASH, text, stderr=stderr, links_out=links, has_ended=True))
    assert (hint.mistake is Mistake.LINKED_OUT) is is_named
    if is_named:
        assert hint.text.startswith("data/book.bin is a link out of its folder, to ../../books/big.bin, ")


def test_a_bot_in_python_that_ends_before_it_says_ready_may_lack_the_last_line_of_the_kit() -> None:
    fault = gone(Phase.INTRODUCING, "exited with code 0", exited=True)
    one = Seen(Phase.INTRODUCING, fault, language=Language.PYTHON, has_ended=True)
    assert "run(CLASS)" in hint_for(one).text
    assert "run(CLASS)" not in hint_for(one._replace(language=Language.GO)).text
    assert "run(CLASS)" not in hint_for(one._replace(phase=Phase.THINKING)).text


def test_a_bot_that_cannot_be_found_is_told_where_to_look() -> None:
    one = seen(Reason.NO_START, "cannot run ./mine: No such file or directory", Phase.INTRODUCING, has_ended=True)
    assert hint_for(one).mistake is Mistake.NOT_FOUND


NOT_SENT = "not sent to workers: book.bin"


@pytest.mark.parametrize(
    ("text", "stderr"),
    [
        (
            "exited with code 1",
            "Traceback (most recent call last):\nFileNotFoundError: [Errno 2] No such file: 'book.bin'",
        ),
        ("exited with code 2", "sh: 0: cannot open book.bin: No such file"),
        ("exited with code 1", "ModuleNotFoundError: No module named 'book'"),
        ("was killed by signal 11 (SIGSEGV)", ""),
    ],
)
def test_where_a_file_is_missing_it_is_said_what_was_not_sent_to_the_machine(text: str, stderr: str) -> None:
    hint = hint_for(seen(Reason.CRASH, text, stderr=stderr, not_sent=NOT_SENT, has_ended=True))
    assert hint.mistake is Mistake.NOT_SENT
    assert hint.text.startswith(f"{NOT_SENT}; ")
    assert hint_for(seen(Reason.CRASH, text, stderr=stderr, has_ended=True)).mistake is not Mistake.NOT_SENT


def test_a_file_that_is_not_found_is_no_place_in_a_network() -> None:
    stderr = "FileNotFoundError: [Errno 2] No such file or directory: 'book.bin'"
    assert "network" not in hint_for(seen(Reason.CRASH, "exited with code 1", stderr=stderr, has_ended=True)).text
    for stderr in ("Error: getaddrinfo ENOTFOUND example.org", "java.net.UnknownHostException: example.org"):
        one = seen(Reason.CRASH, "exited with code 1", stderr=stderr, has_ended=True)
        assert hint_for(one).mistake is Mistake.NO_NETWORK


def test_what_was_not_sent_is_not_said_of_other_faults() -> None:
    one = seen(Reason.CRASH, "exited with code 1", stderr="MemoryError", not_sent=NOT_SENT, has_ended=True)
    assert hint_for(one).mistake is Mistake.OUT_OF_MEMORY


@pytest.mark.parametrize("is_confined", [True, False])
def test_a_sandbox_is_named_only_where_there_is_one(is_confined: bool) -> None:
    for stderr in ("Network is unreachable", "Read-only file system: 'log'"):
        one = seen(Reason.CRASH, "exited with code 1", stderr=stderr, is_confined=is_confined, has_ended=True)
        assert ("in a sandbox" in hint_for(one).text) is is_confined


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
    (Mistake.DEBUG_OUTPUT, b"hello"),
    (Mistake.DEBUG_OUTPUT, b"board:"),
    (Mistake.DEBUG_OUTPUT, b"turn of red"),
    (Mistake.DEBUG_OUTPUT, b"error in move"),
    (Mistake.DEBUG_OUTPUT, b"legal moves: 7"),
    (Mistake.TOO_LONG, b"note " + b"x" * 5000),
    (Mistake.WANTED, b"want moves"),
    (Mistake.WANTED, b"want legal,board"),
    (Mistake.SPACES, b"want legal "),
    (Mistake.ARENAS_VERB, b"hello 1"),
    (Mistake.ARENAS_VERB, b"turn 1 100 100"),
    (Mistake.PASSED, b"pass"),
    (Mistake.PASSED, b"move None"),
    (Mistake.NO_VERB, b'{"move": "a4-a5"}'),
    (Mistake.ACTION_FORM, b"move a4-a5 b4-b5"),
    (Mistake.ACTION_FORM, b"move 'a4-a5'"),
    (Mistake.UPPER_CASE, b"setup 2f2b36b2b4/b5b3825b3s/7263842743/92m6752654"),
]


@pytest.mark.parametrize(("mistake", "line"), LINES)
def test_a_line_that_is_no_message_is_told_what_is_wrong_with_it(mistake: Mistake, line: bytes) -> None:
    with pytest.raises(RemoteProtocolError) as error:
        decode_from_bot(line)
    assert hint_for(seen(Reason.PROTOCOL, str(error.value))).mistake is mistake


TOLD: list[tuple[bytes, str]] = [
    (b"move a4-a5 b4-b5", "one action for each turn: 'move a4-a5'"),
    (b'move "a4-a5"', "nothing but the action stands behind 'move': 'move a4-a5'"),
    (b"move null", "null is what its program has"),
    (b"pass", "nobody may pass"),
    (b"hello 1", "'hello' is a line of the arena's"),
    (b"want moves", "'want legal board'"),
    (b"\xef\xbb\xbfready", "a byte order mark"),
    (b"setup 2F2B36B2B4/B5B3825B3S/7263842743/9210675265", "one of F B S"),
    (b"setup 2F2B36B2B4/B5B3825B3S/7263842743/92106752654", "the marshal is M, not 10"),
    (b"setup 2F2B36B2B4/B5B3825B31/7263842743/92M6752654", "'1': an empty square is a dot"),
    (b"setup 2F2B36B2B4/B5B3825B31/7263842743/92M6752654", "the spy is S"),
    (b"setup 2f2b36b2b4/b5b3825b3s/7263842743/92m6752654", "'b' and 'f' and 'm': pieces are"),
]


@pytest.mark.parametrize(("line", "words"), TOLD)
def test_a_hint_names_what_is_wrong_in_the_line_itself(line: bytes, words: str) -> None:
    with pytest.raises(RemoteProtocolError) as error:
        decode_from_bot(line)
    assert words in hint_for(seen(Reason.PROTOCOL, str(error.value))).text


@pytest.mark.parametrize("action", ["a4-a", "a4", "4-a5"])
def test_a_part_of_a_legal_action_comes_from_a_line_that_was_not_read_whole(action: str) -> None:
    text = f"expected 'move' and one action such as a4-a5, got 'move {action}'"
    game = Game(load_ruleset("isf"), RED, BLUE)
    one = hint_for(seen(Reason.PROTOCOL, text, game=game, gets_legal=True))
    assert one.mistake is Mistake.CUT_OFF
    assert "that is a part of the legal action a4-a5: lines have up to 4,096 bytes" in one.text
    assert hint_for(seen(Reason.PROTOCOL, text, game=game)).mistake is Mistake.ACTION_FORM


def test_a_note_after_its_move_is_told_to_go_before_it() -> None:
    text = "'note' came during the opponent's turn; a bot must send nothing then"
    assert "a note goes before the answer" in hint_for(seen(Reason.PROTOCOL, text, Phase.WAITING)).text


@pytest.mark.parametrize(
    ("gets_legal", "phase"), [(False, Phase.THINKING), (True, Phase.THINKING), (False, Phase.WAITING)]
)
def test_who_finds_no_legal_actions_and_has_not_asked_for_them_is_told_so(gets_legal: bool, phase: Phase) -> None:
    stderr = (
        'Traceback (most recent call last):\n  File "mine.py", line 3, in move\nIndexError: list index out of range'
    )
    one = seen(Reason.CRASH, "the bot exited with code 1", phase, stderr=stderr, gets_legal=gets_legal, has_ended=True)
    assert ("'want legal'" in hint_for(one).text) is (not gets_legal and phase is Phase.THINKING)


@pytest.mark.parametrize(
    ("module", "words"), [("protocol", "Python that the arena is"), ("stratego_arena", "protocol.bot")]
)
def test_who_does_not_find_the_kit_is_told_where_it_is(module: str, words: str) -> None:
    stderr = f"ModuleNotFoundError: No module named '{module}'"
    assert words in hint_for(seen(Reason.CRASH, "exited with code 1", stderr=stderr, has_ended=True)).text


# --- actions ----------------------------------------------------------------------------------------------------------

ACTIONS: list[tuple[Mistake, str]] = [
    (Mistake.SQUARES_REVERSED, "a5-a4"),
    (Mistake.ROWS_REVERSED, "e7-e6"),
    (Mistake.ENEMY_PIECE, "e9-e8"),
    (Mistake.RULES, "e6-e7"),
]


def illegal(action: str, played: tuple[str, ...] = (), **more: Any) -> Seen:
    """What is seen of the side to move, which wants to play this after what was played."""
    game = Game(load_ruleset("isf"), RED, BLUE)
    for one in played:
        game.apply(one)
    with pytest.raises(IllegalActionError) as error:
        game.check(game.parse(action))
    rows = (RED, BLUE)
    fault = illegal_fault(game.ply + 1, action, error.value)
    return Seen(Phase.THINKING, fault, game=game, rows=rows[game.to_move], setups=rows, actions=played, **more)


@pytest.mark.parametrize(("mistake", "action"), ACTIONS)
def test_an_illegal_action_is_tried_as_its_author_may_have_meant_it(mistake: Mistake, action: str) -> None:
    assert hint_for(illegal(action)).mistake is mistake


def test_a_reading_that_makes_an_action_legal_is_a_guess() -> None:
    assert hint_for(illegal("e7-e6")).text.startswith("e4-e5 is legal: perhaps it counts ranks from the wrong end")


TO_AND_FRO = ("b4-b5", "j7-j6", "a4-a5", "a7-a6", "e4-e5", "e7-e6")


@pytest.mark.parametrize(
    ("action", "played", "words"),
    [
        ("b4-b5", ("b4-b5", "j7-j6"), "it was legal in the turn before"),  # b5-b4 would be legal, too
        ("b4-b5", TO_AND_FRO, "it was legal at ply 1"),
        ("j7-j6", TO_AND_FRO[:3], "it was legal in the turn before"),
    ],
)
def test_an_action_that_was_legal_in_an_earlier_turn_is_told_before_it_is_read_in_other_ways(
    action: str, played: tuple[str, ...], words: str
) -> None:
    hint = hint_for(illegal(action, played, gets_legal=True))
    perhaps = f"{words}, and is not now: perhaps its list of 'legal' actions is an old one"
    assert hint == (Mistake.STALE_ACTION, perhaps)
    assert "perhaps its board is an old one" in hint_for(illegal(action, played)).text


def test_only_a_few_earlier_turns_are_searched() -> None:
    to_and_fro = [("a4-a5", "a7-a6"), ("b4-b5", "b7-b6"), ("a5-a4", "a6-a7"), ("b5-b4", "b6-b7")]
    played = ("e4-e5", "e7-e6", *(action for turn in to_and_fro * 3 for action in turn))
    assert hint_for(illegal("e4-e5", played)).mistake is not Mistake.STALE_ACTION
    assert hint_for(illegal("e4-e5", played[:20])).text.startswith("it was legal at ply 1, ")


@pytest.mark.parametrize("language", Language)
def test_who_is_sent_its_legal_actions_is_told_to_choose_from_them(language: Language) -> None:
    told = hint_for(illegal("e6-e7", gets_legal=True, language=language)).text
    assert "choose from the 'legal' lines" in told
    assert "want legal" not in told
    assert ("view.legal" in told) is (language is Language.PYTHON)


@pytest.mark.parametrize("action", [action for _, action in ACTIONS] + ["b4-b5"])
def test_who_is_not_sent_its_legal_actions_is_told_how_to_get_them(action: str) -> None:
    played = ("b4-b5", "j7-j6") if action == "b4-b5" else ()
    assert "'want legal' before 'ready'" in hint_for(illegal(action, played)).text
    assert "want legal" not in hint_for(illegal(action, played, gets_legal=True)).text


def test_what_a_game_tells_of_a_side_is_enough_to_see_an_old_list() -> None:
    referee = begun()
    for color, action in ((Color.RED, "b4-b5"), (Color.BLUE, "j7-j6")):
        say_to(referee, color, f"move {action}")
    seat = referee.seats[Color.RED]
    error = IllegalActionError(Rule.OWN_PIECE, "b4-b5: red has no piece on b4")
    fault = illegal_fault(3, "b4-b5", error)
    bot = BotSpec("ann", Path("ann"), ("./ann",), Path(), "")
    one = seen_of(seat, fault, referee.live, None, bot)
    assert one.gets_legal
    assert hint_for(one).text.startswith("it was legal in the turn before, and is not now: perhaps its list")


def begun() -> Referee:
    """A game in which Red has its first turn; both are sent their legal actions."""
    spec = GameSpec("1", load_ruleset("isf"), TimeControl(), (Player("ann", ""), Player("bob", "")), (1, 2), 3)
    referee = Referee(spec)
    for lines in (["want legal\nready"] * 2, [f"setup {'/'.join(rows)}" for rows in (RED, BLUE)]):
        for color, line in zip(Color, lines, strict=True):
            say_to(referee, color, line)
    return referee


def say_to(referee: Referee, color: Color, line: str) -> None:
    for due in referee.due():
        referee.take(due)
        referee.sent(due, 0.0)
    referee.receive(color, line.encode() + b"\n", 0.0)


# --- any of it --------------------------------------------------------------------------------------------------------

TEXTS = st.text(max_size=80) | st.sampled_from([words for _, words, _, _ in ENDED] + [text for _, _, text, _ in ENDED])


SEEN = st.builds(
    Seen,
    phase=st.sampled_from(Phase),
    fault=st.builds(Fault, st.sampled_from([reason for reason in Reason if reason.is_forfeit]), TEXTS),
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
    gets_legal=st.booleans(),
    is_confined=st.booleans(),
    links_out=st.dictionaries(TEXTS, TEXTS, max_size=2),
    probe=st.none() | st.builds(Probe, *[st.binary(max_size=9)] * 4),
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
