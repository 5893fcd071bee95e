"""How likely it is that one of a league is stronger than another: the short way near equality and the likelihood."""

import itertools
import math
import random

import pytest

from arena.league.ratings import Results, Score
from arena.league.ratings.curves import Line, Series
from arena.league.ratings.davidson import moments
from arena.league.ratings.directions import Directions
from arena.league.ratings.strengths import Fit, fit
from arena.league.ratings.superiorities import Superiorities


def league(tie: float) -> Fit:
    """Six players who have all met four times with either colour, each about half a logit stronger than the next."""
    rng = random.Random(int(10 * tie))
    results = Results([f"b{number}" for number in range(6)])
    for first, second in itertools.permutations(range(6), 2):
        at = moments(0.5 * (first - second) + 0.3, tie)
        win = at.score - at.draw / 2
        for score in rng.choices([Score.FIRST, Score.DRAW, Score.SECOND], [win, at.draw, 1 - win - at.draw], k=4):
            results.add(first, second, score)
    return fit(results.rows(), results.won_first)


def share_below(deviations: float) -> float:
    return math.erfc(-deviations / math.sqrt(2)) / 2


@pytest.mark.parametrize("tie", [0.0, 0.3, 2.0])
def test_near_equality_it_is_closer_to_the_whole_likelihood_than_a_parabola_is(tie: float) -> None:
    found = league(tie)
    directions = Directions(found)
    superiorities = Superiorities(found, directions)
    off = off_by_parabola = 0.0
    for one, other in itertools.combinations(range(6), 2):
        ahead = found.point.logits[one] - found.point.logits[other]
        direction = directions.of_player(one, frozenset({other}))
        if abs(ahead) > 0.9 * Series.REACH:
            continue
        fall = max(0.0, -Line(found, direction, with_prior=True, everything=True).fall(-ahead))
        exact = share_below(math.copysign(math.sqrt(2 * fall), ahead))
        off += abs(superiorities.of(one, other) - exact)
        off_by_parabola += abs(share_below(ahead / math.sqrt(direction.variance)) - exact)
    assert 0 < off < 0.9 * off_by_parabola
    assert off < 0.003
