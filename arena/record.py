"""Game records: as text, and played again.

A record is JSON. Playing it again runs the recorded actions through the same engine that judged them live, from the
rules that stand in the record itself, so that a result can be checked years later and by anyone.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from arena.model import RECORD_FORMAT, ArenaError, GameRecord, GameResult
from arena.printable import printable
from arena.rules.deploy import IllegalSetupError
from arena.rules.events import Event, IllegalActionError
from arena.rules.game import Game
from arena.rules.ruleset import RulesetError, ruleset_from_lines
from arena.view import SeatView, tell
from protocol.notation import Color, Reason

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(GameRecord)
_ODD = re.compile(rb"\\[ubfr]|\x7f")
"""What stands in JSON in ASCII for something that may not be printable. Few records have it: most are read quickly."""


class RecordError(ArenaError):
    """A record that cannot be read or does not follow the rules it names."""


def encode_record(record: GameRecord) -> bytes:
    """A record as JSON."""
    return _encoder.encode(record)


def decode_record(data: bytes) -> GameRecord:
    """A record from JSON. Raises `RecordError`."""
    try:
        record = _decoder.decode(data)
    except msgspec.MsgspecError as error:
        raise RecordError(f"not a game record: {error}") from None
    if record.format != RECORD_FORMAT:
        raise RecordError(f"expected a game record of format {RECORD_FORMAT}, got format {record.format}")
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


def check_record(record: GameRecord) -> None:
    """Judge a recorded game again. Raises `RecordError` if the engine does not come to the recorded verdict.

    A forfeit's cause lies outside the rules (a clock, a crash); for those, the game must be unfinished where it broke
    off, somebody must have lost it, and where only the side to move can have been at fault it must be that side.
    """
    verdict = record.verdict
    if verdict.plies != len(record.actions):
        raise RecordError(f"game {record.id}: recorded as {verdict.plies} plies, but has {len(record.actions)} actions")
    if verdict.reason.is_forfeit and verdict.result is GameResult.DRAW:
        raise RecordError(f"game {record.id}: recorded as drawn by {verdict.reason.value}, which is no draw")
    if None in record.setups:
        if not verdict.reason.is_forfeit:
            raise RecordError(f"game {record.id}: {verdict.reason.value} without both set-ups")
        return
    replay = Replay(record)
    for _ in replay.steps():
        pass
    outcome = replay.game.outcome
    if outcome is None:
        judged: tuple[GameResult, Reason] | None = None
    else:
        judged = (GameResult.DRAW if outcome.winner is None else GameResult.win(outcome.winner), outcome.reason)
    expected = None if verdict.reason.is_forfeit else (verdict.result, verdict.reason)
    at_move = verdict.reason in (Reason.TIMEOUT, Reason.ILLEGAL_ACTION)
    if at_move and verdict.result is not GameResult.win(replay.game.to_move.opponent):
        raise RecordError(f"game {record.id}: {verdict.reason.value}, but the side to move is recorded as the winner")
    if judged != expected:
        raise RecordError(f"game {record.id}: recorded as {expected}, judged again as {judged}")
