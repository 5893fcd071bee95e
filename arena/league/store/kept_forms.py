"""In which form each of the things stands that a league keeps beside the settings of its games.

Whoever reads one of them passes over what cannot be read; a check of the whole store names it by these.
"""

from typing import Any, NamedTuple

from arena.game.spec import Player
from arena.league.store.arguments import ARGUMENTS
from arena.league.store.disqualified import DISQUALIFIED, Disqualified
from arena.league.store.not_counted import NOT_COUNTED, Runs
from arena.league.store.settings import ENTRANTS, FILES, LADDER, PLACES, LadderStart


class Form(NamedTuple):
    """The type that JSON in a setting is of, and what that is in words."""

    type: Any
    words: str
    may_be_empty: bool = False


KEPT_FORMS = {
    ENTRANTS: Form(tuple[Player, ...], "names and digests of bots", may_be_empty=True),
    FILES: Form(dict[str, str], "fingerprints of files by their names"),
    PLACES: Form(dict[str, str], "places by digests of bots"),
    LADDER: Form(LadderStart | None, "digests of bots and the number of a game"),
    DISQUALIFIED: Form(tuple[Disqualified, ...], "disqualified bots with their faults", may_be_empty=True),
    NOT_COUNTED: Form(Runs, "first and last numbers of games", may_be_empty=True),
    ARGUMENTS: Form(dict[str, tuple[str, ...]], "arguments by digests of bots"),
}
"""By the names of the settings, which of `FILES` is how they begin."""
