"""All rows of a store in one pass: what is whole is given, what is not is named, and few are in memory at a time."""

import math
import shutil
import sqlite3
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import msgspec
import pytest
from forged_games import forge_row

from arena.game.faults import GameResult
from arena.game.game_spec import Player
from arena.game.record import GameRecord
from arena.league.store import GameRow, Groups, Store
from arena.league.store.game_table import ROWS_AT_ONCE
from arena.report.documents import league_json
from arena.report.game_list import players_of
from arena.report.standings import make_table
from protocol.notation import Reason

GOLDEN = Path(__file__).parent.parent / "golden" / "stores"
NAMES = ["duel", "own"]
changed = msgspec.structs.replace
PLAYERS = [Player(name, name[0] * 64) for name in ("ann", "bob", "cid")]


def edit(path: Path, statement: str, *values: object) -> None:
    database = sqlite3.connect(path, isolation_level=None)
    database.execute(statement, values)
    database.close()


@pytest.fixture(scope="module")
def template() -> GameRecord:
    with Store(GOLDEN / "duel.sqlite", create=False) as store:
        return store.record("9")[1]


def many(template: GameRecord, count: int, players: list[Player] = PLAYERS) -> Iterator[GameRecord]:
    """Games between these players, with results at random; of some no processor time was measured."""
    random = Random(count)
    for number in range(count):
        result = random.choice(list(GameResult))
        reason = Reason.QUIET_CAP if result is GameResult.DRAW else random.choice([Reason.FLAG, Reason.ILLEGAL_ACTION])
        yield changed(
            template,
            id=f"{number:016x}",
            players=tuple(random.sample(players, 2)),
            verdict=changed(template.verdict, result=result, reason=reason),
            cpu_us=template.cpu_us if random.random() < 0.9 else (),
            pair_seed=number // 2,
            started=1e9 + number,
        )


@pytest.fixture
def path(tmp_path: Path, template: GameRecord) -> Path:
    """More games than are read at a time."""
    path = tmp_path / "l.sqlite"
    with Store(path, create=True) as store:
        short = changed(
            template, actions=template.actions[:4], times_us=(10, 20, 30, 40), cpu_us=(1, 2, 3, 4), notes=()
        )
        store.add_all(list(many(short, ROWS_AT_ONCE + 200)))
    return path


def test_a_pass_gives_every_row_once_and_in_order(path: Path) -> None:
    with Store(path, create=False) as store:
        rows = store.rows()
        assert [row.number for row in rows] == list(range(1, ROWS_AT_ONCE + 201))
        assert list(store.each_row()) == rows
        assert {row.id for row in store.rows()} == {row.id for row in rows}
        assert [row.pair_seed for row in rows[:4]] == [0, 0, 1, 1]
        assert rows[-1].started == 1e9 + ROWS_AT_ONCE + 199


@pytest.mark.parametrize("wanted", [PLAYERS[:1], PLAYERS[1:], [Player("dan", "d" * 64)]])
def test_the_rows_of_some_players_are_those_in_which_they_took_part(path: Path, wanted: list[Player]) -> None:
    with Store(path, create=False) as store:
        expected = [row for row in store.rows() if not set(wanted).isdisjoint(row.players)]
        assert list(store.each_row(wanted)) == expected


@pytest.mark.parametrize("name", NAMES)
def test_games_counted_together_make_the_table_that_their_rows_make(name: str) -> None:
    with Store(GOLDEN / f"{name}.sqlite", create=False) as store:
        rows, counted = store.rows(), store.count()
    assert_same_table(rows, counted.rows)


def assert_same_table(rows: list[GameRow], groups: Groups) -> None:
    assert players_of(groups) == players_of(rows), "in the order of their last games"
    one, other = (make_table(players_of(rows), each, planned=len(rows)) for each in (rows, groups))
    assert league_json(Path(), {}, one, []) == league_json(Path(), {}, other, [])


def test_an_edited_row_is_in_no_count_and_is_named(path: Path) -> None:
    with Store(path, create=False) as store:
        before = Counter(row.players for row in store.rows() if row.number != 1100)
    edit(path, "UPDATE games SET result = 'draw', reason = 'flag' WHERE number = 1100")
    with Store(path, create=False) as store:
        counted = store.count()
        assert [str(damage) for damage in counted.damage] == ["game 1100: its row was changed after it was stored"]
        after: Counter[tuple[Player, Player]] = Counter()
        for group in counted.rows:
            after[group.players] += group.games
        assert after == before
        assert 1100 not in {row.number for row in store.each_row(PLAYERS)}


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("result", "green"),
        ("red", b"\xff"),
        *(("started", number) for number in (-1.0, 1e300, float("inf"))),
        ("red_cpu_us", -1),
        *((column, "x" * 5000) for column in ("id", "blue", "red_digest")),
    ],
)
def test_a_forged_row_that_no_arena_stores_is_named_although_its_digest_holds(
    path: Path, column: str, value: object
) -> None:
    forge_row(path, 3, column, value)
    with Store(path, create=False) as store:
        named = ["game 3: its row was changed after it was stored"]
        assert [str(damage) for damage in store.read().damage] == named
        assert [str(damage) for damage in store.count().damage] == named
        assert 3 not in {row.number for row in store.each_row(PLAYERS)}
        assert store.stored(3).row is None


def test_the_memory_of_a_count_does_not_grow_with_the_games(tmp_path: Path, template: GameRecord) -> None:
    short = changed(template, actions=(), times_us=(), cpu_us=(), notes=())
    peaks = []
    for size in (2, 4):
        path = tmp_path / f"{size}.sqlite"
        with Store(path, create=True) as store:
            store.add_all(list(many(short, size * ROWS_AT_ONCE)))
        with Store(path, create=False) as store:
            store.count()
            tracemalloc.start()
            store.count()
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0], peaks


def test_a_store_is_read_as_of_one_moment_while_games_are_added(path: Path, template: GameRecord) -> None:
    with Store(path, create=False) as store, Store(path, create=True) as writer:
        rows = store.each_row()
        first = next(rows)
        writer.add_all([changed(template, id=f"{number:016x}") for number in range(5000, 5050)])
        assert [first.number, *(row.number for row in rows)] == list(range(1, ROWS_AT_ONCE + 201))
        assert store.count().damage == ()


# --- records apart from their rows ------------------------------------------------------------------------------------


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    return Path(shutil.copy(GOLDEN / "duel.sqlite", tmp_path / "l.sqlite"))


def test_a_record_that_is_gone_is_named_where_records_are_read_and_its_row_counts(golden: Path) -> None:
    edit(golden, "DELETE FROM records WHERE number = 5")
    with Store(golden, create=True) as store:
        assert len(store.rows()) == 12
        assert [str(damage) for damage in store.stored(5).damage] == ["game 5: its record is gone"]
        with pytest.raises(Exception, match="game 5: its record is gone"):
            store.agree({})


def test_a_record_whose_row_is_gone_is_named_and_can_be_read(golden: Path) -> None:
    edit(golden, "DELETE FROM games WHERE number = 12")
    with Store(golden, create=True) as store:
        assert [str(damage) for damage in store.read().damage] == [
            "12 games were stored, and 11 can be found; no row has the number 12"
        ]
        stored = store.stored(12)
        assert (stored.row, stored.record is None) == (None, False)
        assert [str(damage) for damage in stored.damage] == ["game 12: its row is gone, and its record is there"]
        assert store.numbers() == list(range(1, 13))
        with pytest.raises(Exception, match="game 12: its row is gone"):
            store.agree({})


@pytest.mark.parametrize("change", [{"pair_seed": 2**70}, {"started": 1e300}, {"seconds": -1.0}, {"seconds": math.nan}])
def test_a_game_with_a_number_that_is_none_is_refused_and_nothing_of_it_is_stored(
    golden: Path, change: dict[str, float]
) -> None:
    with Store(golden, create=True) as store:
        record = store.record("12")[1]
        with pytest.raises(Exception, match=r"game f{16}: its number or a name in it is invalid"):
            store.add(changed(record, id="f" * 16, **change))
        store.refuse_damage()
        assert len(store.rows()) == 12
