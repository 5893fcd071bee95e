"""A recorded game as a value, which is JSON as it stands: a record that is read back is the value that was written."""

import re
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

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
    """The moves of a game that was interrupted, enough to resume it. Fields are those of `GameRecord`."""

    declared: tuple[str, str]
    setups: tuple[str, str]
    actions: tuple[str, ...]
    times_us: tuple[int, ...]
    notes: tuple[NoteLine, ...]
    cpu_us: tuple[int, ...] = ()
    interrupted: tuple[tuple[int, int], ...] = ()
    forgiven_us: tuple[int, ...] = ()


class Use(msgspec.Struct, frozen=True):
    """Use of all processes of a bot in one game: microseconds of processor time, and peak memory in bytes."""

    cpu_us: int = 0
    memory: int = 0


class GameRecord(msgspec.Struct, frozen=True):
    """A game that was played: enough to show it, to judge it again and to see why it was lost.

    Pairs are red, then blue. What a game does not have is `UNSET`, and left out. Times in `_us` are microseconds.
    """

    id: str
    arena: str
    """The version of the arena."""
    ruleset: str
    rules: tuple[tuple[str, str], ...]
    """The lines of the ruleset, which it can be made from again."""
    time: TimeControl
    """Red's time control, and Blue's where `blue_time` is not set; both before they are scaled by `time_percent`."""
    players: tuple[Player, Player]
    seeds: tuple[int, int]
    pair_seed: int
    declared: tuple[str, str]
    """The names that the bots gave themselves."""
    setups: tuple[str | None, str | None]
    """Set-up lines; None if a side sent none that was legal."""
    actions: tuple[str, ...]
    times_us: tuple[int, ...]
    """The time on the clock of each action."""
    notes: tuple[NoteLine, ...]
    verdict: Verdict
    stderr: tuple[str, str]
    """The last part of what each bot wrote there."""
    started: float
    """In seconds since the epoch."""
    seconds: float
    cpu_us: tuple[int, ...] = ()
    """The processor time of each action; empty where it was not measured."""
    used: tuple[Use, Use] | None = None
    confinement: tuple[str, str] = ("", "")
    """The sandbox level and the limits of each bot, in words."""
    interrupted: tuple[tuple[int, int], ...] = ()
    """The turns that were interrupted: the ply, and what the side to move had used of it, which its bank is charged."""
    forgiven_us: tuple[int, ...] = ()
    """The lag of each action: what passed of its turn, besides `times_us`, until the answer was read. Not charged."""
    pondered_us: tuple[int, int] | None = None
    """Processor time in the opponent's turns of bots that may not use any there."""
    blue_time: TimeControl | UnsetType = UNSET
    kept: tuple[bool, bool] | UnsetType = UNSET
    """Whether each process had played the other game of the pair before."""
    authors: tuple[str, str] | UnsetType = UNSET
    machine: str | UnsetType = UNSET
    wants: tuple[tuple[Want, ...], tuple[Want, ...]] | UnsetType = UNSET
    opening: Opening | UnsetType = UNSET
    """The set-ups that the bots were given."""
    names_told: bool | UnsetType = UNSET
    """Whether each bot was told the name of the other."""
    cannot: tuple[tuple[Ability, ...], tuple[Ability, ...]] | UnsetType = UNSET
    time_percent: int | UnsetType = UNSET
    """By how much the clocks were scaled to the machine."""

    def __repr__(self) -> str:
        red, blue = (player.name for player in self.players)
        verdict = self.verdict
        return (
            f"GameRecord({self.id!r}, {red!r} - {blue!r}, {verdict.result.value}, {verdict.reason.value}, "
            f"{verdict.plies} plies)"
        )

    @property
    def nominal_times(self) -> tuple[TimeControl, TimeControl]:
        """Red's and Blue's time control before it is scaled."""
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
"""ASCII of JSON for a character that may not be printable. Few records have it: most are read quickly."""


def encode_record(record: GameRecord) -> bytes:
    """Return a record as JSON."""
    return _encoder.encode(record)


def decode_record(data: bytes) -> GameRecord:
    """Return a record from JSON, with all text in it made printable. Raises `RecordError`."""
    try:
        record = _decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise RecordError(f"not a game record: {error}") from None
    if data.isascii() and not _ODD.search(data):
        return record
    return msgspec.convert(_shown(msgspec.to_builtins(record)), GameRecord)


def _shown(value: Any, key: str = "") -> Any:
    if isinstance(value, str):
        return printable(value, lines=key == "stderr")
    if isinstance(value, list | tuple):
        return [_shown(item, key) for item in value]
    if isinstance(value, dict):
        return {name: _shown(item, name) for name, item in value.items()}
    return value
