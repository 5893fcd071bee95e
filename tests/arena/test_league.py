"""A league as a service: what it reads of its store, and when."""

from collections.abc import Callable
from pathlib import Path

import pytest
from played_here import games_played_here

from arena.bots.spec import BotSpec
from arena.game.record import GameRecord
from arena.league.league import OpenLeague, open_league
from arena.league.league_options import Kind, PlayOptions
from arena.league.plan import LeagueEntry
from arena.league.play_missing import Watcher
from arena.league.stop import StopRequest
from arena.league.store import GameRow, Store

RESIGNS = "introduce()\nset_up()\nhear('turn')\nsay('move resign')\nhear('end')"


class Watching(Watcher):
    """Keeps what the league says of its games, in the moment in which it is told of each."""

    def __init__(self, league: OpenLeague) -> None:
        self.league = league
        self.seen: list[int] = []

    def finished(self, row: GameRow, record: GameRecord) -> None:
        self.seen.append(self.league.store.last_number())

    def remark(self, text: str) -> None:
        raise AssertionError(text)

    def closing(self, under_way: int) -> None:
        raise AssertionError(under_way)


def test_a_league_is_opened_played_and_resumed_without_all_rows_in_memory(
    tmp_path: Path, make_bot: Callable[..., BotSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = LeagueEntry([str(make_bot(f"{RESIGNS}  # {name}").path) for name in ("ann", "bob")], Kind.MATCH, 1)
    options = PlayOptions(rules="duel", time="60s", store=tmp_path / "l.sqlite")
    for has, played in ((0, 2), (2, 0)):
        with monkeypatch.context() as patch:
            patch.delattr(Store, "read")
            with games_played_here(), open_league(entry, options, lambda line: None) as league:
                assert league.known == len(list(league.rows_in_order())) == has
                watching = Watching(league)
                outcome = league.play(StopRequest(), watching)
                assert (outcome.error, outcome.is_complete) == (None, True)
                assert len(watching.seen) == played
                assert all(stored >= told for told, stored in enumerate(watching.seen, start=1))
                assert (league.known, league.count().games) == (2, 2)
