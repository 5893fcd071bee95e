"""What came of a game, as a value and as text.

A record is JSON: everything here is frozen and turns into it by msgspec as it stands, so that a record read back from a
store is the same value that the referee made. `arena.game.replay` is for those who want to see the game,
`arena.game.recheck` judges it again.
"""

import re
from typing import Any

import msgspec

from arena.errors import ArenaError
from arena.game.spec import Opening, Player
from arena.game.time_control import TimeControl
from arena.game.verdict import Verdict
from arena.system.printable import printable
from protocol.messages import Ability, Want


class NoteLine(msgspec.Struct, frozen=True):
    """A remark that a bot sent before the ply of that number."""

    ply: int
    color: str
    text: str


class History(msgspec.Struct, frozen=True):
    """What has been played of a game that was interrupted: enough to go on from there.

    `declared` is what the bots called themselves, `setups` are set-up lines. Of each action, in microseconds,
    `times_us` is what it took, `cpu_us` its processor time and `forgiven_us` what it took besides and was not charged.
    """

    declared: tuple[str, str]
    setups: tuple[str, str]
    actions: tuple[str, ...]
    times_us: tuple[int, ...]
    notes: tuple[NoteLine, ...]
    cpu_us: tuple[int, ...] = ()
    interrupted: tuple[tuple[int, int], ...] = ()
    """The turns that were interrupted: the ply, and the microseconds that the side to move had used of it. They are
    charged to its bank; the limit per move begins anew, as the bot has to think from the beginning again."""
    forgiven_us: tuple[int, ...] = ()


class Use(msgspec.Struct, frozen=True):
    """What a bot used of the machine in one game, from its start to its end, all its processes together.

    `cpu_us` is processor time in microseconds, `memory` the most bytes that were seen in use.
    """

    cpu_us: int = 0
    memory: int = 0


RECORD_FORMAT = 1


class GameRecord(msgspec.Struct, frozen=True):
    """A game that was played, whole: enough to show it, to re-adjudicate it and to see why it was lost.

    Pairs are red, then blue. `rules` are the lines of the ruleset, which the ruleset can be made from again. `setups`
    are set-up lines (None if a side sent none that was legal). `actions` are all actions in order, `times_us` what each
    took in microseconds. `stderr` is the last part of what each bot wrote there. `started` is in seconds since the
    epoch, `seconds` how long the game took as a whole. `cpu_us` is the processor time of each action in microseconds,
    `used` what the bots used in all, `confinement` how each was held; records of older versions have none of the three.
    `interrupted` is as in `History`. `forgiven_us` is what passed of each action's turn, in microseconds, and was not
    charged: `times_us` and it together are the time from the first write of the turn until the answer was read (see
    `arena.game.clock`). Empty in older records. `pondered_us` is the processor time that each used in its opponent's
    turns although it might not (`--no-pondering`), in microseconds; None if it might. `blue_time` is Blue's time
    control if it was another than Red's, `time`; it stands in no record of a game in which both had the same. `kept` is
    who had played the other game of the pair in the same process before (`--keep-bots`), and so may remember it; it
    stands in no record of a game in which both processes were new. `authors` is what the bots said of who wrote them
    (in no record of a game in which neither did), `machine` what the game was played on, in words; neither stands in
    records of older versions.
    `wants` is what each bot asked to be sent before its
    turns; older records do not have it. `opening` are the set-ups that the game was to begin with, whoever played it;
    it stands in no record of a game whose bots were to choose their own. `setups` are the same two if it has begun.
    `names_told` is that each was told the name of the other, and stands in no record of another game; `cannot` is what
    each said that it cannot do, and stands in no record of a game in which neither did.
    `time_percent` is by how much the clocks were scaled to the machine (`TimeControl.scaled`): `time` and `blue_time`
    are the league's, `times` those that were in force. It stands in no record of a game whose clocks were the league's.
    """

    id: str
    arena: str
    ruleset: str
    rules: tuple[tuple[str, str], ...]
    time: TimeControl
    players: tuple[Player, Player]
    seeds: tuple[int, int]
    pair_seed: int
    declared: tuple[str, str]
    setups: tuple[str | None, str | None]
    actions: tuple[str, ...]
    times_us: tuple[int, ...]
    notes: tuple[NoteLine, ...]
    verdict: Verdict
    stderr: tuple[str, str]
    started: float
    seconds: float
    cpu_us: tuple[int, ...] = ()
    used: tuple[Use, Use] | None = None
    confinement: tuple[str, str] = ("", "")
    format: int = RECORD_FORMAT
    interrupted: tuple[tuple[int, int], ...] = ()
    forgiven_us: tuple[int, ...] = ()
    pondered_us: tuple[int, int] | None = None
    blue_time: TimeControl | msgspec.UnsetType = msgspec.UNSET
    kept: tuple[bool, bool] | msgspec.UnsetType = msgspec.UNSET
    authors: tuple[str, str] | msgspec.UnsetType = msgspec.UNSET
    machine: str | msgspec.UnsetType = msgspec.UNSET
    wants: tuple[tuple[Want, ...], tuple[Want, ...]] | msgspec.UnsetType = msgspec.UNSET
    opening: Opening | msgspec.UnsetType = msgspec.UNSET
    names_told: bool | msgspec.UnsetType = msgspec.UNSET
    cannot: tuple[tuple[Ability, ...], tuple[Ability, ...]] | msgspec.UnsetType = msgspec.UNSET
    time_percent: int | msgspec.UnsetType = msgspec.UNSET

    def __repr__(self) -> str:
        red, blue = (player.name for player in self.players)
        verdict = self.verdict
        return (
            f"GameRecord({self.id!r}, {red!r} - {blue!r}, {verdict.result.value}, {verdict.reason.value}, "
            f"{verdict.plies} plies)"
        )

    @property
    def nominal_times(self) -> tuple[TimeControl, TimeControl]:
        """Red's and Blue's time control as the league has it."""
        return self.time, self.blue_time or self.time

    @property
    def times(self) -> tuple[TimeControl, TimeControl]:
        """Red's and Blue's time control as it was in force."""
        red, blue = self.nominal_times
        percent = self.time_percent or None
        return red.scaled(percent), blue.scaled(percent)


class RecordError(ArenaError):
    """A record that cannot be read, or that cannot be true under the rules it names."""


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
