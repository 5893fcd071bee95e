"""Fixtures for what is made from stores: random games, and stores of them that nobody has played."""

import base64
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import msgspec
import pytest
from twins import Lively

from arena.game.game_spec import GameSpec, Player
from arena.game.record import GameRecord
from arena.game.time_control import TimeControl
from arena.league.store import Store
from arena.report.site.game_page import GameData
from arena.stratego.rules.ruleset import Ruleset
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.shown.shown_board import ViewData
from arena.stratego.state import as_stratego

if TYPE_CHECKING:
    from tests.arena.conftest import Table

    TableFor = Callable[[GameSpec], Table]
    SpecFor = Callable[..., GameSpec]
    RandomRows = Callable[[Ruleset, Random], tuple[str, ...]]
    RecordFrom = Callable[[Table], GameRecord]
    PlayGame = Callable[..., GameRecord]


@pytest.fixture(scope="session")
def play_game(
    table_for: "TableFor", spec: "SpecFor", random_rows: "RandomRows", lively: Lively, record_from: "RecordFrom"
) -> "PlayGame":
    """A random game: `play_game(ruleset, seed, plies, time)`; who is to move after so many plies resigns."""

    def play(ruleset: Ruleset, seed: int, plies: int = 200, time: TimeControl | None = None) -> GameRecord:
        rng = Random(seed)
        table = table_for(spec(ruleset, time or TimeControl(move_ms=1000)))
        table.begin(random_rows(ruleset, rng), random_rows(ruleset, rng))
        game = table.referee.state
        assert game is not None
        while table.referee.verdict is None and game.ply < plies:
            table.play(lively(as_stratego(game).board, rng).text, after=rng.random())
        if table.referee.verdict is None:
            table.reply(game.to_move, "move resign")
        return record_from(table)

    return play


@pytest.fixture(scope="session")
def make_store(play_game: "PlayGame") -> "MakeStore":
    """A store of random games: `make_store(path, rules, names, games, change)`; `change` gets each record."""

    def make(
        path: Path,
        rules: str = "duel",
        names: Sequence[str] = ("ann", "bob", "eve"),
        games: int = 6,
        *,
        plies: int = 60,
        change: Callable[[GameRecord], GameRecord] = lambda record: record,
    ) -> list[GameRecord]:
        players = [Player(name, f"{number:064x}") for number, name in enumerate(names, 1)]
        ruleset = load_ruleset(rules)
        records = []
        for number in range(games):
            pair = (players[number % len(players)], players[(number + 1) % len(players)])
            record = play_game(ruleset, seed=number, plies=plies)
            records.append(change(msgspec.structs.replace(record, id=f"{number:016x}", players=pair)))
        with Store(path, create=True) as store:
            store.agree({"ruleset": rules, "time": "1s/move"}, players)
            store.keep(entrants=tuple(players))
            store.add_all(records)
        return records

    return make


MakeStore = Callable[..., list[GameRecord]]


def read_game_script(script: str) -> GameData:
    """Read the data of a game's page as its script does."""
    data = msgspec.json.decode(zlib.decompress(base64.b64decode(script.split('"')[1])), type=GameData)
    views = {name: msgspec.convert(view, ViewData, strict=False) for name, view in data.views.items()}
    return msgspec.structs.replace(data, views=views)
