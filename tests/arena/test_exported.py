"""A game as a line: it comes back as it was, and no line that was changed, torn or made up is taken for one."""

import json
import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.game.exported import ExportedGame, ExportedSide, SeatViewError, decode_line, encode_line, with_checksum
from arena.game.faults import GameResult, Verdict
from arena.game.game_spec import Player
from arena.game.recheck import check_record
from arena.game.record import GameRecord, NoteLine, RecordError, Use
from arena.game.time_control import TimeControl
from arena.system.printable import printable
from protocol.messages import Want
from protocol.notation import Reason

GOLDEN = Path(__file__).parent.parent / "golden" / "records"
WHOLE = (GOLDEN / "whole-schema1.jsonl").read_bytes().splitlines()
SEATS = (GOLDEN / "seats-schema1.jsonl").read_bytes().splitlines()
OPENINGS = (GOLDEN / "openings-schema1.jsonl").read_bytes().splitlines()
"""Games with openings: one that was played, and one in which Blue did not start."""
TOLD = (GOLDEN / "told-schema1.jsonl").read_bytes().splitlines()
"""The two games of a pair in which the bots were told each other's names, and one said that it cannot be restored."""
CALIBRATED = (GOLDEN / "calibrated-schema1.jsonl").read_bytes().splitlines()
"""Games of a cluster whose clocks were scaled to the machine."""
FULL = WHOLE[-1]
"""A game in which every field has something in it, but for those that only some games have."""


def refused(line: bytes, *, is_ended: bool = True) -> str:
    with pytest.raises(RecordError) as caught:
        decode_line(line, is_ended=is_ended)
    words = str(caught.value)
    assert words == printable(words)
    assert len(words) < 500
    return words


def forged(change: Callable[[dict[str, Any]], object], line: bytes = FULL) -> bytes:
    """The line with its fields changed, and a checksum that is right."""
    fields = json.loads(line)
    del fields["checksum"]
    change(fields)
    return with_checksum(fields)


# --- what is written is read ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", [*WHOLE, *OPENINGS, *TOLD, *CALIBRATED])
def test_lines_of_every_schema_are_read_for_ever_and_written_as_they_were(line: bytes) -> None:
    entry = decode_line(line)
    check_record(entry.record)
    assert encode_line(*entry) == line


def test_the_golden_lines_have_every_field_of_a_record() -> None:
    lines = (FULL, OPENINGS[0], TOLD[0], CALIBRATED[0])
    full, opened, told, calibrated = (msgspec.structs.asdict(decode_line(line).record) for line in lines)
    others = ["opening", "names_told", "cannot", "time_percent", "game", "turns"]
    assert [name for name, value in full.items() if not value] == others
    assert calibrated["time_percent"]
    assert opened["opening"]
    assert told["names_told"]
    assert any(told["cannot"])


def test_a_line_is_one_json_object_with_the_schema_first_and_the_checksum_last() -> None:
    for line in (*WHOLE, *SEATS, *OPENINGS):
        keys = list(json.loads(line))
        assert (keys[0], keys[-1]) == ("schema", "checksum")
        assert b"\n" not in line


texts = st.text(st.characters(exclude_categories=["C", "Z"]), max_size=8).map(printable)
counts = st.integers(0, 10**6)
times = st.builds(TimeControl, st.integers(1, 10**6), st.none() | st.integers(1, 10**9), counts)

wants = st.lists(st.sampled_from(Want), unique=True).map(tuple)


@st.composite
def any_records(draw: st.DrawFn) -> GameRecord:
    """A record of any values: whether they make sense is for others to say."""
    pairs = st.tuples(texts, texts)
    plies = draw(st.integers(0, 5))
    numbers = st.lists(counts, min_size=plies, max_size=plies).map(tuple)
    red_time, blue_time = draw(times), draw(times)
    uses = st.builds(Use, counts, counts)
    return GameRecord(
        id=draw(texts),
        arena=draw(texts),
        ruleset=draw(texts),
        rules=tuple(draw(st.lists(pairs, max_size=3))),
        time=red_time,
        players=(Player(*draw(pairs)), Player(*draw(pairs))),
        seeds=draw(st.tuples(counts, counts)),
        pair_seed=draw(counts),
        declared=draw(pairs),
        setups=draw(st.tuples(st.none() | texts, st.none() | texts)),
        actions=tuple(draw(st.lists(texts, min_size=plies, max_size=plies))),
        times_us=draw(numbers),
        notes=tuple(draw(st.lists(st.builds(NoteLine, counts, texts, texts), max_size=2))),
        verdict=draw(st.builds(Verdict, st.sampled_from(GameResult), st.sampled_from(Reason), counts, texts)),
        stderr=draw(st.tuples(texts, texts.map(lambda text: f"{text}\n\t{text}"))),
        started=draw(st.floats(0, 4e9)),
        seconds=draw(st.floats(0, 1e12)),
        cpu_us=draw(numbers),
        used=draw(st.none() | st.tuples(uses, uses)),
        confinement=draw(pairs),
        interrupted=tuple(draw(st.lists(st.tuples(counts, counts), max_size=2))),
        forgiven_us=draw(numbers),
        pondered_us=draw(st.none() | st.tuples(counts, counts)),
        blue_time=msgspec.UNSET if blue_time == red_time else blue_time,
        kept=draw(st.just(msgspec.UNSET) | st.tuples(st.booleans(), st.just(True))),
        authors=draw(st.just(msgspec.UNSET) | st.tuples(st.just("a"), texts)),
        machine=draw(st.just(msgspec.UNSET) | st.just("m")),
        wants=draw(st.just(msgspec.UNSET) | st.tuples(wants, wants)),
        opening=draw(st.just(msgspec.UNSET) | pairs),
        time_percent=draw(st.just(msgspec.UNSET) | counts),
        game=draw(st.just(msgspec.UNSET) | st.just("connect4 1")),
    )


@given(any_records(), st.dictionaries(texts, texts, max_size=3))
@settings(max_examples=40)
def test_any_record_is_read_back_as_the_value_that_was_written(record: GameRecord, of_league: dict[str, str]) -> None:
    line = encode_line(record, of_league)
    assert decode_line(line) == (record, of_league)
    assert b"\n" not in line


@given(st.floats(0, 2.5e11))
@settings(max_examples=100)
def test_a_date_comes_back_as_the_same_number(seconds: float) -> None:
    line = encode_line(msgspec.structs.replace(decode_line(FULL).record, started=seconds), {})
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", json.loads(line)["started"])
    assert decode_line(line).record.started == seconds


# --- what is refused --------------------------------------------------------------------------------------------------


@given(st.integers(0, len(FULL) - 1), st.integers(1, 255))
@settings(max_examples=60)
def test_a_line_with_any_byte_changed_is_refused(place: int, difference: int) -> None:
    changed = bytearray(FULL)
    changed[place] ^= difference
    refused(bytes(changed))


@given(st.integers(1, len(FULL) - 1))
@settings(max_examples=30)
def test_a_line_that_was_cut_off_is_said_to_be(length: int) -> None:
    assert "cut off" in refused(FULL[:length], is_ended=False)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"", "an empty line"),
        (b"{}", "missing required field `schema`"),
        (b"[1]", "Expected `object`, got `array`"),
        (b'{"x":' + b"[" * 1_000_000, "not a game record"),
        (b"\xff\xfe\x00", "not a game record"),
        (b"SQLite format 3\0", "not a game record"),
        (b'{"schema":1}', "expected a checksum at its end"),
        (b'{"schema":7}', "expected a game record of schema 1, got 7: it was written by a newer version of arena"),
        (with_checksum({"schema": 7, "x": 1}), "expected a game record of schema 1, got 7: it was written by a newer"),
        (with_checksum({"schema": 10**400}), "more characters): it was written by a newer version"),
    ],
)
def test_what_is_no_game_record_is_refused_with_what_came(line: bytes, words: str) -> None:
    assert words in refused(line)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f.pop("seconds"), "missing required field `seconds`"),
        (lambda f: f.update(more=1), "unknown field `more`"),
        (lambda f: f["red"].update(seed="1"), "Expected `int`, got `str` - at `$.red.seed`"),
        (lambda f: f["red"].update(name="x" * 1001), "at `$.red.name`"),
        (lambda f: f.update(settings={str(number): "" for number in range(101)}), "at `$.settings`"),
        (lambda f: f.update(pair_seed=2**80), "at `$.pair_seed`"),
        (lambda f: f.update(started="yesterday"), "expected a date such as 2026-01-31T12:00:00.5Z, got 'yesterday'"),
        (lambda f: f.update(started="2026-02-30T00:00:00Z"), "expected a date"),
        (lambda f: f.update(started="2026-01-31T12:00:00+01:00"), "expected a date"),
        (lambda f: f.update(started="2026-01-31T12:00:00.50Z"), "not as 'arena export' writes it"),
        (lambda f: f["times_us"].__setitem__(0, 2**53), "the times of its actions are too large"),
        (lambda f: f["blue"].update(used=None), "used: expected it of both sides or of neither"),
        (lambda f: f["red"].update(opening="x"), "opening: expected it of both sides or of neither"),
        (lambda f: f["verdict"].update(reason="So bored"), "Invalid enum value 'So bored'"),
        (lambda f: f["red"].update(name="a\x1b[2J"), "text that is not printable"),
        (lambda f: f.update(settings={"b": "1", "a": "2"}), "another order of keys"),
    ],
)
def test_a_line_with_a_right_checksum_and_a_wrong_field_is_refused(
    change: Callable[[dict[str, Any]], object], words: str
) -> None:
    assert words in refused(forged(change))


def summed(body: bytes) -> bytes:
    """Bytes that may be no JSON, with the checksum that they would have."""
    return body + b',"checksum":"%s"}' % sha256(body).hexdigest().encode()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b'"seconds":', b'"seconds":1.0,"seconds":', "an unknown or repeated key"),
        (b'"seconds":', b'"seconds":NaN,"x":', "malformed"),
        (b'"seconds":', b'"seconds":1e999,"x":', "out of range"),
        (b'"seconds":', b'"seconds": ', "other spaces"),
        (b'"view":"all"', b'"view":"\\u0061ll"', "another form"),
        (b'"arena":"', b'"arena":"\xff', "not a game record"),
        (b'"arena":"', b'"arena":"\\ud800', "not a game record"),
        (b'"arena":', b'"arena":' + b"[" * 100_000, "not a game record"),
    ],
)
def test_json_that_says_a_thing_in_another_way_is_refused(old: bytes, new: bytes, words: str) -> None:
    body = FULL[: FULL.rindex(b',"checksum"')]
    assert summed(body) == FULL
    assert words in refused(summed(body.replace(old, new, 1)))


@pytest.mark.parametrize("line", SEATS)
def test_what_one_side_was_told_of_a_game_is_no_game(line: bytes) -> None:
    with pytest.raises(SeatViewError, match=r"expected a whole game, got a view of one for '(red|blue)'"):
        decode_line(line)


def test_the_page_on_the_format_has_every_key_in_the_order_of_the_line() -> None:
    text = (GOLDEN.parent.parent.parent / "docs" / "record.md").read_text(encoding="utf-8")
    _, of_game, of_side = re.split(r"\n\| key(?: of a side)? \| value \|\n", text)
    of_line = [*ExportedGame.__struct_fields__, "checksum"]
    for table, keys in ((of_game, of_line), (of_side.partition("\n\n")[0], list(ExportedSide.__struct_fields__))):
        named = [
            key for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for key in re.findall(r"`(\w+)`", row)
        ]
        assert named == keys
