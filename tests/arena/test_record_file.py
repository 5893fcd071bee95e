"""`arena verify` of files: what was changed, torn, forged or doubled is named with its line, and nothing else is."""

import json
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

import arena
from arena.errors import ArenaError, UsageError
from arena.game.exported import LONGEST_LINE, encode_line, with_checksum
from arena.league.exchange import (
    LONGEST_FAULT,
    Imported,
    export_lines,
    import_games,
    settings_of_game,
    verify_file,
)
from arena.league.readers import reader_named
from arena.league.store import Store

GOLDEN = Path(__file__).parent.parent / "golden" / "stores"
OWN, DUEL = GOLDEN / "own.sqlite", GOLDEN / "duel.sqlite"
PLAYED, DRAWN = 2, 12
"""Games of the store that were lost by an illegal action, and drawn."""


def lines_of(store: Path, view: str = "all") -> list[bytes]:
    with Store(store, create=False) as opened:
        return list(export_lines(opened, opened.numbers(), reader_named(view), lambda damage: None))


lines_of_own = lines_of(OWN)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Twelve games, one in a line."""
    path = tmp_path / "games.jsonl"
    path.write_bytes(b"".join(lines_of_own))
    return path


def found(path: Path) -> list[str]:
    """What `verify` says of a file."""
    return [str(fault) for fault in verify_file(path, lambda done, of: None)]


def changed(path: Path, line: int, change: Callable[[dict[str, Any]], object]) -> None:
    """Forge a line with a right checksum."""
    lines = path.read_bytes().splitlines(keepends=True)
    fields = json.loads(lines[line - 1])
    del fields["checksum"]
    change(fields)
    lines[line - 1] = with_checksum(fields) + b"\n"
    path.write_bytes(b"".join(lines))


def named(findings: Iterable[str]) -> set[str]:
    return {finding.split(": ")[0] for finding in findings}


def test_a_sound_file_has_no_faults_whatever_leagues_its_games_are_of(file: Path) -> None:
    with file.open("ab") as more:
        more.writelines(lines_of(DUEL))
    assert found(file) == []


def test_a_changed_byte_is_named_wherever_it_is(file: Path) -> None:
    whole = file.read_bytes()
    rng = Random(1)
    for place in (*range(2, 12), *(rng.randrange(len(whole)) for _ in range(15)), len(whole) - 2):
        data = bytearray(whole)
        data[place] ^= 1 << rng.randrange(7)
        file.write_bytes(data)
        line = whole.count(b"\n", 0, place) + 1
        if whole[place : place + 1] == b"\n":  # two lines in one
            assert named(found(file)) == {f"line {line}"}
            continue
        findings = found(file)
        assert f"line {line}" in named(findings)
        if b"\n" not in data[place : place + 1]:
            assert named(findings) == {f"line {line}"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda fields: fields["verdict"].update(plies=3), "recorded as 3 plies, but has"),
        (lambda fields: fields["red"].update(digest="0" * 64), "its id does not follow from its players"),
        (lambda fields: fields.update(ruleset="isf"), "it was played under ruleset 'isf'"),
        (lambda fields: fields["settings"].update(zeal="1"), "settings: expected ruleset, "),
    ],
)
def test_a_forged_column_is_named(file: Path, change: Callable[[dict[str, Any]], object], words: str) -> None:
    changed(file, DRAWN, change)
    findings = found(file)
    assert named(findings) == {f"line {DRAWN}"}
    assert any(words in finding for finding in findings)


VALUES: tuple[Any, ...] = (
    *(None, True, -1, 2**53, 2**63, 1.5, 1e308, "", "a1-a9", "red", "\u0663", "F" * 40, "9" * 5000),
    *([], {}, [[]], ["a", "b"], {"a": 1}),
)


def places_in(value: Any, *path: Any) -> Iterator[tuple[Any, ...]]:
    """The ways to all that is in a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        yield (*path, key)
        yield from places_in(part, *path, key)


@pytest.mark.parametrize("seed", range(15))
def test_a_line_with_any_value_in_any_place_is_named_or_sound_and_no_internal_error(file: Path, seed: int) -> None:
    """With checksums that are right. Anything but a finding or none fails the test."""
    rng = Random(seed)
    lines = [rng.choice(lines_of_own) for _ in range(3)]
    forged = []
    for line in lines:
        fields = json.loads(line)
        del fields["checksum"]
        *way, last = rng.choice(list(places_in(fields)))
        inner = fields
        for key in way:
            inner = inner[key]
        inner[last] = rng.choice(VALUES)
        forged.append(with_checksum(fields) + b"\n")
    file.write_bytes(b"".join(forged))
    assert all(finding.startswith("line ") and len(finding) < LONGEST_FAULT + 100 for finding in found(file))


def test_a_copy_of_a_line_is_passed_over_and_counted_once_as_in_an_import(file: Path, tmp_path: Path) -> None:
    file.write_bytes(file.read_bytes() * 2)
    counts = []
    assert list(verify_file(file, lambda done, of: counts.append((done, of)))) == []
    assert counts[-1] == (12, 12)
    assert import_games(tmp_path / "new.sqlite", [file], lambda *_: None) == Imported(12, 12)


def test_another_game_of_the_same_id_is_named_with_the_line_that_has_it_too(file: Path) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines, lines[4]]))
    changed(file, 13, lambda fields: fields.update(seconds=fields["seconds"] + 1))
    assert found(file) == ["line 13: it has the id of the game in line 5, and is not the same"]


@pytest.mark.parametrize("view", ["red", "public"])
def test_a_redacted_export_is_refused_as_a_whole_with_one_line(file: Path, view: str) -> None:
    file.write_bytes(b"".join(lines_of(OWN, view)))
    with pytest.raises(UsageError, match=r"line 1: expected whole games, got a redacted export") as caught:
        found(file)
    assert "\n" not in str(caught.value)


def test_many_settings_in_a_line_cost_no_more_memory_than_a_line_may(file: Path) -> None:
    settings = {f"limits of b{number}": "" for number in range(500_000)}
    changed(file, 1, lambda fields: fields.update(settings=settings))
    tracemalloc.start()
    (fault, *_) = found(file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert fault == f"line 1: expected at most {LONGEST_LINE} bytes, got a longer line"
    assert peak < 32 << 20


def test_of_a_leagues_settings_a_game_has_what_concerns_it() -> None:
    with Store(DUEL, create=False) as store:
        kept = store.settings()
        record = store.record("12")[1]
    names = [player.name for player in record.players]
    bots = {f"limits of {name}": "1" for name in (*names, "somebody")}
    of_game = settings_of_game({**kept, **bots}, record)
    assert {name for name in of_game if name.startswith("limits of ")} == {f"limits of {name}" for name in names}
    assert not {"entrants", "planned games", "places"} & of_game.keys()
    assert of_game["seed"] == kept["seed"]
    assert encode_line(record, of_game)


def test_a_program_reads_the_records_of_a_file_one_by_one(file: Path) -> None:
    with Store(OWN, create=False) as store:
        stored = [store.record(str(number))[1] for number in range(1, 13)]
    assert list(arena.read_records(file)) == stored
    assert next(arena.read_records(str(file))) == stored[0]
    file.write_bytes(file.read_bytes()[:-9])
    records = arena.read_records(file)
    with pytest.raises(ArenaError, match=r"games\.jsonl: line 12: the file was cut off here"):
        list(records)
    with pytest.raises(UsageError, match="No such file"):
        list(arena.read_records(file.with_name("none")))


def test_a_file_of_records_that_is_named_as_a_store_is_called_what_it_is(file: Path) -> None:
    with pytest.raises(UsageError, match=r"expected a store .*, got a file of game records; 'arena import STORE FILE'"):
        list(arena.replay(file, 1))
    file.write_bytes(b"no record")
    with pytest.raises(UsageError, match="got another file"):
        list(arena.replay(file, 1))
