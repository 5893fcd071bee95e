"""A league of a format with rounds goes on: played games stay, new versions play the others, and a broken bot none."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from ended_leagues import Made, Run, made_in

from arena.api.leagues import League
from arena.errors import UsageError
from arena.league.league_options import FormatName, FormatOptions
from arena.league.store import Store
from arena.report.placings import PlaceEntry, PlacingEntry


def swiss(rounds: int) -> FormatOptions:
    return FormatOptions(FormatName.SWISS, rounds=rounds)


KNOCKOUT = FormatOptions(FormatName.KNOCKOUT)
LADDER = FormatOptions(FormatName.LADDER, games=20)
ALL = [
    swiss(2),
    KNOCKOUT,
    LADDER,
    FormatOptions(),
    FormatOptions(FormatName.SINGLE),
    FormatOptions(FormatName.GAUNTLET, challengers=2),
]


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Made]:
    with made_in(tmp_path, 7) as made:
        yield made


def placing_of(made: Made) -> PlacingEntry:
    placing = League(made.path).standings().placing
    assert placing == made.placing, "the store says what the league has printed"
    assert placing is not None
    return placing


def place_of(made: Made, bot: str) -> PlaceEntry:
    (place,) = (place for place in placing_of(made).places if place.name.partition("@")[0] == bot)
    return place


def names_of(bots: Iterable[str | None]) -> list[str]:
    return [(bot or "").partition("@")[0] for bot in bots]


def digests_of(made: Made, bot: str) -> set[str]:
    """The versions of a bot that have played in the store."""
    with Store(made.path, create=False) as store:
        return {player.digest for row in store.rows() for player in row.players if player.name == bot}


def games_in(made: Made) -> int:
    with Store(made.path, create=False) as store:
        return len(store.rows())


# --- broken bots -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", ALL, ids=lambda options: options.name.value)
def test_a_broken_bot_is_not_paired_and_has_no_bye_and_no_place(made: Made, options: FormatOptions) -> None:
    made.put(2, is_broken=True)
    made.put(4, is_broken=True)
    table = made.play(Run(options))
    assert {line.name for line in table.lines if not line.games} == {"bot2", "bot4"}
    assert table.is_complete
    if made.placing:
        placing = placing_of(made)
        unplaced = {place.name: place for place in placing.places[-2:]}
        assert unplaced.keys() == {"bot2", "bot4"}
        assert all(place.place is None and not place.points for place in unplaced.values())
        met = {bot for one in placing.rounds for meeting in one.meetings for bot in meeting.bots}
        assert met.isdisjoint(unplaced)


def test_a_bot_that_breaks_is_paired_until_then_and_one_that_is_repaired_from_then_on(made: Made) -> None:
    made.put(5, is_broken=True)
    made.play(Run(swiss(1)))
    first = placing_of(made).rounds[0]
    made.put(5)
    made.put(4, "broken", is_broken=True)
    made.play(Run(swiss(3)))
    placing = placing_of(made)
    assert [meeting.games for meeting in placing.rounds[0].meetings] == [meeting.games for meeting in first.meetings]
    for number, (absent, present) in enumerate([("bot5", "bot4"), ("bot4", "bot5"), ("bot4", "bot5")]):
        met = {name for meeting in placing.rounds[number].meetings for name in names_of(meeting.bots)}
        assert present in met
        assert absent not in met
    assert place_of(made, "bot4").place is not None, "it keeps the points of its first round"
    assert place_of(made, "bot4").byes == place_of(made, "bot5").byes == 0


def test_a_bot_that_is_repaired_after_the_draw_of_a_knockout_is_not_in_it(made: Made) -> None:
    made.put(3, is_broken=True)
    made.play(Run(KNOCKOUT))
    games = games_in(made)
    made.put(3)
    made.play(Run(KNOCKOUT))
    assert games_in(made) == games
    assert place_of(made, "bot3").place is None


# --- new versions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stopped", [None, 3, 4, 5], ids=lambda most: f"after {most or 'all'} games")
def test_a_new_version_takes_the_place_of_the_old_one_in_a_swiss_from_the_games_to_come(
    made: Made, stopped: int | None
) -> None:
    """Wherever it comes, in a round or between two: who meets whom does not change, nor does any result."""
    made.play(Run(swiss(2), most=stopped))
    before = placing_of(made)
    made.put(1, "better")
    made.play(Run(swiss(4)))
    after = placing_of(made)
    for old, new in zip(before.rounds, after.rounds, strict=False):
        for one, other in zip(old.meetings, new.meetings, strict=True):
            assert one.games == other.games[: len(one.games)]
            assert names_of(one.bots) == names_of(other.bots)
    assert len(after.rounds) == 4
    assert len(digests_of(made, "bot1")) == 2
    assert any("count for its place in this league" in line for line in made.said)
    with Store(made.path, create=False) as store:
        won = sum(row.result.winner is not None for row in store.rows())
    assert sum(place.points or 0 for place in after.places) == won + 4 * 2, "and a bye in each round"

    made.play(Run(swiss(4)))
    assert placing_of(made) == after, "the same command finds the same games"


@pytest.mark.parametrize("options", [swiss(3), KNOCKOUT], ids=lambda options: options.name.value)
def test_a_league_that_is_over_stays_as_it_is_unless_a_new_one_is_asked_for(made: Made, options: FormatOptions) -> None:
    made.play(Run(options))
    before, games = placing_of(made), games_in(made)
    made.put(3, "better")
    made.play(Run(options))
    after = placing_of(made)
    assert games_in(made) == games
    assert any("--new-league plays it again with bot3 as of now" in line for line in made.said)
    assert [(place.place, place.points) for place in after.places] == [
        (place.place, place.points) for place in before.places
    ]
    made.play(Run(options, is_new=True))
    assert games_in(made) > games


def test_a_new_version_plays_the_matches_to_come_of_a_knockout(made: Made) -> None:
    made.killed(Run(KNOCKOUT, bots=4), 4)
    for number in (1, 2, 3, 4):
        made.put(number, "better")
    made.play(Run(KNOCKOUT, bots=4))
    first, last = placing_of(made).rounds
    assert sorted(number for meeting in first.meetings for number in meeting.games)[:4] == [1, 2, 3, 4]
    with Store(made.path, create=False) as store:
        old = {player.digest for row in store.rows()[:4] for player in row.players}
        final = {
            player.digest for row in store.rows() if row.number in last.meetings[0].games for player in row.players
        }
    assert len(final) == 2
    assert final.isdisjoint(old)


def test_a_ladder_counts_the_games_of_the_old_version_for_the_place_of_the_new_one(made: Made) -> None:
    made.play(Run(LADDER))
    games = place_of(made, "bot3").games
    assert games
    made.put(3, "better")
    made.play(Run(LADDER))
    assert sum(place.games or 0 for place in placing_of(made).places) == 2 * games_in(made)
    assert len(digests_of(made, "bot3")) == 2
    assert (place_of(made, "bot3").games or 0) > games


def test_a_bot_that_is_added_to_a_swiss_plays_from_the_next_round_on(made: Made) -> None:
    made.play(Run(swiss(2), bots=4))
    games = games_in(made)
    made.play(Run(swiss(3), bots=5))
    assert games_in(made) == games + 4
    assert "bot5" in {bot for meeting in placing_of(made).rounds[2].meetings for bot in meeting.bots}


@pytest.mark.parametrize(
    "other",
    [
        Run(swiss(3), bots=4),
        Run(swiss(1)),
        Run(FormatOptions(FormatName.SWISS, rounds=3, seeds=("bot5", "bot1"))),
    ],
    ids=["one bot less", "fewer rounds", "other seeds"],
)
def test_what_would_change_results_is_refused_and_changes_nothing(made: Made, other: Run) -> None:
    made.play(Run(swiss(3)))
    before = made.path.read_bytes()
    with pytest.raises(UsageError, match=r"would not count any more, .* start again with --new-league"):
        made.play(other)
    assert made.path.read_bytes() == before
    made.play(other._replace(is_new=True))
    assert placing_of(made)
