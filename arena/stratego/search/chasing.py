"""Both sides' chases as one immutable value: a search undoes a move by restoring the previous value.

`rules.repetition` explains the rule. Changes on the board are a chain of pairs, the latest first, that positions
share; so copying costs the same however long the game is.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from arena.stratego.rules.action_types import PieceMove
from arena.stratego.rules.repetition import Change
from protocol.geometry import NEIGHBOURS

Chain = tuple[Change, Any] | None

NOWHERE: frozenset[int] = frozenset()


ChaseState = tuple[int, int, PieceMove | None, PieceMove | None, frozenset[int], frozenset[int], Chain]
"""Red's and Blue's length; their last moves; the squares of evading pieces of each; the changes.

A plain tuple, because one is made at every ply.
"""

NO_CHASE: ChaseState = (0, 0, None, None, NOWHERE, NOWHERE, None)


def last(state: ChaseState, side: int) -> PieceMove | None:
    return state[3] if side else state[2]


def fled(state: ChaseState, side: int) -> frozenset[int]:
    return state[5] if side else state[4]


def changes_of(state: ChaseState) -> Chain:
    return state[6]


def since(chain: Chain) -> Iterator[Change]:
    while chain is not None:
        change, chain = chain
        yield change


def moved(state: ChaseState, side: int, move: PieceMove, touches: int, booklet: bool) -> ChaseState:
    """Return the state after a move to an empty square; `touches` is not 0 if it ends next to an enemy piece."""
    if side:
        theirs, mine, threat, _, fled_theirs, fled_mine, changes = state
    else:
        mine, theirs, _, threat, fled_mine, fled_theirs, changes = state
    theirs = theirs + 1 if threat is not None and move.origin in NEIGHBOURS[threat.target] else 0
    mine = mine + 1 if touches else 0
    if booklet:
        fled_theirs = fled_theirs | {move.origin, move.target} if theirs else NOWHERE
        fled_mine = fled_mine if mine else NOWHERE
    if side:
        return theirs, mine, threat, move, fled_theirs, fled_mine, (move, changes)
    return mine, theirs, move, threat, fled_mine, fled_theirs, (move, changes)


def attacked(
    state: ChaseState, side: int, move: PieceMove, touches: int, gone: Sequence[tuple[int, int]] | None
) -> ChaseState:
    """Return the state after an attack: `gone` are the squares and codes of the pieces that it removed.

    It is None, here and below, if no position from before a loss can come back.
    """
    length = 1 if touches else 0
    changes: Chain = None if gone is None else (tuple(gone), state[6])
    if side:
        return 0, length, state[2], move, NOWHERE, NOWHERE, changes
    return length, 0, move, state[3], NOWHERE, NOWHERE, changes


def guessed(state: ChaseState, side: int, gone: Sequence[tuple[int, int]] | None) -> ChaseState:
    """Return the state after a guess; `gone` is the square and code of the piece that it removed, if any."""
    changes: Chain = None if gone is None else (tuple(gone), state[6])
    red, blue = (state[2], None) if side else (None, state[3])
    return 0, 0, red, blue, NOWHERE, NOWHERE, changes


def placed(state: ChaseState, square: int) -> ChaseState:
    return (*state[:6], (square, state[6]))
