"""Saved games: checked as a whole before anything starts, written so that they are not lost, and over nothing else."""

import contextlib
import copy
import json
import os
import shutil
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from commands import invoke
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scripted import Table, game_spec

from arena.errors import ArenaError, UsageError
from arena.game.game_spec import GameSpec, Player
from arena.game.referee import Referee
from arena.game.time_control import TimeControl
from arena.league.resumed import agree
from arena.league.store import Store
from arena.play.saved_game import CHECKSUM, SavedGame, load_saved, save_game
from protocol.notation import Color

GOLDEN = Path(__file__).parent.parent / "golden" / "stores"
BOTS = GOLDEN / "bots"


def pause(folder: Path, *options: str) -> Path:
    """Where a game has been saved after nine plies."""
    file = folder / "g.json"
    bots = [str(BOTS / f"{name}.py") for name in ("steady", "waiter")]
    done = invoke(folder, "match", *bots, "--store", "l.sqlite", "--pause", file.name, "--pause-after", "9", *options)
    assert done.returncode == 0, done.stderr
    return file


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved game of a duel with banks and limits per move, and its store beside it."""
    return pause(tmp_path_factory.mktemp("saved"), "--rules", "duel", "--time", "60+0.5,5s/move", "--seed", "7")


@pytest.fixture
def file(original: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    shutil.copy(original.parent / "l.sqlite", tmp_path)
    write(tmp_path / "g.json", {**read(original), "store": str(tmp_path / "l.sqlite")})
    return tmp_path / "g.json"


def start(file: Path) -> SavedGame:
    """All that `arena resume` checks before it starts anything."""
    paused = load_saved(file)
    paused.load_bots()
    with Store(Path(paused.store), create=True) as store:
        agree(paused, store)
    return paused


def write(file: Path, fields: Any) -> None:
    file.write_text(json.dumps(fields))


def read(file: Path) -> dict[str, Any]:
    fields = json.loads(file.read_text())
    assert isinstance(fields, dict)
    return fields


# --- edited files -----------------------------------------------------------------------------------------------------


def test_a_file_that_was_changed_after_it_was_saved_is_refused(file: Path) -> None:
    fields = read(file)
    edits: list[tuple[str, Any]] = [
        ("past", {**fields["past"], "times_us": [1] * 9}),
        ("seed", 8),
        ("pondering", False),
    ]
    for name, value in edits:
        write(file, {**fields, name: value})
        with pytest.raises(UsageError, match=r"changed after it was saved; only 'bots' and 'store'"):
            load_saved(file)


def test_where_the_bots_and_the_store_lie_may_be_edited_and_the_layout_is_of_no_matter(file: Path) -> None:
    fields = read(file)
    moved = file.parent / "moved"
    shutil.copytree(BOTS, moved)
    write(file, {**fields, "bots": [str(moved / Path(path).name) for path in fields["bots"]], "store": "new.sqlite"})
    done = invoke(file.parent, "resume", file.name, "--sandbox", "basic")
    assert done.returncode == 0, done.stderr
    assert invoke(file.parent, "verify", "new.sqlite").returncode == 0


def test_a_file_of_a_newer_format_is_named_as_one(file: Path) -> None:
    write(file, {**read(file), "format": 2})
    with pytest.raises(UsageError, match="saved by a newer version"):
        load_saved(file)


def test_a_game_of_another_version_of_stratego_is_refused(file: Path) -> None:
    fields = read(file)
    del fields[CHECKSUM]
    fields["spec"]["variant"]["version"] = "2"
    write(file, fields)
    with pytest.raises(UsageError, match="expected stratego 1, which is here, got stratego 2"):
        load_saved(file)


def test_a_game_that_is_over_does_not_go_on(file: Path) -> None:
    fields = read(file)
    del fields[CHECKSUM]
    history = fields["past"]
    history["actions"].append("resign")
    history["times_us"].append(1)
    history["cpu_us"].append(1)
    history["forgiven_us"].append(0)
    write(file, fields)
    with pytest.raises(UsageError, match="the game is over"):
        load_saved(file)


def test_what_cannot_be_a_file_of_any_kind_is_refused(tmp_path: Path) -> None:
    for data in (b"[" * 100_000, b'"\\ud800"', b'{"id":"\xff"}', b"", b"3", b"[]", b'{"checksum":{"a":1}}', b"nul"):
        (tmp_path / "x").write_bytes(data)
        with pytest.raises(UsageError, match="expected a paused game"):
            load_saved(tmp_path / "x")
    for path in (tmp_path / "gone", tmp_path / "x" / "y", Path("a\0b")):
        with pytest.raises(UsageError, match="cannot be read"):
            load_saved(path)
    with pytest.raises(UsageError, match="expected a file, got a folder"):
        load_saved(tmp_path)


WORST: list[Any] = [
    *(None, True, -1, 0, 1, 2**31, 2**63, 10**30, 10**400, 0.5, -0.0, 1e308, "", "x", "\0", "\x1b[31m", "a4-a5"),
    *("resign", "9" * 5000, "/", ".", "red", "\u00e9", "\u202e", [], {}, [[]], [None], {"a": 1}),
]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where in a JSON value something stands."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [path] if path else []
    for key, item in inner:
        found += places(item, (*path, key))
    return found


def mutate(fields: Any, rng: Random, value: Any) -> None:
    """Change one thing: another value, one less, one twice, or two that change places."""
    path = rng.choice(places(fields))
    outer = fields
    for key in path[:-1]:
        outer = outer[key]
    what = rng.randrange(5)
    if what == 0:
        del outer[path[-1]]
    elif what == 1 and isinstance(outer, list):
        outer.insert(path[-1], copy.deepcopy(outer[path[-1]]))
    elif what == 2 and isinstance(outer, list):
        rng.shuffle(outer)
    elif what == 3 and isinstance(outer[path[-1]], int | str):
        old = outer[path[-1]]
        outer[path[-1]] = old + rng.choice([-1, 1, 1000]) if isinstance(old, int) else old[rng.randrange(2) :] + "1"
    else:
        outer[path[-1]] = value


def nameless(spec: GameSpec) -> GameSpec:
    """The same game between players of one name."""
    red, blue = (Player("bot", player.digest) for player in spec.players)
    return msgspec.structs.replace(spec, players=(red, blue))


MUTATIONS = int(os.environ.get("ARENA_MUTATIONS", "80"))


@example(seed=45, worst=[0])  # another name
@example(seed=140, worst=[0])  # a rule less
@given(seed=st.integers(0, 2**32), worst=st.lists(st.integers(0, len(WORST) - 1), min_size=1, max_size=3))
@settings(
    deadline=None,
    max_examples=MUTATIONS,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_an_edited_file_is_refused_with_one_clear_error_or_is_a_game_that_can_be(
    original: Path, file: Path, seed: int, worst: list[int]
) -> None:
    """Anything but an `ArenaError` fails the test, and so does a game that the store's settings do not give.

    What a player is called may differ: it is no part of a game's settings, as bots are known by their content.
    """
    fields = read(original)
    del fields[CHECKSUM]
    shutil.copy(original.parent / "l.sqlite", file.parent)
    edited = copy.deepcopy({**fields, "store": "l.sqlite"})
    rng = Random(seed)
    for index in worst:
        mutate(edited, rng, WORST[index])
    write(file, edited)
    with contextlib.chdir(file.parent), contextlib.suppress(ArenaError):
        assert nameless(start(file).spec) == nameless(load_saved(original).spec)


def test_a_game_goes_on_only_into_a_store_of_its_own_settings(file: Path) -> None:
    """The store may have been made anew under other settings since, or another be named in the file."""
    other = file.parent / "other.sqlite"
    bots = [str(BOTS / f"{name}.py") for name in ("steady", "dead")]
    made = invoke(file.parent, "match", *bots, "--rules", "duel", "--store", other.name)
    assert made.returncode == 0
    before = other.read_bytes()
    write(file, {**read(file), "store": str(other)})
    done = invoke(file.parent, "resume", file.name)
    assert done.returncode == 2
    assert "this store holds games under other settings" in done.stderr
    assert other.read_bytes() == before


# --- writing ----------------------------------------------------------------------------------------------------------


def test_a_file_of_the_users_own_is_not_overwritten(tmp_path: Path) -> None:
    content = "my only copy of a novel"
    (tmp_path / "g.json").write_text(content)
    bots = [str(BOTS / f"{name}.py") for name in ("steady", "waiter")]
    done = invoke(tmp_path, "match", *bots, "--rules", "duel", "--pause", "g.json", "--pause-after", "2")
    assert done.returncode == 2
    assert "is not overwritten" in done.stderr
    assert (tmp_path / "g.json").read_text() == content


def test_a_saved_game_is_not_overwritten_by_another_nor_begun_anew(file: Path) -> None:
    before = file.read_bytes()
    bots = [str(BOTS / f"{name}.py") for name in ("steady", "breaker")]
    done = invoke(file.parent, "match", *bots, "--rules", "duel", "--pause", "g.json")
    assert done.returncode == 2
    assert "saved here already, steady - waiter, after 9 plies; resume it with 'arena resume g.json'" in done.stderr
    assert file.read_bytes() == before


def test_a_game_that_cannot_be_saved_is_an_error_that_leaves_the_old_file(file: Path) -> None:
    paused, before = load_saved(file), file.read_bytes()
    with pytest.raises(ArenaError, match="cannot be written: No such file"):
        save_game(paused, file.parent / "gone" / "g.json")
    with pytest.raises(ArenaError, match="expected a file to replace, found a folder"):
        save_game(paused, file.parent)
    assert file.read_bytes() == before
    assert not list(file.parent.glob("*.part"))


# --- the interrupted turn ---------------------------------------------------------------------------------------------

ROWS = ("FBBS2339M./........../........../2.........", "FBBS339M2./........../........../.........2")
BANKS = TimeControl(move_ms=5000, bank_ms=10_000, increment_ms=100)


def test_the_seconds_of_an_interrupted_turn_are_charged_to_the_bank_each_time() -> None:
    game = game_spec(time=BANKS)
    table = Table(game)
    table.begin(*(rows.split("/") for rows in ROWS))
    for seconds in (3.0, 2.5):
        history = table.referee.history(table.now + seconds)
        table.referee = Referee(game, history=history)
        table.introduce()
    assert history is not None
    assert history.interrupted == ((1, 3_000_000), (1, 2_500_000))
    assert table.writes[Color.RED][-1].endswith(b"\nturn 1 4500 5000 4500 10000\n")
