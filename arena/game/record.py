"""A recorded game as a value, which equals its JSON."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from arena.errors import ArenaError
from arena.game import STRATEGO, Variant
from arena.game.faults import Verdict
from arena.game.game_spec import Opening, Player
from arena.game.time_control import TimeControl
from arena.system.printable import printable
from protocol.messages import Ability, Want
from protocol.seats import Color

STRATEGO_1 = f"{STRATEGO} 1"
MOST_SECONDS = 100 * 366 * 24 * 3600
"""The longest game: a person may think for a week at each move, but a century is no game."""


class NoteLine(msgspec.Struct, frozen=True):
    ply: int
    color: str
    text: str


class History(msgspec.Struct, frozen=True):
    """The moves of an interrupted game, enough to resume it. Fields are those of `GameRecord`."""

    declared: tuple[str, str]
    setups: tuple[str, str]
    actions: tuple[str, ...]
    times_us: tuple[int, ...]
    notes: tuple[NoteLine, ...]
    cpu_us: tuple[int, ...] = ()
    interrupted: tuple[tuple[int, int], ...] = ()
    forgiven_us: tuple[int, ...] = ()


class Use(msgspec.Struct, frozen=True):
    cpu_us: int = 0
    memory: int = 0


class GameRecord(msgspec.Struct, frozen=True):
    """A played game: enough to show it, to judge it again and to find the cause of a loss.

    Pairs are red, then blue. Fields that a game does not have are `UNSET`, and left out. Times in `_us` are
    microseconds.
    """

    id: str
    arena: str
    ruleset: str
    rules: tuple[tuple[str, str], ...]
    """The lines of the ruleset, from which it can be parsed."""
    time: TimeControl
    """Red's time control, and Blue's if `blue_time` is not set; both before scaling by `time_percent`."""
    players: tuple[Player, Player]
    seeds: tuple[int, int]
    pair_seed: int
    declared: tuple[str, str]
    setups: tuple[str | None, str | None]
    """Set-up lines; None for a side without a legal one."""
    actions: tuple[str, ...]
    times_us: tuple[int, ...]
    notes: tuple[NoteLine, ...]
    verdict: Verdict
    stderr: tuple[str, str]
    """The end of each bot's standard error."""
    started: float
    """Seconds since the epoch."""
    seconds: float
    cpu_us: tuple[int, ...] = ()
    """The processor time of each action; empty if it was not measured."""
    used: tuple[Use, Use] | None = None
    confinement: tuple[str, str] = ("", "")
    """The sandbox level and the limits of each bot, in words."""
    interrupted: tuple[tuple[int, int], ...] = ()
    """The interrupted turns: the ply, and the time that the side to move had used, which its bank is charged."""
    forgiven_us: tuple[int, ...] = ()
    """The lag of each action until the answer was read, in addition to `times_us`. Not charged."""
    pondered_us: tuple[int, int] | None = None
    """Processor time in the opponent's turns of bots that may not use any there."""
    blue_time: TimeControl | UnsetType = UNSET
    kept: tuple[bool, bool] | UnsetType = UNSET
    """Whether each process had played the other game of the pair before."""
    authors: tuple[str, str] | UnsetType = UNSET
    machine: str | UnsetType = UNSET
    wants: tuple[tuple[Want, ...], tuple[Want, ...]] | UnsetType = UNSET
    opening: Opening | UnsetType = UNSET
    names_told: bool | UnsetType = UNSET
    cannot: tuple[tuple[Ability, ...], tuple[Ability, ...]] | UnsetType = UNSET
    time_percent: int | UnsetType = UNSET
    """The scale of the clocks on the machine."""
    game: str | UnsetType = UNSET
    """The game and its version, such as `connect4 1`; not set for Stratego."""
    turns: str | UnsetType = UNSET
    """Who had each turn, as letters `r` and `b`; not set if the sides took turns from the first."""

    def __repr__(self) -> str:
        red, blue = (player.name for player in self.players)
        verdict = self.verdict
        return (
            f"GameRecord({self.id!r}, {red!r} - {blue!r}, {verdict.result.value}, {verdict.reason.value}, "
            f"{verdict.plies} plies)"
        )

    @property
    def variant(self) -> Variant:
        name, _, version = (self.game or STRATEGO_1).partition(" ")
        return Variant(name, version, self.ruleset, self.rules)

    def of_side(self, color: Color, values: Sequence[int]) -> Sequence[int]:
        """Return the values of this side's plies, of a sequence with a value for each ply."""
        letter = color.word[0]
        if self.turns:
            return [value for value, turn in zip(values, self.turns, strict=False) if turn == letter]
        return values[usual_turns(self.rules, 2).index(letter) :: 2]

    def mover(self, ply: int) -> Color:
        """Return the side that had the turn at a ply, from 1; after the last known one, whose turn it usually is."""
        turns = self.turns or ""
        letter = turns[ply - 1] if ply <= len(turns) else usual_turns(self.rules, ply)[-1]
        return Color(letter == Color.BLUE.word[0])

    @property
    def nominal_times(self) -> tuple[TimeControl, TimeControl]:
        return self.time, self.blue_time or self.time

    @property
    def times(self) -> tuple[TimeControl, TimeControl]:
        red, blue = self.nominal_times
        percent = self.time_percent or None
        return red.scaled(percent), blue.scaled(percent)


def usual_turns(rules: Sequence[tuple[str, str]], plies: int) -> str:
    """Return the turns of a game in which the sides take turns, as `GameRecord.turns` has them.

    Who begins is read from the rules, not asked of the game: a record is read where its game is not installed.
    """
    both = "br" if ("starts", Color.BLUE.word) in rules else "rb"
    return both * (plies // 2) + both[: plies % 2]


class RecordError(ArenaError):
    """A record that cannot be read, or that is impossible under its rules."""


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(GameRecord)
_ODD = re.compile(rb"\\[ubfrnt]|\x7f")
"""JSON escapes of characters that may not be printable. Few records have them: most are decoded quickly."""


def encode_record(record: GameRecord) -> bytes:
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
