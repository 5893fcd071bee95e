"""A store says the places of its last league, worked out again from its games, and how far from final they are."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from ended_leagues import BOTS, Made, Run, made_in
from forged_games import forge_setting

from arena.api.leagues import League
from arena.cli.main import cli
from arena.errors import UsageError
from arena.league.exchange import import_games
from arena.league.league_options import FormatName, FormatOptions
from arena.league.pairing.placing import Placing
from arena.league.store import Store
from arena.league.stored_league import KeptFormat, stored_places
from arena.report.placings import PlacingEntry, stage_text
from arena.report.site.site_contents import SitePlan, read_site

SWISS = FormatOptions(FormatName.SWISS, rounds=3)
KNOCKOUT = FormatOptions(FormatName.KNOCKOUT)
LADDER = FormatOptions(FormatName.LADDER, games=30)
PLACED = (SWISS, KNOCKOUT, LADDER)


@pytest.fixture
def made(tmp_path: Path, executor_here: Callable[..., Any]) -> Iterator[Made]:
    with made_in(tmp_path, executor_here, 7) as made:
        yield made


def placed(path: Path) -> Placing:
    with Store(path, create=False) as store:
        placing = stored_places(store, store.read())
    assert placing is not None
    return placing


def entry_of(path: Path) -> PlacingEntry | None:
    return League(path).standings().placing


@pytest.fixture
def standings(made: Made, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What `arena standings` prints of the store."""

    def run(*arguments: str) -> str:
        capsys.readouterr()
        code = cli.main(["standings", str(made.path), *arguments], prog_name="arena", standalone_mode=False)
        assert not code
        return capsys.readouterr().out

    return run


# --- which places -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", PLACED, ids=lambda options: options.name.value)
def test_they_are_those_that_the_league_has_printed(made: Made, options: FormatOptions) -> None:
    made.play(Run(options))
    assert made.placing is not None
    assert made.placing.is_over
    assert entry_of(made.path) == made.placing
    assert not made.placing.problem


def test_with_openings_they_are_too_though_no_store_has_the_file(made: Made, tmp_path: Path) -> None:
    opening = "red FBBS2339M./........../........../{}\nblue FBBS2339M./........../........../........2.\n"
    rows = ("2.........", "..2.......", "....2.....", "......2...", ".........2")
    (tmp_path / "given.txt").write_text("".join(map(opening.format, rows)))
    made.play(Run(SWISS), openings=tmp_path / "given.txt")
    assert entry_of(made.path) == made.placing
    made.play(Run(SWISS, most=1, bots=4, is_new=True), openings=tmp_path / "given.txt")
    assert entry_of(made.path) == made.placing


def test_with_bots_that_have_a_time_of_their_own_they_are_too(made: Made, tmp_path: Path) -> None:
    (tmp_path / "limits.toml").write_text('[bot3]\ntime = "5s"\n')
    made.play(Run(SWISS), limits=tmp_path / "limits.toml")
    assert entry_of(made.path) == made.placing


def test_games_that_are_imported_count_as_soon_as_the_format_has_them(made: Made) -> None:
    made.killed(Run(SWISS, bots=4), 4)
    import_games(made.path, [made.folder / "whole.sqlite"], lambda *_: None)
    placing = entry_of(made.path)
    made.play(Run(SWISS, bots=4))
    assert placing == made.placing
    assert placing is not None
    assert placing.is_over


def test_seeds_stay_with_bots_that_are_renamed(made: Made) -> None:
    made.play(Run(FormatOptions(FormatName.SWISS, rounds=2, seeds=("bot4", "bot3"))))
    before = entry_of(made.path)
    with Store(made.path, create=True) as store:
        entrants = store.kept().entrants
        store.keep(entrants=tuple(msgspec.structs.replace(player, name=f"{player.name}x") for player in entrants))
    after = entry_of(made.path)
    assert before is not None
    assert after is not None
    assert [f"{place.name}x" for place in before.places] == [place.name for place in after.places]


def test_a_league_without_places_of_its_own_takes_them_away(made: Made) -> None:
    made.play(Run(SWISS))
    made.play(Run(FormatOptions()))
    assert entry_of(made.path) is None


def test_games_that_do_not_count_and_those_of_other_bots_change_no_place(
    made: Made, standings: Callable[..., str]
) -> None:
    made.play(Run(FormatOptions(rounds=2)))
    made.play(Run(SWISS, bots=4))
    assert made.placing is not None
    everything, usual = (json.loads(standings("--json", *more))["placing"] for more in (["--all"], []))
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


def test_terminals_say_it_above_the_list(made: Made, standings: Callable[..., str]) -> None:
    made.killed(Run(SWISS, bots=4), 5)
    text = standings()
    assert "\nSwiss, provisional places in round 2 of 3 (1 of 4 games): points with byes\n" in text
    made.play(Run(SWISS, bots=4))
    assert "\nSwiss, after 3 rounds: points with byes\n" in standings()


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


def test_each_round_of_a_knockout_has_the_winners_of_the_one_before(made: Made) -> None:
    made.play(Run(KNOCKOUT))
    placing = entry_of(made.path)
    assert placing is not None
    assert [round_.name for round_ in placing.rounds] == ["Quarter-finals", "Semi-finals", "Final"]
    for before, after in zip(placing.rounds, placing.rounds[1:], strict=False):
        winners = [meeting.winner for meeting in before.meetings]
        follow = [{*winners[at : at + 2]} for at in range(0, len(winners), 2)]
        assert follow == [{*meeting.bots} for meeting in after.meetings]
    assert placing.rounds[-1].meetings[0].winner == placing.places[0].name


def test_the_rounds_are_printed_where_they_are_asked_for_and_there_are_some(
    made: Made, standings: Callable[..., str]
) -> None:
    made.play(Run(KNOCKOUT))
    text = standings("--rounds")
    assert "\nFinal\n" in text
    assert all(len(line) <= 80 for line in text.splitlines())
    made.play(Run(LADDER))
    with pytest.raises(UsageError, match="expected a store whose last league was a Swiss or a knockout"):
        standings("--rounds")


def test_places_as_csv_and_markdown_have_a_line_for_each_bot(made: Made, standings: Callable[..., str]) -> None:
    made.play(Run(SWISS))
    heading, *lines = standings("--csv", "--places").splitlines()
    assert heading.startswith("place,name,points,byes,buchholz,won,")
    assert len(lines) == BOTS
    assert standings("--markdown", "--places").startswith("| \\# | bot | points | Buchholz | won | byes |\n")


# --- stores that somebody has changed ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("format", lambda text: text[:-1], "a format with its options"),
        ("format", lambda text: text.replace('"rounds":3', '"rounds":3,"luck":1'), "a format with its options"),
        ("format", lambda text: text.replace('"rounds":3', '"rounds":1000000'), "expected at most"),
        ("seed", lambda text: "x", "seed"),
        ("openings", lambda text: "9999999 of digest 0123456789abcdef", "openings"),
    ],
)
def test_what_cannot_be_worked_out_is_said_beside_the_table(
    made: Made, standings: Callable[..., str], name: str, change: Callable[[str], str], words: str
) -> None:
    made.play(Run(SWISS))
    with Store(made.path, create=False) as store:
        before = store.kept().format if name == "format" else store.settings()[name]
    forge_setting(made.path, name, change(before))
    text = " ".join(standings().split())
    assert "the places of the league's format cannot be worked out from this store: " in text
    assert words in text.partition("cannot be worked out")[2]
    assert json.loads(standings("--json"))["placing"]["places"] == []
    with Store(made.path, create=False) as store:
        assert any("cannot be worked out" in note for note in read_site(store, SitePlan()).notes)


def test_a_format_that_would_take_all_day_is_refused(made: Made) -> None:
    made.play(Run(KNOCKOUT))
    digests = [str(number) for number in range(2000)]
    forge_setting(made.path, "entrants", [{"name": digest, "digest": digest} for digest in digests])
    options = FormatOptions(FormatName.KNOCKOUT, best_of=1000, extra_pairs=0)
    forge_setting(made.path, "format", msgspec.json.encode(KeptFormat(options, tuple(digests))).decode())
    assert placed(made.path).problem == "expected at most 100 pairs in a match of 2000 bots"


def test_without_a_game_that_is_damaged_the_places_are_those_before_it(made: Made) -> None:
    made.play(Run(SWISS, bots=4))
    with sqlite3.connect(made.path) as database:
        database.execute("UPDATE games SET plies = plies + 1 WHERE number = 5")
    database.close()
    placing = placed(made.path)
    assert stage_text(placing) == "in round 2 of 3 (3 of 4 games)"


def test_a_version_that_replaced_another_after_the_end_has_no_games_and_leaves_none_missing(
    made: Made, standings: Callable[..., str]
) -> None:
    made.play(Run(SWISS))
    made.put(3, "two")
    made.play(Run(SWISS))
    usual, everyone = (json.loads(standings("--json", *more)) for more in ((), ("--all",)))
    assert everyone["complete"]
    for key in ("standings", "planned_games"):
        assert everyone[key] == usual[key]
