"""Pairs of games that a seat cannot tell apart: the opponent's set-up differs, all that the seat is told does not."""

from dataclasses import dataclass
from random import Random

import numpy as np
from kernel_games import Pair

from arena.learn.action_codes import action_code
from arena.learn.placement import Setups, random_setups, setup_numbers, setup_rows
from arena.search import Knowledge
from arena.stratego.rules.rulesets import as_ruleset
from protocol.notation import Color


@dataclass(frozen=True)
class Twins:
    """Two games: their set-ups, and the codes of the plies that they share."""

    ruleset: str
    seat: Color
    setups: tuple[Setups, Setups]
    codes: tuple[int, ...]


def twins(ruleset: str, seat: Color, plies: int, seed: int) -> Twins:
    """Play at random, and draw another set-up that the opponent can have."""
    rng = Random(seed)
    rules = as_ruleset(ruleset)
    setups = random_setups(rules, 1, np.random.default_rng(seed))
    pair = Pair(rules, (setup_rows(setups[0, 0]), setup_rows(setups[0, 1])))
    codes: list[int] = []
    while len(codes) < plies:
        move, color = rng.choice(pair.game.legal_moves()), pair.game.to_move
        pair.play(move)
        if pair.game.outcome:
            break
        codes.append(action_code(move.text, color))
    if pair.game.outcome:  # without the last ply, which may show more
        return twins(ruleset, seat, plies, seed + 1000)
    view = pair.views[seat]
    view.ply = len(codes) + 1
    knowledge = Knowledge(view)
    other = setups.copy()
    other[0, seat.opponent] = setup_numbers(knowledge.rows_of(knowledge.armies.sample(rng)))
    assert not np.array_equal(setups, other)
    return Twins(ruleset, seat, (setups, other), tuple(codes))


CASES = [
    (ruleset, seat, plies, seed)
    for ruleset in ("barrage", "isf", "isf+silent-defence", "vintage/lightning")
    for seat in Color
    for plies, seed in ((12, 1), (60, 2))
]
