"""A ruleset as numbers for compiled code, all made from the engine's own tables."""

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from arena.errors import UsageError
from arena.learn.action_codes import MOST_CODES, NOWHERE, PATHS, SQUARE_COUNT, TURNS, WAYS, codes_of, seat_square
from arena.learn.observation import RANK_COUNT
from arena.stratego.rules.board import SQUARE_KEYS
from arena.stratego.rules.ruleset import Bombs, Captains, Chase, Ruleset, Starts, value_text
from arena.stratego.rules.tables import tables_of
from protocol.geometry import DIRECTIONS, NEIGHBOURS
from protocol.notation import HOME_SQUARES, LAKE_SQUARES, Color, Rank, Survivor
from protocol.seats import Reason
from protocol.view import stayers

HOME_COUNT = len(HOME_SQUARES[Color.RED])
CHASES = (Chase.FREE, Chase.ISF, Chase.BOOKLET)
CHASE_FREE, CHASE_ISF, CHASE_BOOKLET = range(len(CHASES))
SURVIVORS = (Survivor.ATTACKER, Survivor.DEFENDER, Survivor.NEITHER)
ATTACKER_STAYS, DEFENDER_STAYS, NONE_STAYS = range(len(SURVIVORS))
REASONS = (
    *(None, Reason.FLAG, Reason.NO_MOVE, Reason.NO_ATTACKER),
    *(Reason.PLY_CAP, Reason.QUIET_CAP, Reason.BOTH_IMMOBILE),
)
"""By the number that the kernel has for it: why a game is over."""
GOING_ON, FLAG_TAKEN, NO_MOVE, NO_ATTACKER, PLY_CAP, QUIET_CAP, BOTH_IMMOBILE = range(len(REASONS))
HALF = SQUARE_COUNT // 2
"""The squares of a set of squares that one number of 64 bits holds; two make a board."""
BIT_FINDER = 0x03F79D71B4CB0A89
"""De Bruijn's number: its 64 shifts all differ in their six highest bits, so these tell how far it was shifted."""
SOMEWHERE = 11
"""A square with neighbours on all sides."""
NO_CAP = 2**31 - 1
LONGEST_RUN = 255

RULES = np.dtype(
    [
        ("army", np.uint8, RANK_COUNT + 1),  # pieces of each rank
        ("ranks", np.uint8, RANK_COUNT),  # the ranks in the army
        ("rank_count", np.uint8),
        ("army_mask", np.uint16),  # a bit for each rank in the army
        ("mobile_mask", np.int64),  # a bit for each rank that can move
        ("fights", np.uint8, (RANK_COUNT + 1, RANK_COUNT + 1)),  # by attacker and defender
        ("stayers", np.int64, RANK_COUNT + 1),  # by attacker: the ranks that an attack by it leaves on the board
        ("starts", np.int8),
        ("two_squares", np.uint8),  # 0: no limit
        ("chase", np.uint8),
        ("at_once", np.bool_),
        ("needs_attacker", np.bool_),
        ("silent", np.bool_),
        ("captains", np.bool_),  # they may go two squares, and turn
        ("announced", np.bool_),  # scouts that go two squares are
        ("max_plies", np.int32),
        ("max_quiet", np.int32),
        ("home", np.uint8, (2, HOME_COUNT)),  # by side: the squares of a set-up in its order
        ("next", np.uint8, (4, SQUARE_COUNT)),  # by direction: the neighbour, NOWHERE beyond the edge and for lakes
        ("land", np.uint64, 2),  # a bit for each square but the lakes, 50 squares a half
        ("bit_index", np.uint8, 64),  # see `compiled._lowest`
        ("arriving", np.int16, (2, 4, SQUARE_COUNT)),  # by side, direction and target: the code of a step
        ("further", np.int16, (2, 4)),  # by side and direction: from that to the code from one square further away
        ("turning", np.int16, (2, 4, 4, SQUARE_COUNT)),  # by side, both directions and origin: a turn's code
        ("origin", np.uint8, (2, MOST_CODES)),  # by side and code
        ("corner", np.uint8, (2, MOST_CODES)),  # ... NOWHERE for a straight move
        ("target", np.uint8, (2, MOST_CODES)),  # ... NOWHERE beyond the edge
        ("keys", np.uint64, (len(SQUARE_KEYS), SQUARE_COUNT)),  # Zobrist's numbers, those of the engine
    ],
    align=True,
)
"""The rules of a batch of games as one record, which compiled code takes as a pointer.

Ranks are numbered from 1; index 0 of a table by rank is not used.
"""


class UnsupportedRuleError(UsageError):
    """A rule that the kernel does not have; the text names it."""


def check_supported(ruleset: Ruleset) -> None:
    """Raise `UnsupportedRuleError`, which names the rule, unless the kernel has all rules of a ruleset."""
    tables = tables_of(ruleset)
    additions = {
        "spy": tables.spy_attacks_diagonally,
        "attacks": tables.facing,
        "rescues": bool(tables.rescues),
        "infiltration": tables.infiltration,
        "flag": tables.flag_moves,
        "bombs": tables.bombs_move,
    }
    for rule in filter(additions.__getitem__, additions):
        raise _unsupported(ruleset, rule, "has no such moves: expected a ruleset without it, such as isf or barrage")
    if not tables_of(replace(ruleset, captains=Captains.ONE_STEP)).plain:
        raise UnsupportedRuleError(
            f"{ruleset.name}: it has a rule that changes moves and that arena.learn does not know"
        )
    if (ruleset.two_squares or 0) > LONGEST_RUN:
        raise _unsupported(ruleset, "two_squares", f"counts to {LONGEST_RUN}")
    if not tables.chasing_is_free and ruleset.max_plies is None and ruleset.max_quiet_plies is None:
        raise _unsupported(
            ruleset, "chase", "needs max-plies or max-quiet-plies with it, to know how many moves to keep"
        )


def _unsupported(ruleset: Ruleset, rule: str, why: str) -> UnsupportedRuleError:
    named = f"{rule.replace('_', '-')} {value_text(getattr(ruleset, rule))}"
    return UnsupportedRuleError(f"{ruleset.name}: rule {named}: arena.learn {why}")


def most_codes(ruleset: Ruleset) -> int:
    """Return a number of legal moves that no side can exceed."""
    army = dict(ruleset.army)
    movable = sum(army.get(rank, 0) for rank in ruleset.movable_ranks)
    scouts = army.get(Rank.SCOUT, 0)
    runs = army.get(Rank.CAPTAIN, 0) if ruleset.captains is Captains.TWO_STEPS else 0
    return scouts * WAYS + (movable - scouts) * len(DIRECTIONS) + runs * (len(DIRECTIONS) + TURNS)


def moves_kept(ruleset: Ruleset) -> int:
    """Return the number of moves since the last attack that the rule on chases may look at."""
    if ruleset.chase is Chase.FREE:
        return 0
    return min(cap for cap in (ruleset.max_plies, ruleset.max_quiet_plies) if cap is not None)


@lru_cache(maxsize=16)
def rule_numbers(ruleset: Ruleset) -> NDArray[np.void]:
    """Return a ruleset as an array of one `RULES` record. Raises `UnsupportedRuleError`."""
    check_supported(ruleset)
    tables = tables_of(ruleset)
    numbers = np.zeros(1, RULES)
    rules = numbers[0]
    for place, (rank, count) in enumerate(ruleset.army):
        rules["army"][rank] = count
        rules["ranks"][place] = rank
    rules["rank_count"] = len(ruleset.army)
    rules["army_mask"] = _mask(rank for rank, _ in ruleset.army)
    rules["mobile_mask"] = _mask(ruleset.movable_ranks)
    for attacker, fights in tables.fights.items():
        for defender, survivor in fights.items():
            rules["fights"][attacker, defender] = SURVIVORS.index(survivor)
        rules["stayers"][attacker] = _mask(stayers(attacker, ruleset.bombs is Bombs.FIXED))
    rules["starts"] = Color.BLUE if ruleset.starts is Starts.BLUE else Color.RED
    rules["two_squares"] = ruleset.two_squares or 0
    rules["chase"] = CHASES.index(ruleset.chase)
    for switch in ("at_once", "needs_attacker", "silent"):
        rules[switch] = getattr(tables, switch)
    rules["captains"], rules["announced"] = tables.captains_take_two, tables.scouts_announce
    rules["max_plies"], rules["max_quiet"] = min(tables.max_plies, NO_CAP), min(tables.max_quiet, NO_CAP)
    _add_geometry(rules)
    numbers.flags.writeable = False
    return numbers


def _mask(ranks: Iterable[Rank]) -> int:
    return sum(1 << rank for rank in ranks)


def _add_geometry(rules: np.void) -> None:
    for square in set(range(SQUARE_COUNT)) - LAKE_SQUARES:
        rules["land"][square // HALF] |= np.uint64(1 << square % HALF)
    for index in range(64):
        rules["bit_index"][(BIT_FINDER << index) % 2**64 >> 58] = index
    rules["home"] = HOME_SQUARES
    rules["keys"] = SQUARE_KEYS
    rules["next"] = NOWHERE
    for side in Color:
        seen = np.full(NOWHERE + 1, NOWHERE)
        seen[:SQUARE_COUNT] = [seat_square(square, side) for square in range(SQUARE_COUNT)]
        paths = seen[np.array(PATHS)]
        rules["origin"][side], rules["corner"][side], rules["target"][side] = paths.T
        for code in np.flatnonzero((paths != NOWHERE).all(axis=1)):
            origin, corner, target = paths[code].tolist()
            first, second = DIRECTIONS.index(corner - origin), DIRECTIONS.index(target - corner)
            rules["turning"][side, first, second, origin] = code
        for way, offset in enumerate(DIRECTIONS):
            rules["further"][side, way] = -WAYS * (seat_square(SOMEWHERE + offset, side) - seat_square(SOMEWHERE, side))
            for square in range(SQUARE_COUNT):
                target = square + offset
                if target in NEIGHBOURS[square]:
                    rules["next"][way, square] = target
                    rules["arriving"][side, way, target] = codes_of(seen[square], seen[target])
