"""Ratings, standings and crosstables from the results of games.

`results` counts who met whom; `davidson` is the model, and `strengths` fits it to all games of a league together;
`bounds` says which ratings the games bound, `directions`, `curves` and `intervals` how far; `advantage` is that of the
first player, `superiorities` compare two of a league, `pair` two who have only each other; `places` has the rules for
ties; `standings` makes the table.
"""

from arena.league.ratings.advantage import Advantage
from arena.league.ratings.pair import Difference, difference, superiority
from arena.league.ratings.places import Merits
from arena.league.ratings.results import GameScore, Results, Row, Score
from arena.league.ratings.standings import Anchor, Cell, League, Rating, Standing, crosstable, ratings, standings

__all__ = [
    "Advantage",
    "Anchor",
    "Cell",
    "Difference",
    "GameScore",
    "League",
    "Merits",
    "Rating",
    "Results",
    "Row",
    "Score",
    "Standing",
    "crosstable",
    "difference",
    "ratings",
    "standings",
    "superiority",
]
