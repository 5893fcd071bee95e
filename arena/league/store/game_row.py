"""A stored game as the columns of its row: made from its record in one place, and used only if unchanged.

A row has two digests: of its record, and of its columns together with that. They reveal a change, but are no signature:
an editor can recompute them, and `arena.league.verify` replays the record to see whether it can be true.
"""

from functools import lru_cache
from hashlib import blake2b
from itertools import product
from typing import Any, NamedTuple

import msgspec

from arena.game.faults import GameResult
from arena.game.game_spec import Player
from arena.game.record import MOST_SECONDS, GameRecord, RecordError, decode_record
from arena.system.printable import printable
from protocol.seats import Color, Reason

DIGEST_BYTES = 16

TABLE_COLUMNS = (
    *("number", "id", "red", "blue", "result", "reason", "plies", "detail"),
    *("red_moves", "red_us", "red_slowest_us", "blue_moves", "blue_us", "blue_slowest_us", "seconds"),
    *("red_cpu_us", "blue_cpu_us", "pair_seed", "started", "record_digest", "row_digest"),
)
COLUMNS = ("number", "id", "red", "red_digest", "blue", "blue_digest", *TABLE_COLUMNS[4:-2])
"""The columns as they are read and covered by `row_digest`, with the names and digests of the players."""
MOST = 2**53
LAST_DATE = 253_402_300_799  # the end of the year 9999
FIRST_NUMBER, LAST_NUMBER = 1, 10**11 - 1
"""The numbers of games: more than fit into any file, and with fewer digits than an id."""
FEWEST_DIGITS = 6
"""Fewer digits, and nothing else, are a number and never the start of an id."""
LONGEST_NAME = 1000

Columns = tuple[Any, ...]


class PlayerTime(NamedTuple):
    """The time of one side's moves in one game, in microseconds; `cpu_us` is None if it was not measured."""

    moves: int
    total_us: int
    slowest_us: int
    cpu_us: int | None = None


class GameRow(NamedTuple):
    """A stored game for tables. Pairs are red, then blue; `pair_seed` identifies the two games of a pair."""

    number: int
    id: str
    players: tuple[Player, Player]
    result: GameResult
    reason: Reason
    plies: int
    detail: str
    times: tuple[PlayerTime, PlayerTime]
    seconds: float
    pair_seed: int = 0
    started: float = 0.0

    @property
    def games(self) -> int:
        return 1


def row_of(number: int, record: GameRecord) -> GameRow:
    def time_of(side: Color) -> PlayerTime:
        times_us, cpu_us = record.of_side(side, record.times_us), record.of_side(side, record.cpu_us)
        used = sum(cpu_us) if len(cpu_us) == len(times_us) else None
        return PlayerTime(len(times_us), sum(times_us), max(times_us, default=0), used)

    verdict = record.verdict
    return GameRow(
        number=number,
        id=record.id,
        players=record.players,
        result=verdict.result,
        reason=verdict.reason,
        plies=verdict.plies,
        detail=verdict.detail,
        times=(time_of(Color.RED), time_of(Color.BLUE)),
        seconds=record.seconds,
        pair_seed=record.pair_seed,
        started=record.started,
    )


def columns_of(row: GameRow) -> Columns:
    (red, blue), (red_time, blue_time) = row.players, row.times
    return (
        *(row.number, row.id, red.name, red.digest, blue.name, blue.digest),
        *(row.result.value, row.reason.value, row.plies, row.detail),
        *(*red_time[:3], *blue_time[:3], row.seconds),
        *(red_time.cpu_us, blue_time.cpu_us),
        *(row.pair_seed, row.started),
    )


def row_from(columns: Columns) -> GameRow:
    """Return the row of undamaged columns, with text made printable: see `compared`."""
    number, game_id, red, red_digest, blue, blue_digest, result, reason, plies, detail = columns[:10]
    red_moves, red_us, red_slowest_us, blue_moves, blue_us, blue_slowest_us, seconds = columns[10:17]
    red_cpu_us, blue_cpu_us, pair_seed, started = columns[17:]
    return GameRow(
        number,
        _readable(game_id),
        (player_from(red, red_digest), player_from(blue, blue_digest)),
        _RESULTS[result],
        Reason(reason),
        plies,
        _readable(detail),
        (
            PlayerTime(red_moves, red_us, red_slowest_us, red_cpu_us),
            PlayerTime(blue_moves, blue_us, blue_slowest_us, blue_cpu_us),
        ),
        seconds,
        pair_seed,
        started,
    )


@lru_cache(maxsize=4096)
def player_from(name: str, digest: str) -> Player:
    return Player(printable(name), printable(digest))


def digest_of(data: bytes) -> bytes:
    return blake2b(data, digest_size=DIGEST_BYTES).digest()


_encode = msgspec.msgpack.Encoder().encode


def row_digest(columns: Columns, of_record: object) -> bytes:
    return digest_of(_encode((columns, of_record)))


def is_unchanged(columns: Columns, of_record: object, of_row: object) -> bool:
    """Return whether a row is as it was stored. Its values may be of any type."""
    try:
        return row_digest(columns, of_record) == of_row
    except (UnicodeEncodeError, OverflowError):  # text that is none; no row was ever stored with it
        return False


_TYPES = (*(int, str, str, str, str, str), *(str, str, int, str), *(int, int, int, int, int, int, float))
_TYPES_OF_ROWS = {(*_TYPES, *cpu, int, float) for cpu in product((int, type(None)), repeat=2)}
_RESULTS = {result.value: result for result in GameResult}


def is_number(number: int) -> bool:
    return FIRST_NUMBER <= number <= LAST_NUMBER


def could_be_stored(columns: Columns) -> bool:
    """Return whether the arena could have stored these columns, even if their digest was forged."""
    return (
        tuple(map(type, columns)) in _TYPES_OF_ROWS
        and is_number(columns[0])
        and columns[6] in _RESULTS  # hashable, as it is text
        and Reason.has(columns[7])
        and max(map(len, columns[1:6])) <= LONGEST_NAME
        and min(counts := (columns[8], *columns[10:16], columns[17] or 0, columns[18] or 0)) >= 0
        and max(counts) < MOST
        and 0 <= columns[16] <= MOST_SECONDS  # which is no number, if it is not
        and abs(columns[19]) < 2**63
        and 0 <= columns[20] <= LAST_DATE
    )


def compared(columns: Columns, data: object) -> tuple[GameRecord | None, list[str]]:
    """Decode a record; return it, or None, and its faults apart from digests, in words."""
    try:
        record = decode_record(data if isinstance(data, bytes) else b"")
    except RecordError as error:
        return None, [f"its record cannot be read: {error}"]
    expected = columns_of(row_of(columns[0], record))
    got = tuple(map(_readable, columns))
    different = [
        name
        for name, one, other in zip(COLUMNS, got, expected, strict=True)
        if one != other or type(one) is not type(other)
    ]
    return record, [f"its row and its record differ: {', '.join(different)}"] if different else []


def _readable(value: Any) -> Any:
    return printable(value) if isinstance(value, str) else value
