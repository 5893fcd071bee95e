"""Whatever a bot does, it is the one that loses: with its true reason, soon, and with nothing of it left behind.

The bots and what becomes of them are in `tests/hostile/bots.toml`.
"""

import tomllib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import trio

from arena.bots import BotSpec
from arena.model import GameRecord, GameResult, TimeControl
from arena.process import STDERR_KEPT
from arena.record import check_record
from protocol.notation import Color, Reason

TABLE = tomllib.loads((Path(__file__).parent.parent / "hostile" / "bots.toml").read_text())
OPPONENTS: dict[str, str] = TABLE["opponent"]
HURRIED = TimeControl(move_ms=300, setup_ms=600, start_ms=1500)
UNHURRIED = TimeControl(move_ms=60_000, setup_ms=60_000, start_ms=60_000)
DROPPED_NOTE = 60
"""More characters than the line takes that says how much of the standard error was dropped."""

Play = Callable[..., Awaitable[GameRecord]]


@dataclass(frozen=True)
class Row:
    """One bot that misbehaves; the columns are explained in the table."""

    name: str
    program: str
    reason: str
    words: list[str]
    stderr: tuple[str, ...] = ()
    opponent: str = "good"
    hurried: bool = False

    @property
    def reasons(self) -> set[Reason]:
        """One reason, but where it is chance which of two faults is noticed first."""
        return {Reason(reason) for reason in self.reason.split(" or ")}


ROWS = [Row(**columns) for columns in TABLE["bot"]]


@pytest.mark.parametrize("color", Color, ids=lambda color: color.word)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name.replace(" ", "-"))
def test_it_loses_and_the_next_game_is_not_the_worse_for_it(
    row: Row, color: Color, make_bot: Callable[..., BotSpec], play: Play, left_behind: Callable[[], list[str]]
) -> None:
    bad, opponent = make_bot(row.program, "bad"), make_bot(OPPONENTS[row.opponent], "opponent")
    good, brief = make_bot(OPPONENTS["good"], "good"), make_bot(OPPONENTS["brief"], "brief")

    async def games() -> None:
        red, blue = (bad, opponent) if color is Color.RED else (opponent, bad)
        record = await play(red, blue, time=HURRIED if row.hurried else UNHURRIED)
        assert left_behind() == []
        judge(row, color, record)
        following = await play(good, brief)
        assert (following.verdict.reason, following.verdict.plies) == (Reason.RESIGN, 42), following.verdict
        check_record(following)

    trio.run(games)
    assert left_behind() == []


def judge(row: Row, color: Color, record: GameRecord) -> None:
    """The record says what the row says, and nothing against the opponent."""
    verdict = record.verdict
    assert (verdict.result, verdict.reason in row.reasons) == (GameResult.win(color.opponent), True), verdict
    assert verdict.detail.startswith(f"{color.word} (bad) {verdict.reason.sentence}")
    assert [words for words in row.words if words not in verdict.detail] == [], verdict.detail
    assert verdict.plies == len(record.actions) == len(record.times_us)
    assert record.stderr[color.opponent] == ""
    assert [words for words in row.stderr if words not in record.stderr[color]] == []
    assert len(record.stderr[color]) <= STDERR_KEPT + DROPPED_NOTE
    check_record(record)
