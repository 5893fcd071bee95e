"""The list that a format adds to the table says what it has to in 80 columns, and why a ladder is over."""

from pathlib import Path

import pytest

from arena.game.faults import GameResult
from arena.game.game_spec import Player
from arena.league.pairing.pairing import (
    FormatPlace,
    KnockoutPlace,
    LadderPlace,
    LadderStop,
    Placing,
    StopReason,
    SwissPlace,
)
from arena.league.store import Disqualified, GameRow, PlayerTime, Store
from arena.report.game_list import Roster
from arena.report.placings import borne_out, placing_entry, placing_report
from arena.report.standings import make_table
from arena.system.terminal_text import drawn, unpainted
from protocol.notation import Reason

LONGEST = "n" * 40
ONE, OTHER = Player(LONGEST, "1"), Player("m" * 40, "2")


def shown(placing: Placing) -> list[str]:
    return list(map(unpainted, drawn(placing_report(placing_entry(placing, {})), 80)))


@pytest.mark.parametrize(
    "place",
    [
        SwissPlace(1000, ONE, 1998.5, 1, 998_001.5, 999),
        KnockoutPlace(1000, ONE, 1024, OTHER, 1000.5, 1001.5, "after 1000 extra pairs, by seed"),
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


ANN, BOB, CAT = (Player(name, f"digest of {name}") for name in ("ann", "bob", "cat"))


def test_a_store_says_who_was_disqualified_only_as_far_as_its_games_bear_it_out(tmp_path: Path) -> None:
    time = PlayerTime(moves=1, total_us=1, slowest_us=1, cpu_us=1)
    played = [
        GameRow(number, f"{number:016}", (ANN, BOB), GameResult.RED, Reason.CRASH, 100, "", (time, time), 1.0)
        for number in (1, 2, 3)
    ]
    table, names = make_table([ANN, BOB], played), Roster([ANN, BOB], played).names
    claims = (Disqualified(BOB, 3, 5), Disqualified(BOB, 4, 5), Disqualified(ANN, 1, 5), Disqualified(CAT, 1, None))
    with Store(tmp_path / "l.sqlite", create=True) as store:
        assert store.read().kept.disqualified == ()
        store.keep(disqualified=claims)
        kept = store.read().kept.disqualified
        store.keep(disqualified=())
        assert store.read().kept.disqualified == ()
    assert kept == claims
    assert borne_out(kept, table.lines, names) == Placing(disqualified=claims[:1])
    assert borne_out(kept[1:], table.lines, names) is None


def test_a_table_of_games_that_the_league_left_out_says_how_many_it_counts() -> None:
    time = PlayerTime(moves=1, total_us=1, slowest_us=1, cpu_us=1)
    played = [
        GameRow(number, f"{number:016}", (ANN, BOB), GameResult.RED, Reason.CRASH, 100, "", (time, time), 1.0)
        for number in (1, 2, 3)
    ]
    table, names = make_table([ANN, BOB], played), Roster([ANN, BOB], played).names
    said = {}
    for counted in (1, 2, 3, 4, None):
        placing = borne_out((Disqualified(BOB, 1, 2, counted=counted),), table.lines, names)
        assert placing is not None
        said[counted] = placing_entry(placing, names).lines
    start = "bob is disqualified after 1 fault: 2 games left out"
    assert said == {
        1: [f"{start}; 2 games of it outside the league are in this table"],
        2: [f"{start}; 1 game of it outside the league is in this table"],
        3: [start],
        4: [start],
        None: [start],
    }
