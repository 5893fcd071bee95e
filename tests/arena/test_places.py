"""A store says the places of its last league, worked out again from its games, and how far from final they are."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from commands import invoke
from ended_leagues import Made, Run, made_in
from forged_games import forge_setting

from arena.api.leagues import League
from arena.league.league_options import FormatName, FormatOptions
from arena.league.pairing.pairing import Placing
from arena.league.store import Store
from arena.league.stored_league import stored_places
from arena.report.placings import PlacingEntry, stage_text
from arena.report.site.site_contents import SitePlan, read_site

if TYPE_CHECKING:
    import subprocess

SWISS = FormatOptions(FormatName.SWISS, rounds=3)
KNOCKOUT = FormatOptions(FormatName.KNOCKOUT)
LADDER = FormatOptions(FormatName.LADDER, games=30)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Made]:
    with made_in(tmp_path, 7) as made:
        yield made


def placed(path: Path) -> Placing:
    with Store(path, create=False) as store:
        placing = stored_places(store, store.read())
    assert placing is not None
    return placing


def entry_of(path: Path) -> PlacingEntry | None:
    return League(path).standings().placing


def standings(made: Made, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """What `arena standings` prints of the store."""
    return invoke(made.path.parent, "standings", str(made.path), *arguments)


# --- which places -----------------------------------------------------------------------------------------------------


def test_with_openings_they_are_too_though_no_store_has_the_file(made: Made, tmp_path: Path) -> None:
    opening = "red FBBS2339M./........../........../{}\nblue FBBS2339M./........../........../........2.\n"
    rows = ("2.........", "..2.......", "....2.....", "......2...", ".........2")
    (tmp_path / "given.txt").write_text("".join(map(opening.format, rows)))
    made.play(Run(SWISS), openings=tmp_path / "given.txt")
    assert entry_of(made.path) == made.placing
    made.play(Run(SWISS, most=1, bots=4, is_new=True), openings=tmp_path / "given.txt")
    assert entry_of(made.path) == made.placing


def test_games_that_do_not_count_and_those_of_other_bots_change_no_place(made: Made) -> None:
    made.play(Run(FormatOptions(rounds=2)))
    made.play(Run(SWISS, bots=4))
    assert made.placing is not None
    everything, usual = (json.loads(standings(made, "--json", *more).stdout)["placing"] for more in (["--all"], []))
    assert everything == usual == json.loads(msgspec.json.encode(made.placing))


# --- how far it is ----------------------------------------------------------------------------------------------------


def test_places_of_a_league_that_is_not_over_are_said_to_be_provisional(made: Made) -> None:
    """Four bots have two pairs of games in each round of a Swiss."""
    said = {}
    for most in (0, 1, 4, 5):
        made.killed(Run(SWISS, bots=4), most)
        placing = placed(made.path)
        assert placing.stage is not None
        assert not placing.stage.is_over
        said[most] = stage_text(placing)
    assert said == {
        0: "before round 1 of 3",
        1: "in round 1 of 3 (1 of 4 games)",
        4: "after round 1 of 3",
        5: "in round 2 of 3 (1 of 4 games)",
    }


def test_a_swiss_between_two_rounds_has_the_places_of_one_that_had_no_more(made: Made) -> None:
    """The bye of the round to come, and opponents that are still to be met, count for nothing yet."""
    made.play(Run(FormatOptions(FormatName.SWISS, rounds=1)))
    over = entry_of(made.path)
    made.killed(Run(SWISS), 4)
    placing = entry_of(made.path)
    assert over is not None
    assert placing is not None
    assert placing.stage == "after round 1 of 3"
    assert placing.places == over.places


# --- who met whom -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [SWISS, KNOCKOUT], ids=lambda options: options.name.value)
def test_the_rounds_have_all_games_and_the_points_that_these_gave(made: Made, options: FormatOptions) -> None:
    table = made.play(Run(options))
    placing = entry_of(made.path)
    assert placing is not None
    games = {game.number: game for game in League(made.path).games()}
    met = [meeting for round_ in placing.rounds for meeting in round_.meetings]
    numbers = [number for meeting in met for number in meeting.games]
    assert sorted(numbers) == sorted(games)
    assert len(numbers) == table.games
    for meeting in met:
        if meeting.is_bye:
            continue
        points = dict.fromkeys(meeting.bots, 0.0)
        for game in (games[number] for number in meeting.games):
            assert {game.red, game.blue} == set(meeting.bots)
            if game.winner:
                points[game.winner] += 1
        assert tuple(points.values()) == meeting.points, "none of these games is a draw"


def test_the_rounds_are_printed_where_they_are_asked_for_and_there_are_some(made: Made) -> None:
    made.play(Run(KNOCKOUT))
    text = standings(made, "--rounds").stdout
    assert "\nFinal\n" in text
    assert all(len(line) <= 80 for line in text.splitlines())
    made.play(Run(LADDER))
    assert "expected a store whose last league was a Swiss or a knockout" in standings(made, "--rounds").stderr


# --- stores that somebody has changed ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("format", lambda text: text[:-1], "a format with its options"),
        ("format", lambda text: text.replace('"rounds":3', '"rounds":1000000'), "expected at most"),
        ("openings", lambda text: "9999999 of digest 0123456789abcdef", "openings"),
    ],
)
def test_what_cannot_be_worked_out_is_said_beside_the_table(
    made: Made, name: str, change: Callable[[str], str], words: str
) -> None:
    made.play(Run(SWISS))
    with Store(made.path, create=False) as store:
        before = store.kept().format if name == "format" else store.settings()[name]
    forge_setting(made.path, name, change(before))
    text = " ".join(standings(made).stdout.split())
    assert "the places of the league's format cannot be worked out from this store: " in text
    assert words in text.partition("cannot be worked out")[2]
    assert json.loads(standings(made, "--json").stdout)["placing"]["places"] == []
    with Store(made.path, create=False) as store:
        assert any("cannot be worked out" in note for note in read_site(store, SitePlan()).notes)
