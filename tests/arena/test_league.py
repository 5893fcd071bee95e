"""A league as a service: what it reads of its store, and when."""

from collections.abc import Callable
from pathlib import Path

import pytest

from arena.bots.spec import BotSpec
from arena.game.record import GameRecord
from arena.league.league import OpenLeague, open_league
from arena.league.league_options import Kind, PlayOptions
from arena.league.plan import LeagueEntry
from arena.league.stop import StopRequest
from arena.league.store import GameRow, Store

RESIGNS = "introduce()\nset_up()\nhear('turn')\nsay('move resign')\nhear('end')"


class Watching:
    """Keeps what the league says of its games, in the moment in which it is told of each."""

    def __init__(self, league: OpenLeague) -> None:
        self.league = league
        self.seen: list[int] = []

    def finished(self, row: GameRow, record: GameRecord) -> None:
        self.seen.append(len(self.league.rows()))

    def remark(self, text: str) -> None:
        raise AssertionError(text)

    def closing(self, under_way: int) -> None:
        raise AssertionError(under_way)


def test_the_games_of_a_store_are_read_once_before_play_once_after_it_and_never_kept_beyond_it(
    tmp_path: Path, make_bot: Callable[..., BotSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = LeagueEntry([str(make_bot(f"{RESIGNS}  # {name}").path) for name in ("ann", "bob")], Kind.MATCH, 1)
    options = PlayOptions(rules="duel", time="60s", store=tmp_path / "l.sqlite")
    reads: list[int] = []

    def counted(read: Callable[..., list[GameRow]]) -> Callable[..., list[GameRow]]:
        def counting(store: Store, *arguments: object) -> list[GameRow]:
            found = read(store, *arguments)
            reads.append(len(found))
            return found

        return counting

    monkeypatch.setattr(Store, "rows", counted(Store.rows))
    monkeypatch.setattr(Store, "agree_and_read", counted(Store.agree_and_read))
    for has, played in ((0, 2), (2, 0)):
        reads.clear()
        with open_league(entry, options, lambda line: None) as league:
            assert len(league.rows()) == len(list(league.rows_in_order())) == has
            watching = Watching(league)
            outcome = league.play(StopRequest(), watching)
            assert (outcome.error, outcome.is_complete) == (None, True)
            assert len(watching.seen) == played
            assert all(seen >= told for told, seen in enumerate(watching.seen, start=1)), "games that are stored"
            to_tell_which_count = [2] if played else []
            assert reads == [has, *watching.seen, *to_tell_which_count]
            assert len(league.rows()) == 2
