"""A time control for each side: referee, clocks, lines, record and its check use the side's own."""

from random import Random

import msgspec
import pytest
from random_play import random_rows
from scripted import Table, game_spec

from arena.game.time_control import TimeControl
from arena.stratego.rules.rulesets import load_ruleset
from protocol.notation import Color, Reason

RED, BLUE = Color.RED, Color.BLUE
SECOND = TimeControl(move_ms=1000, setup_ms=7000, margin_ms=0)
BANK = TimeControl(move_ms=None, bank_ms=5000, increment_ms=0, setup_ms=3000, margin_ms=100)


@pytest.fixture
def begun() -> Table:
    """A game at its first turn; Red has a second for each move, Blue five for the game."""
    ruleset, rng = load_ruleset("duel"), Random(1)
    table = Table(msgspec.structs.replace(game_spec(ruleset, SECOND), blue_time=BANK))
    table.introduce()
    table.expect(RED, "hello 1")
    table.expect(BLUE, "hello 1")
    assert "clock setup 7000 move 1000" in table.next_write(RED)
    assert "clock setup 3000 bank 5000 increment 0" in table.next_write(BLUE)
    rows = {color: "/".join(random_rows(ruleset, rng)) for color in Color}
    for color in Color:
        table.reply(color, f"setup {rows[color]}")
    return table


@pytest.mark.parametrize(
    ("plies", "seconds", "words"), [(0, 1.0, "1000 ms (and a margin of 0 ms)"), (1, 5.1, "5000 ms")]
)
def test_each_side_loses_on_its_own_time(begun: Table, plies: int, seconds: float, words: str) -> None:
    begun.play_random(Random(2), plies=plies)
    asked = begun.now
    assert begun.referee.deadline == pytest.approx(asked + seconds)
    begun.expire()
    verdict = begun.referee.verdict
    assert verdict is not None
    assert verdict.reason is Reason.TIMEOUT
    assert verdict.result.winner is (BLUE if plies == 0 else RED)
    assert words in verdict.detail
