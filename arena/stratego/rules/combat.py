"""Fights: the piece that stays when one rank attacks another.

All booklets agree on the plain table: the higher rank wins, equal ranks both leave, a bomb beats all but the miner, a
spy that attacks the marshal wins, anything that can attack takes the flag. Two variants of the Vintage booklet (p. 21)
change entries of it: of equal ranks the attacker wins, and a bomb leaves the board with the attacker.
"""

from functools import cache

from arena.stratego.rules.ruleset import Bombs, EqualRanks
from protocol.notation import Rank, Survivor

STRENGTH: dict[Rank, int] = {
    Rank.SPY: 1,
    Rank.INFILTRATOR: 1,
    Rank.SCOUT: 2,
    Rank.MINER: 3,
    Rank.SERGEANT: 4,
    Rank.LIEUTENANT: 5,
    Rank.CAPTAIN: 6,
    Rank.MAJOR: 7,
    Rank.COLONEL: 8,
    Rank.GENERAL: 9,
    Rank.MARSHAL: 10,
}
"""The European numbering: the stronger piece has the higher number. Flag and bombs have none."""

Fights = dict[Rank, dict[Rank, Survivor]]


def fight(
    attacker: Rank,
    defender: Rank,
    equal_ranks: EqualRanks = EqualRanks.BOTH_LEAVE,
    bombs: Bombs = Bombs.FIXED,
) -> Survivor:
    """Return the piece that stays after a fight. Raises ValueError if the attacker is a flag or a bomb."""
    if attacker not in STRENGTH:
        raise ValueError(f"a {attacker.name.lower()} cannot attack")
    if defender is Rank.FLAG:
        return Survivor.ATTACKER
    if defender is Rank.BOMB:
        if attacker is Rank.MINER:
            return Survivor.ATTACKER
        return Survivor.DEFENDER if bombs is Bombs.FIXED else Survivor.NEITHER
    if attacker is Rank.SPY and defender is Rank.MARSHAL:
        return Survivor.ATTACKER
    difference = STRENGTH[attacker] - STRENGTH[defender]
    if difference == 0:
        return Survivor.NEITHER if equal_ranks is EqualRanks.BOTH_LEAVE else Survivor.ATTACKER
    return Survivor.ATTACKER if difference > 0 else Survivor.DEFENDER


@cache
def fight_table(equal_ranks: EqualRanks, bombs: Bombs) -> Fights:
    return {
        attacker: {defender: fight(attacker, defender, equal_ranks, bombs) for defender in Rank}
        for attacker in STRENGTH
    }
