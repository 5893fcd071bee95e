"""Ratings and tables from the results of games."""

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
