"""Clocks that are scaled to machines: what is in force follows from a record, and no other scale is believed."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_play import random_rows
from schedules import schedule
from scripted import Table, record_from

from arena.errors import UsageError
from arena.game.game_spec import GameSpec, Player
from arena.game.recheck import check_record
from arena.game.record import GameRecord, RecordError, decode_record, encode_record
from arena.game.time_control import LEAST_PERCENT, LONGEST_MS, MOST_PERCENT, TimeControl
from arena.league.exchange import export_lines, import_games, verify_file
from arena.league.readers import HOST
from arena.league.settings import Settings
from arena.league.store import Store
from arena.league.verify import GameChecks, verify
from arena.play.machine import calibration_of, percent_of, played_on, read_reference, reference_text
from arena.stratego.game import ruleset_of, variant_of
from arena.stratego.rules.rulesets import load_ruleset
from arena.version import __version__
from protocol.notation import Color, Reason

Played = Callable[[GameSpec], GameRecord]
DUEL = load_ruleset("duel")
PLAYERS = [Player(name, f"digest-of-{name}") for name in ("ann", "bob")]
REFERENCE = 20_000
PLAIN = Settings(variant_of(DUEL), TimeControl(move_ms=100), 7)
CALIBRATED = msgspec.structs.replace(PLAIN, reference_us=REFERENCE)
LINUX = "Linux 6.1.0 x86_64, 4 CPUs, CPython 3.11.7"
SLOW_US, SLOW_PERCENT = 31_040, 155
changed = msgspec.structs.replace


@pytest.fixture
def table() -> Callable[[GameSpec], Table]:
    """A game in which both have set up."""

    def begin(spec: GameSpec) -> Table:
        made, rng, ruleset = Table(spec), Random(spec.id), ruleset_of(spec.variant)
        made.begin(random_rows(ruleset, rng), random_rows(ruleset, rng))
        return made

    return begin


@pytest.fixture
def played(table: Callable[[GameSpec], Table]) -> Played:
    """`played(spec)`: a game on the slow machine, in which each side thinks as long as it may."""

    def play(spec: GameSpec) -> GameRecord:
        made = table(changed(spec, time_percent=SLOW_PERCENT))
        made.play_random(Random(spec.id), plies=6, after=0.155)
        made.play("resign")
        return changed(record_from(made), arena=__version__, machine=played_on(LINUX, "attic", 0.5, SLOW_US))

    return play


@pytest.fixture
def path(tmp_path: Path, played: Played) -> Path:
    """A store with the two games of two bots."""
    path = tmp_path / "l.sqlite"
    with Store(path, create=True) as store:
        store.agree(CALIBRATED.described(PLAYERS), PLAYERS)
        store.add_all([played(spec) for spec in schedule(CALIBRATED, PLAYERS, 1)])
    return path


def found(path: Path) -> list[str]:
    """What `verify` says of a store."""
    with Store(path, create=False) as store:
        return [str(damage) for damage in verify(store, lambda done, of: None)]


def first_record(path: Path) -> GameRecord:
    with Store(path, create=False) as store:
        record = store.stored(1).record
    assert record is not None
    return record


# --- what a scale is --------------------------------------------------------------------------------------------------


@given(
    st.builds(
        TimeControl,
        st.none() | st.integers(1, LONGEST_MS),
        st.integers(1, LONGEST_MS),
        *(st.integers(0, LONGEST_MS) for _ in range(4)),
    ),
    st.integers(LEAST_PERCENT, MOST_PERCENT),
)
@settings(max_examples=60)
def test_every_limit_but_the_margin_is_scaled_to_the_nearest_millisecond(time: TimeControl, percent: int) -> None:
    scaled = time.scaled(percent)
    for name in ("move_ms", "bank_ms", "increment_ms", "start_ms", "setup_ms"):
        before, after = getattr(time, name), getattr(scaled, name)
        if before:
            exact = min(LONGEST_MS, max(1.0, before * percent / 100))
            assert 1 <= after <= LONGEST_MS
            assert abs(after - exact) <= 0.5
        else:
            assert after == before
    assert scaled.margin_ms == time.margin_ms


@given(st.integers(1, 10**9), st.integers(50, 10**9), st.integers(0, 10**6))
@settings(max_examples=60)
def test_the_scale_follows_from_what_a_record_and_a_store_say(work: int, reference: int, load: int) -> None:
    told = calibration_of(played_on(LINUX, "attic", load / 100, work))
    kept = read_reference(reference_text(reference))
    assert told is not None
    assert kept is not None
    assert percent_of(told, kept) == percent_of(work, reference)


@pytest.mark.parametrize(
    "text", ["", "no", "reference 0.0 ms", "reference 05.0 ms", "reference 5 ms", "reference -1.0 ms"]
)
def test_what_is_no_reference_is_none(text: str) -> None:
    assert read_reference(text) is None


# --- a game -----------------------------------------------------------------------------------------------------------


def test_games_have_the_ids_of_the_clocks_that_are_not_scaled() -> None:
    plain, calibrated = (list(schedule(settings, PLAYERS, 2)) for settings in (PLAIN, CALIBRATED))
    assert plain == calibrated


def test_bots_are_told_the_scaled_clocks_and_held_to_them(table: Callable[[GameSpec], Table]) -> None:
    (spec, _) = schedule(CALIBRATED, PLAYERS, 1)
    made = table(changed(spec, time_percent=SLOW_PERCENT))
    assert "turn 1 155 155" in made.next_write(Color.RED)
    made.play_random(Random(1), plies=1, after=0.2)
    assert made.referee.verdict is None
    made.play_random(Random(1), plies=1, after=0.206)
    assert made.referee.verdict is not None
    assert made.referee.verdict.reason is Reason.TIMEOUT


def test_a_record_is_judged_by_the_clocks_that_were_in_force(path: Path) -> None:
    record = first_record(path)
    assert [time.move_ms for time in record.times] == [155, 155]
    check_record(record)
    with pytest.raises(RecordError, match="took 155 ms, where 150 ms were allowed"):
        check_record(changed(record, time_percent=msgspec.UNSET))


@pytest.mark.parametrize("percent", [-100, 0, LEAST_PERCENT - 1, MOST_PERCENT + 1, 10**30])
def test_a_scale_out_of_bounds_is_refused(path: Path, percent: int) -> None:
    with pytest.raises(RecordError, match=f"clocks were scaled to {percent}%, where 25% to 400% were expected"):
        check_record(changed(first_record(path), time_percent=percent))


# --- a store ----------------------------------------------------------------------------------------------------------


FORGED: list[tuple[Callable[[GameRecord], GameRecord], str]] = [
    (
        lambda game: changed(game, time_percent=200),
        "scaled to 200%, and 155% follow from the store's calibration (reference 20.0 ms) and the machine's",
    ),
    (lambda game: changed(game, machine=LINUX), "scaled to 155%, and nothing follows"),
    (lambda game: changed(game, time_percent=msgspec.UNSET), "its clocks were not scaled, and 155% follow"),
]


@pytest.mark.parametrize(("forge", "words"), FORGED)
def test_a_scale_that_is_not_that_of_the_machine_is_named(
    path: Path, forge: Callable[[GameRecord], GameRecord], words: str
) -> None:
    with Store(path, create=False) as store:
        contents = store.read()
    said = GameChecks(contents.settings, contents.rows).faults(forge(first_record(path)))
    assert any(words in line for line in said), said


def test_a_scaled_game_is_none_of_a_league_without(path: Path) -> None:
    with Store(path, create=False) as store:
        rows = store.rows()
    assert GameChecks(PLAIN.described(), rows).faults(first_record(path)) == [
        "its clocks were scaled to 155%, and nothing follows from the store's calibration (none) and the machine's"
    ]


def test_a_store_holds_games_of_one_reference_alone(tmp_path: Path, played: Played) -> None:
    with Store(tmp_path / "l.sqlite", create=True) as store:
        store.agree(PLAIN.described(PLAYERS), PLAYERS)
        assert "calibration" not in store.settings()
        store.add_all([played(spec) for spec in schedule(PLAIN, PLAYERS, 1)])
        with pytest.raises(UsageError, match=r"calibration: no \(in the store\), reference 20.0 ms \(asked for\)"):
            store.agree(CALIBRATED.described(PLAYERS), PLAYERS)
    with Store(tmp_path / "scaled.sqlite", create=True) as store:
        store.agree(CALIBRATED.described(PLAYERS), PLAYERS)
        with pytest.raises(UsageError, match=r"reference 20.0 ms \(in the store\), reference 21.0 ms \(asked for\)"):
            store.agree(changed(CALIBRATED, reference_us=21_000).described(PLAYERS), PLAYERS)


def test_scaled_games_come_back_from_their_export_and_agree_with_their_league(path: Path, tmp_path: Path) -> None:
    file, new = tmp_path / "games.jsonl", tmp_path / "new.sqlite"
    with Store(path, create=False) as store:
        file.write_bytes(b"".join(export_lines(store, store.numbers(), HOST, print)))
    assert b'"time_percent":155' in file.read_bytes()
    assert list(verify_file(file, lambda done, of: None)) == []
    assert import_games(new, [file], lambda done: None).new == 2
    assert found(new) == []
    assert decode_record(encode_record(first_record(new))) == first_record(path)
