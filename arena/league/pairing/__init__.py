"""Who meets whom: a league asks its pairing for games until there are none, one short module for each format."""

from arena.league.pairing.pairing import Format, Pairing
from arena.league.pairing.round_robin import RoundRobin
from arena.league.pairing.sequential import SequentialState, SequentialTest

__all__ = ["Format", "Pairing", "RoundRobin", "SequentialState", "SequentialTest"]
