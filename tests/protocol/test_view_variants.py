"""The kit's view under every ruleset and every variant: always true, and never surer than it may be."""

import random

import pytest

import protocol.bot
from arena.game.seat_view import enemy_squares, tell
from arena.rules.board import BLUE_BIT, RANKS, Move
from arena.rules.game import Game
from arena.rules.loading import load_ruleset, ruleset_names, switch_names
from arena.rules.ruleset import Ruleset
from protocol.messages import Battle, Enemy, Guess, Moved, Reveal, Rule
from protocol.messages import Game as GameMessage
from protocol.notation import SQUARES, Color, Rank, Survivor
from protocol.view import View, new_view

VARIANTS = [
    *ruleset_names(),
    *(f"isf+{switch}" for switch in switch_names() if switch != "infiltration"),
    "vintage/lightning+silent-defence+rescue+mobile-flag",
    "jumbo-81320/infiltrator+mobile-bombs+rescue+silent-defence",
]


def random_rows(ruleset: Ruleset, rng: random.Random) -> tuple[str, ...]:
    return protocol.bot.random_rows(dict(ruleset.army), rng)


def check(view: View, game: Game) -> None:
    """What the view holds, against the truth."""
    for square, code in enumerate(game.board):
        piece = view.board[square]
        assert (piece is None) == (code == 0), SQUARES[square]
        if piece is None:
            continue
        truth = RANKS[code]
        assert piece.color is Color(code > BLUE_BIT)
        assert piece.rank in (None, truth), SQUARES[square]
        if piece.color is view.color:
            assert piece.rank is truth
        else:
            assert truth in view.possible_ranks(piece), SQUARES[square]
    for color in Color:
        assert sorted(view.captured[color]) == sorted(game.lost[color].elements())


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_view_is_true_all_through_a_game(variant: str) -> None:
    ruleset = load_ruleset(variant)
    for seed in range(3):
        rng = random.Random(f"{variant} {seed}")
        rows = (random_rows(ruleset, rng), random_rows(ruleset, rng))
        game = Game(ruleset, *rows)
        views = [new_view(GameMessage(color, variant)) for color in Color]
        for view in views:
            for name, value in ruleset.lines():
                view.apply(Rule(name, value))
            view.place_own(rows[view.color])
            if not ruleset.fills_rows:
                view.apply(Enemy(enemy_squares(game, view.color)))
            check(view, game)
        while game.outcome is None and game.ply < 250:
            actions = sorted(game.legal_moves(), key=lambda action: action.text)
            special = [action for action in actions if not isinstance(action, Move)]
            action = rng.choice(special if special and rng.random() < 0.3 else actions)
            for event in game.apply(action.text):
                for view, told in zip(views, tell(event), strict=True):
                    view.apply(told)
            for view in views:
                check(view, game)


@pytest.fixture
def lightning() -> View:
    """Blue's pieces on a7 and a9 as Red sees them under lightning, nothing known."""
    view = new_view(GameMessage(Color.RED, "vintage/lightning"))
    for name, value in load_ruleset("vintage/lightning").lines():
        view.apply(Rule(name, value))
    view.apply(Enemy(("a7", "a9")))
    return view


def possible(view: View, square: str) -> frozenset[Rank]:
    piece = view.at(square)
    assert piece is not None
    return view.possible_ranks(piece)


def test_two_squares_straight_on_may_be_a_captain_or_a_scout(lightning: View) -> None:
    lightning.apply(Moved(Color.BLUE, "a7-a5"))
    assert possible(lightning, "a5") == {Rank.CAPTAIN, Rank.SCOUT}
    lightning.apply(Reveal("a5", Rank.SCOUT))
    assert possible(lightning, "a5") == {Rank.SCOUT}


def test_one_that_turned_is_a_captain(lightning: View) -> None:
    lightning.apply(Moved(Color.BLUE, "a7-a6-b6"))
    assert possible(lightning, "b6") == {Rank.CAPTAIN}


def test_one_square_tells_only_that_it_is_neither_bomb_nor_flag(lightning: View) -> None:
    lightning.apply(Moved(Color.BLUE, "a7-a6"))
    everything = {rank for rank, _ in load_ruleset("vintage/lightning").army}
    assert possible(lightning, "a6") == everything - {Rank.BOMB, Rank.FLAG}
    assert possible(lightning, "a9") == everything


def test_a_silent_defender_is_stronger_or_a_bomb() -> None:
    view = new_view(GameMessage(Color.RED, "isf+silent-defence"))
    for name, value in load_ruleset("isf+silent-defence").lines():
        view.apply(Rule(name, value))
    view.place_own((*["." * 10] * 3, "8" + "." * 9))
    view.apply(Enemy(("a5",)))
    view.apply(Moved(Color.RED, "a4-a5"))
    view.apply(Battle("a5", Rank.COLONEL, None, Survivor.DEFENDER))
    assert possible(view, "a5") == {Rank.GENERAL, Rank.MARSHAL, Rank.BOMB}


def test_a_wrong_guess_rules_a_rank_out(lightning: View) -> None:
    before = possible(lightning, "a7")
    lightning.apply(Guess("a7", Rank.BOMB, False))
    assert possible(lightning, "a7") == before - {Rank.BOMB}
