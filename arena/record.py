"""Game records: as text, and played again.

A record is JSON. Playing it again runs the recorded actions through the same engine that judged them live, from the
rules that stand in the record itself, so that a result can be checked years later and by anyone. `Replay` is for those
who want to see the game; `arena.recheck` judges it again.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from arena.model import RECORD_FORMAT, GameRecord
from arena.printable import printable
from arena.recheck import RecordError, check_record
from arena.rules.deploy import IllegalSetupError
from arena.rules.events import Event, IllegalActionError
from arena.rules.game import Game
from arena.rules.ruleset import RulesetError, ruleset_from_lines
from arena.view import SeatView, tell
from protocol.notation import Color

__all__ = ["RecordError", "Replay", "Step", "check_record", "decode_record", "encode_record"]

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(GameRecord)
_ODD = re.compile(rb"\\[ubfrnt]|\x7f")
"""What stands in JSON in ASCII for something that may not be printable. Few records have it: most are read quickly."""


def encode_record(record: GameRecord) -> bytes:
    """A record as JSON."""
    return _encoder.encode(record)


def decode_record(data: bytes) -> GameRecord:
    """A record from JSON. Raises `RecordError`."""
    try:
        record = _decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise RecordError(_newer(data) or f"not a game record: {error}") from None
    if record.format != RECORD_FORMAT:
        raise RecordError(_newer(data) or f"expected a game record of format {RECORD_FORMAT}, got {record.format}")
    if data.isascii() and not _ODD.search(data):
        return record
    return msgspec.convert(_shown(msgspec.to_builtins(record)), GameRecord)


def _shown(value: Any, key: str = "") -> Any:
    """A decoded record with all text in it made printable: it may come from anywhere, or from an older version."""
    if isinstance(value, str):
        return printable(value, lines=key == "stderr")
    if isinstance(value, list | tuple):
        return [_shown(item, key) for item in value]
    if isinstance(value, dict):
        return {name: _shown(item, name) for name, item in value.items()}
    return value


class _Format(msgspec.Struct):
    """All that a record of any version is known to have."""

    format: int = RECORD_FORMAT


def _newer(data: bytes) -> str | None:
    """Why a record cannot be read, if it is because a newer version of the arena wrote it."""
    try:
        number = msgspec.json.decode(data, type=_Format).format
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if number <= RECORD_FORMAT:
        return None
    return f"expected a game record of format {RECORD_FORMAT}, got {number}: it was made by a newer version of arena"


@dataclass(frozen=True)
class Step:
    """One ply of a replay: its number, whose it was, the action, what came of it and how long it took."""

    ply: int
    color: Color
    action: str
    events: tuple[Event, ...]
    microseconds: int


class Replay:
    """A record being played again: the true position, and what each side knows of it.

    Raises `RecordError` if the record has no game in it (a side never set up) or breaks its own rules.
    """

    def __init__(self, record: GameRecord) -> None:
        red, blue = record.setups
        if red is None or blue is None:
            raise RecordError(f"game {record.id} ended before both sides had set up: {record.verdict.detail}")
        if len(record.actions) != len(record.times_us):
            raise RecordError(f"game {record.id}: {len(record.actions)} actions, but {len(record.times_us)} times")
        self.record = record
        rows = (tuple(red.split("/")), tuple(blue.split("/")))
        try:
            self.game = Game(ruleset_from_lines(record.ruleset, record.rules), *rows)
        except (RulesetError, IllegalSetupError) as error:
            raise RecordError(f"game {record.id}: {error}") from None
        self.views = tuple(SeatView(self.game, color, rows[color]) for color in Color)

    def steps(self) -> Iterator[Step]:
        """Play the recorded actions one by one; the position is the one after each step that is handed out."""
        for action, microseconds in zip(self.record.actions, self.record.times_us, strict=True):
            color = self.game.to_move
            try:
                events = self.game.apply(action)
            except IllegalActionError as error:
                raise RecordError(f"game {self.record.id}: ply {self.game.ply + 1}: {error}") from None
            for event in events:
                for view, told in zip(self.views, tell(event), strict=True):
                    view.see(told)
            yield Step(self.game.ply, color, action, events, microseconds)
