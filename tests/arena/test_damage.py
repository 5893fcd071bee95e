"""A store that is damaged or was edited: no game of it counts that is not as it was stored, and each of those is named.

Bytes are flipped in copies of the golden stores, and games forged in all the ways that the columns, the digests and
the record allow. Whatever comes of it is either the games that were stored, or one clear error.
"""

import json
import math
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import msgspec
import pytest
from commands import AS_USUAL, invoke
from forged_games import forge_game, forge_setting

from arena.cli import streams
from arena.errors import ArenaError, UsageError
from arena.game.faults import GameResult
from arena.game.record import GameRecord
from arena.game.time_control import TimeControl
from arena.league.game_ids import Games, game_id, pair_seed_of, seeds_of
from arena.league.settings import Settings
from arena.league.store import GameRow, Store, StoreError
from arena.league.store.database import Damage, DamagedError
from arena.league.verify import verify
from arena.stratego.game import variant_of
from arena.stratego.rules.ruleset import ruleset_from_lines

GOLDEN = Path(__file__).parent.parent / "golden" / "stores"
FLIPS = 80
changed = msgspec.structs.replace


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with twelve games."""
    return Path(shutil.copy(GOLDEN / "duel.sqlite", tmp_path / "l.sqlite"))


def edit(path: Path, statement: str, *values: object) -> None:
    """What somebody with another program does to a store."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute(statement, values)
    database.close()


def found(path: Path) -> list[str]:
    """What `verify` says of a store."""
    with Store(path, create=False) as store:
        return [str(damage) for damage in verify(store, lambda done, of: None)]


def damage_of(path: Path) -> list[str]:
    """What is named when the games are read."""
    with Store(path, create=False) as store:
        return [str(damage) for damage in store.read().damage]


# --- damage -----------------------------------------------------------------------------------------------------------


def readings(path: Path) -> tuple[dict[int, GameRow], set[int | None], dict[int, GameRecord]]:
    """The games that a store gives, the numbers of those that it names, and the records that it gives."""
    rows: dict[int, GameRow] = {}
    named: set[int | None] = {None}
    try:
        with Store(path, create=False) as store:
            contents = store.read()
            rows = {row.number: row for row in contents.rows}
            named = {damage.game for damage in contents.damage}
    except ArenaError:
        pass
    records = {}
    with suppress(ArenaError), Store(path, create=False) as store:
        for number in range(1, 13):
            with suppress(ArenaError):
                records[number] = store.record(str(number))[1]
    return rows, named, records


@pytest.mark.parametrize("name", ["duel", "own"])
def test_flipped_bits_and_cut_files_give_no_wrong_game_and_no_internal_error(tmp_path: Path, name: str) -> None:
    """Anything but an `ArenaError` fails the test."""
    whole = (GOLDEN / f"{name}.sqlite").read_bytes()
    good, named, records = readings(GOLDEN / f"{name}.sqlite")
    assert (len(good), named, len(records)) == (12, set(), 12)
    path = tmp_path / "broken.sqlite"
    for seed in range(FLIPS):
        rng = Random(seed)
        data = bytearray(whole)
        for _ in range(rng.choice([1, 1, 1, 20, 200])):
            data[rng.randrange(100 if seed % 10 == 0 else len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(data[: rng.randrange(len(data))] if seed % 5 == 0 else data)
        rows, named, read = readings(path)
        assert rows.items() <= good.items(), f"seed {seed}: a wrong game"
        assert named or len(rows) == len(good), f"seed {seed}: a game is gone and nothing is said"
        assert read.items() <= records.items(), f"seed {seed}: a wrong record"
        if seed % 5 == 0:
            with suppress(ArenaError):
                found(path)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *(("result", value) for value in ("blue", "green", 7)),
        ("plies", 12.5),
        *(("red", value) for value in (2, 99)),
        ("detail", "blue (drifter) resigned"),
        ("record_digest", b""),
        ("row_digest", b"x" * 16),
        ("number", 99),
    ],
)
def test_a_row_that_was_edited_is_named_and_does_not_count(path: Path, column: str, value: object) -> None:
    with Store(path, create=False) as store:
        before = store.rows()
    edit(path, f"UPDATE games SET {column} = ? WHERE number = 12", value)
    number = 99 if column == "number" else 12
    assert damage_of(path)[0] == f"game {number}: its row was changed after it was stored"
    with Store(path, create=False) as store:
        assert store.read().rows == before[:-1]
        with pytest.raises(DamagedError, match=f"game {number}: its row was changed"):
            store.rows()
        with pytest.raises(DamagedError):
            store.record(str(number))
        assert store.record("11")[0] == 11


def test_a_record_that_was_edited_is_named(path: Path) -> None:
    edit(path, "UPDATE records SET record = replace(CAST(record AS TEXT), 'red', 'blu') WHERE number = 3")
    assert found(path) == ["game 3: its record was changed after it was stored"]
    with Store(path, create=False) as store, pytest.raises(DamagedError, match="game 3: its record was changed"):
        store.record("3")


def test_games_that_were_taken_out_are_missed(path: Path) -> None:
    edit(path, "DELETE FROM games WHERE number = 12")
    (damage,) = damage_of(path)
    assert damage.startswith("12 games were stored, and ")


def test_a_player_that_was_edited_takes_all_its_games_with_it(path: Path) -> None:
    edit(path, "UPDATE players SET digest = 'x' WHERE name = 'steady'")
    assert len(damage_of(path)) == 6
    with Store(path, create=False) as store:
        assert {player.name for row in store.read().rows for player in row.players} == {"waiter", "breaker", "dead"}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE settings SET document = replace(CAST(document AS TEXT), '2000ms', '900ms')",
        "UPDATE settings SET document = substr(document, 1, 100)",
        "DELETE FROM settings",
    ],
)
def test_settings_that_were_edited_are_named_and_not_used(path: Path, statement: str) -> None:
    edit(path, statement)
    assert damage_of(path) == ["the settings were changed after they were stored"]
    with Store(path, create=True) as store:
        assert (store.read().settings, store.read().entrants) == ({}, ())
        for refused in (store.settings, store.kept, lambda: store.agree({"time": "1s"}), lambda: store.keep(planned=3)):
            with pytest.raises(DamagedError, match="settings were changed"):
                refused()


@pytest.mark.parametrize(("version", "create"), [(0, False), (2, True)])
def test_a_store_of_another_version_is_refused(path: Path, version: int, *, create: bool) -> None:
    edit(path, f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    words = f"this store has format {version}, and this version of arena reads format 1: use the version that made it"
    with pytest.raises(UsageError, match=words):
        Store(path, create=create)
    assert path.read_bytes() == before


# --- what a host sees -------------------------------------------------------------------------------------------------


def test_tables_are_printed_without_the_damaged_games_with_a_warning_and_exit_code_1(path: Path) -> None:
    edit(path, "UPDATE games SET result = 'blue' WHERE number = 12")
    for command in ("standings", "games"):
        done = invoke(path.parent, command, path.name)
        assert done.returncode == 1
        assert "warning: l.sqlite is damaged" in done.stderr
        assert "game 12: its row was changed after it was stored" in done.stderr
        assert "arena verify l.sqlite" in done.stderr
        assert "Traceback" not in done.stderr
    games = json.loads(invoke(path.parent, "games", "--json", path.name).stdout)
    assert [game["number"] for game in games] == list(range(1, 12))
    table = json.loads(invoke(path.parent, "standings", "--json", path.name).stdout)
    assert sum(line["games"] for line in table["standings"]) == 22


def test_verify_exits_with_0_for_a_sound_store_1_for_findings_and_2_for_no_store(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "SECONDS_BETWEEN_REMARKS", math.inf)
    sound = invoke(path.parent, "verify", path.name)
    assert (sound.returncode, sound.stderr) == (0, "")
    assert sound.stdout == "l.sqlite: 12 games, all sound: played again, each gives the verdict that is stored\n"
    assert json.loads(invoke(path.parent, "verify", "--json", path.name).stdout) == {
        "store": "l.sqlite",
        "games": 12,
        "findings": [],
    }
    edit(path, "UPDATE games SET plies = 3 WHERE number = 2")
    damaged = invoke(path.parent, "verify", path.name)
    assert damaged.returncode == 1
    assert damaged.stdout.splitlines() == [
        "game 2: its row was changed after it was stored",
        "l.sqlite: 12 games, 1 of them not sound",
    ]
    document = json.loads(invoke(path.parent, "verify", "--json", path.name).stdout)
    assert document["findings"] == [{"game": 2, "text": "its row was changed after it was stored"}]
    missing = invoke(path.parent, "verify", "gone.sqlite")
    assert (missing.returncode, missing.stdout) == (2, "")


def league_in(folder: Path) -> "subprocess.CompletedProcess[str]":
    """The league of the golden store, in the store `new.sqlite`."""
    bots = [str(bot) for bot in sorted((GOLDEN / "bots").glob("*.py"))]
    options = ("--rules", "duel", "--time", "2s/move", *AS_USUAL, "--rounds", "1", "--store", "new.sqlite")
    return invoke(folder, "league", *bots, *options)


def test_sound_games_can_be_copied_to_a_new_store_in_which_the_league_goes_on(path: Path) -> None:
    edit(path, "UPDATE games SET result = 'blue' WHERE number = 12")  # its record is whole
    edit(path, "UPDATE records SET record = x'00' WHERE number = 3")
    done = invoke(path.parent, "verify", path.name, "--salvage", "new.sqlite")
    assert done.returncode == 1
    assert "11 of 12 games were copied to new.sqlite" in done.stderr
    again = league_in(path.parent)
    assert again.returncode == 0, again.stderr
    assert "11 of them stored already" in again.stderr
    assert found(path.parent / "new.sqlite") == []
    refused = invoke(path.parent, "verify", path.name, "--salvage", "new.sqlite")
    assert refused.returncode == 2
    assert "expected a file that does not exist yet" in refused.stderr


# --- forgery ----------------------------------------------------------------------------------------------------------


def forge(path: Path, number: int, change: Callable[[GameRecord], GameRecord]) -> None:
    """Change a game with all that follows from it: columns and digests. Only playing it again can tell."""
    with Store(path, create=False) as store:
        record = store.stored(number).record
    assert record is not None
    forge_game(path, number, change(record))


def verdict(record: GameRecord, **values: object) -> GameRecord:
    return changed(record, verdict=changed(record.verdict, **values))


FORGERIES: list[tuple[str, int, Callable[[GameRecord], GameRecord], str]] = [
    (
        "the winner",
        9,
        lambda game: verdict(game, result=GameResult.RED),
        "recorded as red by flag, judged again as blue by flag",
    ),
    ("a bot", 12, lambda game: changed(game, players=game.players[::-1]), "its id does not follow"),
    ("a seed", 12, lambda game: changed(game, seeds=(1, 2)), "its seeds do not follow"),
    ("another clock", 12, lambda game: changed(game, time=TimeControl(move_ms=9000)), "it was played under time"),
    ("another ruleset", 12, lambda game: changed(game, ruleset="isf"), "it was played under ruleset 'isf'"),
    (
        "another rule",
        12,
        lambda game: changed(game, rules=tuple((k, "990" if k == "max-plies" else v) for k, v in game.rules)),
        "it was played under rules",
    ),
    (
        "how much memory a bot had",
        12,
        lambda game: changed(game, confinement=("bwrap: memory 1G, 64 processes, 16M of /tmp", game.confinement[1])),
        "had the limits 'memory 1G, 64 processes, 16M of /tmp', and the store is for 'memory 512M, 64 processes",
    ),
    ("the order of the rules", 12, lambda game: changed(game, rules=game.rules[::-1]), "its rules are in the order"),
]


@pytest.mark.parametrize(("number", "change", "words"), [f[1:] for f in FORGERIES], ids=[f[0] for f in FORGERIES])
def test_a_forged_game_is_found_by_playing_it_again(
    path: Path, number: int, change: Callable[[GameRecord], GameRecord], words: str
) -> None:
    forge(path, number, change)
    with Store(path, create=False) as store:
        assert store.read().damage == (), "the digests have been forged, too"
    findings = found(path)
    assert findings
    assert all(finding.startswith(f"game {number}: ") for finding in findings)
    assert any(words in finding for finding in findings), findings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("seed", seed) for seed in ("-1", str(2**64), "٣")),
        ("pondering", "perhaps"),
        ("limits of steady", "memory 9M, no processes"),
        ("time of steady@ab", "soon"),
        ("rules", "army none"),
        ("other times", "none"),
        ("format", "swiss"),
    ],
)
def test_a_setting_that_is_none_holds_no_game_to_it_and_is_found(path: Path, name: str, value: str) -> None:
    forge_setting(path, name, value)
    starts = tuple(f"its settings: {shown}: expected " for shown in (name, repr(name)))
    assert any(finding.startswith(starts) and ", got " in finding for finding in found(path))


def test_a_store_with_games_and_without_what_they_were_played_under_is_none_that_an_arena_has_written(
    path: Path,
) -> None:
    forge_setting(path, "rules", None)
    with Store(path, create=False) as store:
        assert store.read().damage == (), "the digest has been forged, too"
    needed = "ruleset, rules, time, other times, seed"
    expected = f"there is no rules, and every arena that stores games says under which {needed} they were played"
    assert found(path) == [f"its settings: {expected}"]


def settings_of(record: GameRecord) -> Settings:
    """The settings of the league of a duel."""
    return Settings(variant_of(ruleset_from_lines(record.ruleset, record.rules)), record.time)


def test_settings_that_are_damaged_are_used_as_far_as_the_games_agree_with_them(path: Path) -> None:
    with Store(path, create=False) as store:
        settings, rows = store.settings(), store.rows()
    edit(path, "UPDATE settings SET document = CAST(replace(document, 'planned\":12', 'planned\":99') AS BLOB)")
    done = invoke(path.parent, "verify", path.name, "--salvage", "new.sqlite")
    assert done.returncode == 1
    assert "12 of 12 games were copied to new.sqlite" in done.stderr
    with Store(path.with_name("new.sqlite"), create=False) as new:
        assert (new.settings(), new.rows(), new.kept().planned) == (settings, rows, None)


def test_nothing_is_added_to_a_store_with_games_and_without_settings(path: Path, tmp_path: Path) -> None:
    with Store(path, create=False) as store, Store(tmp_path / "new.sqlite", create=True) as new:
        new.add(store.record("1")[1])
    refused = league_in(path.parent)
    assert refused.returncode == 1
    assert "it holds games, and not what they were played under (ruleset, rules, time, other times)" in refused.stderr


def sound_games(count: int) -> list[GameRecord]:
    """Games that a league of the golden bots may have played, in so many rounds: all of them can be salvaged."""
    with Store(GOLDEN / "duel.sqlite", create=False) as store:
        _, record = store.record("9")
    games = []
    for number in range(count):
        pair_seed = pair_seed_of(Games(settings_of(record)).common(record.players), record.players, number)
        seeds = seeds_of(pair_seed, record.players)
        games.append(changed(record, id=game_id(pair_seed, record.players), pair_seed=pair_seed, seeds=seeds))
    return games


def test_a_file_that_was_cut_off_gives_up_the_games_in_its_first_part(tmp_path: Path) -> None:
    part = 0.4
    path = Path(shutil.copy(GOLDEN / "duel.sqlite", tmp_path / "l.sqlite"))
    with Store(path, create=True) as store:
        store.add_all(sound_games(20))
        before = {row.id for row in store.rows()}
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * part)])
    done = invoke(path.parent, "verify", path.name, "--salvage", "new.sqlite")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "it cannot be read how many games were stored" in done.stdout, done.stderr
    with Store(path, create=False, is_doubtful=True) as cut:
        assert cut.last_number() <= len(before)
    with Store(path.parent / "new.sqlite", create=False) as new:
        ids = {row.id for row in new.rows()}
    assert ids <= before
    assert len(ids) >= int(len(before) * part) - 8  # the first pages hold none
    assert found(path.parent / "new.sqlite") == []


@pytest.mark.parametrize("what", ["moved", "deleted", "replaced"])
def test_a_store_that_is_gone_in_mid_league_is_named_as_such(path: Path, what: str) -> None:
    with Store(path, create=True) as store:
        _, game = store.record("1")
        store.add(changed(game, id="e" * 16))
        copy = path.read_bytes()
        path.rename(path.parent / "elsewhere") if what == "moved" else path.unlink()
        if what == "replaced":
            path.write_bytes(copy)
        with pytest.raises(StoreError, match="was moved, deleted or replaced while it was open"):
            store.add(changed(game, id="f" * 16))


def test_damage_is_told_a_line_each_and_not_without_end(path: Path) -> None:
    edit(path, "UPDATE games SET plies = plies + 1")
    with Store(path, create=False) as store, pytest.raises(DamagedError) as caught:
        store.rows()
    lines = str(caught.value).splitlines()
    assert "    and 2 more" in lines
    assert str(Damage(None, "x")) == "x"


def test_several_processes_find_what_one_finds_and_in_the_same_order(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(path, create=True) as store:
        _, game = store.record("9")
        store.add_all([changed(game, id=f"{number:016x}") for number in range(40)])
    monkeypatch.setattr("arena.league.verify.usable_cpus", lambda: 1)
    alone = found(path)
    monkeypatch.setattr("arena.league.verify.usable_cpus", lambda: 3)
    monkeypatch.setattr("arena.league.verify.ALONE_SECONDS", -1.0)
    assert found(path) == alone
    assert len(alone) == 40
