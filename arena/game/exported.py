"""A game as one line of text, for export and import, and its redaction for one side.

`docs/record.md` is the reference. A line is a JSON object that ends in a checksum over all bytes before it. The form is
canonical: encoding a decoded line has to give the same bytes. So duplicate keys, odd numbers and unprintable text are
refused. The checksum is no signature: `arena.game.recheck` checks whether a game is possible.

A view has nothing hidden in any form. What a seat has been told comes from the game alone. Everything from which
something hidden of the other side could be inferred is left out: its set-up, the seeds, all output of the bot, its use
of the machine and its times. `arena.league.readers` decides which games may be read together.
"""

import re
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from hashlib import sha256
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType

from arena.errors import ArenaError
from arena.game.faults import NO_FAULTS, GameResult, Verdict, named, words_of
from arena.game.game_spec import Player
from arena.game.record import GameRecord, NoteLine, RecordError, Use, decode_record, encode_record
from arena.game.recorded import Replay
from arena.game.time_control import TimeControl
from arena.system.printable import printable, shown
from protocol.messages import Ability, Want
from protocol.seats import Color

SCHEMA = 1
ALL = "all"
"""The `view` of a complete line."""
PUBLIC = "public"
"""The `view` of a line with what both sides were told."""
PAGE = "page"
"""The `view` of a line on a page of a competition: a whole game without seeds."""
VIEWS = (*(color.word for color in Color), PUBLIC, PAGE)
LONGEST_LINE = 4 * 1024 * 1024
"""Bytes of a line: a game of 3,000 plies has some 100 kB. Reading one takes some thirty times as much memory."""
MOST = 2**53
"""Numbers up to here are the same in every language's JSON, and fit the columns of a store."""
MOST_ACTIONS = 1_000_000
MOST_SETTINGS = 100
MOST_STDERR = 128 * 1024
"""Characters: the 16 KiB that the arena keeps, with escapes for what is not printable."""

_Number = Annotated[int, Meta(ge=0, le=MOST)]
_Times = Annotated[tuple[_Number, ...], Meta(max_length=MOST_ACTIONS)]
_Name = Annotated[str, Meta(max_length=1000)]


class SeatViewError(RecordError):
    """The line holds only what one side was told of a game."""


class ExportedSide(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One side of an exported game. Fields without a value in the game have their defaults."""

    name: _Name
    digest: _Name
    declared: str
    author: str = ""
    wants: tuple[Want, ...] | None = None
    seed: _Number
    time: TimeControl
    setup: str | None
    held: str
    used: Use | None = None
    pondered_us: _Number | None = None
    kept: bool = False
    stderr: Annotated[str, Meta(max_length=MOST_STDERR)]
    opening: str | UnsetType = UNSET
    opponent: _Name | UnsetType = UNSET
    cannot: tuple[Ability, ...] | UnsetType = UNSET


class ExportedGame(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line without its checksum, in the order of its fields; `settings` are those of the league."""

    schema: int = SCHEMA
    view: Literal["all"] = "all"
    id: _Name
    arena: _Name
    machine: _Name | None
    time_percent: _Number | UnsetType = UNSET
    started: str
    seconds: float
    settings: Annotated[dict[str, str], Meta(max_length=MOST_SETTINGS)]
    game: _Name | UnsetType = UNSET
    ruleset: _Name
    rules: tuple[tuple[str, str], ...]
    pair_seed: _Number
    red: ExportedSide
    blue: ExportedSide
    actions: Annotated[tuple[str, ...], Meta(max_length=MOST_ACTIONS)]
    times_us: _Times
    cpu_us: _Times
    forgiven_us: _Times
    interrupted: tuple[tuple[_Number, _Number], ...]
    notes: tuple[NoteLine, ...]
    turns: str | UnsetType = UNSET
    verdict: Verdict
    told: None = None


class RecordEntry(NamedTuple):
    record: GameRecord
    settings: dict[str, str]


_SHARED = [
    name
    for name in ExportedGame.__struct_fields__
    if name in GameRecord.__struct_fields__ and name not in ("machine", "started")
]
"""Fields with the same values in a line and a record."""
_PAIRS = {
    "declared": "declared",
    "author": "authors",
    "wants": "wants",
    "seed": "seeds",
    "setup": "setups",
    "held": "confinement",
    "used": "used",
    "pondered_us": "pondered_us",
    "kept": "kept",
    "stderr": "stderr",
    "opening": "opening",
    "cannot": "cannot",
}
"""Fields of a side, and the pairs of a record with their values."""
_DEFAULTS = {field.name: field.default for field in msgspec.structs.fields(ExportedSide)}
_OF_BOTH = ("used", "pondered_us", "wants", "opening")


# --- writing ----------------------------------------------------------------------------------------------------------


def exported(record: GameRecord, settings: dict[str, str]) -> ExportedGame:
    """Return the value of a game's line. Raises `RecordError` for an invalid date."""
    red, blue = (_side(record, color) for color in Color)
    return ExportedGame(
        **{name: getattr(record, name) for name in _SHARED},
        machine=record.machine or None,
        started=date_text(record.started),
        settings=dict(sorted(settings.items())),
        red=red,
        blue=blue,
    )


def _side(record: GameRecord, color: Color) -> ExportedSide:
    pairs = ((key, getattr(record, name)) for key, name in _PAIRS.items())
    halves = {key: pair[color] for key, pair in pairs if pair}
    if not halves.get("cannot"):
        halves["cannot"] = UNSET
    player = record.players[color]
    return ExportedSide(
        name=player.name,
        digest=player.digest,
        time=record.nominal_times[color],
        opponent=record.players[color.opponent].name if record.names_told else UNSET,
        **halves,
    )


def encode_line(record: GameRecord, settings: dict[str, str]) -> bytes:
    """Return a game as a line, without a line feed. Raises `RecordError` for an invalid date or a game that is too
    long.
    """
    line = with_checksum(exported(record, settings))
    if len(line) > LONGEST_LINE:
        raise RecordError(f"expected at most {LONGEST_LINE} bytes as a line, got {len(line)}")
    return line


def encode_for_page(record: GameRecord, settings: dict[str, str]) -> bytes:
    """Return the line of a whole game without seeds, which cannot be verified. Raises `RecordError`."""
    fields: dict[str, Any] = msgspec.to_builtins(exported(record, settings))
    fields |= {"view": PAGE, "pair_seed": None}
    for color in Color:
        fields[color.word]["seed"] = None
    return with_checksum(fields)


def with_checksum(line: object) -> bytes:
    """Return an object as JSON, with a checksum over all bytes before it."""
    body = msgspec.json.encode(line)[:-1]
    return body + _tail(body)


def _tail(body: bytes) -> bytes:
    return b',"checksum":"%s"}' % sha256(body).hexdigest().encode()


def date_text(seconds: float) -> str:
    """Return seconds since the epoch in ISO 8601, with as many digits as needed to parse the same number."""
    try:
        whole, rest = divmod(Decimal(repr(seconds)), 1)
        date = datetime.fromtimestamp(int(whole), UTC)
    except (InvalidOperation, ValueError, OverflowError, OSError):
        raise RecordError(f"expected the start time of a game, got {seconds!r}") from None
    digits = f"{rest:f}".partition(".")[2].rstrip("0")
    return f"{date:%Y-%m-%dT%H:%M:%S}{f'.{digits}' if digits else ''}Z"


# --- reading ----------------------------------------------------------------------------------------------------------

_decoder = msgspec.json.Decoder(ExportedGame)
_DATE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,400})?Z", re.ASCII)
_CHECKSUM = re.compile(rb',"checksum":"[0-9a-f]{64}"}')


def decode_line(line: bytes, *, is_ended: bool = True) -> RecordEntry:
    """Return the game of a line without its line feed; `is_ended` tells whether there was one.

    Raises `RecordError`, with the expected and the actual value, and `SeatViewError` for the view of one side.
    """
    body, tail = line[: -len(_tail(b""))], line[-len(_tail(b"")) :]
    if tail != _tail(body):
        raise RecordError(_without_checksum(line, tail, is_ended))
    header = _header(line)
    if header.schema != SCHEMA:
        raise RecordError(_other_schema(header.schema))
    if header.view in VIEWS:
        raise SeatViewError(
            f"expected a whole game, got a view of one for {shown(header.view)} (arena export --view, or a page): it "
            "is JSON for other programs and for people, and the arena itself reads whole games alone"
        )
    try:
        entry = _entry(_decoder.decode(body + b"}"))
        is_written_so = encode_line(*entry) == line
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise RecordError(f"not a game record: {shown(error)}") from None
    if not is_written_so:
        raise RecordError(
            "not as 'arena export' writes it: an unknown or repeated key, other spaces, another "
            "order of keys, a number in another form, or text that is not printable"
        )
    return entry


def _entry(game: ExportedGame) -> RecordEntry:
    """Return a game with all its text made printable. Raises `RecordError` for an impossible game."""
    red, blue = game.red, game.blue
    if max(map(sum, (game.times_us, game.cpu_us, game.forgiven_us))) > MOST:
        raise RecordError("the times of its actions are too large")
    pairs: dict[str, Any] = {}
    for key, name in _PAIRS.items():
        missing = [getattr(side, key) == _DEFAULTS[key] for side in (red, blue)]
        if key in _OF_BOTH and any(missing) and not all(missing):
            raise RecordError(f"{key}: expected it of both sides or of neither; one has none")
        if not all(missing):
            pairs[name] = tuple(() if half is UNSET else half for half in (getattr(red, key), getattr(blue, key)))
    record = GameRecord(
        **{name: getattr(game, name) for name in _SHARED},
        **pairs,
        time=red.time,
        blue_time=blue.time if blue.time != red.time else UNSET,
        players=(Player(red.name, red.digest), Player(blue.name, blue.digest)),
        started=_seconds_of(game.started),
        machine=game.machine or UNSET,
        names_told=red.opponent is not UNSET or UNSET,
    )
    readable = decode_record(encode_record(record))  # which makes its text printable
    return RecordEntry(readable, {printable(name): printable(text) for name, text in game.settings.items()})


def _seconds_of(text: str) -> float:
    match = _DATE.fullmatch(text)
    try:
        date = datetime.fromisoformat(f"{match[1]}+00:00") if match else None
    except ValueError:
        date = None
    if match is None or date is None:
        raise RecordError(f"started: expected a date such as 2026-01-31T12:00:00.5Z, got {shown(text)}")
    whole = round((date - datetime.fromtimestamp(0, UTC)).total_seconds())
    return float(Decimal(whole) + Decimal(match[2] or 0))


class _Header(msgspec.Struct):
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
    """Describe why a line does not end in the checksum of the bytes before."""
    if not line.strip():
        return "expected a game record, got an empty line"
    if _CHECKSUM.fullmatch(tail):
        return "it was changed after it was written: its checksum is not that of the line"
    if not is_ended:
        return "the file was cut off here, or the line was"
    try:
        schema = _header(line).schema
    except ArenaError as error:
        return str(error)
    return _other_schema(schema) if schema != SCHEMA else "expected a checksum at its end, and there is none"


# --- what one side may read -------------------------------------------------------------------------------------------

_HIDDEN = ("declared", "author", "wants", "seed", "setup", "used", "pondered_us", "stderr")


def redact(record: GameRecord, seat: Color | None, *, has_seed: bool = True) -> bytes:
    """Return the line of a game with what the side of `seat`, or without a seat the public, may know.

    Without `has_seed` the side's own seed is left out, too: it is for its author alone. The verdict keeps its words if
    the seat lost by a fault of its own, which it was told. Raises `RecordError` for an impossible game.
    """
    fields: dict[str, Any] = msgspec.to_builtins(exported(record, {}))
    fields["view"] = PUBLIC if seat is None else seat.word
    fields["settings"] = fields["pair_seed"] = None
    fields.pop("turns", None)
    for color in Color:
        side = fields[color.word]
        if color is not seat:
            hidden = _HIDDEN + (("opening",) if record.opening else ())
            side.update(dict.fromkeys(hidden))
            side.pop("cannot", None)
        elif not has_seed:
            side["seed"] = None
    fields["told"], movers = _told(record, seat) if None not in record.setups else ([], [])
    is_own = [seat is not None and mover is seat for mover in movers]
    for name in ("times_us", "cpu_us", "forgiven_us"):
        fields[name] = [number if own else None for own, number in zip(is_own, fields[name], strict=False)]
    if record.variant.kind.hides_actions:
        fields["actions"] = [action if own else None for own, action in zip(is_own, record.actions, strict=False)]
    fields["interrupted"] = [
        turn for turn in record.interrupted if seat is not None and movers[turn[0] - 1 : turn[0]] == [seat]
    ]
    fields["notes"] = [note for note in record.notes if seat is not None and note.color == seat.word]
    if not _is_own_fault(record.verdict, seat):
        fields["verdict"].pop("faults", None)
    fields["verdict"]["detail"] = verdict_words(record, seat)
    return with_checksum(fields)


def _told(record: GameRecord, seat: Color | None) -> tuple[list[list[str]], list[Color]]:
    """Return the lines about the beginning and then about each action, and the seats that had the turns."""
    replay = Replay(record)
    told, movers = [list(replay.state.first_lines(seat))], []
    for step in replay.steps():
        movers.append(step.color)
        told.append(list(step.told[seat] if seat is not None else replay.spec.kind.public_lines(step.told)))
    return told, [*movers, replay.state.to_move]


def verdict_words(record: GameRecord, seat: Color | None) -> str:
    """Return how a game ended, without ranks that the side of `seat`, or the public, may not know."""
    verdict, players = record.verdict, record.players
    if _is_own_fault(verdict, seat):
        return verdict.detail
    if verdict.result is GameResult.NEITHER:
        return f"{named(players, Color.RED)} and {named(players, Color.BLUE)} both lost by a fault before the game"
    return words_of(players, msgspec.structs.replace(verdict, faults=NO_FAULTS))


def _is_own_fault(verdict: Verdict, seat: Color | None) -> bool:
    """Whether a seat alone has lost by a fault."""
    return seat is not None and verdict.reason.is_forfeit and verdict.result.winner is seat.opponent
