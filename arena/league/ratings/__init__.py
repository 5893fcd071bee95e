"""Ratings and tables from the results of games.

`score_counts` counts results by pair. `pair` is the exact test of two players. `strengths` fits the model to a league,
`bounds` finds the ratings that its games bound, `intervals` how far. `league_table` makes the table. `sequential_test`
decides which of two bots is better while they play, and `homogeneity` whether results depend on the machine.
"""

from arena.league.ratings.league_table import Anchor, Merits, RatedLeague, Rating, Standing
from arena.league.ratings.pair import PairDifference, difference, superiority
from arena.league.ratings.score_counts import Results, Row, Score

__all__ = [
    "Anchor",
    "Merits",
    "PairDifference",
    "RatedLeague",
    "Rating",
    "Results",
    "Row",
    "Score",
    "Standing",
    "difference",
    "superiority",
]
