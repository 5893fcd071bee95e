"""Games counted together in arrays: the same table as of their rows, whoever is left out, and in bounded memory."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from arena.game.faults import GameResult
from arena.game.game_spec import Player
from arena.league.store import GameRow, Groups, PlayerTime
from arena.league.store.game_row import columns_of
from arena.report.documents import league_json
from arena.report.game_list import players_of
from arena.report.standings import make_table
from protocol.notation import Reason

REASONS = {
    GameResult.DRAW: [Reason.QUIET_CAP],
    GameResult.NEITHER: [Reason.NO_START],
    GameResult.RED: [Reason.FLAG, Reason.TIMEOUT],
    GameResult.BLUE: [Reason.FLAG, Reason.ILLEGAL_ACTION],
}


def players(count: int) -> list[Player]:
    return [Player(f"p{number}", f"{number:064x}") for number in range(count)]


def times(random: Random) -> PlayerTime:
    cpu_us = random.randrange(1000) if random.random() < 0.8 else None
    return PlayerTime(random.randrange(50), random.randrange(10**6), random.randrange(10**5), cpu_us)


def rows(random: Random, among: list[Player], count: int) -> Iterator[GameRow]:
    for number in range(1, count + 1):
        red, blue = random.choices(among, k=2)  # some against themselves
        result = random.choice(list(GameResult))
        reason = random.choice(REASONS[result])
        yield GameRow(
            number, f"{number:016x}", (red, blue), result, reason, 40, "", (times(random), times(random)), 1.5, 1, 1.0
        )


def counted(games: list[GameRow]) -> Groups:
    return Groups(map(columns_of, games))


@given(seed=st.integers(0, 2**32), among=st.integers(2, 8), count=st.integers(0, 60), shown=st.integers(2, 8))
@settings(max_examples=60)
def test_they_make_the_table_of_their_rows_for_whoever_is_shown(seed: int, among: int, count: int, shown: int) -> None:
    everybody = players(among)
    games = list(rows(Random(seed), everybody, count))
    groups = counted(games)
    assert players_of(groups) == players_of(games)
    assert groups.games == count
    tables = [make_table(everybody[:shown], each) for each in (games, groups)]
    first, second = (league_json(Path(), {}, table, []) for table in tables)
    assert first == second
    assert tables[0].endings == tables[1].endings
