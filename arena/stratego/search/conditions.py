"""Conditions on several hidden pieces together, which no set of possible ranks of one piece expresses.

There are two. A game that continues after the enemy's attack, or after the set-ups, implies under `no-move at-once`
that the enemy has a piece that can move (`SomeCanMove`). And a move of the enemy that continues a chase is legal only
if it repeats no position; the enemy distinguishes its own pieces by rank, so two pieces that have changed places are
not both of one rank (`Differs`). Both are rare and nearly always settled soon; so armies are drawn without them, and
drawn again if a condition fails.
"""

from collections.abc import Iterable, Mapping, Sequence

from arena.stratego.rules.action_types import Path, PieceMove
from arena.stratego.rules.board import BLUE_BIT, EMPTY, HIDDEN, RANKS, StraightMove, code_of
from arena.stratego.rules.movegen import infiltrations, piece_moves
from arena.stratego.rules.repetition import Change
from arena.stratego.rules.tables import COLORS
from arena.stratego.search.armies import Condition
from arena.stratego.search.pieces import EnemyPiece
from arena.stratego.search.seat_position import Position
from protocol.geometry import NEIGHBOURS
from protocol.notation import Color, Rank

Label = int | EnemyPiece
"""The content of a square as the enemy sees it: empty, a code, one of our pieces unnamed, or one of its own."""


class SomeCanMove:
    """A condition: at least one of these pieces has one of the ranks listed for it."""

    def __init__(self, alternatives: Sequence[tuple[EnemyPiece, frozenset[Rank]]]) -> None:
        self.alternatives = [(piece, ranks) for piece, ranks in alternatives if piece.ranks & ranks]

    @property
    def is_settled(self) -> bool:
        """Whether the condition holds for all possible ranks. Narrows the ranks of the last piece left for it."""
        self.alternatives = [(piece, ranks) for piece, ranks in self.alternatives if piece.ranks & ranks]
        if len(self.alternatives) == 1:
            piece, ranks = self.alternatives[0]
            piece.ranks &= ranks
        return any(piece.ranks <= ranks for piece, ranks in self.alternatives)

    def of(self, places: Mapping[EnemyPiece, int]) -> Condition:
        return _SomeHas([(places[piece], ranks) for piece, ranks in self.alternatives if piece in places])


class _SomeHas:
    def __init__(self, alternatives: Sequence[tuple[int, frozenset[Rank]]]) -> None:
        self._alternatives = alternatives

    def holds(self, army: Sequence[Rank]) -> bool:
        return any(army[place] in ranks for place, ranks in self._alternatives)


class Differs:
    """A condition: in at least one of these pairs the ranks differ."""

    def __init__(self, pairs: Sequence[tuple[Label, Label]]) -> None:
        self.pairs = pairs

    @property
    def is_settled(self) -> bool:
        return any(not _ranks(one) & _ranks(other) for one, other in self.pairs)

    def of(self, places: Mapping[EnemyPiece, int]) -> Condition:
        return _SomeDiffer([(_place(one, places), _place(other, places)) for one, other in self.pairs])


class _SomeDiffer:
    def __init__(self, pairs: Sequence[tuple[int | Rank, int | Rank]]) -> None:
        self._pairs = pairs

    def holds(self, army: Sequence[Rank]) -> bool:
        return any(_rank(one, army) is not _rank(other, army) for one, other in self._pairs)


def _ranks(label: Label) -> frozenset[Rank]:
    return label.ranks if isinstance(label, EnemyPiece) else frozenset({RANKS[label]})


def _place(label: Label, places: Mapping[EnemyPiece, int]) -> int | Rank:
    if isinstance(label, EnemyPiece) and label in places:
        return places[label]
    return next(iter(_ranks(label)))


def _rank(place: int | Rank, army: Sequence[Rank]) -> Rank:
    return place if isinstance(place, Rank) else army[place]


# --- a piece that can move --------------------------------------------------------------------------------------------


def some_can_move(position: Position, pieces: Iterable[EnemyPiece], color: Color) -> SomeCanMove | None:
    """Return the condition that a side can move; None if the board shows that already."""
    pieces, movable = list(pieces), position.ruleset.movable_ranks
    for piece in pieces:
        if piece.ranks <= movable and any(position.board[square] == EMPTY for square in NEIGHBOURS[piece.square]):
            return None
    trial = position.copy()
    found = SomeCanMove([(piece, _mobile_ranks(trial, piece, color)) for piece in pieces])
    return None if found.is_settled else found


def _mobile_ranks(trial: Position, piece: EnemyPiece, color: Color) -> frozenset[Rank]:
    was, movers = trial.board[piece.square], trial.movers
    trial.movers = (set(), {piece.square}) if color else ({piece.square}, set())
    found = set()
    for rank in piece.ranks & trial.ruleset.movable_ranks:
        trial.board[piece.square] = code_of(color, rank)
        if any(True for _ in piece_moves(trial, color)) or (
            trial.tables.infiltration and any(True for _ in infiltrations(trial, color))
        ):
            found.add(rank)
    trial.board[piece.square], trial.movers = was, movers
    return frozenset(found)


# --- a position that has not come back --------------------------------------------------------------------------------


def unlike_earlier(
    position: Position,
    pieces: Mapping[int, EnemyPiece],
    color: Color,
    move: PieceMove,
    back: tuple[int, Rank] | None,
) -> list[Differs]:
    """Return the conditions that follow from a legal move to an empty square: it repeats no position of the chase.

    `back` is the square and the rank of a piece that the move brings back.
    """
    plies = position.judged_by(color, move)
    if not plies:
        return []
    then = [_label(position, pieces, square, color) for square in range(len(position.board))]
    now = then[:]
    now[move.target], now[move.origin] = now[move.origin], EMPTY
    if back:
        now[back[0]] = code_of(color, back[1])
    other = {square for square in range(len(now)) if not _may_be_same(now[square], then[square], color)}
    found = []
    for change in position.changes():
        for square in _walk_back(then, change):
            (other.discard if _may_be_same(now[square], then[square], color) else other.add)(square)
        if isinstance(change, int):
            continue
        if not other:
            pairs = [(one, two) for one, two in zip(now, then, strict=True) if one != two]
            condition = Differs(pairs)
            if not condition.is_settled:
                found.append(condition)
        plies -= 1
        if not plies:
            break
    return found


def _label(position: Position, pieces: Mapping[int, EnemyPiece], square: int, color: Color) -> Label:
    code = position.board[square]
    if square in pieces:
        return pieces[square]
    return code if code == EMPTY or square in position.told or _is_own(code, color) else HIDDEN + square


def _may_be_same(one: Label, other: Label, color: Color) -> bool:
    return one == other or (_is_own(one, color) and _is_own(other, color))


def _is_own(label: Label, color: Color) -> bool:
    return isinstance(label, EnemyPiece) or (EMPTY < label < HIDDEN and COLORS[label > BLUE_BIT] is color)


def _walk_back(labels: list[Label], change: Change) -> list[int]:
    if isinstance(change, StraightMove | Path):
        labels[change.origin], labels[change.target] = labels[change.target], EMPTY
        return [change.origin, change.target]
    if isinstance(change, int):
        labels[change] = EMPTY
        return [change]
    for square, code in change:
        labels[square] = code
    return [square for square, _ in change]
