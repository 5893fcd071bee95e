"""A game as one line of text: the form in which records leave a store, and in which they come back.

`docs/record.md` is the reference. A line is a JSON object with a schema version and, as its last key, a checksum over
all bytes before it. There is one way to write a game: what is read is written again and has to give the same bytes. So
keys that stand there twice, other keys, odd numbers and text that is not printable are all refused, and two lines are
the same game only if they are equal. The checksum is no signature: `arena.game.recheck` says what can have been played.
"""

import json
import re
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from hashlib import sha256
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta

from arena.errors import ArenaError
from arena.game.dialects import USUAL_DIALECTS, Dialect
from arena.game.record import GameRecord, NoteLine, RecordError, Use, decode_record, encode_record
from arena.game.spec import Player
from arena.game.time_control import TimeControl
from arena.game.verdict import Verdict
from arena.printable import printable, shown
from protocol.messages import Ability, Want

SCHEMA = 1
ALL = "all"
"""The `view` of a line in which nothing is left out."""
MOST = 2**53
"""Numbers up to here are the same in every language's JSON, and fit the columns of a store."""
MOST_ACTIONS = 1_000_000
LONGEST_LINE = 32 * 1024 * 1024
"""Bytes of a line that is read; a game of 3,000 plies has some 100 kB, one of a million would have 25 MB."""
HALF_A_LINE = "the file was cut off here, or the line was"

_Number = Annotated[int, Meta(ge=0, le=MOST)]
_Times = Annotated[tuple[_Number, ...], Meta(max_length=MOST_ACTIONS)]


_Name = Annotated[str, Meta(max_length=1000)]
"""What stands in tables and lists."""


class Side(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a line says of one side. What is not known of a game of an older version is None, `held` is empty then.

    `opening` is the set-up that the side was given; it stands in no line of a game without an opening. `opponent` is
    the name that it was told of the other, and `cannot` what it said that it cannot do; they stand there only then.
    `protocol` is what the side spoke, where that was not version 1 of the arena's protocol.
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
    stderr: str
    opening: str | msgspec.UnsetType = msgspec.UNSET
    opponent: _Name | msgspec.UnsetType = msgspec.UNSET
    cannot: tuple[Ability, ...] | msgspec.UnsetType = msgspec.UNSET
    protocol: Dialect | msgspec.UnsetType = msgspec.UNSET


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
    settings: dict[str, str]
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


class SeatViewError(RecordError):
    """The line holds only what one side was told of a game."""


# --- writing ----------------------------------------------------------------------------------------------------------


def encode_line(record: GameRecord, settings: dict[str, str]) -> bytes:
    """A game with the settings of its league as a line, without a line feed. Raises `RecordError` if its date is none
    that can be written."""
    return with_checksum(whole_line(record, settings))


def with_checksum(line: object) -> bytes:
    """The object as JSON, with a checksum over all that stands before it."""
    body = msgspec.json.encode(line)[:-1]
    return body + _tail(body)


def _tail(body: bytes) -> bytes:
    return b',"checksum":"%s"}' % sha256(body).hexdigest().encode()


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
        protocol=msgspec.UNSET if record.dialects[index] is Dialect.ARENA_1 else record.dialects[index],
    )


def date_text(seconds: float) -> str:
    """Seconds since the epoch in ISO 8601, UTC, with as many digits as tell this number from all others."""
    try:
        whole, rest = divmod(Decimal(repr(seconds)), 1)
        date = datetime.fromtimestamp(int(whole), UTC)
    except (InvalidOperation, ValueError, OverflowError, OSError):
        raise RecordError(f"expected the time at which a game was started, got {seconds!r}") from None
    digits = f"{rest:f}".partition(".")[2].rstrip("0")
    return f"{date:%Y-%m-%dT%H:%M:%S}{f'.{digits}' if digits else ''}Z"


_DATE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,400})?Z", re.ASCII)


def _seconds(text: str) -> float:
    match = _DATE.fullmatch(text)
    try:
        date = datetime.fromisoformat(f"{match[1]}+00:00") if match else None
    except ValueError:
        date = None
    if match is None or date is None:
        raise RecordError(f"started: expected a date such as 2026-01-31T12:00:00.5Z, got {shown(text)}")
    whole = round((date - datetime.fromtimestamp(0, UTC)).total_seconds())
    return float(Decimal(whole) + Decimal(match[2] or 0))


# --- reading ----------------------------------------------------------------------------------------------------------

_decoder = msgspec.json.Decoder(WholeLine)


def decode_line(line: bytes, *, is_ended: bool = True) -> Entry:
    """A game from a line, without its line feed; `is_ended` tells whether there was one.

    Raises `RecordError`, with what was expected and what came, and `SeatViewError` for what one side was told.
    """
    body, tail = line[: -len(_tail(b""))], line[-len(_tail(b"")) :]
    if tail != _tail(body):
        raise RecordError(_without_checksum(line, tail, is_ended))
    header = _header(line)
    if header.schema != SCHEMA:
        raise RecordError(_other_schema(header.schema))
    if header.view != ALL:
        raise SeatViewError(
            f"expected a whole game, got a view of one, what {shown(header.view)} may know (arena export --view): it "
            "is JSON for other programs and for people, and the arena itself reads whole games alone"
        )
    try:
        whole = _decoder.decode(body + b"}")
        entry = _entry(whole)
        is_written_so = encode_line(*entry) == line
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise RecordError(f"not a game record: {shown(error)}") from None
    if not is_written_so:
        raise RecordError(f"not as 'arena export' writes it: {_difference(line)}")
    return entry


def _entry(whole: WholeLine) -> Entry:
    red, blue = whole.red, whole.blue
    if max(map(sum, (whole.times_us, whole.cpu_us, whole.forgiven_us))) > MOST:
        raise RecordError("the times of its actions are too large")
    for name in ("used", "pondered_us", "wants"):
        if (getattr(red, name) is None) != (getattr(blue, name) is None):
            raise RecordError(f"{name}: expected it of both sides or of neither; one is null")
    if (red.opening is msgspec.UNSET) != (blue.opening is msgspec.UNSET):
        raise RecordError("opening: expected it of both sides or of neither; one has none")
    dialects = (red.protocol or Dialect.ARENA_1, blue.protocol or Dialect.ARENA_1)
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
        started=_seconds(whole.started),
        seconds=whole.seconds,
        cpu_us=whole.cpu_us,
        used=(red.used, blue.used) if red.used and blue.used else None,
        confinement=(red.held, blue.held),
        interrupted=whole.interrupted,
        forgiven_us=whole.forgiven_us,
        pondered_us=(
            (red.pondered_us, blue.pondered_us)
            if red.pondered_us is not None and blue.pondered_us is not None
            else None
        ),
        blue_time=blue.time if blue.time != red.time else msgspec.UNSET,
        kept=(red.kept, blue.kept) if red.kept or blue.kept else msgspec.UNSET,
        authors=(red.author, blue.author) if red.author or blue.author else msgspec.UNSET,
        machine=whole.machine or msgspec.UNSET,
        wants=(red.wants, blue.wants) if red.wants is not None and blue.wants is not None else msgspec.UNSET,
        opening=(
            (red.opening, blue.opening)
            if red.opening is not msgspec.UNSET and blue.opening is not msgspec.UNSET
            else msgspec.UNSET
        ),
        names_told=red.opponent is not msgspec.UNSET or msgspec.UNSET,
        cannot=(red.cannot or (), blue.cannot or ()) if red.cannot or blue.cannot else msgspec.UNSET,
        protocols=msgspec.UNSET if dialects == USUAL_DIALECTS else dialects,
        time_percent=whole.time_percent,
    )
    readable = decode_record(encode_record(record))  # with all text in it made printable
    return Entry(readable, {printable(name): printable(value) for name, value in whole.settings.items()})


class _Header(msgspec.Struct):
    """What a line of any schema has."""

    schema: int
    view: str = ALL


def _header(line: bytes) -> _Header:
    try:
        return msgspec.json.decode(line, type=_Header)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise RecordError(f"not a game record: {shown(error)}") from None


def _other_schema(schema: int) -> str:
    newer = ": it was written by a newer version of arena" if schema > SCHEMA else ""
    return f"expected a game record of schema {SCHEMA}, got {shown(schema)}{newer}"


def _without_checksum(line: bytes, tail: bytes, is_ended: bool) -> str:
    """Why a line does not end in the checksum of what stands before, in words."""
    if not line.strip():
        return "expected a game record, got an empty line"
    if _CHECKSUM.fullmatch(tail):
        return "it was changed after it was written: its checksum is not that of what stands there"
    if not is_ended:
        return HALF_A_LINE
    try:
        schema = _header(line).schema
    except ArenaError as error:
        return str(error)
    return _other_schema(schema) if schema != SCHEMA else "expected a checksum at its end, and there is none"


_CHECKSUM = re.compile(rb',"checksum":"[0-9a-f]{64}"}')


def _difference(line: bytes) -> str:
    """What keeps a line from being written as it would be, in words."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen = set()
        for key, _ in pairs:
            if key in seen:
                raise RecordError(f"the key {shown(key)} stands there twice")
            seen.add(key)
        return dict(pairs)

    try:
        json.loads(line, object_pairs_hook=unique)
    except RecordError as error:
        return str(error)
    except (ValueError, RecursionError):
        pass
    return (
        "a key that there is not, other spaces, another order of keys, a number in another form, or text that is not "
        "printable"
    )
