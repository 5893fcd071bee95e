"""The kit for bots of any game: what a `GameBot` says and is given; what it shares with `Bot` is tested there."""

import io
import re
import sys
from collections.abc import Callable

import pytest

from protocol.game_bot import GameBot, run
from protocol.lines import LocalProtocolError
from protocol.seats import Color

OPENING = b"game red dice\nrule dice 5\nrule words free text\nclock setup 5000 move 1000\nseed 7\nopponent bob\n"


class First(GameBot):
    name = "first"

    def move(self) -> str:
        return self.legal[0]


def say(make_bot: Callable[[], GameBot], said: bytes, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a bot answers to these lines."""
    monkeypatch.setattr(sys, "stdout", sys.stdout)  # `run` redirects it; this puts it back after the test
    sink = io.BytesIO()
    run(make_bot, io.BytesIO(said), sink)
    return sink.getvalue().decode("ascii").splitlines()


def test_a_game_without_set_ups_goes_from_the_seed_to_the_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[object] = []

    class Listener(First):
        def told(self, line: str) -> None:
            heard.append(line)

        def move(self) -> str:
            heard.append((self.color, self.variant, self.opponent, self.rules, self.ply, self.own_ms, self.enemy_ms))
            self.note("a  \nremark")
            return super().move()

        def end(self, result: str, reason: str) -> None:
            heard.append((result, reason))

    lines = b"dice 1 2\n# nothing\n\nmoved blue 1x2\nlegal 1x3\nlegal 1x4 liar\nturn 2 900 800\nmoved red 1x3\n"
    said = say(Listener, OPENING + lines + b"end win no-dice\nmoved late\nquit\ndice 9\n", monkeypatch)
    assert said == ["note a remark", "move 1x3"]
    asked = (Color.RED, "dice", "bob", {"dice": "5", "words": "free text"}, 2, 900, 800)
    assert heard == ["dice 1 2", "moved blue 1x2", asked, "moved red 1x3", ("win", "no-dice")]


def test_a_set_up_is_sent_or_given(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []

    class Planner(First):
        def setup(self) -> str:
            return "a plan"

        def restore(self, setup: str) -> None:
            given.append(setup)

    assert say(Planner, OPENING + b"setup\n", monkeypatch) == ["setup a plan"]
    assert say(Planner, OPENING + b"restore a plan\n", monkeypatch) == []
    assert given == ["a plan"]


def test_each_game_has_a_bot_of_its_own_and_each_turn_its_legal_actions(monkeypatch: pytest.MonkeyPatch) -> None:
    class Counting(First):
        def __init__(self) -> None:
            self.turns = 0  # without the `__init__` of the class above, which may be forgotten

        def move(self) -> str:
            self.turns += 1
            self.note(f"{self.turns} {' '.join(self.legal)}")
            return super().move()

    game = OPENING + b"legal a b\nturn 1 9 9\nlegal c\nturn 3 9 9\nend loss resign\n"
    expected = ["note 1 a b", "move a", "note 2 c", "move c"]
    assert say(Counting, game * 2, monkeypatch) == expected * 2


def test_dice_follow_from_the_seed_and_the_ply_so_that_a_game_can_be_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Dicer(GameBot):
        def move(self) -> str:
            return str(self.random.random())

    def rolled(seed: int, *plies: int) -> list[str]:
        turns = b"".join(b"turn %d 9 9\n" % ply for ply in plies)
        return say(Dicer, OPENING.replace(b"seed 7", b"seed %d" % seed) + turns, monkeypatch)

    first, second = rolled(7, 1, 3)
    assert first != second
    assert rolled(7, 3) == [second]
    assert rolled(8, 3) != [second]


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (None, TypeError, "move() of Muddled returned None; expected a string"),
        ("a\nb", LocalProtocolError, r"printable ASCII characters, got 'move a\nb'"),
    ],
)
def test_a_wrong_answer_is_an_error_that_says_what_came(
    answer: object, error: type[Exception], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Muddled(GameBot):
        def move(self) -> str:
            return answer  # type: ignore[return-value]

    with pytest.raises(error, match=re.escape(words)):
        say(Muddled, OPENING + b"turn 1 9 9\n", monkeypatch)


def test_an_object_in_the_place_of_the_class_is_told_apart() -> None:
    with pytest.raises(TypeError, match=r"expected run\(First\), the class, got an object of it"):
        run(First())  # type: ignore[arg-type]
