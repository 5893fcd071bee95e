"""Seasons: their states, the seed that is published as a hash before it is known, and the final."""

import contextlib
import hashlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_cups import add_bot, make_account, make_cup, opened, play_until

from arena.errors import ArenaError
from arena.host.accounts import Actor, ChangeRefusedError
from arena.host.cup_database import CupDatabase
from arena.host.cup_settings import Cup
from arena.host.seasons import (
    SeasonLeague,
    SeasonState,
    begin_final,
    current,
    finish,
    freeze,
    league_seed,
    open_season,
    seasons,
    store_file,
    thaw,
)
from arena.host.submissions import get_submission
from arena.league.league_options import FormatName, FormatOptions
from arena.league.store import Store

ROUND_ROBIN = FormatOptions(FormatName.ROUND_ROBIN, rounds=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cup"


@pytest.fixture
def cup(folder: Path) -> Cup:
    return make_cup(folder)


@pytest.fixture
def database(folder: Path, cup: Cup) -> Iterator[CupDatabase]:
    with opened(folder) as database:
        yield database


def add_bots(database: CupDatabase, folder: Path, cup: Cup, *names: str) -> list[int]:
    fox = make_account(database, cup, "fox")
    return [add_bot(database, folder, fox, name) for name in names]


def test_a_season_publishes_the_hash_of_a_seed_that_it_reveals_when_it_is_finished(
    database: CupDatabase, folder: Path, cup: Cup
) -> None:
    add_bots(database, folder, cup, "one", "two")
    season = current(database)
    assert season.state is SeasonState.OPEN
    assert season.public_seed == ""
    assert len(bytes.fromhex(season.seed)) == 16
    assert season.seed_hash == hashlib.sha256(season.seed.encode()).hexdigest()
    freeze(database, cup)
    begin_final(database, cup, ROUND_ROBIN)
    assert current(database).public_seed == ""
    assert finish(database, cup).public_seed == season.seed
    following = open_season(database, cup)
    assert following.number == 2
    assert following.seed != season.seed
    assert [one.state for one in seasons(database)] == [SeasonState.FINISHED, SeasonState.OPEN]


def test_the_seeds_of_the_leagues_of_a_season_differ_and_can_be_those_of_a_league() -> None:
    seeds = {league_seed("ab", league) for league in SeasonLeague}
    assert len(seeds) == 3
    assert all(0 <= seed < 2**64 for seed in seeds)


def test_a_change_is_made_once_however_often_it_is_asked_for(database: CupDatabase, folder: Path, cup: Cup) -> None:
    add_bots(database, folder, cup, "one", "two")
    open_season(database, cup)
    assert freeze(database, cup) == freeze(database, cup)
    assert thaw(database, cup) == thaw(database, cup)
    freeze(database, cup)
    assert begin_final(database, cup, ROUND_ROBIN) == begin_final(database, cup, ROUND_ROBIN)
    assert finish(database, cup) == finish(database, cup)
    assert database.column("select action from audit where action like 'season%' order by id") == [
        *("season opened", "season frozen", "season open", "season frozen", "season final", "season finished"),
    ]


def test_a_change_is_refused_in_a_state_in_which_it_makes_no_sense(
    database: CupDatabase, folder: Path, cup: Cup
) -> None:
    with pytest.raises(ArenaError, match="season 1 is open: expected one that is frozen"):
        begin_final(database, cup, ROUND_ROBIN)
    with pytest.raises(ArenaError, match="expected one that is final"):
        finish(database, cup)
    freeze(database, cup)
    with pytest.raises(ArenaError, match="only a finished season is followed by the next one"):
        open_season(database, cup)
    with pytest.raises(ArenaError, match="a final needs two bots that were sent before the freeze"):
        begin_final(database, cup, ROUND_ROBIN)
    add_bots(database, folder, cup, "one", "two")
    with pytest.raises(ArenaError, match="gauntlet"):
        begin_final(database, cup, FormatOptions(FormatName.GAUNTLET, challengers=1))
    assert current(database).state is SeasonState.FROZEN


def test_only_a_host_changes_seasons(database: CupDatabase, cup: Cup) -> None:
    account, _ = make_account(database, cup, "fox")
    for change in (freeze, thaw, open_season):
        with pytest.raises(ChangeRefusedError, match="only a host"):
            change(database, cup, Actor(account.id))


def test_a_change_that_is_interrupted_has_not_been_made(
    database: CupDatabase, cup: Cup, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **detail: object) -> None:
        raise sqlite3.OperationalError("disk full")

    monkeypatch.setattr("arena.host.seasons.announce", fail)
    with contextlib.suppress(ArenaError):
        freeze(database, cup)
    assert current(database).state is SeasonState.OPEN
    assert database.value("select count(*) from audit where action = 'season frozen'") == 0


@pytest.mark.parametrize(
    ("options", "games"),
    [
        (FormatOptions(FormatName.KNOCKOUT), None),
        (FormatOptions(FormatName.LADDER, games=8), 8),
    ],
    ids=lambda value: value.name.value if isinstance(value, FormatOptions) else "",
)
def test_a_final_of_any_format_is_played_with_the_seed_of_the_season_by_the_bots_of_the_ladder(
    options: FormatOptions, games: int | None, database: CupDatabase, folder: Path, cup: Cup
) -> None:
    numbers = add_bots(database, folder, cup, "one", "two", "three")
    freeze(database, cup)
    begin_final(database, cup, options)
    late = add_bot(database, folder, make_account(database, cup, "owl"), "late")
    play = play_until(
        *(folder, cup, database), lambda play: current(database).state is SeasonState.FINISHED and not play.running
    )
    assert "finished" in play.now
    season = current(database)
    with Store(store_file(SeasonLeague.FINAL, folder, 1), create=False) as store:
        rows = store.rows()
        assert store.settings()["seed"] == str(league_seed(season.seed, SeasonLeague.FINAL))
    assert len(rows) == games or games is None
    assert {player.name for row in rows for player in row.players} <= {"one", "two", "three"}
    assert not store_file(SeasonLeague.LADDER, folder, 1).exists()
    assert not store_file(SeasonLeague.CHALLENGES, folder, 1).exists()
    assert {get_submission(database, number).games for number in (*numbers, late)} == {0}


def test_the_best_of_the_ladder_are_the_first_seeds_of_a_knockout(
    database: CupDatabase, folder: Path, cup: Cup
) -> None:
    numbers = add_bots(database, folder, cup, "one", "two", "three")
    with database.change():
        for number in numbers:
            database.run("update submission set player = ? where id = ?", f"digest {number}", number)
    freeze(database, cup)
    order = [f"digest {number}" for number in reversed(numbers)]
    plan = begin_final(database, cup, FormatOptions(FormatName.KNOCKOUT), order).final_plan
    assert plan is not None
    assert plan.options.seeds == ("three", "two", "one")
    assert plan.submissions == tuple(reversed(numbers))


def test_a_new_season_begins_anew_for_the_bots_that_are_in_the_ladder(
    database: CupDatabase, folder: Path, cup: Cup
) -> None:
    number, other = add_bots(database, folder, cup, "one", "two")
    with database.change():
        database.run("update submission set games = 40, state = 'ladder', forfeits = 2 where id = ?", number)
    freeze(database, cup)
    begin_final(database, cup, ROUND_ROBIN)
    finish(database, cup)
    open_season(database, cup)
    bot = get_submission(database, number)
    assert (bot.games, bot.forfeits, bot.state.value) == (0, 0, "probation")
    play_until(folder, cup, database, lambda play: get_submission(database, other).games >= 1)
    assert store_file(SeasonLeague.LADDER, folder, 2).exists()
    assert not store_file(SeasonLeague.LADDER, folder, 1).exists()
