"""Games with openings from the first line that a bot is sent to the store and the file: what the bots are told, what
the record says, and what of it can be checked."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from schedules import schedule
from scripted import Table, game_spec, record_from

from arena.errors import UsageError
from arena.game.exported import redact
from arena.game.faults import Fault, GameResult, Verdict, forfeit
from arena.game.game_spec import GameSpec, Opening, Player
from arena.game.record import GameRecord
from arena.game.time_control import TimeControl
from arena.league.exchange import export_lines, import_games
from arena.league.league_options import PlayOptions
from arena.league.option_values import check_options
from arena.league.readers import HOST
from arena.league.settings import Settings
from arena.league.store import Store
from arena.league.verify import verify
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset
from protocol.notation import Color, Reason

RED, BLUE = Color.RED, Color.BLUE
GIVEN = (".........F/2........B/..S.2...../.39.M.....", "F........./B....9...2/........../2.S.3.M...")
OTHER = (GIVEN[1], GIVEN[0])
THIRD = (GIVEN[0], GIVEN[0])
BARRAGE = load_ruleset("barrage")
SETTINGS = Settings(variant_of(BARRAGE), TimeControl(), openings=(GIVEN, OTHER, THIRD))
PLAYERS = (Player("ann", "digest-of-ann"), Player("bob", "digest-of-bob"), Player("cat", "digest-of-cat"))
changed = msgspec.structs.replace


@pytest.fixture
def seated() -> Any:
    """A game with an opening, before its bots have said anything."""
    return Table(changed(game_spec(BARRAGE), opening=GIVEN))


# --- what bots are told -----------------------------------------------------------------------------------------------


def test_both_are_told_their_set_ups_and_are_asked_for_none(seated: Any) -> None:
    seated.introduce()
    seated.skip()
    for color, last in ((RED, "turn 1 100 100"), (BLUE, "enemy j1 a2 j2 c3 e3 b4 c4 e4")):
        told = b"".join(seated.writes[color]).decode().splitlines()
        assert "setup" not in told
        (restored,) = [number for number, line in enumerate(told) if line.startswith("restore")]
        assert told[restored] == f"restore {GIVEN[color]}"
        assert told[restored - 1].startswith("seed ")
        assert told[-1] == last
    seated.play("a2-a7")
    assert seated.next_write(BLUE)[:2] == ["moved red a2-a7", "battle a7 2 2 neither"]


# --- what records say -------------------------------------------------------------------------------------------------


@pytest.fixture
def played() -> Callable[[GameSpec], GameRecord]:

    def play(game: GameSpec) -> GameRecord:
        table = Table(game)
        rng = Random(game.id)
        if game.opening:
            table.introduce()
        else:
            table.begin(*(setup.split("/") for setup in GIVEN))
        table.play_random(rng, 30)
        if not table.referee.is_over:
            table.play("resign")
        return record_from(table)

    return play


@pytest.fixture
def games() -> list[GameSpec]:
    """Three rounds of three bots with openings: 18 games."""
    return schedule(SETTINGS, PLAYERS, 3)


@pytest.mark.parametrize("color", Color)
def test_a_side_s_view_has_no_set_up_of_the_other(
    played: Callable[[GameSpec], GameRecord], games: list[GameSpec], color: Color
) -> None:
    record = played(games[0])
    line = redact(record, color)
    fields = json.loads(line)
    assert fields[color.word]["opening"] == record.setups[color]
    assert fields[color.opponent.word]["opening"] is None
    assert str(record.setups[color.opponent]).encode() not in line


def no_start(record: GameRecord) -> GameRecord:
    """The same, if Blue had not started."""
    verdict = forfeit(record.players, [(Color.BLUE, Fault(Reason.NO_START, "no"))], 0)
    return changed(record, actions=(), times_us=(), forgiven_us=(), setups=(None, None), verdict=verdict)


def opened(opening: Opening) -> Callable[[GameRecord], GameRecord]:
    return lambda record: changed(record, opening=opening)


FORGERIES: dict[str, tuple[Callable[[GameRecord], GameRecord], str]] = {
    "another opening": (opened((GIVEN[0], GIVEN[0].replace("39", "93"))), "its set-ups are not those of its opening"),
    "an illegal one": (opened((GIVEN[0], GIVEN[0].replace("9", "8"))), "the army of barrage has no piece '8'"),
    "no opening": (lambda record: changed(record, opening=msgspec.UNSET), "it was played without an opening, and the"),
    "lost by setting up": (
        lambda record: changed(no_start(record), verdict=Verdict(GameResult.RED, Reason.ILLEGAL_SETUP, 0, "x")),
        "illegal-setup, but its set-ups were given",
    ),
    "a round that there is not": (
        lambda record: changed(record, opening=(GIVEN[1],) * 2, setups=(GIVEN[1],) * 2, actions=(), times_us=()),
        "its pair's seed follows from no round of this league",
    ),
}


@pytest.mark.parametrize(("forge", "words"), FORGERIES.values(), ids=FORGERIES)
def test_a_forged_opening_is_found(
    played: Callable[[GameSpec], GameRecord],
    games: list[GameSpec],
    tmp_path: Path,
    *,
    forge: Callable[[GameRecord], GameRecord],
    words: str,
) -> None:
    path = stored(tmp_path, [forge(played(games[0]))])
    assert [fault for fault in faults(path) if words in fault] != []


# --- stores and files -------------------------------------------------------------------------------------------------


def stored(folder: Path, records: list[GameRecord], settings: Settings = SETTINGS, name: str = "l.sqlite") -> Path:
    path = folder / name
    with Store(path, create=True) as store:
        store.agree(settings.described(), PLAYERS)
        store.add_all(records)
    return path


def faults(path: Path) -> list[str]:
    with Store(path, create=False) as store:
        return [str(damage) for damage in verify(store, lambda done, of: None)]


@pytest.fixture
def whole(played: Callable[[GameSpec], GameRecord], games: list[GameSpec], tmp_path: Path) -> Path:
    """A store of a league with openings."""
    return stored(tmp_path, [played(game) for game in games])


@pytest.mark.parametrize("openings", [(), (OTHER, GIVEN, THIRD), (GIVEN, OTHER)], ids=["none", "order", "fewer"])
def test_a_store_holds_games_under_one_file_of_openings(whole: Path, openings: tuple[Opening, ...]) -> None:
    asked = changed(SETTINGS, openings=openings)
    with Store(whole, create=True) as store:
        store.agree(SETTINGS.described(), PLAYERS)
        with pytest.raises(UsageError) as caught:
            store.agree(asked.described(), PLAYERS)
    here, there = SETTINGS.described()["openings"], asked.described()["openings"]
    assert f"    openings: {here} (in the store), {there} (asked for)\nuse another store" in str(caught.value)


def exported(path: Path) -> Iterator[bytes]:
    with Store(path, create=False) as store:
        yield from export_lines(store, store.numbers(), HOST, lambda damage: None)


def test_an_export_comes_back_as_it_was_and_goes_on(whole: Path, games: list[GameSpec], tmp_path: Path) -> None:
    lines = list(exported(whole))
    (tmp_path / "g.jsonl").write_bytes(b"".join(lines))
    target = tmp_path / "new.sqlite"
    assert import_games(target, [tmp_path / "g.jsonl"], lambda *_: None).new == len(games)
    assert list(exported(target)) == lines
    assert faults(target) == []
    with Store(target, create=True) as store:
        store.agree(SETTINGS.described(), PLAYERS)


def test_bots_are_not_kept_for_a_game_in_which_they_would_know_the_other_s_set_up(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--openings and --keep-bots cannot be used together"):
        check_options(PlayOptions(openings=tmp_path / "o.txt", keep_bots=True))
