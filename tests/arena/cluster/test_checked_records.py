"""A record from another machine is stored only if it is that of the game that was asked for, and can be true."""

from typing import Any

import msgspec
import pytest
from made_stores import play_game
from scripted import game_spec

from arena.game.game_spec import GameSpec, Player
from arena.game.record import GameRecord, RecordError, encode_record
from arena.game.time_control import TimeControl
from arena.league.executor.cluster.client import check_is_of, checked_records
from arena.stratego.rules.rulesets import load_ruleset
from arena.version import __version__


def record_for(game: GameSpec, record: GameRecord) -> bytes:
    """A record as a worker sends it: that of another game, as one of this one."""
    percent = game.time_percent or msgspec.UNSET
    return encode_record(msgspec.structs.replace(record, id=game.id, arena=__version__, time_percent=percent))


@pytest.fixture(scope="module")
def record() -> GameRecord:
    played = play_game(load_ruleset("duel"), 1, plies=10, time=TimeControl())
    return msgspec.structs.replace(played, arena=__version__)


def test_a_record_that_nobody_has_asked_for_is_refused(record: GameRecord) -> None:
    with pytest.raises(RecordError, match="it was not requested"):
        checked_records([record_for(game_spec(), record)], {})


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"arena": "0.0.1"}, "version"),
        ({"time": TimeControl(move_ms=7)}, "time"),
        ({"players": (Player("ann", "other"), Player("bob", "digest-of-blue"))}, "players"),
        ({"seeds": (1, 1)}, "seeds"),
        ({"names_told": True}, "names_told"),
        ({"time_percent": 150}, "time_percent"),
    ],
)
def test_a_record_of_a_game_under_other_terms_is_refused_with_what_is_other(
    record: GameRecord, change: dict[str, Any], what: str
) -> None:
    with pytest.raises(RecordError, match=f"expected the {what} that was asked for, got another"):
        check_is_of(msgspec.structs.replace(record, **change), game_spec())


def test_a_record_with_another_end_than_the_engine_finds_is_refused(record: GameRecord) -> None:
    game = game_spec()
    lie = msgspec.structs.replace(record, actions=record.actions[:-2])
    with pytest.raises(RecordError):
        checked_records([record_for(game, lie)], {game.id: game})
