"""`arena check BOT --replay STORE GAME`: the messages of a stored game put to a bot again."""

import json
import sys
from functools import partial
from pathlib import Path

import pytest
import trio
from bot_games import play

from arena.bots.loading import load_bot
from arena.bots.spec import BotSpec
from arena.check.stored_game import Replayed, StoredGame, replay, seated
from arena.cli import exit_codes, main
from arena.errors import UsageError
from arena.game.record import GameRecord
from arena.processes.runnable import PlaySettings
from arena.processes.starting import Sandbox
from arena.report.checklist import WIDTH, replay_json, replay_text
from arena.sandbox.levels import Level
from protocol.notation import Color, Reason

ROOT = Path(__file__).parent.parent.parent
DRIFTER = ROOT / "bots" / "drifter.py"

MINE = """
from protocol.bot import Bot, run
class Mine(Bot):
    name = "mine"
    def setup(self, view):
        return SETUP
    def move(self, view):
        if view.ply > 20:
            raise ValueError("lost")
        return sorted(view.legal)[PICK]
run(Mine)
"""
FIRST = '".........F/2........B/..S.2...../.39.M....."'
OTHER = '"2........F/.........B/..S.2...../.39.M....."'


def mine(folder: Path, pick: int = 0, setup: str = FIRST, ending: str = "") -> BotSpec:
    folder.mkdir(exist_ok=True)
    path = folder / "mine.py"
    path.write_text(MINE.replace("PICK", str(pick)).replace("SETUP", setup) + ending)
    return load_bot(path)


@pytest.fixture
def played(tmp_path: Path) -> GameRecord:
    """A game of barrage that mine, as Blue, loses by an exception at its eleventh turn, if not before."""
    bot = mine(tmp_path / "then")
    return trio.run(partial(play, load_bot(DRIFTER), bot, ruleset="barrage"))


def put(record: GameRecord, bot: BotSpec) -> Replayed:
    game = seated(StoredGame(1, record), bot)
    with Sandbox(PlaySettings([bot], Level.BASIC)) as held:
        return trio.run(replay, game, bot, held)


def test_the_same_bot_gives_the_same_answers_and_fails_where_it_did(played: GameRecord, tmp_path: Path) -> None:
    assert played.verdict.reason is Reason.CRASH
    found = put(played, mine(tmp_path / "then"))
    assert found.color is Color.BLUE
    assert found.differing == ()
    assert [reply.recorded for reply in found.replies] == [*played.actions[1::2], None]
    assert found.failure is not None
    assert (found.failure.ply, found.failure.mistake) == (played.verdict.plies + 1, "exception")
    assert "ValueError: lost" in found.failure.hint


def test_another_version_is_shown_where_it_parts_and_told_what_was_played_then(
    played: GameRecord, tmp_path: Path
) -> None:
    found = put(played, mine(tmp_path / "now", pick=1))
    assert found.game.remarks == ("its files have changed since this game",)
    assert not found.is_same
    assert found.differing[0].ply == 2
    assert found.differing[0].recorded == played.actions[1]
    assert all(not reply.illegal for reply in found.replies)
    assert len(found.replies) == len(played.actions) // 2 + 1
    text = replay_text(found)
    assert "the first at ply 2" in text
    assert max(len(line) for line in text.splitlines() if "stderr|" not in line) <= WIDTH
    assert json.loads(replay_json(found))["same"] is False


def test_a_bot_that_sets_up_differently_is_given_the_set_up_of_then(played: GameRecord, tmp_path: Path) -> None:
    found = put(played, mine(tmp_path / "now", setup=OTHER))
    assert found.is_restored
    assert found.setups == (FIRST.strip('"'), OTHER.strip('"'))
    assert found.differing == ()


def test_what_breaks_the_protocol_is_shown_with_its_exchange(played: GameRecord, tmp_path: Path) -> None:
    bot = mine(tmp_path / "now")
    text = bot.path.read_text().replace("        return sorted", "        self.note('x' * 9)\n        return sorted")
    bot.path.write_text("print('it begins', flush=True)\n" + text)
    found = put(played, load_bot(bot.path))
    assert found.failure is not None
    assert found.failure.mistake == "debug-output"
    assert "it begins" in [line.text for line in found.failure.exchange]


def test_a_bot_that_had_no_part_is_refused_and_can_be_given_a_side(played: GameRecord) -> None:
    other = load_bot(ROOT / "bots" / "raider.py")
    with pytest.raises(UsageError, match=r"expected a bot that played in game 1, which was drifter - mine.*--side red"):
        seated(StoredGame(1, played), other)
    assert seated(StoredGame(1, played, Color.RED), other).color is Color.RED


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--side", "red"], "expected --replay STORE GAME with it"),
        (["--replay", "s.sqlite", "1", "--quick"], "--replay cannot be used together with --rules"),
        (["--replay", "missing.sqlite", "1"], "missing.sqlite: there is no such store"),
        (["--quick", "--all"], "--quick and --all"),
    ],
)
def test_what_makes_no_sense_is_one_clear_message(
    arguments: list[str], words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["arena", "check", "drifter", *arguments])
    assert main.cli.run() == exit_codes.USAGE
    seen = capsys.readouterr()
    assert seen.out == ""
    assert words in " ".join(seen.err.split())


def broken_off(folder: Path, answer: str) -> BotSpec:
    """Mine, which from its eleventh turn on answers so."""
    bot = mine(folder)
    bot.path.write_text(bot.path.read_text().replace('raise ValueError("lost")', answer))
    return load_bot(bot.path)


def test_the_same_illegal_action_is_the_same_answer_and_its_hint_stands_at_its_ply(tmp_path: Path) -> None:
    bot = broken_off(tmp_path / "then", 'return "a1-a9"')
    record = trio.run(partial(play, load_bot(DRIFTER), bot, ruleset="barrage"))
    assert record.verdict.reason is Reason.ILLEGAL_ACTION
    found, last = put(record, bot), record.verdict.plies + 1
    assert (found.replies[-1].recorded, found.replies[-1].now) == ("a1-a9", "a1-a9")
    assert found.is_same
    assert found.failure is not None
    text = replay_text(found)
    assert f"FAILED  at ply {last}, as then\n          illegal-action: ply {last}: a1-a9: " in text
    assert found.failure.hint
    assert "          hint: " in text
    assert text.endswith(f"the same answers, and the same fault at ply {last}")
    assert json.loads(replay_json(found))["same_fault"] is True

    other = put(record, broken_off(tmp_path / "now", 'return "a1-a8"'))
    assert [(reply.recorded, reply.now) for reply in other.differing] == [("a1-a9", "a1-a8")]
    assert replay_text(other).endswith(f"the first at ply {last}; another fault at ply {last}")

    cured = put(record, broken_off(tmp_path / "cured", "return view.legal[0]"))
    assert not cured.is_same
    assert replay_text(cured).endswith(f"the first at ply {last}; no fault now")


@pytest.mark.parametrize("setup", [FIRST, '"F........./........../........../.........."'])
def test_an_illegal_set_up_is_looked_for_again(setup: str, tmp_path: Path) -> None:
    bot = mine(tmp_path / "then", setup='"F........./........../........../.........."')
    record = trio.run(partial(play, load_bot(DRIFTER), bot, ruleset="barrage"))
    assert record.verdict.reason is Reason.ILLEGAL_SETUP
    found = put(record, mine(tmp_path / "now", setup=setup))
    assert found.has_same_fault is found.is_same is (setup != FIRST)
    assert ("the same fault before the first ply" if found.is_same else "; no fault now") in replay_text(found)


def test_a_fault_in_the_opponents_turn_is_waited_for(tmp_path: Path) -> None:
    bot = mine(tmp_path / "then")
    dies = "    def event(self, view, message):\n        if view.ply == 11: raise SystemExit(3)\nrun(Mine)"
    bot.path.write_text(bot.path.read_text().replace("run(Mine)", dies))
    bot = load_bot(bot.path)
    record = trio.run(partial(play, load_bot(DRIFTER), bot, ruleset="barrage"))
    assert record.verdict.reason is Reason.CRASH
    assert put(record, bot).has_same_fault
