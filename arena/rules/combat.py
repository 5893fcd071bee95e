"""Fights: who is left when one rank attacks another.

All booklets agree on this table: the higher rank wins, equal ranks both leave, a bomb beats all but the miner, a spy
that attacks the marshal wins, anything that can attack takes the flag.
"""

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


def fight(attacker: Rank, defender: Rank) -> Survivor:
    """Who stays on the board. `attacker` must be a rank that can attack: neither flag nor bomb (ValueError)."""
    if attacker not in STRENGTH:
        raise ValueError(f"a {attacker.name.lower()} cannot attack")
    if defender is Rank.FLAG:
        return Survivor.ATTACKER
    if defender is Rank.BOMB:
        return Survivor.ATTACKER if attacker is Rank.MINER else Survivor.DEFENDER
    if attacker is Rank.SPY and defender is Rank.MARSHAL:
        return Survivor.ATTACKER
    difference = STRENGTH[attacker] - STRENGTH[defender]
    if difference == 0:
        return Survivor.NEITHER
    return Survivor.ATTACKER if difference > 0 else Survivor.DEFENDER


FIGHTS: dict[Rank, dict[Rank, Survivor]] = {
    attacker: {defender: fight(attacker, defender) for defender in Rank} for attacker in STRENGTH
}
"""Every fight there can be, worked out once."""
