"""Fights, and the look-up tables of a ruleset: one `RuleTables` for all games under it.

All booklets agree on the plain table of fights: the higher rank wins, equal ranks both leave, a bomb beats all but the
miner, a spy that attacks the marshal wins, anything that can attack takes the flag. Two variants of the Vintage booklet
(p. 21) change entries of it: of equal ranks the attacker wins, and a bomb leaves the board with the attacker.

A ruleset without any rule that changes how pieces move or attack is `plain`; its games take the fast paths.
"""

import sys
from functools import cache, lru_cache

from arena.stratego.rules.board import BLUE_BIT, CODES, EMPTY, RANKS, code_of
from arena.stratego.rules.ruleset import (
    Attacks,
    Bombs,
    Captains,
    Chase,
    Defence,
    EqualRanks,
    FixedPieces,
    Flag,
    NoMove,
    Ruleset,
    Scouts,
    Spy,
)
from protocol.messages import Battle
from protocol.notation import Color, Rank, Survivor

COLORS = (Color.RED, Color.BLUE)
SCOUTS = tuple(code_of(color, Rank.SCOUT) for color in COLORS)
CANNOT_ATTACK = frozenset({Rank.FLAG, Rank.BOMB})

NO_CAP = sys.maxsize
"""More plies than any game has."""

ENTERABLE = (
    tuple(code == EMPTY or code > BLUE_BIT for code in range(CODES)),
    tuple(code < BLUE_BIT for code in range(CODES)),
)
"""By side and code: whether a piece of the side may move onto a square with the code."""


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


class RuleTables:
    """The tables and switches of one ruleset. Read-only."""

    def __init__(self, ruleset: Ruleset) -> None:
        self.ruleset = ruleset
        self.can_move = tuple(code in RANKS and RANKS[code] in ruleset.movable_ranks for code in range(CODES))
        self.fights = fight_table(ruleset.equal_ranks, ruleset.bombs)
        self.max_plies = ruleset.max_plies or NO_CAP
        self.max_quiet = ruleset.max_quiet_plies or NO_CAP
        self.at_once = ruleset.no_move is NoMove.AT_ONCE
        self.chase = ruleset.chase
        self.chasing_is_free = ruleset.chase is Chase.FREE
        self.captains_take_two = ruleset.captains is Captains.TWO_STEPS
        self.spy_attacks_diagonally = ruleset.spy is Spy.DIAGONAL
        self.facing = ruleset.attacks is Attacks.FACING
        self.rescues = ruleset.rescues
        self.infiltration = ruleset.infiltration
        self.silent = ruleset.defence is Defence.SILENT
        self.flag_moves = ruleset.flag is Flag.MOBILE
        self.bombs_move = ruleset.bombs is Bombs.MOBILE
        self.fixed_loses = ruleset.fixed_pieces is FixedPieces.LOSES
        self.needs_attacker = ruleset.needs_attacker
        self.scouts_announce = ruleset.scouts is Scouts.ANNOUNCED
        self.plain = not (
            self.captains_take_two
            or self.spy_attacks_diagonally
            or self.facing
            or self.rescues
            or self.infiltration
            or self.flag_moves
            or self.bombs_move
        )

        self.quick = self.plain and not self.fixed_loses
        """Whether a move to an empty square has no further effect."""

    def hides_defender(self, battle: Battle) -> bool:
        """Whether the attacker's side is not told the defender's rank: under silent defence a defender that stays is
        named to scouts alone (Vintage p. 21).
        """
        return self.silent and battle.survivor is Survivor.DEFENDER and battle.attacker is not Rank.SCOUT

    def shows_a_scout(self, squares: int) -> bool:
        """Whether a piece that has moved this number of squares straight is known to be a scout."""
        return squares > 2 or (squares == 2 and (self.scouts_announce or not self.captains_take_two))


@lru_cache(maxsize=64)
def tables_of(ruleset: Ruleset) -> RuleTables:
    return RuleTables(ruleset)
