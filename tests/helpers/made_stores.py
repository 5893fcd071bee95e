"""Random games, and stores of them that nobody has played."""

import base64
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import msgspec
from random_play import lively, random_rows
from scripted import Table, game_spec, record_from

from arena.game.game_spec import Player
from arena.game.record import GameRecord
from arena.game.time_control import TimeControl
from arena.league.store import Store
from arena.report.game_data import GameData
from arena.stratego.rules.ruleset import Ruleset
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.shown.shown_board import ViewData
from arena.stratego.state import as_stratego


def play_game(ruleset: Ruleset, seed: int, plies: int = 200, time: TimeControl | None = None) -> GameRecord:
    """Play a random game; the bot that is to move after so many plies resigns."""
    rng = Random(seed)
    table = Table(game_spec(ruleset, time or TimeControl(move_ms=1000)))
    table.begin(random_rows(ruleset, rng), random_rows(ruleset, rng))
    game = table.referee.state
    assert game is not None
    while table.referee.verdict is None and game.ply < plies:
        table.play(lively(as_stratego(game).board, rng).text, after=rng.random())
    if table.referee.verdict is None:
        table.reply(game.to_move, "move resign")
    return record_from(table)


def make_store(
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


def read_game_script(script: str) -> GameData:
    data = msgspec.json.decode(zlib.decompress(base64.b64decode(script.split('"')[1])), type=GameData)
    views = {name: msgspec.convert(view, ViewData, strict=False) for name, view in data.views.items()}
    return msgspec.structs.replace(data, views=views)
