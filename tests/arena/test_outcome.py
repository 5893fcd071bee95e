"""What came of playing: a bot is told of its own faults, one line for each reason."""

from pathlib import Path
from random import Random

from msgspec.structs import replace
from random_play import random_rows
from scripted import Table, game_spec, record_from
from unplayed import Listed, run_of

from arena.game.faults import Fault, forfeit
from arena.game.record import GameRecord
from arena.game.time_control import TimeControl
from arena.league.store import Store
from arena.league.store.game_row import row_of
from arena.stratego.rules.rulesets import load_ruleset
from protocol.notation import Color, Reason


def lost(record: GameRecord, *guilty: tuple[Color, Fault]) -> GameRecord:
    return replace(record, verdict=forfeit(record.players, guilty, 0), stderr=("red's last words", "blue's last words"))


def test_where_both_lost_each_is_told_its_own_fault_under_its_own_reason(tmp_path: Path) -> None:
    ruleset = load_ruleset("duel")
    table = Table(game_spec(ruleset, TimeControl(move_ms=1000)))
    table.begin(random_rows(ruleset, Random(1)), random_rows(ruleset, Random(2)))
    table.reply(Color.RED, "move resign")
    record = record_from(table)
    red, blue = (player.name for player in record.players)
    rude, dead = Fault(Reason.PROTOCOL, "expected 'ready', got 'oops'"), Fault(Reason.NO_START, "no program")
    games = [
        lost(record, (Color.RED, rude), (Color.BLUE, dead)),
        lost(record, (Color.BLUE, dead)),
        lost(record, (Color.RED, dead), (Color.BLUE, dead)),
        record,
    ]
    with Store(tmp_path / "l.sqlite", create=True) as store:
        run = run_of(Listed([]), {}, store)
    for number, game in enumerate(games, start=1):
        run.finished(row_of(number, game), game)
    told = {
        (one.name, one.reason): (one.count, one.first.number, one.words, one.stderr)
        for one in run.outcome(None).forfeits
    }
    assert told == {
        (red, "protocol"): (
            1, 1, f"red ({red}) broke the protocol: expected 'ready', got 'oops'", "red's last words",
        ),
        (blue, "no-start"): (3, 1, f"blue ({blue}) did not start: no program", "blue's last words"),
        (red, "no-start"): (1, 3, f"red ({red}) did not start: no program", "red's last words"),
    }  # fmt: skip
