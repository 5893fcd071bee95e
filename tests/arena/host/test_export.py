"""The public archive and what a stranger finds in a forged one; backups that are made while games are played."""

import hashlib
import io
import shutil
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hosted import dig
from made_bots import MOVES
from made_cups import CRASHES, add_bot, make_account, make_cup, opened, play_until

from arena.errors import ArenaError, UsageError
from arena.game.exported import decode_line, encode_line
from arena.host.backup import backup, restore, upgrade
from arena.host.cup_database import CupDatabase
from arena.host.cup_settings import Cup, load_cup
from arena.host.export import INDEX, export_public, verify_public
from arena.host.seasons import (
    SeasonLeague,
    SeasonState,
    begin_final,
    current,
    freeze,
    league_seed,
    open_season,
    store_file,
)
from arena.host.submissions import bot_folder, get_submission
from arena.host.unpack import remove_tree
from arena.league.league_options import FormatName, FormatOptions
from arena.league.store import Store

CHATTY = MOVES.replace("\n", "\necho my secret plan >&2\n", 1)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A competition with a finished season and the next one, in which games are played."""
    folder = tmp_path_factory.mktemp("played") / "cup"
    cup = make_cup(folder)
    with opened(folder) as database:
        names = ("one", "two")
        numbers = [add_bot(database, folder, make_account(database, cup, name * 2), name, CHATTY) for name in names]

        def games() -> int:
            return get_submission(database, numbers[0]).games

        play_until(folder, cup, database, lambda play: games() >= 3)
        freeze(database, cup)
        begin_final(database, cup, FormatOptions(FormatName.ROUND_ROBIN, rounds=2))
        play_until(folder, cup, database, lambda play: current(database).state is SeasonState.FINISHED)
        open_season(database, cup)
        play_until(folder, cup, database, lambda play: games() >= 1)
    return folder


@pytest.fixture
def folder(played: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "cup"
    shutil.copytree(played, copy)
    return copy


def shown(folder: Path, shows: str) -> None:
    path = folder / "cup.toml"
    path.write_text(path.read_text().replace('shows = "after-game"', f'shows = "{shows}"'))


def contents(archive: Path) -> dict[str, bytes]:
    with tarfile.open(archive) as opened_archive:
        files = {info.name: opened_archive.extractfile(info) for info in opened_archive}
        return {name: file.read() for name, file in files.items() if file}


def forged(archive: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """Write an archive with other files."""
    files = contents(archive)
    change(files)
    target = archive.with_name("forged.tar.gz")
    with tarfile.open(target, "w:gz") as made:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            made.addfile(info, io.BytesIO(data))
    return target


def exported(folder: Path) -> Path:
    target = folder.with_name("public.tar.gz")
    export_public(folder, target)
    return target


def test_a_stranger_verifies_all_games_the_seed_and_the_final(folder: Path) -> None:
    said: list[str] = []
    assert verify_public(exported(folder), said.append) == []
    text = "\n".join(said)
    assert "season 1: the seed has the SHA-256 that was published" in text
    assert "season 1, final: 4 games replayed, each gives its result" in text
    assert "season 1, final: its games are those that follow from the seed and the format" in text
    assert "season 1, ladder: all seeds follow from that of the season" in text
    assert "season 2, ladder" in text


def test_the_seeds_of_a_season_that_is_played_are_in_no_byte(folder: Path) -> None:
    files = contents(exported(folder))
    with opened(folder) as database:
        season = current(database)
    assert season.seed_hash in files[INDEX].decode()
    for secret in (season.seed, *(str(league_seed(season.seed, league)) for league in SeasonLeague)):
        assert not any(secret.encode() in data for data in files.values())
    assert set(files) == {
        *(INDEX, "season-1/ladder.jsonl", "season-1/final.jsonl", "season-2/ladder.jsonl"),
    }


def test_what_bots_say_to_their_authors_is_in_no_byte(folder: Path) -> None:
    with Store(store_file(SeasonLeague.LADDER, folder, 1), create=False) as store:
        assert any("my secret plan" in text for text in store.record(1)[1].stderr)
    assert not any(b"secret plan" in data for data in contents(exported(folder)).values())


def test_the_last_words_of_a_bot_that_crashes_are_in_no_byte(tmp_path: Path) -> None:
    folder = tmp_path / "cup"
    cup = make_cup(folder)
    loud = CRASHES.replace("exit 1", "echo my secret plan >&2; exit 1")
    with opened(folder) as database:
        crashing = add_bot(database, folder, make_account(database, cup, "fox"), "one", loud)
        add_bot(database, folder, make_account(database, cup, "owl"), "two")
        play_until(folder, cup, database, lambda play: get_submission(database, crashing).games >= 1)
    with Store(store_file(SeasonLeague.LADDER, folder, 1), create=False) as store:
        assert "my secret plan" in store.record(1)[1].verdict.detail
    archive = exported(folder)
    assert b'"reason":"crash"' in contents(archive)["season-1/ladder.jsonl"]
    assert not any(b"secret plan" in data for data in contents(archive).values())
    assert verify_public(archive, lambda text: None) == []


@pytest.mark.parametrize(("shows", "whole"), [("after-game", {1, 2}), ("after-season", {1}), ("never", set())])
def test_games_are_whole_where_the_settings_show_them(shows: str, whole: set[int], folder: Path) -> None:
    shown(folder, shows)
    archive = exported(folder)
    for name, data in contents(archive).items():
        if name.endswith(".jsonl"):
            number = int(name[len("season-")])
            assert (b'"view":"public"' in data) is (number not in whole)
            setups = {msgspec.json.decode(line)["red"]["setup"] for line in data.splitlines()}
            assert (setups == {None}) is (number not in whole)
    assert verify_public(archive, lambda text: None) == []


def index_with(**values: Any) -> Callable[[dict[str, bytes]], None]:
    def change(files: dict[str, bytes]) -> None:
        index = msgspec.json.decode(files[INDEX])
        index["seasons"][0].update(values)
        files[INDEX] = msgspec.json.encode(index)

    return change


def without_a_game(files: dict[str, bytes]) -> None:
    """Take the last game of the final out, with its new digest and number."""
    name = "season-1/final.jsonl"
    files[name] = b"".join(files[name].splitlines(keepends=True)[:-1])
    index = msgspec.json.decode(files[INDEX])
    final = index["seasons"][0]["leagues"]["final"]
    final["sha256"], final["games"] = hashlib.sha256(files[name]).hexdigest(), final["games"] - 1
    files[INDEX] = msgspec.json.encode(index)


def with_games_of_the_ladder(files: dict[str, bytes]) -> None:
    files["season-1/final.jsonl"] = files["season-1/ladder.jsonl"]
    index = msgspec.json.decode(files[INDEX])
    season = index["seasons"][0]["leagues"]
    season["final"]["sha256"] = hashlib.sha256(files["season-1/final.jsonl"]).hexdigest()
    season["final"]["games"] = season["ladder"]["games"]
    files[INDEX] = msgspec.json.encode(index)


def with_another_move(files: dict[str, bytes]) -> None:
    name = "season-1/ladder.jsonl"
    files[name] = files[name].replace(b'"reason":"', b'"reason":"x', 1)


def with_other_times(files: dict[str, bytes]) -> None:
    name = "season-1/ladder.jsonl"
    first, *others = files[name].splitlines()
    record, settings = decode_line(first)
    times = msgspec.structs.replace(record, times_us=tuple(time + 1 for time in record.times_us))
    files[name] = b"".join(line + b"\n" for line in (encode_line(times, settings), *others))
    index = msgspec.json.decode(files[INDEX])
    index["seasons"][0]["leagues"]["ladder"]["sha256"] = hashlib.sha256(files[name]).hexdigest()
    files[INDEX] = msgspec.json.encode(index)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (index_with(seed="00" * 16), "does not have the SHA-256 that was published"),
        (index_with(seed=""), "its seed is not revealed"),
        (without_a_game, "games that follow from its seed are missing"),
        (with_games_of_the_ladder, "its games were not played with the seed of the season"),
        (with_another_move, "has another SHA-256"),
        (lambda files: files.pop("season-2/ladder.jsonl"), "season-2/ladder.jsonl is missing"),
    ],
)
def test_what_a_host_has_changed_is_found(change: Callable[[dict[str, bytes]], None], fault: str, folder: Path) -> None:
    faults = verify_public(forged(exported(folder), change), lambda text: None)
    assert any(fault in one for one in faults), faults


def test_an_earlier_archive_shows_games_that_are_gone_or_are_not_the_same(folder: Path) -> None:
    for shows in ("after-game", "never"):
        shown(folder, shows)
        before = exported(folder)
        earlier = before.rename(folder.with_name(f"earlier-{shows}.tar.gz"))
        later = exported(folder)
        said: list[str] = []
        assert verify_public(later, said.append, earlier) == []
        assert ("as far as both archives show them" in said[-1]) is (shows == "never")
        later.unlink()
    sooner = folder.with_name("earlier-after-game.tar.gz")
    faults = verify_public(forged(sooner, with_other_times), lambda text: None, sooner)
    assert [fault.partition(":")[0] for fault in faults] == ["season 1, ladder"], faults
    shown(folder, "after-game")
    fewer = forged(exported(folder), without_a_game)
    faults = verify_public(fewer, lambda text: None, earlier)
    assert any("1 games of the earlier archive are missing" in fault for fault in faults), faults


@pytest.mark.parametrize(
    "change",
    [
        lambda files: files.update({"../outside": b""}),
        lambda files: files.pop(INDEX),
        lambda files: files.update({INDEX: b"{}"}),
        lambda files: files.update({INDEX: b"[" * 100_000}),
    ],
    ids=["outside", "no index", "empty index", "deep index"],
)
def test_what_is_no_archive_is_refused(change: Callable[[dict[str, bytes]], None], folder: Path) -> None:
    with pytest.raises(ArenaError, match="expected"):
        verify_public(forged(exported(folder), change), lambda text: None)
    assert not (folder.parent / "outside").exists()


def test_an_archive_replaces_no_file(folder: Path) -> None:
    target = exported(folder)
    with pytest.raises(UsageError, match="does not exist yet"):
        export_public(folder, target)


def games_of(path: Path) -> int:
    with Store(path, create=False) as store:
        return len(store.numbers())


@pytest.fixture
def cup(folder: Path) -> Cup:
    return load_cup(folder)


@pytest.fixture
def database(folder: Path) -> Iterator[CupDatabase]:
    with opened(folder) as database:
        yield database


def test_a_backup_that_is_made_while_games_are_played_can_be_restored_and_played_on(
    folder: Path, cup: Cup, database: CupDatabase, tmp_path: Path
) -> None:
    to, copies = tmp_path / "copy", list[str]()

    def backed_up(play: object) -> bool:
        if get_submission(database, 1).games >= 3 and not copies:
            copies.append(backup(folder, to))
        return bool(copies)

    play_until(folder, cup, database, backed_up)
    assert copies == ["3 stores and 2 bots"]
    assert (to / "secret.key").stat().st_mode & 0o777 == 0o600
    again = tmp_path / "again"
    restore(to, again)
    with opened(again) as restored:
        season = current(restored)
        assert season == current(restored)
        assert season.counted <= games_of(store_file(SeasonLeague.LADDER, again, season.number))
        before = get_submission(restored, 1).games
        play_until(again, load_cup(again), restored, lambda play: get_submission(restored, 1).games > before)


def test_a_backup_leaves_out_what_a_build_has_made_too_deep(folder: Path, tmp_path: Path) -> None:
    dig(bot_folder(folder, 7))
    kept = backup(folder, tmp_path / "copy")
    restore(tmp_path / "copy", tmp_path / "again")
    remove_tree(bot_folder(folder, 7))
    assert backup(folder, tmp_path / "other") == kept


def test_a_copy_replaces_nothing(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    for copy in (backup, restore):
        with pytest.raises(UsageError, match="expected a new or an empty folder"):
            copy(folder, tmp_path / "full")


def test_what_this_version_cannot_read_is_refused(folder: Path, tmp_path: Path) -> None:
    assert "Cup: version 1" in upgrade(folder)
    with opened(folder) as database:
        database.run("pragma user_version = 99")
    words = "expected a database of version 1, got version 99"
    with pytest.raises(UsageError, match=words):
        upgrade(folder)
    with pytest.raises(UsageError, match=words):
        restore(folder, tmp_path / "new")
    assert not (tmp_path / "new").exists()
