"""Whether a record that has come from another machine is that of the game that was asked for, and can be true."""

from typing import Any

import msgspec

from arena.game.recheck import check_record
from arena.game.record import GameRecord, RecordError, decode_record
from arena.game.spec import GameSpec
from arena.version import __version__


def checked_record(data: bytes, wanted: dict[str, GameSpec]) -> GameRecord:
    """The record in these bytes: strictly decoded, that of one of the games wanted (by id), and judged again.

    Raises `RecordError`.
    """
    record = decode_record(data)
    spec = wanted.get(record.id)
    if spec is None:
        raise RecordError(f"game {record.id}: nobody has asked for it")
    check_is_of(record, spec)
    check_record(record)
    return record


def check_is_of(record: GameRecord, spec: GameSpec) -> None:
    """Raise `RecordError` unless all that was said of the game beforehand is so in its record."""
    opening = None if record.opening is msgspec.UNSET else record.opening
    told = False if record.names_told is msgspec.UNSET else record.names_told
    pairs: dict[str, tuple[Any, Any]] = {
        "version": (record.arena, __version__),
        "ruleset": (record.ruleset, spec.ruleset.name),
        "rules": (record.rules, tuple(spec.ruleset.lines())),
        "times": (record.nominal_times, spec.nominal_times),
        "scaling of the clocks": (record.time_percent or None, spec.time_percent),
        "players": (record.players, spec.players),
        "seeds": (record.seeds, spec.seeds),
        "pair": (record.pair_seed, spec.pair_seed),
        "opening": (opening, spec.opening),
        "telling of names": (told, spec.names_told),
    }
    for what, (got, wanted) in pairs.items():
        if got != wanted:
            raise RecordError(f"game {record.id}: expected the {what} that was asked for, got another")
