"""Ratings, standings and crosstables from the results of games.

`results` counts who met whom; `pair` says what the games of two players tell about their difference; `strengths` fits
all games of a league together; `bounds` and `intervals` say how far they bound each rating; `standings` makes the
table.
"""

from arena.league.ratings.pair import Difference, difference, superiority
from arena.league.ratings.results import GameScore, Score
from arena.league.ratings.standings import Cell, Rating, Standing, crosstable, ratings, standings

__all__ = [
    "Cell",
    "Difference",
    "GameScore",
    "Rating",
    "Score",
    "Standing",
    "crosstable",
    "difference",
    "ratings",
    "standings",
    "superiority",
]
