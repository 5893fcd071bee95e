"""A game as one line of text: the form in which records leave a store, and in which they come back.

`docs/record.md` is the reference. A line is a JSON object (`arena.game.whole_line`) with a schema
version and, as its last key, a checksum over all bytes before it. There is one way to write a game: what is read is
written again and has to give the same bytes. So keys that stand there twice, other keys, odd numbers and text that is
not printable are all refused, and two lines are the same game only if they are equal. The checksum is no signature:
`arena.game.recheck` says what can have been played.
"""

import json
import re
from hashlib import sha256
from typing import Any

import msgspec

from arena.errors import ArenaError
from arena.game.record import GameRecord, RecordError
from arena.game.whole_line import SCHEMA, Entry, WholeLine, entry_of, whole_line
from arena.system.printable import shown

ALL = "all"
"""The `view` of a line in which nothing is left out."""
VIEWS = ("red", "blue", "public")
"""The `view` of a line that holds only what one side, or the public, may know."""
LONGEST_LINE = 4 * 1024 * 1024
"""Bytes of a line: a game of 3,000 plies has some 100 kB. Reading one takes some thirty times as much memory."""
HALF_A_LINE = "the file was cut off here, or the line was"


class SeatViewError(RecordError):
    """The line holds only what one side was told of a game."""


# --- writing ----------------------------------------------------------------------------------------------------------


def encode_line(record: GameRecord, settings: dict[str, str]) -> bytes:
    """A game with the settings of its league as a line, without a line feed. Raises `RecordError` if its date is none
    that can be written, or it is longer than a line may be."""
    line = with_checksum(whole_line(record, settings))
    if len(line) > LONGEST_LINE:
        raise RecordError(f"expected at most {LONGEST_LINE} bytes as a line, got {len(line)}")
    return line


def with_checksum(line: object) -> bytes:
    """The object as JSON, with a checksum over all that stands before it."""
    body = msgspec.json.encode(line)[:-1]
    return body + _tail(body)


def _tail(body: bytes) -> bytes:
    return b',"checksum":"%s"}' % sha256(body).hexdigest().encode()


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
    if header.view in VIEWS:
        raise SeatViewError(
            f"expected a whole game, got a view of one, what {shown(header.view)} may know (arena export --view): it "
            "is JSON for other programs and for people, and the arena itself reads whole games alone"
        )
    try:
        whole = _decoder.decode(body + b"}")
        entry = entry_of(whole)
        is_written_so = encode_line(*entry) == line
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise RecordError(f"not a game record: {shown(error)}") from None
    if not is_written_so:
        raise RecordError(f"not as 'arena export' writes it: {_difference(line)}")
    return entry


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
