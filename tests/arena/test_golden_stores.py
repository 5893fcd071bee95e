"""Stores and saved games of earlier versions stay readable, sound and resumable, for ever.

The files in `tests/golden/stores` were made by the versions that they are named after, with the bots beside them, and
are never made anew. If a test here fails, hosts who have such stores lose their leagues: the change is wrong.
"""

import json
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest
from commands import AS_USUAL, arena

from arena.game.recheck import check_record
from arena.game.verdict import GameResult
from arena.league.store import VERSION, Store
from arena.league.verify import verify
from protocol.notation import Reason

GOLDEN = Path(__file__).parent.parent / "golden" / "stores"
BOTS = sorted((GOLDEN / "bots").glob("*.py"))
PATIENCE = 120

LEAGUES = {
    "duel": ("--rules", "duel", "--time", "2s/move", "-j", "1"),
    "own": ("--rules", str(GOLDEN / "own.toml"), "--time", "60+0.5,5s/move", "--seed", "7", "-j", "1"),
}
"""How the leagues were begun."""
STORES = sorted(path.stem for path in GOLDEN.glob("v*.sqlite"))


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of each of the stores."""
    return Path(shutil.copy(GOLDEN / f"{request.param}.sqlite", tmp_path))


def contents(path: Path) -> list[tuple[object, ...]]:
    """All rows of a store as SQLite has them, but for columns that were added since."""
    database = sqlite3.connect(path)
    apart = database.execute("SELECT 1 FROM sqlite_schema WHERE name = 'records'").fetchall()
    rows = database.execute(
        "SELECT number, id, red, red_digest, blue, blue_digest, result, reason, plies, detail, red_us, seconds, record "
        f"FROM games {'JOIN records USING (number)' if apart else ''} ORDER BY number"
    ).fetchall()
    database.close()
    return rows


def test_there_is_a_store_of_every_version_that_there_was() -> None:
    assert {name.partition("-")[0] for name in STORES} == {f"v{version}" for version in range(1, VERSION + 1)}


def test_a_store_of_any_version_can_be_read_and_is_left_as_it_was(store: Path) -> None:
    before = store.read_bytes()
    with Store(store, create=False) as opened:
        rows = opened.rows()
        for row in rows:
            number, record = opened.record(row.id)
            assert (number, record.verdict.result) == (row.number, row.result)
            check_record(record)
    assert [row.number for row in rows] == list(range(1, 13))
    assert {GameResult.DRAW, GameResult.RED, GameResult.BLUE} == {row.result for row in rows}
    assert {Reason.QUIET_CAP, Reason.ILLEGAL_ACTION, Reason.NO_START} <= {row.reason for row in rows}
    assert store.read_bytes() == before


def test_every_game_of_it_is_sound_as_it_is_and_once_it_is_upgraded(store: Path) -> None:
    for create in (False, True, False):
        with Store(store, create=create) as opened:
            assert list(verify(opened, lambda done, of: None)) == []


def test_an_upgrade_changes_nothing_that_was_there(store: Path) -> None:
    before = contents(store)
    with Store(store, create=False) as opened:
        rows, settings, entrants = opened.rows(), opened.settings(), opened.entrants()
    with Store(store, create=True) as opened:
        assert (opened.rows(), opened.settings(), opened.entrants()) == (rows, settings, entrants)
    assert contents(store) == before


def league(store: Path, rounds: int) -> "subprocess.CompletedProcess[str]":
    """The league of a store with so many rounds."""
    line = (*map(str, BOTS), *LEAGUES[store.stem.partition("-")[2]], "--store", store.name, "--rounds", str(rounds))
    done = arena(store.parent, "league", *AS_USUAL, *line)
    assert done.returncode == 0, done.stderr
    return done


def test_the_same_league_finds_all_games(store: Path) -> None:
    """Ids follow from the rules, the times and the bots' files: none of them may have changed."""
    before = contents(store)
    assert "12 games, 12 of them stored already" in league(store, 1).stderr
    assert contents(store) == before


@pytest.mark.parametrize("name", LEAGUES)
def test_of_a_store_of_the_first_version_a_round_is_played_that_is_missing(tmp_path: Path, name: str) -> None:
    oldest = min(GOLDEN.glob(f"v*-{name}.sqlite"))
    store = Path(shutil.copy(oldest, tmp_path))
    before = contents(store)
    more = league(store, 2)
    assert "24 games, 12 of them stored already" in more.stderr
    assert contents(store)[:12] == before
    assert len(contents(store)) == 24
    verified = arena(store.parent, "verify", store.name)
    assert (verified.returncode, verified.stderr) == (0, "")


@pytest.mark.parametrize("name", LEAGUES)
def test_a_game_that_was_saved_by_the_first_version_goes_on(tmp_path: Path, name: str) -> None:
    text = (GOLDEN / f"paused-{name}.json").read_text()
    for what, where in (("{bots}", GOLDEN / "bots"), ("{store}", tmp_path / "l.sqlite")):
        text = text.replace(what, str(where))
    (tmp_path / "g.json").write_text(text)
    shutil.copy(GOLDEN / f"v2-{name}.sqlite", tmp_path / "full.sqlite")
    done = arena(tmp_path, "resume", "g.json", "--sandbox", "default")
    assert done.returncode == 0, done.stderr
    with Store(tmp_path / "l.sqlite", create=False) as opened:
        (row,) = opened.rows()
        record = opened.record("1")[1]
    history = json.loads(text)["past"]
    assert list(record.actions[: len(history["actions"])]) == history["actions"]
    with Store(tmp_path / "full.sqlite", create=False) as opened:
        uncut = opened.record(row.id)[1]
    assert record.actions == uncut.actions
    assert record.verdict == uncut.verdict


@pytest.mark.parametrize("name", LEAGUES)
def test_a_game_that_is_stored_already_does_not_go_on(tmp_path: Path, name: str) -> None:
    shutil.copy(GOLDEN / f"v2-{name}.sqlite", tmp_path / "l.sqlite")
    text = (GOLDEN / f"paused-{name}.json").read_text().replace("{bots}", str(GOLDEN / "bots"))
    (tmp_path / "g.json").write_text(text.replace("{store}", str(tmp_path / "l.sqlite")))
    done = arena(tmp_path, "resume", "g.json")
    assert done.returncode == 0
    assert "this game is stored already, as game" in done.stderr
