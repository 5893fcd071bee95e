"""What a line of a game says, as a value: all of its record, side by side, and the settings of its league.

The fields stand in the order in which they are written (`arena.game.record_lines`). What a game of an older version did
not say yet is left out or null, so that lines that were written then stay as they are.
"""

from typing import Annotated, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import Meta

from arena.game.dates import date_text, seconds_of
from arena.game.record import GameRecord, NoteLine, RecordError, Use, decode_record, encode_record
from arena.game.spec import Player
from arena.game.time_control import TimeControl
from arena.game.verdict import Verdict
from arena.system.printable import printable
from protocol.messages import Ability, Want

SCHEMA = 1
MOST = 2**53
"""Numbers up to here are the same in every language's JSON, and fit the columns of a store."""
MOST_ACTIONS = 1_000_000
MOST_SETTINGS = 100
MOST_STDERR = 128 * 1024
"""Characters: the 16 KiB that the arena keeps, with escapes for what is not printable."""

T = TypeVar("T")

_Number = Annotated[int, Meta(ge=0, le=MOST)]
_Times = Annotated[tuple[_Number, ...], Meta(max_length=MOST_ACTIONS)]
_Name = Annotated[str, Meta(max_length=1000)]
"""What stands in tables and lists."""


class Side(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a line says of one side. What is not known of a game of an older version is None, `held` is empty then.

    `opening` is the set-up that the side was given; it stands in no line of a game without an opening. `opponent` is
    the name that it was told of the other, and `cannot` what it said that it cannot do; they stand there only then.
    """

    name: _Name
    digest: _Name
    declared: str
    author: str
    wants: tuple[Want, ...] | None
    seed: _Number
    time: TimeControl
    setup: str | None
    held: str
    used: Use | None
    pondered_us: _Number | None
    kept: bool
    stderr: Annotated[str, Meta(max_length=MOST_STDERR)]
    opening: str | msgspec.UnsetType = msgspec.UNSET
    opponent: _Name | msgspec.UnsetType = msgspec.UNSET
    cannot: tuple[Ability, ...] | msgspec.UnsetType = msgspec.UNSET


class WholeLine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line but for its checksum, in the order in which it is written. The names are those of `GameRecord`, where
    `started` is in seconds. `time_percent` stands in no line of a game whose clocks were not scaled."""

    schema: int
    view: Literal["all"]
    id: _Name
    arena: _Name
    machine: _Name | None
    time_percent: _Number | msgspec.UnsetType = msgspec.UNSET
    started: str
    seconds: float
    settings: Annotated[dict[str, str], Meta(max_length=MOST_SETTINGS)]
    ruleset: _Name
    rules: tuple[tuple[str, str], ...]
    pair_seed: _Number
    red: Side
    blue: Side
    actions: Annotated[tuple[str, ...], Meta(max_length=MOST_ACTIONS)]
    times_us: _Times
    cpu_us: _Times
    forgiven_us: _Times
    interrupted: tuple[tuple[_Number, _Number], ...]
    notes: tuple[NoteLine, ...]
    verdict: Verdict
    told: None = None


class Entry(NamedTuple):
    """What a line says: the game, and the settings of its league, by name."""

    record: GameRecord
    settings: dict[str, str]


def whole_line(record: GameRecord, settings: dict[str, str]) -> WholeLine:
    """A game as the value that a line is made of."""
    red, blue = (_side(record, index) for index in range(2))
    return WholeLine(
        schema=SCHEMA,
        view="all",
        id=record.id,
        arena=record.arena,
        machine=record.machine or None,
        time_percent=record.time_percent,
        started=date_text(record.started),
        seconds=record.seconds,
        settings=dict(sorted(settings.items())),
        ruleset=record.ruleset,
        rules=record.rules,
        pair_seed=record.pair_seed,
        red=red,
        blue=blue,
        actions=record.actions,
        times_us=record.times_us,
        cpu_us=record.cpu_us,
        forgiven_us=record.forgiven_us,
        interrupted=record.interrupted,
        notes=record.notes,
        verdict=record.verdict,
    )


def _side(record: GameRecord, index: int) -> Side:
    player = record.players[index]
    return Side(
        name=player.name,
        digest=player.digest,
        declared=record.declared[index],
        author=record.authors[index] if record.authors else "",
        wants=record.wants[index] if record.wants else None,
        seed=record.seeds[index],
        time=record.nominal_times[index],
        setup=record.setups[index],
        held=record.confinement[index],
        used=record.used[index] if record.used else None,
        pondered_us=record.pondered_us[index] if record.pondered_us else None,
        kept=record.kept[index] if record.kept else False,
        stderr=record.stderr[index],
        opening=record.opening[index] if record.opening else msgspec.UNSET,
        opponent=record.players[1 - index].name if record.names_told else msgspec.UNSET,
        cannot=(record.cannot[index] or msgspec.UNSET) if record.cannot else msgspec.UNSET,
    )


def entry_of(whole: WholeLine) -> Entry:
    """The game that a line says, with all text in it made printable. Raises `RecordError`."""
    red, blue = whole.red, whole.blue
    _check_both(whole)
    record = GameRecord(
        id=whole.id,
        arena=whole.arena,
        ruleset=whole.ruleset,
        rules=whole.rules,
        time=red.time,
        players=(Player(red.name, red.digest), Player(blue.name, blue.digest)),
        seeds=(red.seed, blue.seed),
        pair_seed=whole.pair_seed,
        declared=(red.declared, blue.declared),
        setups=(red.setup, blue.setup),
        actions=whole.actions,
        times_us=whole.times_us,
        notes=whole.notes,
        verdict=whole.verdict,
        stderr=(red.stderr, blue.stderr),
        started=seconds_of(whole.started),
        seconds=whole.seconds,
        cpu_us=whole.cpu_us,
        used=_both(red.used, blue.used),
        confinement=(red.held, blue.held),
        interrupted=whole.interrupted,
        forgiven_us=whole.forgiven_us,
        pondered_us=_both(red.pondered_us, blue.pondered_us),
        blue_time=blue.time if blue.time != red.time else msgspec.UNSET,
        kept=(red.kept, blue.kept) if red.kept or blue.kept else msgspec.UNSET,
        authors=(red.author, blue.author) if red.author or blue.author else msgspec.UNSET,
        machine=whole.machine or msgspec.UNSET,
        wants=_both(red.wants, blue.wants) or msgspec.UNSET,
        opening=(
            (red.opening, blue.opening)
            if red.opening is not msgspec.UNSET and blue.opening is not msgspec.UNSET
            else msgspec.UNSET
        ),
        names_told=red.opponent is not msgspec.UNSET or msgspec.UNSET,
        cannot=(red.cannot or (), blue.cannot or ()) if red.cannot or blue.cannot else msgspec.UNSET,
        time_percent=whole.time_percent,
    )
    readable = decode_record(encode_record(record))  # which makes its text printable
    return Entry(readable, {printable(name): printable(value) for name, value in whole.settings.items()})


def _check_both(whole: WholeLine) -> None:
    """Raise `RecordError` for what no game has, though each of its fields is right."""
    red, blue = whole.red, whole.blue
    if max(map(sum, (whole.times_us, whole.cpu_us, whole.forgiven_us))) > MOST:
        raise RecordError("the times of its actions are too large")
    for name in ("used", "pondered_us", "wants"):
        if (getattr(red, name) is None) != (getattr(blue, name) is None):
            raise RecordError(f"{name}: expected it of both sides or of neither; one is null")
    if (red.opening is msgspec.UNSET) != (blue.opening is msgspec.UNSET):
        raise RecordError("opening: expected it of both sides or of neither; one has none")


def _both(red: T | None, blue: T | None) -> tuple[T, T] | None:
    """What is known of both sides, or of neither."""
    return None if red is None or blue is None else (red, blue)
