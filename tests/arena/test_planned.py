"""A game of a check goes as its situation says: who begins, with which set-ups, and how the opponent answers."""

import pytest
import trio

from arena.check.situations import Situation, SituationGroup, Twist
from arena.check.trying import PlannedGame, variant_in
from arena.game.game_spec import GameSpec, Player
from arena.game.referee import Referee
from arena.game.time_control import TimeControl
from arena.stratego.game import GAME, ruleset_of
from arena.stratego.rules.setup import check_setup
from protocol.notation import Color


def situation(rules: str = "duel", color: Color = Color.RED, twist: Twist = Twist.NONE, plies: int = 4) -> Situation:
    return Situation("key", "title", SituationGroup.GAMES, rules, color, plies=plies, seconds=1000.0, twist=twist)


@pytest.mark.parametrize("color", list(Color))
def test_a_given_set_up_is_legal_for_both_sides(color: Color) -> None:
    one = situation("isf", color, Twist.OPENING)
    opening = PlannedGame(GAME, one, 1).opening
    assert opening is not None
    for rows in opening:
        check_setup(ruleset_of(variant_in(GAME, one)), rows.split("/"))
    assert PlannedGame(GAME, situation("isf", color), 1).opening is None


def refereed(one: Situation) -> Referee:
    spec = GameSpec("check", variant_in(GAME, one), TimeControl(), (Player("a", "1"), Player("b", "2")), (1, 1), 1)
    return Referee(spec)


async def _played(one: Situation) -> tuple[PlannedGame, Referee]:
    """Both sides answer as the opponent would, the bot in the place of one, until the game is at its break or over."""
    game, bot, referee = PlannedGame(GAME, one, 1), PlannedGame(GAME, _other_side(one), 2), refereed(one)
    while not referee.is_over:
        for color in referee.due():
            referee.take(color)
            referee.sent(color, 0.0)
        if game.is_at_break(referee):
            break
        color = referee.awaited()[0]
        said = (bot if color is one.color else game).answer(referee)
        assert said is not None
        referee.receive(color, said, 0.0)
    return game, referee


def _other_side(one: Situation) -> Situation:
    """The same game, without an end, from the other side."""
    return Situation("key", "title", SituationGroup.GAMES, one.rules, one.color.opponent, plies=None, seconds=1000.0)


def test_the_opponent_gives_up_after_so_many_plies() -> None:
    _, referee = trio.run(_played, situation(plies=6))
    assert referee.verdict is not None
    assert referee.actions[-1] == "resign"
    assert len(referee.actions) in (7, 8)


def test_a_game_that_is_to_be_broken_off_is_so_when_the_bot_has_been_given_its_turn() -> None:
    for color in Color:
        one = situation(color=color, twist=Twist.BROKEN_OFF, plies=6)
        game, referee = trio.run(_played, one)
        assert game.is_at_break(referee)
        assert referee.state is not None
        assert referee.state.to_move is color
        assert referee.state.ply >= 6
