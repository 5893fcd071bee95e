"""What the page marks as known to the enemy is what the enemy was told."""

from functools import partial

import pytest
import trio
from play_table import at_random, seated

from arena.play.session import Session
from arena.system.concurrency import background
from arena.web.seat_page import shown_squares
from protocol.notation import Color


def known_to(session: Session, color: Color) -> set[str]:
    """The squares of the other side's pieces whose rank this seat knows."""
    return {piece.square for piece in session.state(color).pieces if piece.color != color.word and piece.rank}


@pytest.mark.parametrize(
    ("rules", "concludes"),
    [
        ("isf", False),
        ("jumbo-81320/infiltrator+rescue", False),
        ("duel+silent-defence", True),
        ("vintage/lightning+mobile-bombs", True),
    ],
)
def test_after_each_ply_the_squares_are_those_whose_rank_the_enemy_knows(rules: str, concludes: bool) -> None:
    """But for ranks that the enemy has concluded, where the rules let it."""
    session, silent = seated(rules), "silent" in rules
    seen: list[bool] = []

    async def compare(color: Color) -> None:
        state = await session.changed(color)
        while not session.is_over:
            mine = shown_squares(color, session.actions(color), silent=silent)
            known = known_to(session, color.opponent)
            if session.state(color).plies == session.state(color.opponent).plies:  # both have been told
                assert mine <= known
                assert concludes or mine == known
                seen.append(bool(mine))
            state = await session.changed(color, state.version)

    async def main() -> None:
        players = [partial(at_random(4, 150), session, color) for color in Color]
        async with background(*players, *(partial(compare, color) for color in Color)):
            await session.play()

    trio.run(main)
    assert any(seen)
