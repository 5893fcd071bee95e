"""`python mine.py --play-itself`: a bot against itself in one process, for its author."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from small_games import FOUR, GUESSING, HOLDING
from waiting import PATIENCE

from arena.api.self_play import USUAL_SEED, main, play_itself
from arena.game import Game
from arena.stratego.game import GAME
from protocol.bot import Bot, Conversation, View, run
from protocol.game_bot import GameBot, GameConversation
from protocol.game_bot import run as run_any

ROOT = Path(__file__).parents[3]


class Drifter(Bot):
    """Any legal action, at random."""

    def setup(self, view: View) -> str:
        self.note(f"I am {view.color.word}")
        return super().setup(view)

    def move(self, view: View) -> str:
        return view.random.choice(view.legal)


def game(
    make_bot: Callable[[], Bot], rules: str = "duel", seed: int = USUAL_SEED, *, boards: bool = False
) -> tuple[int, str]:
    """The exit code, and what is written."""
    lines: list[str] = []
    name, converse = make_bot.__name__, lambda: Conversation(make_bot)
    code = play_itself(name, converse, GAME.variant(rules), seed, lines.append, boards=boards)
    return code, "\n".join(lines)


def without_times(text: str) -> str:
    return "\n".join(line.partition("  [")[0] for line in text.splitlines())


@pytest.mark.parametrize("rules", ["duel", "isf", "jumbo-81320/infiltrator+rescue", "vintage/lightning"])
def test_a_whole_game_is_played_ply_by_ply_under_any_rules(rules: str) -> None:
    code, text = game(Drifter, rules)
    assert code == 0
    assert text.startswith(f"{rules}, seed 2: Drifter against itself\n")
    assert "note of red: I am red\nnote of blue: I am blue\n" in text
    plies = [int(line.split()[1].rstrip(":")) for line in text.splitlines() if line.startswith("ply ")]
    assert plies == list(range(1, len(plies) + 1))
    assert text.splitlines()[-1].startswith(f"after {len(plies)} plies: ")


class Chance(GameBot):
    """Any legal action, and any set-up, in a game that has them."""

    def setup(self) -> str:
        return GUESSING.random_setup(GUESSING.variant(), self.color, self.seed)

    def move(self) -> str:
        return self.random.choice(self.legal or [str(self.random.randint(1, 99))])


@pytest.mark.parametrize(("kind", "drawn"), [(FOUR, "1 2 3 4 5 6 7"), (GUESSING, "ply 1: red "), (HOLDING, "to red: ")])
def test_a_game_of_any_kind_is_played_with_its_own_drawing(kind: Game, drawn: str) -> None:
    lines: list[str] = []
    code = play_itself("Chance", lambda: GameConversation(Chance), kind.variant(), 1, lines.append)
    text = "\n".join(lines)
    assert code == 0
    assert text.startswith(f"{kind.variant().full_name}, seed 1: Chance against itself\n")
    assert drawn in text
    assert text.splitlines()[-1].startswith("after ")


def test_the_kit_of_all_games_plays_a_game_that_is_named_by_its_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(ROOT / "docs" / "examples" / "connect4" / "connect4.py")
    monkeypatch.setattr(sys, "argv", ["mine.py", "--play-itself", "--game", file, "--no-boards"])
    monkeypatch.setenv("ARENA_GAME_FILES", "")
    with pytest.raises(SystemExit) as ended:
        run_any(Chance)
    assert ended.value.code == 0
    out = capsys.readouterr().out
    assert out.startswith("connect4, seed 2: Chance against itself\n")
    assert "\nply 7: red " in out


def test_the_same_seed_is_the_same_game_and_another_one_is_another() -> None:
    first, second, other = (without_times(game(Drifter, seed=seed)[1]) for seed in (1, 1, 2))
    assert first == second != other


def test_what_the_bot_raises_comes_out_with_where_it_was() -> None:
    class Breaks(Drifter):
        def move(self, view: View) -> str:
            return view.legal[0 if view.ply < 4 else 10**6]

    with pytest.raises(IndexError) as caught:
        game(Breaks)
    (note,) = caught.value.__notes__
    assert note.startswith("blue, ply 4, was told: turn 4 ")


def test_ctrl_c_shows_where_a_bot_is_that_does_not_come_to_an_end() -> None:
    class Hangs(Drifter):
        def move(self, view: View) -> str:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        game(Hangs)
    (note,) = caught.value.__notes__
    assert note.startswith("red, ply 1, was told: turn 1 ")


def test_a_set_up_that_is_too_short_is_explained() -> None:
    class Short(Drifter):
        def setup(self, view: View) -> str:
            return "FB......../........./........../.........2"

    with pytest.raises(ValueError, match=r"setup\(\) of Short returned .*, whose row 2 has 9 letters; expected 4 rows"):
        game(Short)


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ({"move": "a1-a1"}, "tried an illegal action: ply 1: a1-a1"),
        ({"setup": "FBBS2339M./........../........../.........."}, "sent an illegal set-up: "),
    ],
)
def test_a_fault_is_told_as_in_a_game_and_is_a_failure(answers: dict[str, str], words: str) -> None:
    class Wrong(Drifter):
        pass

    for name, answer in answers.items():
        setattr(Wrong, name, lambda self, view, answer=answer: answer)
    code, text = game(Wrong)
    assert code == 1
    assert words in text


def test_a_wrong_ruleset_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("Drifter", lambda: Conversation(Drifter), ["--rules", "duell"]) == 2
    assert capsys.readouterr().err == "unknown ruleset 'duell'; did you mean duel?\n"


@pytest.mark.parametrize(
    "words", [("--play-itself", "--rules", "duel", "--no-boards"), ("--rules", "duel", "--play-itself", "--no-boards")]
)
def test_what_the_bot_prints_is_kept_apart(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Talks(Drifter):
        def setup(self, view: View) -> str:
            print("thinking aloud")
            return super().setup(view)

    monkeypatch.setattr(sys, "argv", ["mine.py", *words])
    with pytest.raises(SystemExit) as ended:
        run(Talks)
    assert ended.value.code == 0
    said = capsys.readouterr()
    assert "thinking aloud" not in said.out
    assert said.err == "thinking aloud\n" * 2


def test_without_the_arena_the_kit_says_what_is_missing(tmp_path: Path) -> None:
    """The folder `protocol` alone, as a bot carries it along."""
    (tmp_path / "protocol").symlink_to(ROOT / "protocol")
    (tmp_path / "mine.py").write_text("from protocol.bot import Bot, run\nrun(Bot)\n")
    line = [sys.executable, "-S", "-E", "mine.py", "--play-itself"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 1
    assert done.stderr.startswith("--play-itself needs the arena, which judges the game, and this Python (")
    assert "install stratego-arena" in done.stderr
    assert "Traceback" not in done.stderr
