"""The kit for bots in Python: what `Conversation` and `run` say, and what they keep from a bot's author."""

import io
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest
from small_arena import SmallArena

from arena.stratego.rules.rulesets import ruleset_names
from arena.stratego.rules.setup import check_setup
from protocol.bot import Bot, Conversation, View, Want, run
from protocol.messages import (
    ArenaMessage,
    BotMessage,
    End,
    Error,
    GameLine,
    Hello,
    Legal,
    Move,
    Moved,
    Note,
    Quit,
    Setup,
    SetupRequest,
    Turn,
)
from protocol.notation import Color, Reason, SeatResult

OPENING = b"""\
hello 1
game red barrage
rule army F:1 B:1 S:1 2:2 3:1 9:1 M:1
rule starts red
clock setup 5000 move 1000
seed 7
setup
"""


class Drifter(Bot):
    """Any legal action, at random."""

    name = "drifter"

    def move(self, view: View) -> str:
        return view.random.choice(view.legal)


def say(make_bot: Callable[[], Bot], said: bytes, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a bot answers to these lines."""
    monkeypatch.setattr(sys, "stdout", sys.stdout)  # `run` redirects it; this puts it back after the test
    sink = io.BytesIO()
    run(make_bot, io.BytesIO(said), sink)
    return sink.getvalue().decode("ascii").splitlines()


def texts(messages: list[BotMessage]) -> list[str]:
    return [repr(message) for message in messages]


# --- introductions ------------------------------------------------------------------------------------------------


def test_a_bot_says_only_what_it_has_to_say(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent(Drifter):
        name = ""
        wants = ()

    class Vain(Drifter):
        name = "vain 1.0"
        author = "Jane Doe"
        wants = (Want.BOARD, Want.LEGAL)

    assert say(Silent, b"hello 1\n", monkeypatch) == ["ready"]
    assert say(Vain, b"hello 1\n", monkeypatch) == ["name vain 1.0", "author Jane Doe", "want board legal", "ready"]


@pytest.mark.parametrize("wants", ["legal", None])
def test_wants_that_are_none_of_the_protocols_are_an_error_that_says_what_came(
    wants: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Unclear(Drifter):
        pass

    Unclear.wants = wants  # type: ignore[assignment]
    words = f"wants of Unclear is {wants!r}; expected a tuple of Want, such as (Want.LEGAL,)"
    with pytest.raises(TypeError, match=re.escape(words)):
        say(Unclear, b"hello 1\n", monkeypatch)


# --- set-ups ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ruleset", ruleset_names())
@pytest.mark.parametrize("color", Color)
def test_the_set_up_that_comes_with_the_kit_is_legal(ruleset: str, color: Color) -> None:
    arena = SmallArena(ruleset)
    seen = set()
    for seed in range(20):
        conversation = Conversation(Drifter)
        answers = [conversation.receive(message) for message in arena.opening(color, seed)][-1]
        (setup,) = answers
        assert isinstance(setup, Setup)
        check_setup(arena.ruleset, setup.rows)
        seen.add(setup.rows)
    assert len(seen) == 20


def test_dice_follow_the_seed_line(monkeypatch: pytest.MonkeyPatch) -> None:
    again = say(Drifter, OPENING, monkeypatch)
    assert say(Drifter, OPENING, monkeypatch) == again
    assert say(Drifter, OPENING.replace(b"seed 7", b"seed 8"), monkeypatch) != again


def test_an_own_set_up_is_sent_and_put_on_the_views_board(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "F........./B........./........../2S3.2..9.M"

    class Planner(Drifter):
        def setup(self, view: View) -> str:
            assert view.rules["starts"] == "red"
            return rows

        def move(self, view: View) -> str:
            piece = view.at("a4")
            assert piece is not None
            return f"a4-a{4 + int(piece.cell[1])}"

    assert say(Planner, OPENING + b"turn 1 1000 1000\n", monkeypatch)[-2:] == [f"setup {rows}", "move a4-a6"]


@pytest.mark.parametrize(
    "answer", ["FBS2", "", "/".join(["F" * 10] * 3), "/".join(["f" * 10] * 4), None, ["F" * 10] * 4]
)
def test_a_set_up_that_is_none_is_an_error_that_says_what_came(answer: object, monkeypatch: pytest.MonkeyPatch) -> None:
    class Muddled(Drifter):
        def setup(self, view: View) -> str:
            return answer  # type: ignore[return-value]

    with pytest.raises(ValueError, match=r"setup\(\) of Muddled returned .*; expected 4 rows of 10 letters") as caught:
        say(Muddled, OPENING, monkeypatch)
    assert repr(answer)[:90] in str(caught.value)


# --- turns --------------------------------------------------------------------------------------------------------


def test_a_bot_moves_when_it_is_its_turn_and_only_then() -> None:
    conversation = Conversation(Drifter)
    for message in (Hello(1), GameLine(Color.RED, "test"), SetupRequest()):
        conversation.receive(message)
    assert conversation.receive(Moved(Color.BLUE, "a7-a6")) == []
    assert conversation.receive(Legal(("a4-a5",))) == []
    assert texts(conversation.receive(Turn(2, 1000, 1000))) == [repr(Move("a4-a5"))]
    assert conversation.receive(Moved(Color.RED, "a4-a5")) == []


def test_a_bot_is_told_of_events_after_the_view_and_of_the_end() -> None:
    seen: list[str] = []

    class Watcher(Drifter):
        def event(self, view: View, message: ArenaMessage) -> None:
            seen.append(f"{type(message).__name__} {len(view.actions)}")

        def end(self, view: View, end: End) -> None:
            seen.append(f"{end.result.value} {end.reason.value}")

    conversation = Conversation(Watcher)
    messages: list[ArenaMessage] = [Hello(1), GameLine(Color.RED, "test"), SetupRequest()]
    messages += [Legal(("a4-a5",)), Turn(1, 10, 10)]
    messages += [Moved(Color.RED, "a4-a5"), Moved(Color.BLUE, "a7-a6"), Error("oh"), End(SeatResult.WIN, Reason.RESIGN)]
    for message in messages:
        conversation.receive(message)
    assert seen == ["Legal 0", "Moved 1", "Moved 2", "Error 2", "win resign"]


def test_notes_come_before_the_answer_on_one_line_each(monkeypatch: pytest.MonkeyPatch) -> None:
    class Talker(Drifter):
        def setup(self, view: View) -> str:
            self.note("by\nlot")
            return super().setup(view)

        def move(self, view: View) -> str:
            self.note("  a plan \t of two  parts ")
            self.note("an evaluation")
            return super().move(view)

    lines = say(Talker, OPENING + b"legal a4-a5\nturn 1 1000 1000\n", monkeypatch)[3:]
    assert lines[0] == "note by lot"
    assert lines[1].startswith("setup ")
    assert lines[2:] == ["note a plan of two parts", "note an evaluation", "move a4-a5"]


def test_a_note_made_between_turns_waits_for_the_next_answer() -> None:
    class Observer(Drifter):
        def event(self, view: View, message: ArenaMessage) -> None:
            if isinstance(message, Moved):
                self.note(f"saw {message.action}")

        def end(self, view: View, end: End) -> None:
            self.note("too late")

    conversation = Conversation(Observer)
    for message in (Hello(1), GameLine(Color.RED, "test"), SetupRequest(), Legal(("a4-a5",))):
        conversation.receive(message)
    assert conversation.receive(Moved(Color.BLUE, "a7-a6")) == []
    assert texts(conversation.receive(Turn(2, 9, 9))) == [repr(Note("saw a7-a6")), repr(Move("a4-a5"))]
    assert conversation.receive(End(SeatResult.WIN, Reason.RESIGN)) == []
    conversation.receive(GameLine(Color.BLUE, "test"))
    assert [type(answer) for answer in conversation.receive(SetupRequest())] == [Setup]


@pytest.mark.parametrize(
    ("remark", "sent"),
    [("e4 \u2192 \u00e9", r"note e4 \u2192 \xe9"), ("bell \x07", "note bell ?"), ("x" * 5000, "note " + "x" * 4091)],
    ids=["not ASCII", "not printable", "too long"],
)
def test_no_note_can_lose_a_game(remark: str, sent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Talker(Drifter):
        def move(self, view: View) -> str:
            self.note(remark)
            return super().move(view)

    assert say(Talker, OPENING + b"legal a4-a5\nturn 1 9 9\n", monkeypatch)[-2:] == [sent, "move a4-a5"]


# --- several games ------------------------------------------------------------------------------------------------


def test_several_games_in_one_process_start_anew_each(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Bot] = []

    class Counting(Drifter):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)
            self.moves = 0

        def move(self, view: View) -> str:
            self.moves += 1
            self.note(f"move {self.moves} as {view.color.word} on ply {view.ply} after {len(view.actions)}")
            return super().move(view)

    first = OPENING + b"legal a4-a5\nturn 1 9 9\nmoved red a4-a5\nmoved blue resign\nend win resign\n"
    second = OPENING.replace(b"hello 1\n", b"").replace(b"game red", b"game blue")
    second += b"moved red a4-a5\nlegal a7-a6\nturn 2 9 9\nmoved blue a7-a6\nmoved red resign\nend win resign\nquit\n"
    lines = say(Counting, first + second, monkeypatch)
    assert [line for line in lines if not line.startswith("setup")] == [
        "name drifter",
        "want legal",
        "ready",
        "note move 1 as red on ply 1 after 0",
        "move a4-a5",
        "note move 1 as blue on ply 2 after 1",
        "move a7-a6",
    ]
    assert sum(line.startswith("setup") for line in lines) == 2
    assert len({id(bot) for bot in made}) == len(made) == 3  # one to introduce itself, one for each game


def test_after_quit_nothing_more_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert say(Drifter, b"quit\n" + OPENING, monkeypatch) == []
    conversation = Conversation(Drifter)
    assert not conversation.finished
    conversation.receive(Quit())
    assert conversation.finished


# --- what an arena of tomorrow, or a broken one, may send -----------------------------------------------------------


def test_unknown_verbs_trailing_fields_and_comments_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = OPENING + b"legal a4-a5\nturn 1 1000 1000\n"
    newer = b"# a newer arena\n\n" + plain.replace(b"hello 1", b"hello 1 maybe 2").replace(
        b"seed 7\n", b"seed 7 really\nweather fine\r\n"
    )
    assert say(Drifter, newer, monkeypatch) == say(Drifter, plain, monkeypatch)


# --- the process --------------------------------------------------------------------------------------------------


def start(code: str, said: bytes) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run([sys.executable, "-c", code], input=said, capture_output=True, timeout=120, check=False)


BOT = """
from protocol.bot import Bot, run

class Inline(Bot):
    def move(self, view):
        print("thinking about ply", view.ply)
        {line}
        return view.legal[0]

run(Inline)
"""


def test_what_a_bot_prints_goes_to_standard_error() -> None:
    done = start(BOT.format(line="pass"), OPENING + b"legal a4-a5\nturn 1 1000 1000\nquit\n")
    assert done.returncode == 0
    assert b"thinking about ply 1\n" in done.stderr
    assert b"thinking" not in done.stdout
    assert done.stdout.endswith(b"move a4-a5\n")


def test_an_exception_ends_the_process_with_its_traceback_on_standard_error() -> None:
    done = start(BOT.format(line="raise LookupError('no plan')"), OPENING + b"legal a4-a5\nturn 1 1000 1000\nquit\n")
    assert done.returncode == 1
    assert b"Traceback" in done.stderr
    assert b"LookupError: no plan" in done.stderr
    assert done.stdout.splitlines()[:2] == [b"want legal", b"ready"]
    assert b"move" not in done.stdout


def test_a_bot_without_a_move_method_says_so() -> None:
    done = start(
        "from protocol.bot import Bot, run\nclass Inline(Bot): pass\nrun(Inline)", OPENING + b"turn 1 1000 1000\n"
    )
    assert done.returncode == 1
    assert b"NotImplementedError: Inline has no move method" in done.stderr


@pytest.mark.parametrize("answer", [None, 3, ("a4", "a5")])
def test_a_move_that_is_no_text_is_an_error_that_says_what_came(
    answer: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Silent(Drifter):
        def move(self, view: View) -> str:
            return answer  # type: ignore[return-value]

    words = f"move() of Silent returned {answer!r}; expected an action such as 'a4-a5'"
    with pytest.raises(TypeError, match=re.escape(words)):
        say(Silent, OPENING + b"legal a4-a5\nturn 1 1000 1000\n", monkeypatch)


def test_an_object_in_the_place_of_the_class_is_told_apart() -> None:
    with pytest.raises(TypeError, match=r"expected run\(Drifter\), the class, got an object of it"):
        run(Drifter())  # type: ignore[arg-type]


def test_who_stops_a_waiting_bot_is_shown_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopped(io.BytesIO):
        def readline(self, size: "int | None" = -1) -> bytes:
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stdout", sys.stdout)
    with pytest.raises(SystemExit) as ended:
        run(Drifter, Stopped(), io.BytesIO())
    assert ended.value.code == 130


def test_a_second_bot_of_a_program_is_told_that_the_first_has_played() -> None:
    done = start(BOT.format(line="pass") + "\nclass New(Inline): pass\nrun(New)", OPENING + b"quit\n")
    assert done.returncode == 1
    assert done.stdout.count(b"ready") == 1
    assert b"RuntimeError: run(New) after run(Inline): a program is one bot, and Inline has played" in done.stderr


def test_each_answer_is_sent_at_once() -> None:
    """A bot that is still being talked to has answered what it was asked, without the end of its input."""
    process = subprocess.Popen(
        [sys.executable, "-c", BOT.format(line="pass")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
    )
    watchdog = threading.Timer(10, process.kill)  # a bot that sends nothing must fail this test, not hang it
    watchdog.start()
    with process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(OPENING)
        process.stdin.flush()
        assert [process.stdout.readline() for _ in range(2)] == [b"want legal\n", b"ready\n"]
        assert process.stdout.readline().startswith(b"setup ")
        process.stdin.write(b"legal a4-a5\nturn 1 1000 1000\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"move a4-a5\n"
    watchdog.cancel()


# --- started by people --------------------------------------------------------------------------------------------


class Terminal(io.TextIOWrapper):
    """A terminal at which nothing is typed."""

    def isatty(self) -> bool:
        return True


def started(words: list[str], stdin: io.TextIOWrapper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", sys.stdout)  # `run` redirects it
    monkeypatch.setattr(sys, "stdin", stdin)
    monkeypatch.setattr(sys, "argv", ["mine.py", *words])
    run(Drifter)


USAGE = "this bot waits for an arena; try: python mine.py --play-itself, or arena match mine.py drifter\n"


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_help_says_how_a_bot_is_run(
    word: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started([word], io.TextIOWrapper(io.BytesIO()), monkeypatch)
    seen = capsys.readouterr()
    assert seen.out.startswith(USAGE)
    assert seen.err == ""


@pytest.mark.parametrize("word", ["--rules", "--seed=3", "--play-itslef", "--play_itself"])
def test_a_mistyped_option_at_a_terminal_is_an_error(
    word: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        started([word], Terminal(io.BytesIO()), monkeypatch)
    assert ended.value.code == 2
    assert capsys.readouterr() == ("", f"mine.py: expected --play-itself [OPTION...] or --help, got {word!r}\n")
