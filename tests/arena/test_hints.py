"""Hints are right, distinct, in the author's language, and never in the way of the words before them."""

import errno
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.game.faults import (
    LONGEST_HINT,
    MARK,
    MAX_FAULT,
    Cause,
    Fault,
    Hint,
    Malformed,
    Mistake,
    Unstartable,
    gone,
    late,
    malformed,
)
from arena.game.faults import illegal as illegal_fault
from arena.game.hints import (
    FLUSH,
    Activity,
    Probe,
    ProgramLanguage,
    Seen,
    TurnUse,
)
from arena.game.hints.diagnosis import diagnose
from arena.game.time_control import TimeControl
from arena.stratego.game import GAME
from arena.stratego.rules.action_types import IllegalActionError
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.state import StrategoState
from protocol.actions import STRATEGO_FORMS
from protocol.bot import Bot, Conversation, View
from protocol.codec import decode_from_bot
from protocol.conversation import Phase, after
from protocol.lines import RemoteProtocolError, Slip
from protocol.notation import Color, Reason

RED = ("FBBBBBB222", "2222233333", "4444555566", "66777889MS")
BLUE = ("2F2B36B2B4", "B5B3825B3S", "7263842743", "92M6752654")


def hint_for(one: Seen) -> Hint:
    hint = diagnose(one)
    assert hint is not None
    return hint


# --- words ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ProgramLanguage)
def test_a_missing_flush_is_named_in_the_words_of_the_language(language: ProgramLanguage) -> None:
    probe = Probe(after_quit=b"move a4-a5\n")
    fault = late(Phase.THINKING, TimeControl(), 100, 7, 0.151)
    one = Seen(Phase.THINKING, fault, language=language, activity=Activity.WAITS_FOR_INPUT, probe=probe)
    assert hint_for(one).mistake is Mistake.NO_FLUSH
    assert FLUSH[language] in hint_for(one).text


# --- silence ----------------------------------------------------------------------------------------------------------

WAITING = Activity.WAITS_FOR_INPUT
SILENT: list[tuple[Mistake, dict[str, Any]]] = [
    (Mistake.NO_FLUSH, {"activity": WAITING, "probe": Probe(after_quit=b"move a4-a5\n")}),
    (Mistake.NO_FLUSH, {"probe": Probe(after_end=b"move a4-a5\n")}),
    (Mistake.READS_AHEAD, {"probe": Probe(after_end=b"move a4-a5\n"), "language": ProgramLanguage.PYTHON}),
    (Mistake.READS_AHEAD, {"activity": WAITING, "probe": Probe(after_line=b"move a4-a5\n")}),
    (Mistake.SEVERAL_LINES, {"activity": WAITING, "probe": Probe(after_again=b"move a4-a5\n")}),
    (Mistake.UNANSWERED, {"activity": WAITING, "probe": Probe()}),
    (Mistake.UNANSWERED, {"activity": Activity.UNKNOWN}),
    (Mistake.NO_NEWLINE, {"activity": WAITING, "unfinished": b"move a4-a5"}),
    (Mistake.SLOW_MOVE, {"activity": Activity.RUNS}),
    (Mistake.SLOW_MOVE, {"activity": WAITING, "is_late": True}),
    (Mistake.SLOW_MOVE, {"activity": Activity.RUNS, "has_unread": True}),
    (Mistake.NOT_READING, {"activity": Activity.WAITS, "has_unread": True}),
    (Mistake.NOT_READING, {"activity": Activity.WAITS, "has_closed_input": True}),
    (Mistake.SLEEPS, {"activity": Activity.WAITS}),
    (Mistake.SLEEPS, {"activity": Activity.WAITS, "turn": TurnUse(0.151, 9_000)}),
    (Mistake.SLOW_MOVE, {"activity": Activity.RUNS, "turn": TurnUse(0.151, 80_000)}),
    (Mistake.STARVED, {"activity": Activity.RUNS, "turn": TurnUse(0.151, 70_000)}),
    (Mistake.STOPPED, {"activity": Activity.STOPPED}),
    (Mistake.BLOCKED_WRITING, {"activity": Activity.WAITS_TO_WRITE}),
    (Mistake.SLEEPS, {"activity": Activity.RUNS, "turn": TurnUse(0.151, 300)}),
    (Mistake.SLOW_MOVE, {"activity": Activity.RUNS, "answered": True}),
]


@pytest.mark.parametrize(("mistake", "more"), SILENT)
def test_a_silent_bot_is_told_what_was_seen_of_it(mistake: Mistake, more: dict[str, Any]) -> None:
    fault = late(Phase.THINKING, TimeControl(), 100, 7, 0.151)
    assert hint_for(Seen(Phase.THINKING, fault, **more)).mistake is mistake


def test_a_bot_that_used_no_processor_time_may_have_been_kept_from_it() -> None:
    fault = late(Phase.THINKING, TimeControl(), 100, 7, 0.151)
    for turn in (TurnUse(0.151, 300), TurnUse(0.151, 70_000)):
        assert "this machine was too busy" in hint_for(Seen(Phase.THINKING, fault, is_late=True, turn=turn)).text


@pytest.mark.parametrize(
    ("phase", "more", "mistake", "words"),
    [
        (Phase.INTRODUCING, {"activity": Activity.RUNS}, Mistake.SLOW_START, "--start-time"),
        (Phase.INTRODUCING, {"activity": WAITING, "answered": True}, Mistake.NO_READY, "ready"),
        (Phase.INTRODUCING, {"activity": Activity.WAITS, "has_unread": True}, Mistake.SLOW_START, "it never reads"),
        (Phase.SETTING_UP, {"activity": Activity.RUNS}, Mistake.SLOW_SETUP, ""),
    ],
)
def test_a_bot_that_is_late_before_the_game_is_told_for_what(
    phase: Phase, more: dict[str, Any], mistake: Mistake, words: str
) -> None:
    hint = hint_for(Seen(phase, late(phase, TimeControl(), 100, 1, 11.0), **more))
    assert hint.mistake is mistake
    assert words in hint.text


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
FLOCK = """Traceback (most recent call last):
  File "/bot/mine.py", line 12, in move
    fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
BlockingIOError: [Errno 11] Resource temporarily unavailable
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
        Conversation(Long)._checked_action(Long().move(View(Color.RED, "isf")))
    places = ("/bot/mine.py", "/kit/protocol/bot.py", "/kit/protocol/view.py")
    trace = "".join(f'  File "{place}", line 9, in a_call\n' for place in places)
    return f"Traceback (most recent call last):\n{trace}TypeError: {error.value}\n"


KIT = words_of_the_kit()
ENDED: list[tuple[Mistake, int, str, str]] = [
    (Mistake.EXCEPTION, 1, TRACEBACK, "IndexError: empty (mine.py, line 12)"),
    (Mistake.EXCEPTION, 101, RUST, "called `Option::unwrap()` on a `None` value (src/main.rs:51:82)"),
    (Mistake.EXCEPTION, 101, "thread 'main' panicked at 'no', src/main.rs:7:9", "'no', src/main.rs:7:9"),
    (Mistake.EXCEPTION, 2, "panic: index out of range\n\ngoroutine 1", "index out of range"),
    (Mistake.EXCEPTION, 2, GO, "index out of range [3] with length 3 (bot.go:12)"),
    (Mistake.EXCEPTION, 1, JAVA, "NumberFormatException: no (Bot.java:9)"),
    (Mistake.EXCEPTION, 1, NODE, "TypeError: no (bot.js:5)"),
    (Mistake.EXCEPTION, 1, KIT, "; expected an action such as 'a4-a5' (mine.py, line 9)"),
    (Mistake.SYNTAX, 1, '  File "mine.py", line 3\n    x(\nSyntaxError: no', "mine.py, line 3"),
    (Mistake.MISSING_MODULE, 1, "ModuleNotFoundError: No module named 'numpy'", "numpy"),
    (Mistake.MISSING_MODULE, 1, "Error: Cannot find module 'chess'", "chess"),
    (Mistake.MISSING_MODULE, 1, "No module named 'protocol'", "Python that the arena is"),
    (Mistake.MISSING_MODULE, 1, "No module named 'stratego_arena'", "protocol.bot"),
    (Mistake.MISSING_MODULE, 127, "x: error while loading shared libraries: libz.so: no", "libz.so"),
    (Mistake.READ_ONLY, 1, "OSError: [Errno 30] Read-only file system: 'log'", "/tmp"),
    (Mistake.READ_ONLY, 1, "open /x/bot.log: permission denied", "/tmp"),
    (Mistake.NO_NETWORK, 1, "dial tcp: lookup example.org: no such host", "no network"),
    (Mistake.NO_NETWORK, 1, "Error: getaddrinfo ENOTFOUND example.org", "no network"),
    (Mistake.OUT_OF_MEMORY, 1, "MemoryError", "(--memory is the limit)"),
    (Mistake.OUT_OF_MEMORY, 1, "java.lang.OutOfMemoryError: Java heap space", "(-Xmx in its command is the limit"),
    (Mistake.OUT_OF_MEMORY, -6, "FATAL ERROR: JavaScript heap out of memory", "(--max-old-space-size in its command"),
    (Mistake.TOO_MANY_PROCESSES, 1, "RuntimeError: can't start new thread", "--processes"),
    (Mistake.TOO_MANY_PROCESSES, 1, "java.lang.OutOfMemoryError: unable to create native thread: no", "--processes"),
    (Mistake.TOO_MANY_PROCESSES, -6, "'std::system_error'\n  what():  Resource temporarily unavailable", "--processes"),
    (Mistake.TOO_MANY_PROCESSES, 1, "Error: spawn sleep EAGAIN", "--processes"),
    (Mistake.EXCEPTION, 1, FLOCK, "BlockingIOError"),
    (Mistake.WILD_POINTER, -11, "", "-fsanitize=address"),
    (Mistake.WILD_POINTER, -8, "", "divided"),
    (Mistake.ABORTED, -6, "x: Assertion `a == b' failed.", "a == b"),
    (Mistake.KILLED, -9, "", "memory"),
    (Mistake.WILD_POINTER, 139, "", "139 is 128 + 11: if signal 11 killed it, it used memory"),
    (Mistake.ABORTED, 134, "x: Assertion `a == b' failed.", "if signal 6 killed it, it ended itself"),
    (Mistake.EXITED, 128, "good bye", "good bye"),
    (Mistake.EXITED, 3, "", "nothing on standard error"),
    (Mistake.ENDED_EARLY, 0, "", "'quit'"),
    (Mistake.CRLF_SCRIPT, 127, "env: 'python3\\r': No such file or directory", "carriage return"),
]


def crashed(status: int, stderr: str = "", phase: Phase = Phase.THINKING, **more: Any) -> Seen:
    return Seen(phase, gone(phase, "ended", exited=True), stderr=stderr, status=status, has_ended=True, **more)


@pytest.mark.parametrize(("mistake", "status", "stderr", "words"), ENDED)
def test_the_end_of_a_process_is_told_by_its_status_and_its_last_words(
    mistake: Mistake, status: int, stderr: str, words: str
) -> None:
    hint = hint_for(crashed(status, stderr))
    assert hint.mistake is mistake
    assert words in hint.text


def test_in_a_sandbox_a_wild_pointer_may_be_a_file_that_could_not_be_opened() -> None:
    assert "fopen()" not in hint_for(crashed(-11)).text
    for status in (-11, 139):
        told = hint_for(crashed(status, is_confined=True)).text
        assert "fopen()" in told
        assert len(told) <= LONGEST_HINT


@pytest.mark.parametrize(
    ("status", "stderr", "is_named"),
    [
        (1, "FileNotFoundError: [Errno 2] No such file or directory: 'data/book.bin'", True),
        (1, "FileNotFoundError: [Errno 2] No such file or directory: 'other.bin'", False),
        (-11, "", True),
        (1, "KeyError: 'book.bin'", False),
    ],
)
def test_a_file_that_is_a_link_out_of_the_folder_is_named(status: int, stderr: str, is_named: bool) -> None:
    hint = hint_for(crashed(status, stderr, links_out={"data/book.bin": "../../books/big.bin"}))
    assert (hint.mistake is Mistake.LINKED_OUT) is is_named
    if is_named:
        assert hint.text.startswith("data/book.bin is a link out of its folder, to ../../books/big.bin, ")


def test_a_bot_in_python_that_ends_before_it_says_ready_may_lack_the_last_line_of_the_kit() -> None:
    one = crashed(0, phase=Phase.INTRODUCING, language=ProgramLanguage.PYTHON)
    assert "run(CLASS)" in hint_for(one).text
    assert "run(CLASS)" not in hint_for(one._replace(language=ProgramLanguage.GO)).text
    assert "run(CLASS)" not in hint_for(one._replace(phase=Phase.THINKING)).text


def test_a_program_that_cannot_be_run_is_told_by_the_error_of_the_system() -> None:
    for number, mistake in ((errno.ENOENT, Mistake.NOT_FOUND), (errno.ENOEXEC, Mistake.NOT_A_PROGRAM)):
        fault = Fault(Reason.NO_START, "cannot run ./mine", Unstartable(number))
        assert hint_for(Seen(Phase.INTRODUCING, fault, has_ended=True)).mistake is mistake
    assert hint_for(crashed(127, phase=Phase.INTRODUCING)).mistake is Mistake.NOT_FOUND


NOT_SENT = "not sent to workers: book.bin"


@pytest.mark.parametrize(
    ("status", "stderr"),
    [
        (1, "Traceback (most recent call last):\nFileNotFoundError: [Errno 2] No such file: 'book.bin'"),
        (2, "sh: 0: cannot open book.bin: No such file"),
        (1, "ModuleNotFoundError: No module named 'book'"),
        (-11, ""),
    ],
)
def test_where_a_file_is_missing_it_is_said_what_was_not_sent_to_the_machine(status: int, stderr: str) -> None:
    hint = hint_for(crashed(status, stderr, not_sent=NOT_SENT))
    assert hint.mistake is Mistake.NOT_SENT
    assert hint.text.startswith(f"{NOT_SENT}; ")
    assert hint_for(crashed(1, "MemoryError", not_sent=NOT_SENT)).mistake is Mistake.OUT_OF_MEMORY


@pytest.mark.parametrize("is_confined", [True, False])
def test_a_sandbox_is_named_only_where_there_is_one(is_confined: bool) -> None:
    for stderr in ("Network is unreachable", "Read-only file system: 'log'", "fopen: No such file or directory"):
        assert ("a sandbox" in hint_for(crashed(1, stderr, is_confined=is_confined)).text) is is_confined


@pytest.mark.parametrize(
    ("gets_legal", "phase"), [(False, Phase.THINKING), (True, Phase.THINKING), (False, Phase.WAITING)]
)
def test_who_finds_no_legal_actions_and_has_not_asked_for_them_is_told_so(gets_legal: bool, phase: Phase) -> None:
    one = crashed(1, TRACEBACK, phase, gets_legal=gets_legal)
    assert ("'want legal'" in hint_for(one).text) is (not gets_legal and phase is Phase.THINKING)


def test_a_closed_output_and_an_excess_are_told_by_their_cause() -> None:
    closed = Seen(Phase.THINKING, gone(Phase.THINKING, "closed it", exited=False), has_ended=True)
    assert hint_for(closed).mistake is Mistake.CLOSED_OUTPUT
    causes = {Cause.MEMORY: Mistake.TOO_MUCH_MEMORY, Cause.PROCESSES: Mistake.TOO_MANY_PROCESSES}
    for cause, mistake in {**causes, Cause.PONDERING: Mistake.PONDERED}.items():
        assert hint_for(Seen(Phase.WAITING, Fault(Reason.OVER_LIMIT, "", cause))).mistake is mistake
    assert diagnose(Seen(Phase.WAITING, Fault(Reason.OVER_LIMIT, "", Cause.FILES))) is None


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
    (Mistake.ACTION_FORM, b"move a4a5"),
    (Mistake.ACTION_FORM, b"move A4-A5"),
    (Mistake.ACTION_FORM, b"move a4 a5"),
    (Mistake.ACTION_FORM, b"move 3,4 3,5"),
    (Mistake.ACTION_FORM, b"move"),
    (Mistake.RANKS_AND_FILES, b"move 4a-5a"),
    (Mistake.SHORT_SETUP, b"setup 2F2B36B2B4/B5B3825B3S/7263842743/92M675265"),
    (Mistake.SHORT_SETUP, b"setup 2F2B36B2B4/B5B3825B3S/7263842743"),
    (Mistake.SHORT_SETUP, b"setup 2F2B36B2B4/B5B3825B3S/7263842743/92M675265_"),
    (Mistake.SPACES, b"setup 2F2B36B2B4,B5B3825B3S,7263842743,92M6752654"),
    (Mistake.OTHER_PROTOCOL, b"bestmove e2e4"),
    (Mistake.OTHER_PROTOCOL, b"id name x"),
    (Mistake.NOT_ASCII, "note \u00e9".encode()),
    (Mistake.DEBUG_OUTPUT, b"my turn"),
    (Mistake.DEBUG_OUTPUT, b"hello"),
    (Mistake.TOO_MANY_PROCESSES, b"[0.288s][warning][os,thread] Failed to start thread (EAGAIN)"),
    (Mistake.DEBUG_OUTPUT, b"error in move"),
    (Mistake.DEBUG_OUTPUT, b"legal moves: 7"),
    (Mistake.TOO_LONG, b"note " + b"x" * 5000),
    (Mistake.WANTED, b"want moves"),
    (Mistake.WANTED, b"want legal,board"),
    (Mistake.ACTION_FORM, b"move a4-a5 b4-b5"),
    (Mistake.ACTION_FORM, b"move 'a4-a5'"),
    (Mistake.UPPER_CASE, b"setup 2f2b36b2b4/b5b3825b3s/7263842743/92m6752654"),
]


def refused(line: bytes, phase: Phase = Phase.THINKING) -> Hint:
    """Return the hint for a line that cannot be read, or must not come now."""
    try:
        message = decode_from_bot(line, STRATEGO_FORMS)
    except RemoteProtocolError as error:
        return hint_for(Seen(phase, malformed(error), kind=GAME))
    assert message is not None
    with pytest.raises(RemoteProtocolError) as caught:
        after(phase, message)
    return hint_for(Seen(phase, malformed(caught.value), kind=GAME))


@pytest.mark.parametrize(("mistake", "line"), LINES)
def test_a_line_that_is_no_message_is_told_what_is_wrong_with_it(mistake: Mistake, line: bytes) -> None:
    assert refused(line).mistake is mistake


TOLD: list[tuple[bytes, str]] = [
    (b"move\ta4-a5", "without tabs"),
    (b"move a4-a5 b4-b5", "only one action follows 'move': 'move a4-a5'"),
    (b"move a4-", "up to 4096 bytes"),
    (b"move a4", "an action is FROM-TO"),
    (b"want moves", "'want legal board'"),
    (b"setup 2F2B36B2B4/B5B3825B3S/7263842743/9210675265", "one of F B S"),
    (b"setup 2F2B36B2B4/B5B3825B31/7263842743/92M6752654", "an empty square, a dot"),
    (b"setup 2f2b36b2b4/b5b3825b3s/7263842743/92m6752654", "in capitals"),
]


@pytest.mark.parametrize(("line", "words"), TOLD)
def test_a_hint_names_what_is_wrong_in_the_line_itself(line: bytes, words: str) -> None:
    assert words in refused(line).text


@pytest.mark.parametrize(
    ("mistake", "line", "phase"),
    [
        (Mistake.TWO_ANSWERS, b"move a4-a5", Phase.WAITING),
        (Mistake.UNASKED, b"note x", Phase.WAITING),
        (Mistake.UNASKED, b"move a4-a5", Phase.IDLE),
        (Mistake.UNASKED, b"ready", Phase.THINKING),
        (Mistake.ANSWERED_RESTORE, b"setup " + "/".join(RED).encode(), Phase.WAITING),
    ],
)
def test_a_line_out_of_turn_is_told_when_it_may_come(mistake: Mistake, line: bytes, phase: Phase) -> None:
    assert refused(line, phase).mistake is mistake


# --- actions ----------------------------------------------------------------------------------------------------------

ACTIONS: list[tuple[Mistake, str]] = [
    (Mistake.SQUARES_REVERSED, "a5-a4"),
    (Mistake.ROWS_REVERSED, "e7-e6"),
    (Mistake.ENEMY_PIECE, "e9-e8"),
    (Mistake.RULES, "e6-e7"),
]


def illegal(action: str, played: tuple[str, ...] = (), **more: Any) -> Seen:
    """What is seen of the side to move, which wants to play this after what was played."""
    rows = (RED, BLUE)
    state = StrategoState(load_ruleset("isf"), rows)
    for one in played:
        state.play(one)
    game = state.board
    with pytest.raises(IllegalActionError) as error:
        game.check(game.parse(action))
    fault = illegal_fault(game.ply + 1, action, error.value)
    return Seen(
        Phase.THINKING, fault, kind=GAME, state=state, rows=rows[game.to_move], setups=rows, actions=played, **more
    )


@pytest.mark.parametrize(("mistake", "action"), ACTIONS)
def test_an_illegal_action_is_tried_as_its_author_may_have_meant_it(mistake: Mistake, action: str) -> None:
    assert hint_for(illegal(action)).mistake is mistake


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
    assert hint == Hint(Mistake.STALE_ACTION, perhaps)
    assert "perhaps its board is an old one" in hint_for(illegal(action, played)).text


@pytest.mark.parametrize("language", ProgramLanguage)
def test_who_is_sent_its_legal_actions_is_told_to_choose_from_them(language: ProgramLanguage) -> None:
    told = hint_for(illegal("e6-e7", gets_legal=True, language=language)).text
    assert "choose from the 'legal' lines" in told
    assert "want legal" not in told
    assert ("view.legal" in told) is (language is ProgramLanguage.PYTHON)


@pytest.mark.parametrize("action", [action for _, action in ACTIONS] + ["b4-b5"])
def test_who_is_not_sent_its_legal_actions_is_told_how_to_get_them(action: str) -> None:
    played = ("b4-b5", "j7-j6") if action == "b4-b5" else ()
    assert "'want legal' before 'ready'" in hint_for(illegal(action, played)).text
    assert "want legal" not in hint_for(illegal(action, played, gets_legal=True)).text


# --- any of it --------------------------------------------------------------------------------------------------------

TEXTS = st.text(max_size=80) | st.sampled_from([text for _, _, text, _ in ENDED])
CAUSES = st.none() | st.sampled_from(Cause) | st.builds(Malformed, st.sampled_from(Slip), TEXTS)

SEEN = st.builds(
    Seen,
    phase=st.sampled_from(Phase),
    fault=st.builds(Fault, st.sampled_from([reason for reason in Reason if reason.is_forfeit]), TEXTS, CAUSES),
    language=st.sampled_from(ProgramLanguage),
    stderr=TEXTS,
    status=st.none() | st.integers(-64, 255),
    activity=st.sampled_from(Activity),
    has_unread=st.booleans(),
    has_closed_input=st.booleans(),
    has_ended=st.booleans(),
    answered=st.booleans(),
    is_late=st.booleans(),
    unfinished=st.binary(max_size=20),
    kind=st.none() | st.just(GAME),
    state=st.none(),
    gets_legal=st.booleans(),
    is_confined=st.booleans(),
    links_out=st.dictionaries(TEXTS, TEXTS, max_size=2),
    probe=st.none() | st.builds(Probe, *[st.binary(max_size=9)] * 4),
)


@settings(max_examples=150, deadline=None)
@given(SEEN)
def test_a_hint_is_short_plain_ascii_and_follows_the_words_of_the_fault(one: Seen) -> None:
    hint = diagnose(one)
    told = msgspec.structs.replace(one.fault, hint=hint).shown
    assert told.words.startswith(told.text)
    assert len(told.words) <= MAX_FAULT + len(f"... ({MAX_FAULT} more characters)") + len(MARK) + LONGEST_HINT
    assert told.words.isprintable()
    assert msgspec.json.decode(msgspec.json.encode(told), type=Fault) == told
    if hint is not None:
        assert told.words[len(told.text) :] == MARK + hint.text[:LONGEST_HINT]
        assert all(" " <= character <= "~" for character in hint.text)
