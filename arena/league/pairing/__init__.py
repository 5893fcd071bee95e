"""Who meets whom: a league asks its pairing for games until there are none, one short module for each format.

`arena.league.pairing.chosen` makes the format that was asked for; `ledger` is what formats share whose games depend on
results.
"""

from arena.league.pairing.chosen import ChosenFormat, format_of
from arena.league.pairing.disqualify import WithoutDisqualified
from arena.league.pairing.ladder import Ladder
from arena.league.pairing.pairing import Format, Pairing
from arena.league.pairing.placing import Meeting, Placed, Placing, Round
from arena.league.pairing.round_robin import RoundRobin
from arena.league.pairing.sequential import SequentialState, SequentialTest

__all__ = [
    "ChosenFormat",
    "Format",
    "Ladder",
    "Meeting",
    "Pairing",
    "Placed",
    "Placing",
    "Round",
    "RoundRobin",
    "SequentialState",
    "SequentialTest",
    "WithoutDisqualified",
    "format_of",
]
