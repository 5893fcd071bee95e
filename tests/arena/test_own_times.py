"""Bots with a time control of their own: in a store's settings, when it is checked or salvaged, and in saved games."""

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import msgspec
import pytest
from random_play import random_rows
from schedules import schedule
from scripted import Table, record_from

from arena.errors import ArenaError, UsageError
from arena.game.game_spec import GameSpec, Player
from arena.game.record import GameRecord, History
from arena.game.time_control import TimeControl
from arena.league.exchange import export_lines, import_games, verify_file
from arena.league.readers import HOST
from arena.league.resumed import agree
from arena.league.settings import Settings
from arena.league.store import Store
from arena.league.store.document import own_times_in, time_key
from arena.league.verify import GameChecks, verify
from arena.play.saved_game import SavedGame
from arena.stratego.game import ruleset_of, variant_of
from arena.stratego.rules.rulesets import load_ruleset
from protocol.notation import Color, Reason

Played = Callable[[GameSpec], GameRecord]
DUEL = load_ruleset("duel")
USUAL, SLOW, SLOWER = TimeControl(), TimeControl(move_ms=1000), TimeControl(move_ms=None, bank_ms=60_000)
ANN, BOB, CAT = PLAYERS = [Player(name, f"digest-of-{name}") for name in ("ann", "bob", "cat")]
HANDICAP = Settings(variant_of(DUEL), USUAL, 7, bot_times=((ANN.digest, SLOW), (CAT.digest, SLOWER)))
PLAIN = msgspec.structs.replace(HANDICAP, bot_times=())
changed = msgspec.structs.replace


@pytest.fixture
def played() -> Played:
    """`played(spec)`: a game of a few plies, each as long as its side's own clock has room for."""

    def play(spec: GameSpec) -> GameRecord:
        rng, table, ruleset = Random(spec.id), Table(spec), ruleset_of(spec.variant)
        table.begin(random_rows(ruleset, rng), random_rows(ruleset, rng))
        for ply in range(6):
            table.play_random(rng, plies=1, after=(spec.times[ply % 2].move_ms or 5000) / 1000)
        table.play("resign")
        return record_from(table)

    return play


@pytest.fixture
def path(tmp_path: Path, played: Played) -> Path:
    """A store with the six games of three bots, of which two have a time of their own."""
    return stored(tmp_path / "l.sqlite", HANDICAP, [played(spec) for spec in schedule(HANDICAP, PLAYERS, 1)])


def stored(path: Path, settings: Settings, games: Sequence[GameRecord], players: Sequence[Player] = PLAYERS) -> Path:
    with Store(path, create=True) as store:
        store.agree(settings.described(players), players)
        store.add_all(games)
    return path


def found(path: Path) -> list[str]:
    """What `verify` says of a store."""
    with Store(path, create=False) as store:
        return [str(damage) for damage in verify(store, lambda done, of: None)]


def refusal(path: Path, settings: Settings, players: Sequence[Player] = PLAYERS) -> str | None:
    """What is said where a league wants to go on in a store."""
    with Store(path, create=True) as store:
        before = store.settings()
        try:
            store.agree(settings.described(players), players)
        except UsageError as error:
            assert store.settings() == before
            return str(error)
    return None


# --- losing on time ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [0.1, 0.5])
def test_a_bot_that_thinks_too_long_for_one_clock_loses_under_that_one_alone_whatever_its_colour(
    seconds: float,
) -> None:
    """Ann has a second for each move, Bob a tenth and a margin."""
    for spec in schedule(HANDICAP, [ANN, BOB], 1):
        rng, table = Random(1), Table(spec)
        table.begin(random_rows(DUEL, rng), random_rows(DUEL, rng))
        for color in Color:
            clock = f"clock setup {SLOW.setup_ms} move {spec.times[color].move_ms}"
            assert clock in b"".join(table.writes[color]).decode().splitlines()
        for color in Color:
            thinks = min(seconds, table.referee.deadline - table.now)
            if thinks < seconds:
                table.expire()
                break
            table.play_random(rng, plies=1, after=thinks)
            assert spec.players[color] == ANN or seconds < 0.15
        verdict = table.referee.verdict
        assert (verdict is None) == (seconds < 0.15)
        if verdict is not None:
            assert verdict.reason is Reason.TIMEOUT
            assert verdict.result.winner is not None
            assert spec.players[verdict.result.winner] == ANN


# --- what a store holds -----------------------------------------------------------------------------------------------


def test_a_store_says_which_bot_has_which_time_and_no_more_than_before_of_others(path: Path, tmp_path: Path) -> None:
    with Store(path, create=False) as store:
        settings = store.settings()
    assert own_times_in(settings) == {ANN.digest: "1000ms", CAT.digest: "60+0"}
    assert settings["time"] == "100ms"
    assert settings.keys() - PLAIN.described(PLAYERS).keys() == {time_key(ANN), time_key(CAT)}


def test_the_same_league_goes_on_whoever_of_it_takes_part_and_whatever_they_are_called(path: Path) -> None:
    assert refusal(path, HANDICAP) is None
    assert refusal(path, HANDICAP, [CAT, BOB]) is None
    assert refusal(path, HANDICAP, [changed(player, name=f"new-{player.name}") for player in PLAYERS]) is None
    with Store(path, create=False) as store:
        assert own_times_in(store.settings()) == {ANN.digest: "1000ms", CAT.digest: "60+0"}
        assert sum(name.startswith("time of ") for name in store.settings()) == 2


OTHERS = [
    (PLAIN, PLAYERS, ["time of ann@digest: 1000ms (in the store), 100ms (asked for)", "time of cat@digest: 60+0 (in"]),
    (
        changed(HANDICAP, bot_times=(*HANDICAP.bot_times, (BOB.digest, SLOW))),
        PLAYERS,
        ["time of bob@digest: 100ms (in the store), 1000ms (asked for)"],
    ),
]


@pytest.mark.parametrize(("settings", "players", "lines"), OTHERS)
def test_games_of_a_bot_under_another_clock_are_refused_with_both_clocks(
    path: Path, settings: Settings, players: list[Player], lines: list[str]
) -> None:
    words = refusal(path, settings, players)
    assert words is not None
    assert "holds games under other settings" in words
    assert all(line in words for line in lines)
    assert words.count("(in the store)") == len(lines)


def test_a_new_bot_may_come_with_a_time_of_its_own_and_so_may_a_new_version(path: Path) -> None:
    dan, new = Player("dan", "digest-of-dan"), Player("ann", "digest-of-new-ann")
    joined = changed(HANDICAP, bot_times=(*HANDICAP.bot_times, (dan.digest, SLOW), (new.digest, SLOWER)))
    assert refusal(path, joined, [dan, new, BOB]) is None
    with Store(path, create=False) as store:
        times = own_times_in(store.settings())
    assert times == {ANN.digest: "1000ms", CAT.digest: "60+0", dan.digest: "1000ms", new.digest: "60+0"}


# --- checking and salvaging -------------------------------------------------------------------------------------------


def swapped(record: GameRecord) -> GameRecord:
    red, blue = record.times
    return changed(record, time=blue, blue_time=red)


FORGED: list[tuple[str, Callable[[GameRecord], GameRecord], list[str]]] = [
    (
        "each has the other's clock",
        swapped,
        ["it was played under time '100ms' by ann", "it was played under time '1000ms' by bob"],
    ),
    (
        "one has more for its set-up",
        lambda game: changed(game, blue_time=changed(USUAL, setup_ms=9000)),
        ["it was played under other times 'start 10000ms, set-up 9000ms, margin 50ms' by bob"],
    ),
]


@pytest.mark.parametrize(("words", "forge", "faults"), FORGED, ids=[case[0] for case in FORGED])
def test_a_game_in_which_a_side_had_another_clock_is_named(
    path: Path, words: str, forge: Callable[[GameRecord], GameRecord], faults: list[str]
) -> None:
    with Store(path, create=False) as store:
        contents = store.read()
        record = next(game for row in contents.rows if (game := store.record(row.id)[1]).players == (ANN, BOB))
    league = GameChecks(contents.settings, contents.rows)
    assert league.faults(record) == []
    said = league.faults(forge(record))
    assert all(any(fault in line for line in said) for fault in faults), said


# --- files of records -------------------------------------------------------------------------------------------------


def lines_of(path: Path, file: Path) -> Path:
    with Store(path, create=False) as store:
        file.write_bytes(b"".join(export_lines(store, store.numbers(), HOST, print)))
    return file


def take_in(target: Path, *sources: Path) -> int:
    return import_games(target, sources, lambda done: None).new


def test_games_with_handicaps_come_back_from_their_export_with_their_settings(path: Path, tmp_path: Path) -> None:
    file, new = lines_of(path, tmp_path / "games.jsonl"), tmp_path / "new.sqlite"
    assert list(verify_file(file, lambda done, of: None)) == []
    assert take_in(new, file) == 6
    assert found(new) == []
    with Store(path, create=False) as store, Store(new, create=False) as other:
        assert own_times_in(other.settings()) == own_times_in(store.settings())
    assert refusal(new, HANDICAP) is None


def test_a_store_takes_in_no_game_of_a_bot_under_another_clock(path: Path, tmp_path: Path, played: Played) -> None:
    plain = stored(tmp_path / "plain.sqlite", PLAIN, [played(spec) for spec in schedule(PLAIN, [ANN, BOB], 1)])
    for target, source in ((path, plain), (plain, path)):
        before = target.read_bytes()
        with pytest.raises(ArenaError, match=r"time of ann@digest|it was played under time '100ms' by ann"):
            take_in(target, lines_of(source, tmp_path / "games.jsonl"))
        assert target.read_bytes() == before


# --- saved games ------------------------------------------------------------------------------------------------------


@pytest.fixture
def saved(played: Played) -> SavedGame:
    """The first game of a match between Ann and Bob after six plies."""
    (spec, _) = schedule(HANDICAP, [ANN, BOB], 1)
    record = played(spec)
    red, blue = record.setups
    assert red is not None
    assert blue is not None
    history = History(("", ""), (red, blue), record.actions[:-1], record.times_us[:-1], ())
    return SavedGame(
        spec=spec,
        history=history,
        bots=("ann.py", "bob.py"),
        store="l.sqlite",
        seed=HANDICAP.seed,
        format=1,
        usual_time=USUAL,
    )


def test_a_saved_game_knows_the_time_of_its_match_and_those_of_its_bots(saved: SavedGame, tmp_path: Path) -> None:
    """Even where the store is gone: what is put there then is what the match would put there."""
    with Store(tmp_path / "new.sqlite", create=True) as store:
        assert agree(saved, store) is None
    assert refusal(tmp_path / "new.sqlite", HANDICAP, [ANN, BOB]) is None
    with Store(tmp_path / "new.sqlite", create=True) as store:
        assert own_times_in(store.settings()) == {ANN.digest: "1000ms"}
        assert store.settings()["time"] == "100ms"


@pytest.mark.parametrize(
    "edits",
    [
        {"blue_time": None},
        {"time": USUAL, "blue_time": SLOW},
        {"blue_time": changed(USUAL, margin_ms=0)},
    ],
)
def test_a_saved_game_whose_clocks_were_changed_is_none_of_the_match(
    saved: SavedGame, tmp_path: Path, edits: dict[str, object]
) -> None:
    with (
        Store(tmp_path / "new.sqlite", create=True) as store,
        pytest.raises(UsageError, match="this is not a paused game"),
    ):
        agree(changed(saved, spec=changed(saved.spec, **edits)), store)
