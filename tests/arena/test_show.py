"""`arena show`: a stored game as text that reads well, as JSON, and as a side knew it."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result
from terminals import read_all
from unplayed import record_of

from arena.cli.main import cli
from arena.errors import UsageError
from arena.game.faults import Fault, forfeit
from arena.game.game_spec import GameSpec, Player
from arena.game.record import GameRecord, NoteLine, Use
from arena.game.time_control import TimeControl
from arena.league.store import Store
from arena.report.game_text import GameStyle, game_text, parse_plies
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.shown.boards import SquareMark, marks_of
from protocol.messages import Battle, Guess, Moved, Rescued
from protocol.notation import SQUARE_INDEX, Color, Rank, Reason, Survivor

EMPTY = "." * 10
RED_ROWS = f"FBBS{EMPTY[4:]}/{EMPTY}/{EMPTY}/9M2233...."
BLUE_ROWS = f"FBBS{EMPTY[4:]}/{EMPTY}/{EMPTY}/M92233...."
ACTIONS = ("a4-a5", "a7-a6", "a5-a6", "b7-b6", "b4-b5", "b6-b5")
"""Red's general runs into Blue's marshal, and Blue's general into Red's."""
FAULT = "blue (bob) tried an illegal action: ply 7: a9-a8: the spy on a9 cannot be there"


@pytest.fixture(scope="module")
def record() -> GameRecord:
    """A duel of six plies, which Blue lost by an illegal action; both have said something."""
    players = (Player("ann", "a" * 64), Player("bob", "b" * 64))
    spec = GameSpec("0123456789abcdef", variant_of(load_ruleset("duel")), TimeControl(), players, (1111, 2222), 3333)
    return msgspec.structs.replace(
        record_of(spec),
        arena="0.1.0",
        declared=("Ann the First", ""),
        setups=(RED_ROWS, BLUE_ROWS),
        actions=ACTIONS,
        times_us=(1000, 2000, 3000, 4000, 5000, 6000),
        notes=(NoteLine(2, "blue", "b-note " + "x" * 3000), NoteLine(3, "red", "r-note")),
        verdict=forfeit(players, [(Color.BLUE, Fault(Reason.ILLEGAL_ACTION, FAULT.partition(": ")[2]))], 6),
        stderr=("r-stderr\n" + "y" * 3000, "b-stderr"),
        started=1_700_000_000.0,
        seconds=1.0,
        cpu_us=(1, 2, 3, 4, 5, 6),
        used=(Use(10**6, 10**7), Use(10**6, 10**7)),
        confinement=("basic: memory 512M, 64 processes, 16M of /tmp",) * 2,
    )


@pytest.fixture(scope="module")
def path(record: GameRecord, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "s.sqlite"
    with Store(path, create=True) as store:
        store.add(record)
    return path


def show(path: Path, *arguments: str, **environment: str) -> Result:
    return CliRunner(env=environment).invoke(cli, ["show", str(path), "1", *arguments], standalone_mode=False)


def text_of(record: GameRecord, **look: Any) -> str:
    return "".join(game_text(1, record, GameStyle(**look)))


# --- what is told of a game -------------------------------------------------------------------------------------------


def test_the_head_names_both_bots_the_date_the_rules_the_clock_the_sandbox_and_the_seeds(path: Path) -> None:
    assert show(path).stdout.splitlines()[:8] == [
        "game 1 (0123456789abcdef): red ann - blue bob  1-0",
        "duel, 100ms; all ranks shown",
        "red:  ann, digest aaaaaaaaaaaa, calls itself Ann the First",
        "blue: bob, digest bbbbbbbbbbbb",
        "seeds: red 1111, blue 2222 (of the pair: 3333)",
        "sandbox: basic: memory 512M, 64 processes, 16M of /tmp",
        "played 2023-11-14T22:13:20Z by arena 0.1.0",
        FAULT,
    ]


def test_a_handicap_is_said(record: GameRecord) -> None:
    record = msgspec.structs.replace(record, blue_time=TimeControl(move_ms=7))
    assert "duel, handicap: red 100ms, blue 7ms; all" in text_of(record)


def test_the_end_names_verdict_reason_and_ply(path: Path) -> None:
    lines = show(path).stdout.splitlines()
    assert f"after 6 plies: {FAULT}" in lines
    assert "verdict: red, illegal-action, after 6 plies" in lines


def test_the_last_move_and_what_it_has_cost_are_on_the_board(path: Path) -> None:
    lines = show(path, "--ply", "1,4,6").stdout.splitlines()
    assert [line for line in lines if line.startswith((" 5 ", " 4 "))][:2] == [
        " 5 [r9]·  ~~ ~~ ·  ·  ~~ ~~ ·  ·",
        " 4 (· )rM r2 r2 r3 r3 ·  ·  ·  ·",
    ]
    assert " 7  · (· )b2 b2 b3 b3 ·  ·  ·  ·" in lines
    assert lines[-1] == "lost: red 9 - blue 9"
    assert " 6  bM(x )~~ ~~ ·  ·  ~~ ~~ ·  ·" in lines
    assert " 5  · [rM]~~ ~~ ·  ·  ~~ ~~ ·  ·" in lines


def test_long_notes_and_lines_of_standard_error_are_cut_with_a_notice_and_whole_in_json(path: Path) -> None:
    text = show(path).stdout
    assert max(map(len, text.splitlines())) < 600
    assert "more characters)" in text
    document = json.loads(show(path, "--json").stdout)
    assert document["notes"][0]["text"] == "b-note " + "x" * 3000
    assert "y" * 3000 in document["game"]["red"]["stderr"]


@pytest.mark.parametrize("arguments", [["--moves"], ["--no-times"]])
def test_what_another_run_would_have_otherwise_is_left_out(
    record: GameRecord, tmp_path: Path, arguments: list[str]
) -> None:
    """So that two runs of the same game are the same text, line by line."""
    again = msgspec.structs.replace(
        record, times_us=(7,) * 6, cpu_us=(8,) * 6, started=2e9, seconds=3.0, used=(Use(1, 2), Use(3, 4))
    )
    texts = []
    for number, one in enumerate((record, again)):
        with Store(tmp_path / f"{number}.sqlite", create=True) as store:
            store.add(one)
        texts.append(show(tmp_path / f"{number}.sqlite", *arguments).stdout)
    assert texts[0] == texts[1]
    assert "ply 3: red a5-a6; general attacks marshal on a6, the defender wins\n" in texts[0]
    assert "ms]" not in texts[0]


# --- plies ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "plies"),
    [("3", [3]), ("2-4", [2, 3, 4]), ("5-", [5, 6]), ("-2", [0, 1, 2]), ("0,6", [0, 6]), ("1-2, 2-3", [1, 2, 3])],
)
def test_ranges_and_single_plies_can_be_asked_for(path: Path, asked: str, plies: list[int]) -> None:
    document = json.loads(show(path, "--ply", asked, "--json").stdout)
    assert [ply["ply"] for ply in document["plies"]] == plies
    text = show(path, "--ply", asked).stdout
    assert [int(line.split()[1][:-1]) for line in text.splitlines() if line.startswith("ply ")] == [
        ply for ply in plies if ply
    ]
    assert ("set-ups" in text) == (0 in plies)
    assert "verdict:" not in text


@pytest.mark.parametrize("wrong", ["", "3-1", "٣"])
def test_what_is_no_range_of_plies_is_refused(wrong: str) -> None:
    with pytest.raises(UsageError, match="--ply: expected"):
        parse_plies(wrong)


@pytest.mark.parametrize("beyond", ["7", "0,99"])
def test_a_ply_that_the_game_has_not_is_refused_and_nothing_is_printed(path: Path, beyond: str) -> None:
    for arguments in ([], ["--json"], ["--moves"]):
        done = show(path, "--ply", beyond, *arguments)
        assert isinstance(done.exception, UsageError)
        assert "--ply: expected a ply of game 1, from 0 to 6, got" in str(done.exception)
        assert ("the game ended after ply 6, and a lost turn has no action" in str(done.exception)) is (beyond == "7")
        assert done.stdout == ""


# --- what a side may know ---------------------------------------------------------------------------------------------


def test_a_side_is_shown_nothing_that_is_the_other_ones(path: Path) -> None:
    """Not in the words of the verdict either, which name a piece of Blue's."""
    for arguments in ([], ["--json"], ["--moves"]):
        seen = show(path, "--view", "red", *arguments).stdout
        for secret in ("2222", "3333", "b-note", "b-stderr", "spy", BLUE_ROWS):
            assert secret not in seen, secret
        assert "r-note" in seen
        assert "blue (bob) tried an illegal action" in seen
        assert FAULT in show(path, "--view", "blue", *arguments).stdout


def test_a_silent_defender_is_unknown_in_json_as_well(record: GameRecord, tmp_path: Path) -> None:
    silent = load_ruleset("duel+silent-defence")
    with Store(tmp_path / "s.sqlite", create=True) as store:
        store.add(msgspec.structs.replace(record, rules=tuple(silent.lines())))
    events = {
        view: json.loads(show(tmp_path / "s.sqlite", "--view", view, "--ply", "3", "--json").stdout)["plies"][0]
        for view in ("all", "red", "blue")
    }
    assert [events[view]["events"][1] for view in ("all", "red", "blue")] == [
        "battle a6 9 M defender",
        "battle a6 9 ? defender",
        "battle a6 9 M defender",
    ]
    assert "bM" not in events["red"]["board"]


def test_a_side_is_shown_no_times_of_the_other_one(path: Path) -> None:
    lines = show(path, "--view", "red").stdout.splitlines()
    assert {line.split()[2] for line in lines if line.startswith("ply ") and " ms" in line} == {"red"}
    assert not [line for line in lines if line.startswith("blue (bob) used")]
    plies = json.loads(show(path, "--view", "red", "--json").stdout)["plies"][1:]
    assert {ply["side"] for ply in plies if ply["taken_us"] is not None} == {"red"}
    assert {ply["side"] for ply in plies if ply["cpu_us"] is not None} <= {"red"}


# --- JSON -------------------------------------------------------------------------------------------------------------


def test_json_has_the_facts_and_each_ply(path: Path) -> None:
    document = json.loads(show(path, "--json").stdout)
    game = document["game"]
    assert (game["number"], game["result"], game["reason"], game["plies"]) == (1, "red", "illegal-action", 6)
    assert (game["started"], game["pair_seed"], game["red"]["seed"]) == ("2023-11-14T22:13:20Z", 3333, 1111)
    assert game["red"] | {"digest": "a" * 64, "declared": "Ann the First", "time": "100ms"} == game["red"]
    assert [ply["action"] for ply in document["plies"]] == [None, *ACTIONS]
    ply = document["plies"][3]
    assert (ply["side"], ply["taken_us"], ply["cpu_us"], ply["forgiven_us"]) == ("red", 3000, 3, None)
    assert (ply["lost_by_red"], ply["lost_by_blue"]) == ("9", "")
    assert ply["board"].split(" ")[SQUARE_INDEX["a6"]] == "bM"


def test_a_game_that_never_began_can_be_shown(record: GameRecord, tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite", create=True) as store:
        store.add(msgspec.structs.replace(record, setups=(None, None), actions=(), times_us=(), cpu_us=(), notes=()))
    assert "verdict: red" in show(tmp_path / "s.sqlite").stdout
    assert json.loads(show(tmp_path / "s.sqlite", "--json").stdout)["plies"] == []


# --- marks ------------------------------------------------------------------------------------------------------------


def square(name: str) -> int:
    return SQUARE_INDEX[name]


def test_marks_say_where_a_piece_came_from_where_it_went_and_what_was_lost() -> None:
    moved = Moved(Color.RED, "a4-a5")
    a4, a5 = square("a4"), square("a5")
    assert marks_of([moved]) == {a4: SquareMark.CAME_FROM, a5: SquareMark.WENT_TO}
    fights = {
        Survivor.ATTACKER: {a4: SquareMark.CAME_FROM, a5: SquareMark.WENT_TO},
        Survivor.DEFENDER: {a4: SquareMark.LOST_FROM, a5: SquareMark.WENT_TO},
        Survivor.NEITHER: {a4: SquareMark.LOST_FROM, a5: SquareMark.LOST_AT},
    }
    for survivor, marks in fights.items():
        assert marks_of([moved, Battle("a5", Rank.SCOUT, Rank.SCOUT, survivor)]) == marks
    assert marks_of([moved, Rescued(Color.RED, "c2", Rank.MAJOR)])[square("c2")] is SquareMark.WENT_TO
    assert marks_of([Guess("a5", Rank.SPY, True)]) == {a5: SquareMark.LOST_AT}
    assert marks_of([Guess("a5", Rank.SPY, False)]) == {a5: SquareMark.WENT_TO}
    assert marks_of([Moved(Color.RED, "resign")]) == {}


# --- terminals --------------------------------------------------------------------------------------------------------


@pytest.fixture
def on_terminal(path: Path) -> Callable[..., str]:
    """`on_terminal(*arguments, rows=24, **environment)`: what `arena show` writes to a terminal."""

    def run(*arguments: str, rows: int = 24, **environment: str) -> str:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))
        base = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "PAGER", "LESS", "LINES")}
        line = [sys.executable, "-m", "arena", "show", str(path), "1", *arguments]
        with subprocess.Popen(
            line,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**base, "TERM": "xterm", "PAGER": "cat", **environment},
        ) as process:
            os.close(theirs)
            text = read_all(ours)
        assert process.returncode == 0
        return text.decode()

    return run


def test_a_terminal_has_colour_unless_it_has_none_or_the_user_wants_none(on_terminal: Callable[..., str]) -> None:
    short = ("--ply", "1")
    assert "\x1b[" in on_terminal(*short, NO_COLOR="")
    assert "\x1b[" not in on_terminal(*short, NO_COLOR="1")
    assert "\x1b[" not in on_terminal(*short, TERM="dumb")


def test_what_is_longer_than_the_terminal_goes_through_the_pager_and_the_rest_does_not(
    on_terminal: Callable[..., str], tmp_path: Path
) -> None:
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho PAGED\nexec cat\n")
    pager.chmod(0o755)
    assert "PAGED" not in on_terminal("--ply", "1", PAGER=str(pager))
    paged = on_terminal(PAGER=str(pager))
    assert "PAGED" in paged
    assert "verdict: red, illegal-action, after 6 plies" in paged
    assert "PAGED" not in on_terminal(rows=1000, PAGER=str(pager))
