"""Both sides' chases as one value that is never changed: a search goes back by taking the old one.

The rule is that of `arena.rules.repetition`, which has it in full; there it is kept in an object that grows with the
game. Here what has changed on the board is a chain of pairs, the latest first, that positions share; so copying costs
the same however long the game is.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from arena.rules.actions import PieceMove
from arena.rules.repetition import Change
from protocol.geometry import NEIGHBOURS

Chain = tuple[Change, Any] | None
"""A change and those before it."""

NOWHERE: frozenset[int] = frozenset()


class ChaseState(NamedTuple):
    """Per side, the length of its chase, its last move, and where those that evade it have stood; and the changes."""

    lengths: tuple[int, int] = (0, 0)
    last: tuple[PieceMove | None, PieceMove | None] = (None, None)
    fled: tuple[frozenset[int], frozenset[int]] = (NOWHERE, NOWHERE)
    changes: Chain = None


def since(chain: Chain) -> Iterator[Change]:
    """The changes of a chain, the latest first."""
    while chain is not None:
        change, chain = chain
        yield change


def moved(state: ChaseState, side: int, move: PieceMove, touches: bool, booklet: bool) -> ChaseState:
    """After a move to an empty square; `touches` is whether it stands beside an enemy piece there."""
    lengths, last, fled, changes = state
    threat = last[1 - side]
    theirs = lengths[1 - side] + 1 if threat is not None and move.origin in NEIGHBOURS[threat.target] else 0
    mine = lengths[side] + 1 if touches else 0
    if booklet and (theirs or fled[0] or fled[1]):
        fled_mine = fled[side] if mine else NOWHERE
        fled_theirs = fled[1 - side] | {move.origin, move.target} if theirs else NOWHERE
        fled = (fled_theirs, fled_mine) if side else (fled_mine, fled_theirs)
    if side:
        return ChaseState((theirs, mine), (last[0], move), fled, (move, changes))
    return ChaseState((mine, theirs), (move, last[1]), fled, (move, changes))


def attacked(
    state: ChaseState, side: int, move: PieceMove, touches: bool, gone: Sequence[tuple[int, int]] | None
) -> ChaseState:
    """After an attack: `gone` are the squares and codes of the pieces that it took from where they stood.

    It is None, here and below, where no position from before a loss can come back.
    """
    length = 1 if touches else 0
    last = (state.last[0], move) if side else (move, state.last[1])
    changes: Chain = None if gone is None else (tuple(gone), state.changes)
    return ChaseState((0, length) if side else (length, 0), last, (NOWHERE, NOWHERE), changes)


def guessed(state: ChaseState, side: int, gone: Sequence[tuple[int, int]] | None) -> ChaseState:
    """After a guess; `gone` is the square and code of the piece that left it by it, if one did."""
    last = (state.last[0], None) if side else (None, state.last[1])
    changes: Chain = None if gone is None else (tuple(gone), state.changes)
    return ChaseState((0, 0), last, (NOWHERE, NOWHERE), changes)


def placed(state: ChaseState, square: int) -> ChaseState:
    """After a piece has come back on a square, in the same turn as the move before."""
    return state._replace(changes=(square, state.changes))
