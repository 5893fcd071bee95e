"""Games that leave a store as lines come into another one as what they were, or are refused and nothing is changed."""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.errors import ArenaError, UsageError
from arena.game.exported import with_checksum
from arena.league.exchange import Imported, export_lines, import_games
from arena.league.readers import reader_named
from arena.league.store import DamagedError, Store, refuse_other_files
from arena.league.verify import verify

GOLDEN = Path(__file__).parent.parent / "golden" / "stores"
STORES = sorted(GOLDEN.glob("*.sqlite"))
OWN, DUEL = GOLDEN / "own.sqlite", GOLDEN / "duel.sqlite"
LOST = 2
"""A game of the store that breaker, who has Red, lost by an illegal action."""


def exported(path: Path, numbers: Iterable[int] | None = None, view: str = "all") -> list[bytes]:
    """The lines of a store's games."""
    damage: list[object] = []
    with Store(path, create=False) as store:
        lines = list(
            export_lines(store, store.numbers() if numbers is None else numbers, reader_named(view), damage.append)
        )
    assert damage == []
    return lines


def taken_in(target: Path, *sources: Path) -> Imported:
    return import_games(target, sources, lambda done: None)


def is_sound(path: Path) -> bool:
    with Store(path, create=False) as store:
        return list(verify(store, lambda done, of: None)) == []


def file_of(path: Path, lines: Iterable[bytes]) -> Path:
    path.write_bytes(b"".join(lines))
    return path


def forged(line: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    """The line with its fields changed, and a checksum that is right."""
    fields = json.loads(line)
    del fields["checksum"]
    change(fields)
    return with_checksum(fields) + b"\n"


def refused(target: Path, *sources: Path, kind: type[ArenaError] = ArenaError) -> str:
    """That an import is refused and the target stays as it was; returns the words."""
    before = target.read_bytes() if target.exists() else None
    with pytest.raises(kind) as caught:
        taken_in(target, *sources)
    assert (target.read_bytes() if target.exists() else None) == before
    assert "no game was imported" in str(caught.value)
    return str(caught.value)


# --- there and back ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("store", STORES, ids=lambda path: path.stem)
def test_a_store_of_any_version_comes_back_from_its_export_with_the_same_bytes(store: Path, tmp_path: Path) -> None:
    lines = exported(store)
    target = tmp_path / "new.sqlite"
    assert taken_in(target, file_of(tmp_path / "games.jsonl", lines)) == Imported(12, 0)
    assert exported(target) == lines
    assert is_sound(target)


@given(st.lists(st.sets(st.integers(1, 12), min_size=1), max_size=4), st.booleans())
@settings(max_examples=8)
def test_stores_and_files_that_share_games_are_merged_into_one_with_each_game_once(
    tmp_path_factory: pytest.TempPathFactory, parts: list[set[int]], is_store: bool
) -> None:
    folder = tmp_path_factory.mktemp("merged")
    sources = []
    for number, part in enumerate(parts):
        file = file_of(folder / f"{number}.jsonl", exported(OWN, sorted(part)))
        if is_store:
            taken_in(folder / f"{number}.sqlite", file)
            file = folder / f"{number}.sqlite"
        sources.append(file)
    target = folder / "all.sqlite"
    games = set().union(*parts) if parts else set()
    assert taken_in(target, *sources) == Imported(len(games), sum(map(len, parts)) - len(games))
    if games:
        assert sorted(exported(target)) == sorted(exported(OWN, games))
        assert is_sound(target)
    assert target.exists() == bool(games)


@pytest.mark.parametrize("is_new", [True, False])
def test_an_import_that_is_stopped_changes_nothing(tmp_path: Path, is_new: bool) -> None:
    target = tmp_path / "some.sqlite"
    if not is_new:
        taken_in(target, file_of(tmp_path / "some.jsonl", exported(OWN, [7])))

    def stop(done: int) -> None:
        if done == 10:
            raise KeyboardInterrupt

    before = None if is_new else target.read_bytes()
    with pytest.raises(KeyboardInterrupt):
        import_games(target, [OWN], stop)
    assert (target.read_bytes() if target.exists() else None) == before
    assert taken_in(target, OWN) == Imported(12 if is_new else 11, 0 if is_new else 1)


# --- what is refused --------------------------------------------------------------------------------------------------


def with_another_result(fields: dict[str, Any]) -> None:
    """The game as the bot that lost by an illegal action could have gone on: it gave up."""
    fields["actions"].append("resign")
    for name in ("times_us", "cpu_us", "forgiven_us"):
        fields[name].append(0) if fields[name] else None
    plies = len(fields["actions"])
    fields["verdict"] = {"result": "blue", "reason": "resign", "plies": plies, "detail": "red (breaker) resigned"}


def test_a_game_that_is_there_with_another_result_is_named_with_both(tmp_path: Path) -> None:
    line = exported(OWN, [LOST])[0]
    other = file_of(tmp_path / "other.jsonl", [forged(line, with_another_result)])
    target = tmp_path / "new.sqlite"
    assert taken_in(target, other) == Imported(1, 0)
    game = json.loads(line)["id"]
    words = refused(target, OWN)
    assert f"game {game} (breaker - waiter) is there with another result" in words
    assert f"{OWN}: game {LOST}: blue by illegal-action after 12 plies\n" in words
    assert f"{target}: game 1: blue by resign after 13 plies" in words
    words = refused(tmp_path / "third.sqlite", OWN, other)
    assert f"{other}: line 1: blue by resign after 13 plies\n" in words
    assert f"{OWN}: game {LOST}: blue by illegal-action after 12 plies" in words


def test_games_of_two_leagues_do_not_go_into_one_store(tmp_path: Path) -> None:
    target = tmp_path / "own.sqlite"
    taken_in(target, OWN)
    words = refused(target, DUEL, kind=UsageError)
    assert f"{DUEL}: game 1: {target}: this store holds games under other settings" in words
    assert "    seed: 7 (in the store), 1 (asked for)" in words
    refused(tmp_path / "none.sqlite", OWN, DUEL, kind=UsageError)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f["settings"].update(seed="8"), "follows from no round of this league"),
        (lambda f: f["verdict"].update(plies=11), "recorded as 11 plies, but has 12 actions"),
        (lambda f: f["red"].update(held=f"basic: {SMALL}"), "and the store is for 'memory 512M"),
        (lambda f: f["red"].update(name="../x"), "expected a name of 1 to 40 columns"),
    ],
)
def test_a_game_that_does_not_give_its_result_is_refused_by_name(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], words: str
) -> None:
    file = file_of(tmp_path / "games.jsonl", [forged(exported(OWN, [LOST])[0], change)])
    said = refused(tmp_path / "new.sqlite", file)
    assert f"{file}: line 1: " in said
    assert words in said


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("entrants", "[]", "got 'entrants'"),
        ("limits of somebody", "1", "got 'limits of somebody'"),
        ("seed", "9" * 5000, "seed: expected a whole number from 0 to 18446744073709551615, got '999"),
        ("pondering", "perhaps", "pondering: expected yes or no, got 'perhaps'"),
    ],
)
def test_settings_that_are_none_of_the_games_are_refused(tmp_path: Path, name: str, value: str, words: str) -> None:
    def change(fields: dict[str, Any]) -> None:
        fields["settings"] = dict(sorted({**fields["settings"], name: value}.items()))

    file = file_of(tmp_path / "games.jsonl", [forged(exported(OWN, [LOST])[0], change)])
    assert words in refused(tmp_path / "new.sqlite", file, kind=UsageError)


def test_a_torn_last_line_is_named_and_a_lost_line_feed_is_not_missed(tmp_path: Path) -> None:
    lines = exported(OWN)
    file = file_of(tmp_path / "games.jsonl", lines)
    file.write_bytes(file.read_bytes()[:-1])
    assert taken_in(tmp_path / "whole.sqlite", file) == Imported(12, 0)
    file.write_bytes(file.read_bytes()[:-2])
    assert "line 12: the file was cut off here" in refused(tmp_path / "new.sqlite", file)


def test_what_one_side_was_told_cannot_be_imported(tmp_path: Path) -> None:
    file = file_of(tmp_path / "red.jsonl", exported(OWN, view="red"))
    words = refused(tmp_path / "new.sqlite", file, kind=UsageError)
    assert "line 1: expected a whole game, got a view of one for 'red'" in words


def test_a_damaged_store_neither_gives_nor_takes_games(tmp_path: Path) -> None:
    broken = Path(shutil.copy(OWN, tmp_path / "broken.sqlite"))
    database = sqlite3.connect(broken, isolation_level=None)
    database.execute("UPDATE games SET plies = 5 WHERE number = 12")
    database.close()
    for target, source in ((tmp_path / "new.sqlite", broken), (broken, OWN)):
        with pytest.raises(DamagedError, match="game 12: its row was changed"):
            taken_in(target, source)
    assert not (tmp_path / "new.sqlite").exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing.jsonl", "and there is no file"),
        (".", "got a folder"),
        ("nul\0", "this is not a valid path"),
        ("text.txt", "got another file"),
        ("empty.jsonl", "got an empty file"),
    ],
)
def test_what_is_neither_a_store_nor_a_file_of_records_is_refused(tmp_path: Path, name: str, words: str) -> None:
    """By `arena import` and `arena verify` alike."""
    (tmp_path / "text.txt").write_text("hello\n" * 100)
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(UsageError, match=words):
        taken_in(tmp_path / "new.sqlite", tmp_path / name)
    assert not (tmp_path / "new.sqlite").exists()
    with pytest.raises(UsageError, match=words):
        refuse_other_files(tmp_path / name)


# --- what would outlast the import ------------------------------------------------------------------------------------

SMALL = "memory 16M, 1 processes, 1K of /tmp"


def limits_of(game: dict[str, Any]) -> list[str]:
    return [name for name in game["settings"] if name.startswith("limits of ")]


def test_a_bot_brings_other_limits_into_a_new_store_alone(tmp_path: Path) -> None:
    games = [json.loads(line) for line in exported(OWN)]
    first = next(number for number, game in enumerate(games) if limits_of(game) != limits_of(games[0]))
    newcomer = next(name for name in limits_of(games[first]) if name not in limits_of(games[0]))

    def held_so(game: dict[str, Any]) -> None:
        game["settings"].update({newcomer: SMALL})
        (side,) = (game[color] for color in ("red", "blue") if newcomer == f"limits of {game[color]['name']}")
        side.update(held=f"basic: {SMALL}")

    file = file_of(tmp_path / "games.jsonl", [forged(exported(OWN, [first + 1])[0], held_so)])
    target = tmp_path / "some.sqlite"
    taken_in(target, file_of(tmp_path / "some.jsonl", exported(OWN, [1])))
    words = refused(target, file, kind=UsageError)
    assert newcomer in words
    assert "import it into a new store" in words
    assert taken_in(tmp_path / "new.sqlite", file) == Imported(1, 0)
