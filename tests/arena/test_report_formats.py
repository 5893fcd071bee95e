"""The list that a format adds to the table says what it has to in 80 columns, and why a ladder is over."""

import pytest
from rich.console import Console

from arena.game.spec import Player
from arena.league.pairing.placing import (
    FormatPlace,
    KnockoutPlace,
    LadderPlace,
    LadderStop,
    Placing,
    StopReason,
    SwissPlace,
)
from arena.league.store import Disqualified
from arena.report.placings import placing_entry, placing_report

LONGEST = "n" * 40
ONE, OTHER = Player(LONGEST, "1"), Player("m" * 40, "2")


def shown(placing: Placing) -> list[str]:
    console = Console(width=80, force_terminal=False)
    with console.capture() as captured:
        console.print(placing_report(placing, {}))
    return captured.get().splitlines()


@pytest.mark.parametrize(
    "place",
    [
        SwissPlace(1000, ONE, 1998.5, 1, 998_001.5, 999),
        KnockoutPlace(1000, ONE, 1024, OTHER, 1000.5, 1001.5, "after 1000 extra pairs, by seed", is_winner=False),
        LadderPlace(1000, ONE, -12_345.6, 1_000_000, 0.99999),
    ],
    ids=lambda place: type(place).__name__,
)
def test_a_list_of_long_names_and_numbers_fits_80_columns(place: FormatPlace) -> None:
    lines = shown(Placing((place, place), (Disqualified(ONE, 3, 1000, is_so_far=True),)))
    assert all(len(line) <= 80 for line in lines), lines
    assert sum(line.lstrip().startswith("1000 ") for line in lines) == 2
    if isinstance(place, LadderPlace):
        assert "-12346  1000000      99.99%" in lines[-3]
    if isinstance(place, KnockoutPlace):
        assert "1000.5-1001.5" in " ".join(" ".join(lines).split())


@pytest.mark.parametrize(
    ("stop", "words"),
    [
        (
            LadderStop(StopReason.SURE, 1368, 0, 0.95, 0),
            "the ladder is over, after 1368 games: each bot is above the next with 0.95 or more",
        ),
        (
            LadderStop(StopReason.GAMES, 5000, 400, 0.9, 3),
            "the ladder is over: the game limit is reached (5000 games, 400 of them from before); 3 bots are above the "
            "next with less than 0.9; a larger --games plays more",
        ),
        (
            LadderStop(StopReason.GAMES, 5000, 0, 0.9999, 1),
            "the ladder is over: the game limit is reached (5000 games); 1 bot is above the next with less than 0.9999",
        ),
        (LadderStop(StopReason.GAMES, 400, 0, None, None), "the ladder is over: the game limit is reached (400 games)"),
        (
            LadderStop(StopReason.NO_PAIR, 7, 7, None, None),
            "the ladder is over, after 7 games, all from before: no two bots are left to play",
        ),
    ],
)
def test_a_ladder_that_is_over_says_why(stop: LadderStop, words: str) -> None:
    placing = Placing((LadderPlace(1, ONE, 0.0, 1, None),), stop=stop)
    assert words in " ".join(" ".join(shown(placing)).split())
    assert placing_entry(placing, {}).stop == stop


def test_one_that_goes_on_says_nothing_of_it() -> None:
    assert not any("over" in line for line in shown(Placing((LadderPlace(1, ONE, 0.0, 1, None),))))
