"""`arena check`: what is tried, what is said of it, and when a league would accept a bot."""

import dataclasses
import json
import os
import pty
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from commands import ARENA, invoke
from terminals import read_all

from arena.check.service import CheckOptions, check_bot
from arena.check.situations import (
    Checked,
    Extent,
    Failure,
    Mark,
    Situation,
    SituationGroup,
    SituationOutcome,
    script,
    spread,
)
from arena.check.talk import noisy
from arena.league.league_options import PlayOptions
from arena.report.checklist import WIDTH, check_json, check_text
from arena.report.progress import HIDE_CURSOR, SHOW_CURSOR
from arena.sandbox.levels import Level
from arena.stratego.game import GAME
from arena.stratego.opponents import Foe, action, narrow_rows
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.rulesets import load_ruleset, ruleset_names, switch_names
from arena.stratego.rules.setup import check_setup
from arena.stratego.setups import random_rows
from protocol.bot_codec import decode_for_bot
from protocol.notation import Color, Reason

UCC_BOT = Path(__file__).parent.parent / "helpers" / "ucc_random.py"
UNHURRIED = PlayOptions(time="20s", start_time="30s", setup_time="20s", jobs=1)


def check(path: str, *only: str, rules: tuple[str, ...] = ("duel",), options: PlayOptions = UNHURRIED) -> Checked:
    asked = CheckOptions(options, rules, Extent.QUICK, frozenset(only))
    return check_bot(path, asked, lambda _: None, lambda *_: None)


# --- what is tried ----------------------------------------------------------------------------------------------------


def test_every_ruleset_and_every_switch_is_tried_if_none_is_named() -> None:
    names = {situation.rules for situation in script(GAME, ())}
    assert set(ruleset_names()) <= names
    assert {switch for name in names for switch in name.split("+")[1:]} == set(switch_names())


def test_all_plays_each_ruleset_as_both_sides() -> None:
    sides: dict[str, set[Color]] = {}
    for situation in script(GAME, (), Extent.ALL):
        sides.setdefault(situation.rules, set()).add(situation.color)
    assert set(map(len, sides.values())) == {2}


@pytest.mark.parametrize("name", [*ruleset_names(), "duel+mobile-flag", "duel+mobile-bombs", "duel+rescue"])
@pytest.mark.parametrize("foe", Foe)
def test_opponents_play_legally_under_every_ruleset(name: str, foe: Foe) -> None:
    ruleset = load_ruleset(name)
    game = EngineGame(ruleset, random_rows(ruleset, 1), random_rows(ruleset, 2))
    while game.outcome is None and game.ply < 60:
        game.apply(action(game, game.ply, Foe.RANDOM if game.to_move else foe))


@pytest.mark.parametrize("name", ruleset_names())
def test_a_narrow_set_up_is_legal_and_leaves_hardly_a_move_where_bombs_can_block(name: str) -> None:
    ruleset = load_ruleset(name)
    rows = narrow_rows(ruleset, 1)
    check_setup(ruleset, rows)
    if name == "isf":
        assert len(EngineGame(ruleset, rows, random_rows(ruleset, 1)).legal_moves()) == 1


def test_noise_says_nothing_that_a_bot_knows() -> None:
    said = b"hello 1\ngame red duel\nrule army F:1\nclock setup 5 move 7\nseed 3\nsetup\nmoved red a4-a5\nturn 1 2 3\n"
    messages = [decode_for_bot(line) for line in said.splitlines()]
    heard = [
        message for line in noisy(said, GAME.open_verbs).splitlines() if (message := decode_for_bot(line)) is not None
    ]
    assert [repr(message) for message in heard if "later" not in repr(message)] == [repr(one) for one in messages]
    assert len(noisy(said, GAME.open_verbs).splitlines()) > len(messages)


# --- what came of it --------------------------------------------------------------------------------------------------


def test_the_spread_of_times_is_by_nearest_rank() -> None:
    times = spread([number / 1000 for number in range(1, 201)], 7)
    assert (times.count, times.median, times.p99, times.worst, times.limit) == (200, 100, 198, 200, 7)
    assert spread([], None) == spread([], None)
    assert spread([], None).worst is None


def outcome(mark: Mark, needed_by: str = "", failure: Failure | None = None) -> SituationOutcome:
    (first, *_) = script(GAME, ("duel",))
    return SituationOutcome(
        Situation(first.key, first.title, first.group, "duel", needed_by=needed_by), mark, "", failure
    )


def checked(outcomes: Iterable[SituationOutcome]) -> Checked:
    empty = spread([], 100)
    return Checked(
        "b", "b", "0" * 64, "C", "", "", "basic", tuple(outcomes), empty, empty, empty, 0, 1, GAME.variant_words
    )


@pytest.mark.parametrize("mark", Mark)
def test_a_league_accepts_what_has_not_failed_and_has_been_tried(mark: Mark) -> None:
    good = {Mark.PASSED, Mark.PARTLY, Mark.NOT_APPLICABLE}
    assert checked([outcome(Mark.PASSED), outcome(mark)]).is_accepted == (mark in good)


def test_the_checklist_fits_80_columns_except_for_standard_error_and_says_a_failure_once() -> None:
    failure = Failure(3, Reason.CRASH, "w" * 300, "exception", "do " * 60, (), ("e" * 200,))
    text = check_text(checked([outcome(Mark.FAILED, failure=failure)] * 2 + [outcome(Mark.NOT_TRIED)] * 3))
    assert max(len(line) for line in text.splitlines() if "stderr|" not in line) <= WIDTH
    assert text.count("e" * 200) == 1, "a traceback can be copied"
    assert "crash at ply 3:" in text
    assert "(as above)" in text
    assert "3 more checks" in text


def of_rules(rules: str, mark: Mark, group: SituationGroup = SituationGroup.RULES) -> SituationOutcome:
    return SituationOutcome(Situation(rules, "plays", group, rules), mark)


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        ([of_rules("isf", Mark.PASSED), of_rules("duel", Mark.FAILED)], "ready for isf; not for duel"),
        ([of_rules("isf", Mark.PASSED), of_rules("isf", Mark.FAILED)], "not ready for isf"),
        (
            [of_rules("isf", Mark.PASSED), of_rules("tek", Mark.NOT_TRIED)],
            "ready for isf; incomplete for tek",
        ),
        ([of_rules("isf", Mark.PARTLY, SituationGroup.OPTIONS), of_rules("isf", Mark.PASSED)], "ready for isf"),
        ([of_rules("isf", Mark.PASSED), of_rules("", Mark.FAILED, SituationGroup.FILES)], "not ready for isf"),
        (
            [of_rules("isf", Mark.FAILED, SituationGroup.CONVERSATION), of_rules("duel", Mark.PASSED)],
            "not ready for isf, duel",
        ),
        ([of_rules(f"r{number}", Mark.PASSED) for number in range(9)], "ready for 9 rulesets and switches"),
        ([of_rules("", Mark.FAILED, SituationGroup.READY)], "not ready for any ruleset"),
    ],
)
def test_the_verdict_names_the_rulesets_that_a_bot_is_ready_for(outcomes: list[SituationOutcome], verdict: str) -> None:
    found = checked(outcomes)
    assert check_text(found).splitlines()[-1].startswith(f"b: {verdict} (")
    document = json.loads(check_json(found))
    assert document["ready_for"] == found.rules_with(Mark.PASSED)
    assert document["not_ready_for"] == found.rules_with(Mark.FAILED)


def test_of_a_bot_that_is_ready_there_is_one_line_unless_more_is_asked_for() -> None:
    good = checked([outcome(Mark.PASSED)])
    assert check_text(good) == "b: ready for duel (1 passed)"
    assert len(check_text(good, is_verbose=True).splitlines()) > 5
    assert len(check_text(checked([outcome(Mark.PASSED), outcome(Mark.PARTLY)])).splitlines()) > 5


# --- real bots --------------------------------------------------------------------------------------------------------


def test_a_good_bot_passes_everything_under_a_ruleset() -> None:
    found = check("drifter", rules=("duel", "barrage"))
    assert [one.situation.key for one in found.outcomes if one.mark is not Mark.PASSED] == ["other-rules"]
    assert found.is_accepted
    assert found.declared == "drifter 1.0"
    assert found.language == "Python"
    assert found.memory > 0
    assert found.move.count > 50
    assert found.start.count == found.count(Mark.PASSED)  # one has two processes, and files have none


def test_a_bot_of_2012_is_tried_with_what_it_has_words_for() -> None:
    only = ("start", "red", "blue", "several", "opening", "resumed", "noise", "rules-duel-red", "rules-isf-red")
    known = {situation.key for situation in script(GAME, (), Extent.USUAL, "ucc-2012")}
    asked = CheckOptions(UNHURRIED, (), Extent.USUAL, frozenset(only) & known)
    found = check_bot(f"ucc:{UCC_BOT}", asked, lambda _: None, lambda *_: None)
    marks = {one.situation.key: one.mark for one in found.outcomes if one.situation.key in only}
    # PARTLY: two processes may take longer to end on a busy machine
    assert {marks[key] for key in ("red", "blue", "start", "several", "noise")} <= {Mark.PASSED, Mark.PARTLY}
    assert {marks[key] for key in ("opening", "resumed")} == {Mark.NOT_APPLICABLE}


def test_a_bot_that_fails_at_what_it_does_not_know_is_told_that_there_was_some(tmp_path: Path) -> None:
    path = tmp_path / "strict.py"
    path.write_text(
        "import sys\nfor line in sys.stdin:\n    if line == 'hello 1\\n':\n        print('ready', flush=True)\n"
        "    elif line.startswith('hello'):\n        sys.exit('which version is that?')\n"
        "    elif line == 'quit\\n':\n        break\n"
    )
    found = check(str(path), "start", "noise")
    failures = {each.situation.key: each.failure for each in found.outcomes if each.mark is not Mark.NOT_TRIED}
    assert failures["start"] is None
    assert failures["noise"] is not None
    assert failures["noise"].hint.startswith("in this game lines have further fields ('later 7'), and there are lines")
    assert "which version is that?" in failures["noise"].hint


def test_an_error_of_ordinary_games_is_not_explained_by_lines_that_a_bot_does_not_know(tmp_path: Path) -> None:
    path = tmp_path / "wrong.py"
    path.write_text(
        "from protocol.bot import Bot, run\n\nclass Wrong(Bot):\n    def move(self, view): return [][0]\n\nrun(Wrong)\n"
    )
    failures = [each.failure for each in check(str(path), "noise", "red").outcomes if each.mark is Mark.FAILED]
    hints = {failure.hint for failure in failures if failure}
    assert len(failures) == 2
    assert hints == {"an exception that nothing caught: IndexError: list index out of range (wrong.py, line 4)"}


def test_what_a_bot_says_that_it_cannot_do_is_not_asked_of_it(tmp_path: Path) -> None:
    path = tmp_path / "clerk.py"
    path.write_text(
        "from protocol.bot import Bot, run\n\nclass Clerk(Bot):\n    can_restore = False\n"
        "    def move(self, view): return view.legal[0]\n\nrun(Clerk)\n"
    )
    found = check(str(path), "opening", "resumed")
    said = {each.situation.key: (each.mark, each.remark) for each in found.outcomes if each.mark is not Mark.NOT_TRIED}
    for key in ("opening", "resumed"):
        assert said[key] == (Mark.NOT_APPLICABLE, "it says 'cannot restore'")
    text = check_text(checked([outcome(Mark.PASSED), outcome(Mark.NOT_APPLICABLE, "--openings")]))
    assert text == "b: ready for duel; not with --openings (1 passed, 1 not applicable)"


@pytest.mark.parametrize(
    ("key", "condition", "fails"),
    [
        ("red", "True", True),
        ("blue", "True", True),
        ("red", "view.ply > 2", False),
        ("opening", "True", False),  # its forced moves may have lost the game
    ],
)
def test_a_bot_that_resigns_before_its_first_move_fails(tmp_path: Path, key: str, condition: str, fails: bool) -> None:
    path = tmp_path / "faint.py"
    path.write_text(
        "from protocol.bot import Bot, run\n\nclass Faint(Bot):\n"
        f"    def move(self, view): return 'resign' if {condition} else view.legal[0]\n\nrun(Faint)\n"
    )
    (found,) = [each for each in check(str(path), key).outcomes if each.situation.key == key]
    assert (found.mark is not Mark.PASSED) is fails
    if fails:
        assert found.failure is not None
        assert found.failure.mistake == "resigned"
        assert found.mark is (Mark.PARTLY if found.situation.needed_by else Mark.FAILED)


@pytest.mark.skipif(Level.BWRAP.why_not() is not None, reason=str(Level.BWRAP.why_not()))
def test_a_file_that_a_sandbox_does_not_show_because_it_is_a_link_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "reader"
    folder.mkdir()
    (tmp_path / "book.txt").write_text("a4-a5")
    (folder / "book.txt").symlink_to("../book.txt")
    (folder / "bot.toml").write_text('command = ["python3", "bot.py"]\n')
    (folder / "bot.py").write_text("open('book.txt').read()\n")
    found = check(str(folder), "start", options=dataclasses.replace(UNHURRIED, sandbox="bwrap"))
    failure = found.outcomes[0].failure
    assert failure is not None
    assert failure.mistake == "linked-out"
    assert "book.txt is a link out of its folder, to ../book.txt," in failure.hint


def test_what_was_not_tried_is_not_accepted() -> None:
    found = check("drifter", "start")
    assert not found.is_accepted
    assert found.count(Mark.FAILED) == 0
    lines = check_text(found).splitlines()
    assert "drifter: incomplete for duel (2 passed, " in " ".join(lines)
    assert max(map(len, lines)) <= WIDTH


def test_a_path_at_which_there_is_nothing_is_an_error_without_a_report(tmp_path: Path) -> None:
    done = invoke(tmp_path, "check", str(tmp_path / "none"), "--json")
    assert done.returncode == 2
    assert "there is no such file or folder" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("manifest", "words", "printed"),
    [
        (None, "expected a bot.toml in this folder", None),
        ("command = 5", "command: expected a list", None),
        ('command = ["./x"]\nbuild = "echo one; echo \'  two\' >&2; exit 3"', "exit code 3", ["one", "  two"]),
    ],
)
def test_a_bot_that_a_league_would_list_as_broken_has_a_report(
    manifest: str | None, words: str, printed: list[str] | None, tmp_path: Path
) -> None:
    """So a host who tries all submissions has something to send back to each author."""
    if manifest is not None:
        (tmp_path / "bot.toml").write_text(manifest)
    done = invoke(tmp_path, "check", str(tmp_path), "--quick", "--json")
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    assert not report["accepted"]
    first, *others = report["situations"]
    assert (first["key"], first["mark"], first["failure"]["reason"]) == ("ready", "failed", "no-start")
    assert words in first["failure"]["words"]
    assert printed is None or first["failure"]["stderr"] == printed
    assert {other["mark"] for other in others} == {"not tried", "not applicable"}


def test_a_link_is_refused_as_by_a_league(tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to(UCC_BOT)
    found = check(str(tmp_path / "linked"), "start")
    assert found.outcomes[0].failure is not None
    assert "expected the bot itself, got a link" in found.outcomes[0].failure.words


def test_a_bot_that_fails_is_shown_with_its_exchange_and_exit_code_1(tmp_path: Path) -> None:
    bot = tmp_path / "silent.py"
    bot.write_text("print('ready?', flush=True)\ninput()\n")
    done = invoke(tmp_path, "check", str(bot), "--sandbox", "basic", "--rules", "duel")
    assert done.returncode == 1, done.stderr
    assert "FAILED  starts" in done.stdout
    assert "bot   | ready?" in done.stdout
    assert "print(..., file=sys.stderr)" in " ".join(done.stdout.split())
    assert "silent: not ready for duel (" in done.stdout


def test_standard_error_that_only_the_probe_of_a_late_bot_has_caused_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "mute.py"
    path.write_text(
        "import sys\nprint('reading', file=sys.stderr, flush=True)\n"
        "for line in sys.stdin:\n    if line[0] == '#': sys.exit('what is a comment?')\n"
    )
    found = check(str(path), "start", options=dataclasses.replace(UNHURRIED, start_time="2s"))
    failure = found.outcomes[0].failure
    assert failure is not None
    assert "# more" in [line.text for line in failure.exchange]
    assert failure.stderr == ("reading",)


def test_a_terminal_shows_how_far_it_is_and_is_left_as_it_was(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    line = [*ARENA, "check", "drifter", "--rules", "duel", "--only", "start", "--sandbox", "basic", "--json"]
    environment = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=theirs, env=environment, cwd=tmp_path) as process:
        os.close(theirs)
        seen = read_all(ours)
        assert process.stdout is not None
        document = json.loads(process.stdout.read())
    assert process.returncode == 1
    assert document["accepted"] is False
    assert b"1 of 2: starts" in seen
    assert seen.rindex(SHOW_CURSOR.encode()) > seen.rindex(HIDE_CURSOR.encode())
