"""The model: how likely a game is won, drawn and lost.

With x the difference of log strengths between the player who looks and its opponent, and v how readily games are drawn,
the chances of win, draw and loss are as exp(x/2), v and exp(-x/2). So x is the log of the odds of the games that are
decided, two equals draw v / (2 + v) of their games, and without draws this is the model of Bradley and Terry. The
advantage of moving with Red adds to x where the player is the first one, and is taken from it where it is the second.

It is an exponential family: the points of each player, those of the first players and the number of draws are all that
a fit needs to know of the games, and each is expected to be what it was. So where all have met equally often, the
order of the strengths is that of the points.

Elo. A difference x is 400 / ln(10) x (2 / (2 + v)) Elo: scaled, so that near equality the expected score of a game
rises with it as Elo's formula has it, whatever the share of draws. Without draws it is that formula everywhere.

Sources: R. R. Davidson, Journal of the American Statistical Association 65 (1970) 317-328; the order of the two:
R. R. Davidson & R. J. Beaver, Biometrics 33 (1977) 693-702, here on the log scale; the scale: R. Coulom's BayesElo
scales its ratings in the same way (its command `scale`).
"""

import math
from typing import NamedTuple


class Moments(NamedTuple):
    """Of one game: the expected score, the chance of a draw, and their variances and covariance."""

    score: float
    draw: float
    variance: float
    covariance: float
    draw_variance: float


def moments(x: float, v: float) -> Moments:
    """What a game at this difference comes to."""
    size = math.exp(-abs(x) / 2)  # chances as 1, v size, size^2: nothing overflows
    up, down = (1.0, size * size) if x >= 0 else (size * size, 1.0)
    even = v * size
    total = up + even + down
    square = total * total
    return Moments(
        (up + even / 2) / total,
        even / total,
        (up * down + even * (up + down) / 4) / square,
        even * (down - up) / 2 / square,
        even * (up + down) / square,
    )


def log_total(x: float, v: float) -> float:
    """The logarithm of exp(x/2) + v + exp(-x/2), by which chances are divided."""
    size = math.exp(-abs(x) / 2)
    return abs(x) / 2 + math.log1p(size * (v + size))


def expected_score(x: float, v: float = 0.0) -> float:
    """The expected score of a game at this difference in log strength."""
    return moments(x, v).score


def scale_of(v: float) -> float:
    """What a difference is multiplied by, beside 400 / ln(10): the share of games that equals decide."""
    return 2 / (2 + v)
