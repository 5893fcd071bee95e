"""Who was disqualified, as a store says it and as its games bear it out."""

from pathlib import Path

from arena.game.spec import Player
from arena.game.verdict import GameResult
from arena.league.pairing.placing import Placing
from arena.league.store import Disqualified, GameRow, PlayerTime, Store
from arena.report.game_list import Roster
from arena.report.placings import borne_out, placing_lines
from arena.report.standings import make_table
from protocol.notation import Reason

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
        said[counted] = placing_lines(placing, names)
    start = "bob is disqualified after 1 fault: 2 games left out"
    assert said == {
        1: [f"{start}; 2 games of it outside the league are in this table"],
        2: [f"{start}; 1 game of it outside the league is in this table"],
        3: [start],
        4: [start],
        None: [start],
    }
