"""`arena games`: which games of a store are listed, and what is said of each."""

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result
from unplayed import record_of

from arena.cli.main import cli
from arena.errors import UsageError
from arena.game.faults import GameResult, Verdict
from arena.game.game_spec import GameSpec, Player
from arena.game.time_control import TimeControl
from arena.league.store import GameRow, Store
from arena.report.game_list import GameFilter, Roster
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset
from protocol.notation import Reason

ANN, BOB, CAT = (Player(name, digest * 64) for name, digest in (("ann", "a"), ("bob", "b"), ("cat", "c")))
VARIANT = variant_of(load_ruleset("duel"))
PLAYED = [
    (ANN, BOB, GameResult.RED, Reason.NO_START),
    (BOB, ANN, GameResult.RED, Reason.CRASH),
    (ANN, CAT, GameResult.DRAW, Reason.PLY_CAP),
    (CAT, BOB, GameResult.NEITHER, Reason.NO_START),
    (BOB, CAT, GameResult.BLUE, Reason.SETUP_TIMEOUT),
]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the games of `PLAYED`."""
    path = tmp_path_factory.mktemp("store") / "l.sqlite"
    with Store(path, create=True) as store:
        for number, (red, blue, result, reason) in enumerate(PLAYED, start=1):
            game = GameSpec(f"{number:016x}", VARIANT, TimeControl(), (red, blue), (1, 2), 3)
            verdict = Verdict(result, reason, 0, f"{reason.value} in words")
            store.add(msgspec.structs.replace(record_of(game), verdict=verdict, seconds=1.0))
    return path


@pytest.fixture(scope="module")
def rows(path: Path) -> Iterator[list[GameRow]]:
    with Store(path, create=False) as store:
        yield store.rows()


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [
        (GameFilter(), [1, 2, 3, 4, 5]),
        (GameFilter(bot="ann"), [1, 2, 3]),
        (GameFilter(bot="ann", against="bob"), [1, 2]),
        (GameFilter(bot="bob", against="ann"), [1, 2]),
        (GameFilter(bot="ann", against="ann"), []),
        (GameFilter(bot="bob@bbbb"), [1, 2, 4, 5]),
        (GameFilter(lost_by="bob"), [1, 4, 5]),
        (GameFilter(lost_by="cat"), [4]),
        (GameFilter(result=GameResult.DRAW), [3]),
        (GameFilter(result=GameResult.NEITHER), [4]),
        (GameFilter(reasons=frozenset({Reason.NO_START})), [1, 4]),
        (GameFilter(reasons=frozenset({Reason.NO_START, Reason.PLY_CAP})), [1, 3, 4]),
        (GameFilter(forfeits=True), [1, 2, 4, 5]),
        (GameFilter(forfeits=True, reasons=frozenset({Reason.PLY_CAP})), [1, 2, 3, 4, 5]),
        (GameFilter(lost_by="bob", forfeits=True, result=GameResult.BLUE), [5]),
    ],
)
def test_games_are_those_of_which_all_that_was_asked_is_true(
    rows: list[GameRow], wanted: GameFilter, numbers: list[int]
) -> None:
    roster = Roster([ANN, BOB, CAT], rows)
    assert [row.number for row in wanted.select(rows, roster)] == numbers


def test_a_bot_that_is_not_there_is_an_error(rows: list[GameRow]) -> None:
    roster = Roster([ANN, BOB, CAT], rows)
    for wanted in (GameFilter(bot="an"), GameFilter(lost_by="an"), GameFilter(bot="bob", against="an")):
        with pytest.raises(UsageError, match="no games of a bot 'an'; did you mean ann"):
            wanted.select(rows, roster)
    with pytest.raises(UsageError, match="no games of a bot 'carpets'; known are ann, bob, cat"):
        GameFilter(bot="carpets").select(rows, roster)
    with pytest.raises(UsageError, match="--against NAME goes with --bot NAME"):
        GameFilter(against="bob").select(rows, roster)


# --- the command ------------------------------------------------------------------------------------------------------


def games(path: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["games", str(path), *arguments])


def test_all_filters_are_options(path: Path) -> None:
    done = games(
        path, "--bot", "bob", "--against", "cat", "--lost-by", "bob", "--result", "blue", "--reason", "forfeit"
    )
    assert done.stdout.splitlines() == [
        "game 5: bob - cat  0-1  setup-timeout, 0 plies, 1.0 s",
        "    setup-timeout in words",
    ]
    assert games(path, "--reason", "crash", "--reason", "ply-cap").stdout.count("game ") == 2
    assert games(path, "--reason", "nonsense").exit_code == 2


def test_json_is_one_array_and_jsonl_has_the_same_objects_a_line_each(path: Path) -> None:
    array = json.loads(games(path, "--json").stdout)
    lines = games(path, "--jsonl").stdout.splitlines()
    assert [json.loads(line) for line in lines] == array
    assert [entry["number"] for entry in array] == [1, 2, 3, 4, 5]
    assert (array[0]["red_digest"], array[0]["blue_digest"]) == (ANN.digest, BOB.digest)
    assert {"started", "pair", "reason", "plies"} <= array[0].keys()


def test_long_lists_digests(path: Path) -> None:
    lines = games(path, "--bot", "cat", "--against", "ann", "--long").stdout.splitlines()
    assert lines[0].startswith("game 3: ann - cat")
    assert lines[1].startswith("    0000000000000003, ")
    assert lines[1].endswith(f"digests {'a' * 12} - {'c' * 12}")
