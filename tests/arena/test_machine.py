"""What a record says of the machine and of who wrote the bots."""

import platform
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import msgspec
import trio

from arena.bots.spec import BotSpec
from arena.game.record import GameRecord, decode_record, encode_record
from arena.play.machine import LONGEST, this_machine
from protocol.notation import Color

if TYPE_CHECKING:
    from tests.arena.conftest import Table

PROGRAM = """
import sys
sys.stdin.readline()
print("author {author}", flush=True) if "{author}" else None
print("ready", flush=True)
for line in sys.stdin:
    if line.startswith("setup"):
        sys.exit(3)
"""


def test_the_machine_is_described_without_its_name() -> None:
    words = this_machine()
    assert words.isprintable()
    assert len(words) <= LONGEST
    assert platform.machine() in words
    assert platform.python_version() in words
    node = platform.node()
    assert len(node) < 6 or node not in words


def test_the_record_of_a_game_has_the_machine_and_the_authors(
    make_bot: Callable[..., BotSpec], play: Callable[..., Awaitable[GameRecord]]
) -> None:
    ann, nobody = make_bot(PROGRAM.format(author="Ann"), "ann"), make_bot(PROGRAM.format(author=""), "nobody")

    async def games() -> tuple[GameRecord, GameRecord]:
        return await play(ann, nobody), await play(nobody, nobody)

    signed, unsigned = trio.run(games)
    assert signed.authors == ("Ann", "")
    assert unsigned.authors is msgspec.UNSET
    assert signed.machine == unsigned.machine == this_machine()
    assert decode_record(encode_record(signed)) == signed
    assert b"authors" not in encode_record(unsigned)


def test_an_author_stays_known_where_a_process_is_kept(seat_bots: "Callable[..., Table]") -> None:
    table, other = seat_bots(), seat_bots()
    table.introduce(red=["author Ann"])
    other.referee.seats[Color.BLUE].introduced(table.referee.seats[Color.RED].introduction)
    assert other.referee.seats[Color.BLUE].author == "Ann"
